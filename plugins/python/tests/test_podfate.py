"""The package as a user has it: installed from its wheel, with the real module on the real engine."""

import collections
import concurrent.futures
import ctypes
import datetime
import hashlib
import html.parser
import json
import multiprocessing
import os
import pickle
import stat
import sys
import threading
import types

import pytest

import podfate

RULE = {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {
        "restartPolicy": "Never",
        "containers": [{"name": "main", "image": "i", "restartPolicy": "Never", "restartPolicyRules": [RULE]}],
    },
}


@pytest.fixture(scope="module")
def engine():
    return podfate.Engine()


def test_a_rule_decides(engine):
    decision = engine.decide(POD, [podfate.Exit("main", 42)]).decisions[0]
    assert decision.action == "Restart"
    assert decision.decided_by == podfate.DecidedBy("rule", "spec.containers[0].restartPolicyRules[0]", 0)
    assert decision.trace[0].result == "matched"


JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "j"},
    "spec": {
        "backoffLimit": 2,
        "podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]},
        "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]}},
    },
}
LOOP = {**POD, "spec": {"containers": [{"name": "main", "image": "i"}]}}
EXPLAINED = {
    "decide": {"manifest": JOB, "exits": [{"container": "main", "exitCode": 42}]},
    "validate": {"manifest": {**POD, "spec": {"restartPolicy": "<script>", "containers": [{"name": "a&b"}]}}},
    "simulate": {"manifest": LOOP, "question": "main: 1@5s x4", "until": "10m", "show": ["rows"]},
    "curve": {"run": {"for": "2s"}},
    "table": {"manifest": JOB},
    "suggest": {"manifest": POD, "flip": {"exit": 1, "to": "restart"}},
}


class Elements(html.parser.HTMLParser):
    """Reads HTML, and holds that each element that begins ends."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.words = [], set(), []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag not in ("br", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag != "rect":
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_an_explanation_is_text_and_html(engine):
    blocks = set()
    for of, request in EXPLAINED.items():
        explanation = engine.explain(of, request)
        title = explanation["document"]["verdict"]["title"]
        assert title in str(explanation)
        painted = Elements(explanation._repr_html_())
        words = "".join(painted.words)
        assert not painted.open and "script" not in painted.seen, of
        assert title in words
        for block in explanation["document"]["blocks"]:
            blocks.add(block["block"])
            for item in block.get("items", ()):
                assert item["text"] in words
            for row in block.get("rows", ()):
                for cell in row["cells"]:
                    assert cell in words
            for line in block.get("lines", ()):
                assert line in words
    assert blocks >= {"list", "steps", "layers", "lanes", "plot", "table", "grid", "terminal", "fixes"}, blocks
    without = engine.explain("curve", {}, text=False)
    assert without.text == "" and str(without).startswith("{")


def test_an_older_release_has_no_rules(engine):
    off = {"version": "1.36", "featureGates": {"ContainerRestartRules": False, "RestartAllContainersOnContainerExits": False}}
    assert engine.decide(POD, [podfate.Exit("main", 42)], cluster=off).decisions[0].action == "Stop"
    with pytest.raises(podfate.PolicyError) as caught:
        engine.decide(POD, [podfate.Exit("main", 42)], cluster={"version": "1.33"}, fieldValidation="Ignore")
    assert caught.value.faults[0].type == "Forbidden"


def test_faults_of_a_manifest_are_the_answer_of_validate(engine):
    wrong = json.loads(json.dumps(POD))
    wrong["spec"]["restartPolicy"] = "Sometimes"
    answer = engine.validate(wrong)
    assert not answer.valid
    assert answer.faults[0].path == "spec.restartPolicy"
    with pytest.raises(podfate.PolicyError) as caught:
        engine.decide(wrong, [podfate.Exit("main", 1)])
    assert caught.value.code == "MANIFEST_INVALID" and caught.value.faults == answer.faults


def test_an_unknown_container_is_a_fault_of_the_event(engine):
    with pytest.raises(podfate.EventError) as caught:
        engine.decide(POD, [podfate.Exit("nobody", 1)])
    assert caught.value.path == "exits[0].container"


@pytest.mark.parametrize(
    "request_bytes, code",
    [
        (b"", "BAD_JSON"),
        (b"{", "BAD_JSON"),
        (b'{"a":"\xff"}', "BAD_UTF8"),
        (b"[" * 100_000, "LIMIT_EXCEEDED"),
        (b"null", "BAD_JSON"),
    ],
)
def test_bad_requests_have_error_payloads(engine, request_bytes, code):
    answer = engine.call("decide", request_bytes)
    assert answer.failed
    assert answer.json()["error"]["code"] in (code, "EVENT_INVALID")


def test_a_request_beyond_the_limit_is_refused(engine):
    answer = engine.call("decide", b" " * ((1 << 20) + 1))
    assert answer.failed and answer.json()["error"]["num"] == 6
    with pytest.raises(podfate.LimitError):
        engine.call("decide", b" " * (17 << 20))
    assert engine.describe()["product"] == "podfate"


BOMBS = [b"[" * 500_000, b'{"a":' * 200_000, b"[" * 65 + b"]" * 65, b" " * ((1 << 20) + 1)]


@pytest.mark.parametrize("bomb", BOMBS, ids=["arrays", "objects", "one level too many", "one byte too many"])
def test_bombs_are_error_6_everywhere(engine, bomb):
    policy = engine.compile(POD)
    for operation in ("validate", "decide", "simulate", "curve"):
        answer = engine.call(operation, bomb)
        assert answer.failed and answer.json()["error"]["num"] == 6, operation
    assert policy.eval(bomb).failed and policy.eval(bomb).json()["error"]["num"] == 6
    with pytest.raises(podfate.LimitError):
        policy.decide(bomb)
    assert policy.decide(podfate.Exit("main", 42)).action == "Restart"


def test_a_deep_manifest_is_refused(engine):
    deep = {}
    for _ in range(100):
        deep = {"a": deep}
    with pytest.raises(podfate.LimitError):
        engine.compile({**POD, "metadata": deep})


def test_bad_bytes_of_an_event_are_its_fault(engine):
    policy = engine.compile(POD)
    for event, num in ((b"[", 1), (b"", 1), (b'{"container":"\xff"}', 2), (b"[]", 4), (b"null", 4)):
        with pytest.raises(podfate.EventError) as caught:
            policy.decide(event)
        assert caught.value.num == num, event
    for event, name in (
        (podfate.Event(2**31), "exit_code"),
        (podfate.Event(0, container=-1), "container"),
        (podfate.Event(0, tag=2**32), "tag"),
        (podfate.Event(0, conditions=2**64), "conditions"),
    ):
        with pytest.raises(podfate.EventError) as caught:
            policy.batch(iter([podfate.Event(42), event]))
        assert (caught.value.path, caught.value.num) == (f"events[1].{name}", 4) and "is not from" in str(caught.value)
    for event in (42, "42", (42, 0), podfate.Exit("main", 42), {"exit_code": 42}, None):
        with pytest.raises(TypeError, match=r"^events\[1\]: a podfate.Event is wanted, or its 7 numbers, not "):
            policy.batch([podfate.Event(42), event])
    with pytest.raises(TypeError, match=r"^events\[0\].exit_code: a whole number is wanted, not float 42.5"):
        policy.batch([podfate.Event(42.5)])
    frame = collections.namedtuple("DataFrame", "columns")(["exit_code"])
    with pytest.raises(TypeError, match="a data frame is no batch: make an array, events = numpy.zeros"):
        policy.batch(frame)
    assert policy.batch([podfate.Event(42)])[0].action == "Restart"


def test_a_host_that_errs_gets_numbers(engine):
    """Below the public API: addresses, lengths and handles that are wrong."""
    with engine._instance() as instance:
        event = b'{"container":"main","exitCode":42}'
        request = json.dumps({"manifest": POD}).encode()
        handle = json.loads(instance.ask("pf_compile", (), request)[0])["handle"]
        at, memory = instance.run("pf_alloc", 64), instance.memory_bytes

        def number(name, *arguments):
            word = instance.run(name, *arguments) & 0xFFFFFFFFFFFFFFFF
            answer = json.loads(instance.read(word >> 32, word & 0x7FFFFFFF))
            return answer.get("error", {}).get("num", 0)

        for pointer, length in ((0, 8), (at - 8, 16), (at, 65), (memory - 4, 100), (-1, 1), (at + 8, -1), (at, memory)):
            assert number("pf_call", 3, pointer, length) == 10
            assert number("pf_eval", handle, pointer, length) == 10
            assert instance.run("pf_eval_batch", handle, pointer, length, at, 64) == -10
        for stale in (0, -1, handle + 1, handle + 4096, 0x7FFFFFFF):
            assert number("pf_eval", stale, at, 64) == 5
            assert instance.run("pf_release", stale) == -5
        for written in range(24):  # a header that is only half there
            half = (b"PFB1" + b"\x01\x00\x20\x00" + bytes(16))[:written] + bytes(24 - written)
            ctypes.memmove(instance._address() + at, half, 24)
            assert instance.run("pf_eval_batch", handle, at, 24, at + 24, 40) == (0 if written > 6 else -8 if written == 4 else -4)
        assert instance.run("pf_free", at) == 0 and instance.run("pf_free", at) == -10
        assert number("pf_eval", handle, at, len(event)) == 10
        assert instance.run("pf_release", handle) == 0 and instance.run("pf_release", handle) == -5


def test_an_unknown_operation_is_refused(engine):
    assert engine.call(999, b"{}").json()["error"]["code"] == "UNSUPPORTED_OP"
    for operation in ("guess", -1, 1 << 32 | 1):
        with pytest.raises(ValueError):
            engine.call(operation, b"{}")
    with pytest.raises(TypeError):
        engine.call(1.5, b"{}")


def test_what_is_no_json_does_not_reach_the_module(engine):
    loop = {}
    loop["again"] = [loop]
    cases = [
        ({"a": float("nan")}, ValueError, "metadata.a: nan"),
        ({"labels": {"x/y": ["", "ab\ud800"]}}, ValueError, "metadata.labels[x/y][1]: the string has half of a surrogate pair at character 2"),
        ({"\udfff": 1}, ValueError, "metadata: the key has half"),
        ({"creationTimestamp": datetime.datetime(2026, 1, 2, 3, 4, 5)}, TypeError, "metadata.creationTimestamp: a datetime is no JSON: give a string, such as '2026-01-02T03:04:05'"),
        ({"day": datetime.date(2026, 1, 2)}, TypeError, "metadata.day: a date"),
        ({"finalizers": {"a"}}, TypeError, "metadata.finalizers: a set is no JSON, and has no order: give a list"),
        ({"a": [0, {"b": object()}]}, TypeError, "metadata.a[1].b: a value of type object"),
        ({"a": b"x"}, TypeError, "metadata.a: bytes"),
        ({"a": {(1, 2): 3}}, TypeError, "metadata.a: a key of JSON is a string, not (1, 2)"),
        (loop, ValueError, "metadata.again[0]: it contains itself"),
    ]
    policy = engine.compile(POD)
    for metadata, kind, text in cases:
        for ask in (engine.validate, engine.decide, engine.simulate, engine.compile):
            with pytest.raises(kind) as caught:
                ask({**POD, "metadata": metadata})
            assert str(caught.value).startswith("manifest." + text), caught.value
        with pytest.raises(kind) as caught:
            policy.decide({"exitCode": 1, "metadata": metadata})
        assert str(caught.value).startswith(text)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(podfate.LimitError) as limit:
        engine.validate(deep)
    assert limit.value.limit == "depth"
    while deep:  # bottom up: to destroy it from the top takes as many levels of the stack
        deep = deep[0]


def test_any_mapping_and_any_whole_number_will_do(engine):
    class Number:
        def __index__(self):
            return 42

    pod = types.MappingProxyType({**POD, "metadata": collections.UserDict(POD["metadata"])})
    assert engine.decide(pod, [podfate.Exit("main", Number())]).decisions[0].action == "Restart"


def test_an_error_crosses_processes(engine):
    with pytest.raises(podfate.PolicyError) as caught:
        engine.compile({"kind": "Pod"})
    error = caught.value
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is podfate.PolicyError and str(again) == str(error) and vars(again) == vars(error) and again.faults


def _ask_policy(policy):
    return policy.decide(podfate.Exit("main", 42)).action, [v.action for v in policy.batch([podfate.Event(42), podfate.Event(1)])]


def _ask_engine(engine):
    from podfate import _cache

    return os.getpid(), id(engine), len(_cache._compiled), engine.decide(POD, [podfate.Exit("main", 1)]).decisions[0].action


def test_engines_and_policies_cross_processes():
    engine = podfate.Engine(instances=2, wait=30)
    policy = engine.compile(POD)
    sent = pickle.dumps((engine, policy, policy))
    assert len(sent) < 2000, "a pickle has the digest of the module, not the module"
    first, second, third = pickle.loads(sent)
    assert second is third and second._engine is first and pickle.loads(sent)[0] is first
    assert (second.containers, second.conditions, second.raw["cluster"]) == (policy.containers, policy.conditions, policy.raw["cluster"])
    for method in multiprocessing.get_all_start_methods():
        with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
            assert list(pool.map(_ask_policy, [policy] * 20)) == [("Restart", ["Restart", "Stop"])] * 20
            seen = list(pool.map(_ask_engine, [engine] * 20))
        assert {action for *_, action in seen} == {"Stop"}
        assert len({(pid, one) for pid, one, *_ in seen}) == len({pid for pid, *_ in seen}), "one engine in each process"
        assert {compiled for _, _, compiled, _ in seen} == {1}, method
    policy.close()
    with pytest.raises(podfate.PodfateError) as caught:
        pickle.dumps(policy)
    assert caught.value.code == "UNKNOWN_HANDLE"
    assert _ask_policy(second)[0] == "Restart"


def test_a_pickle_of_another_module_finds_no_other(tmp_path, engine):
    from podfate import _engine

    file = (_engine._HERE / "policy.wasm").read_bytes() + b"\0\2\1x"  # with a section that nobody reads
    digest = hashlib.sha256(file).hexdigest()
    path = tmp_path / "other.wasm"
    path.write_bytes(file)
    for module in (file, path):
        other = pickle.loads(pickle.dumps(podfate.Engine(module=module, sha256=digest)))
        assert other.sha256 == digest and other.describe()["module"]["bytes"] == len(file)
    wrong = podfate.Engine()
    wrong._settings = wrong._settings._replace(sha256=digest)  # as if the other process had another release of this package
    with pytest.raises(podfate.ModuleError) as caught:
        pickle.loads(pickle.dumps(wrong))
    assert caught.value.code == "DIGEST"


def test_the_version_is_that_of_the_package():
    import importlib.metadata

    assert podfate.__version__ == importlib.metadata.version("podfate")


def test_one_flipped_byte_is_refused(engine):
    from podfate import _engine

    file = bytearray((_engine._HERE / "policy.wasm").read_bytes())
    file[len(file) // 2] ^= 1
    with pytest.raises(podfate.ModuleError) as caught:
        podfate.Engine(module=bytes(file), sha256=engine.sha256)
    assert caught.value.code == "DIGEST"
    with pytest.raises(ValueError):
        podfate.Engine(module=bytes(file))


def test_a_module_of_another_kind_is_refused():
    empty = b"\0asm\1\0\0\0"
    with pytest.raises(podfate.ModuleError) as caught:
        podfate.Engine(module=empty, sha256=hashlib.sha256(empty).hexdigest())
    assert caught.value.code == "ABI"


def test_threads_get_their_own_answers(engine):
    right = []

    def ask(code):
        for _ in range(50):
            decision = engine.decide(POD, [podfate.Exit("main", code)]).decisions[0]
            right.append((decision.exit_code, decision.action) == (code, "Restart" if code == 42 else "Stop"))

    threads = [threading.Thread(target=ask, args=(code,)) for code in (1, 2, 3, 41, 42, 42, 43, 137)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 400


def test_a_busy_engine_says_so():
    engine = podfate.Engine(instances=1, wait=0)
    with engine._instance(), pytest.raises(TimeoutError):
        engine.describe()
    assert engine.describe()["abi"].startswith("1.")
    for wait in (-1, float("nan")):
        with pytest.raises(ValueError):
            podfate.Engine(wait=wait)
    assert podfate.Engine(wait=float("inf")).describe()["abi"].startswith("1.")


def test_compiled_code_is_kept_where_nobody_else_writes(tmp_path, engine, monkeypatch):
    from podfate import _cache

    made = []
    compile = _cache._compile
    monkeypatch.setattr(_cache, "_compile", lambda *a: made.append(1) or compile(*a))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    own = tmp_path / "cache" / "podfate"

    def start():
        monkeypatch.setattr(_cache, "_compiled", {})
        made.clear()
        assert podfate.Engine().describe()["product"] == "podfate"
        return len(made)

    if os.name == "posix" and sys.platform != "darwin":
        assert start() == 1 and start() == 0, "a second process compiles nothing"
        assert stat.S_IMODE(own.stat().st_mode) == 0o700 and len(list(own.iterdir())) == 1
        for n in range(6):
            (own / f"{n:064x}.wasmtime-1").write_bytes(b"")
        (own / "else").write_bytes(b"")
        kept = max(own.glob(f"{engine.sha256}*"))
        kept.write_bytes(b"")
        assert start() == 1 and len(list(own.glob("*.wasmtime-*"))) == _cache.MAX_KEPT and kept.stat().st_size > 0 and (own / "else").exists()
        own.chmod(0o770)
        assert start() == 1, "others may write there"
        own.chmod(0o700)
        (tmp_path / "cache").chmod(0o777)
        assert start() == 1, "others may put another folder in its place"
        (tmp_path / "cache").chmod(0o755)
        assert start() == 0
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    assert start() == 1, "where no folder can be made"


def test_compiled_code_is_kept_in_a_private_folder(tmp_path, engine, monkeypatch):
    private = tmp_path / "private"
    first = podfate.Engine(cache=private)
    kept = list(private.iterdir())
    assert len(kept) == 1 and engine.sha256 in kept[0].name
    second = podfate.Engine(cache=private)
    assert second.call("describe") == first.call("describe")
    good = kept[0].read_bytes()
    for bad in (b"", b"nonsense", good[:-1], good[: len(good) // 2] + bytes([good[len(good) // 2] ^ 1]) + good[len(good) // 2 + 1 :]):
        kept[0].write_bytes(bad)
        assert podfate.Engine(cache=private).call("describe") == first.call("describe")
        assert kept[0].read_bytes() != bad, "what is not whole is not run, but made again"
    from podfate import _cache

    def fail(*_):
        raise AssertionError("it was compiled again")

    monkeypatch.setattr(_cache, "_compile", fail)
    monkeypatch.setattr(_cache, "_compiled", {})  # as another process
    assert podfate.Engine(cache=private).call("describe") == first.call("describe")
    assert podfate.Engine(cache=None).call("describe") == first.call("describe"), "once per process"
    open_folder = tmp_path / "open"
    open_folder.mkdir(mode=0o777)
    open_folder.chmod(0o777)
    with pytest.raises(PermissionError):
        podfate.Engine(cache=open_folder)


def test_a_policy_answers_like_decide(engine):
    with engine.compile(POD) as policy:
        assert policy.containers == ("main",)
        decision = policy.decide(podfate.Exit("main", 42))
        assert (decision.action, decision.decided_by.rule) == ("Restart", 0)
        assert policy.decide(podfate.Exit("main", 1)).action == "Stop"
        assert decision.delay_millis is None
        assert policy.decide({"container": "main", "exitCode": 42, "restarts": 3, "ranForMillis": 1000}).delay_millis == 40000
        assert policy.decide(podfate.Exit("main", 42, restarts=3, ran_for_millis=1000)).delay_millis == 40000
        with pytest.raises(podfate.EventError):
            policy.decide(podfate.Exit("nobody", 1))
    for ask in (lambda: policy.decide(podfate.Exit("main", 42)), lambda: policy.batch([podfate.Event(42)]), lambda: policy.batch([])):
        with pytest.raises(podfate.PodfateError) as caught:
            ask()
        assert caught.value.code == "UNKNOWN_HANDLE"


def test_a_manifest_with_faults_does_not_compile(engine):
    with pytest.raises(podfate.PolicyError):
        engine.compile({"kind": "Pod"})


def test_a_batch_is_the_same_as_its_events(engine):
    policy = engine.compile(POD)
    codes = [0, 1, 41, 42, 43, 137, 255, 256, -1, 2**31 - 1, -(2**31)]
    verdicts = policy.batch([podfate.Event(code, tag=n) for n, code in enumerate(codes)])
    for n, (code, verdict) in enumerate(zip(codes, verdicts)):
        one = policy.decide(podfate.Exit("main", code))
        assert (verdict.action, verdict.reason, verdict.tag) == (one.action, one.because, n)
        assert verdict.rule == (one.decided_by.rule if one.decided_by else None)
    bad = policy.batch([podfate.Event(1, container=7), podfate.Event(42)])
    assert [v.status for v in bad] == [4, 0] and bad[1].action == "Restart"
    assert policy.batch([]) == []


def test_a_batch_of_pods_keeps_each_pod_whole(engine):
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j"},
        "spec": {
            "podFailurePolicy": {
                "rules": [
                    {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
                    {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}},
                ]
            },
            "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "i"}]}},
        },
    }
    policy = engine.compile(job)
    assert policy.conditions == (("DisruptionTarget", "True"),)
    pod = [podfate.Event(0, 0, podfate.MORE), podfate.Event(3, 1)]
    evicted = [podfate.Event(137, 0, podfate.MORE, conditions=1), podfate.Event(3, 1)]
    count = 50_000  # of two records each: more than one call takes
    verdicts = policy.batch((pod + evicted) * (count // 2), pods=True)
    assert [v.action for v in verdicts[:4]] == ["", "FailJob", "", "Ignore"]
    assert verdicts == verdicts[:4] * (count // 2)
    endless = policy.batch([podfate.Event(1, 0, podfate.MORE)] * 10, pods=True)
    assert [v.status for v in endless] == [0] * 9 + [4]
    with pytest.raises(podfate.LimitError):
        policy.batch([podfate.Event(1, 0, podfate.MORE)] * 70_000, pods=True)


def test_numpy_arrays_are_batches(engine):
    numpy = pytest.importorskip("numpy", reason="NumPy is not installed: arrays are not tested")
    policy = engine.compile(POD)
    events = numpy.zeros(200_001, podfate.event_dtype())
    events["container"] = podfate.NONE
    events["exit_code"][::3] = 42
    events["tag"] = numpy.arange(len(events))
    verdicts = policy.batch(events)
    assert verdicts.dtype == podfate.verdict_dtype() and len(verdicts) == len(events)
    assert (verdicts["tag"] == events["tag"]).all()
    restart = podfate.ACTIONS.index("Restart")
    assert ((verdicts["action"] == restart) == (events["exit_code"] == 42)).all()
    assert (policy.batch(events[::2])["tag"] == events["tag"][::2]).all()
    assert (policy.batch(events[::-1])["tag"] == events["tag"][::-1]).all()
    askew = numpy.frombuffer(bytearray(1 + 32 * 3), podfate.event_dtype(), 3, 1)
    askew["exit_code"][1] = 42
    assert policy.batch(askew)["action"].tolist() == [restart + 2, restart, restart + 2]
    assert policy.batch(askew.reshape(3, 1)).shape == (3,) and len(policy.batch(askew[:0])) == 0
    other = numpy.dtype([(name, askew.dtype[name].newbyteorder(">")) for name in askew.dtype.names])
    for wrong in (numpy.zeros(3), numpy.zeros(3, other), numpy.zeros(3, object), numpy.zeros(32, "u1")):
        with pytest.raises(TypeError):
            policy.batch(wrong)


def test_policies_are_released(engine):
    engine = podfate.Engine(instances=1)
    for _ in range(10_000):  # more than the module has handles
        engine.compile(POD).close()
    assert engine.compile(POD).decide(podfate.Exit("main", 42)).action == "Restart"


def test_memory_stays_small_over_two_million_evaluations():
    engine = podfate.Engine(instances=1)
    policy = engine.compile(POD)
    for _ in range(20_000):
        policy.eval(b'{"container":"main","exitCode":42}')
    events = [podfate.Event(42)] * 10_000
    for _ in range(198):
        policy.batch(events)
    assert engine._idle[0].memory_bytes <= 8 << 20


@pytest.fixture(scope="module")
def trapping():
    """An engine over the test build of the module, whose further operations trap."""
    file = os.environ.get("PODFATE_TRAP_MODULE")
    if not file:
        pytest.skip("PODFATE_TRAP_MODULE is not set: go run ./wasm/seal -tags trap -o FILE makes the module")
    with open(file + ".sha256") as digest:
        return podfate.Engine(instances=2, module=file, sha256=digest.read().split()[0])


@pytest.mark.parametrize("operation", [0xF001, 0xF002, 0xF003, 0xF004])
def test_a_trap_ends_nothing_but_its_own_instance(trapping, operation):
    policy = trapping.compile(POD)
    before = policy.eval(podfate.Exit("main", 42))
    with pytest.raises(podfate.TrapError) as caught:
        trapping.call(operation)
    assert caught.value.code == "TRAP"
    assert policy.eval(podfate.Exit("main", 42)) == before
    assert policy.batch([podfate.Event(42)])[0].action == "Restart"


def test_a_caught_panic_and_a_wrong_answer_end_their_instance(trapping):
    for operation, code in ((0xF008, "INTERNAL"), (0xF00A, "MALFORMED")):
        with pytest.raises(podfate.TrapError) as caught:
            trapping.call(operation)
        assert caught.value.code == code
        assert not trapping._idle or trapping.describe()["product"] == "podfate"
