"""Record batches of exits: every verdict is the one that the policy gives alone, and what makes no sense fails alone."""

import pickle
import random
import subprocess
import sys
from pathlib import Path

import pytest

pa = pytest.importorskip("pyarrow", reason="the wheel's extra arrow is not installed")

import podfate  # noqa: E402
from podfate import arrow  # noqa: E402
from podfate.arrow import Judge  # noqa: E402

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def pod(restart_policy, *codes, sidecar=False):
    main = {"name": "main", "image": "i"}
    if codes:
        main["restartPolicy"] = restart_policy
        main["restartPolicyRules"] = [{"action": "Restart", "exitCodes": {"operator": "In", "values": list(codes)}}]
    containers = [main] + [{"name": "log", "image": "i"}] * sidecar
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"restartPolicy": restart_policy, "containers": containers}}


@pytest.fixture(scope="module")
def engine():
    return podfate.Engine()


@pytest.fixture(scope="module")
def policies(engine):
    return {"a": engine.compile(pod("Never", 42)), "b": engine.compile(pod("OnFailure")), "two": engine.compile(pod("Always", sidecar=True))}


def alone(policy, row):
    """The verdict of one row by the way of JSON."""
    exit = podfate.Exit(
        row["container"] or policy.containers[0],
        row["exit_code"],
        reason="OOMKilled" if row["oom_killed"] else "",
        restarts=row["history"],
        ran_for_millis=row["ran_for_millis"],
    )
    try:
        decision = policy.decide(exit)
    except podfate.EventError:
        return {"action": None, "error": "EVENT_INVALID"}
    waits = decision.delay_millis if row["history"] is not None and row["ran_for_millis"] is not None else None
    return {"action": decision.action, "reason": decision.because or None, "wait_millis": waits, "error": None}


@pytest.mark.parametrize("words", ["dictionary", "string"])
@pytest.mark.parametrize("rows", [0, 1, 500, 40_000])
def test_every_row_is_the_decision_alone(policies, words, rows):
    draw = random.Random(rows)
    table = [
        {
            "policy": draw.choice(["a", "b", "nobody", None]),
            "container": draw.choice(["main", None, "other"]),
            "exit_code": draw.choice([0, 1, 42, 137, 255, -1, 2**31 - 1]),
            "oom_killed": draw.choice([True, False]),
            "ran_for_millis": draw.choice([0, 5000, 700_000, None]),
            "history": draw.choice([0, 3, 9, None]),
        }
        for _ in range(rows)
    ]
    types = pa.schema(
        [("policy", pa.string()), ("container", pa.string()), ("exit_code", pa.int32()), ("oom_killed", pa.bool_())]
        + [("ran_for_millis", pa.int64()), ("history", pa.int64())]
    )
    judge = Judge({name: policies[name] for name in ("a", "b")}, keep=["exit_code"], words=words)
    batch = pa.RecordBatch.from_pylist(table, schema=types)
    answer = judge(batch)
    answer.validate(full=True)
    assert answer.schema == judge.schema(types)
    assert answer.num_rows == rows
    known = {}
    for row, got in zip(table, answer.to_pylist()):
        if row["policy"] not in ("a", "b"):
            assert (got["action"], got["error"]) == (None, "UNKNOWN_POLICY")
            continue
        key = tuple(row.values())
        if key not in known:
            known[key] = alone(policies[row["policy"]], row)
        assert {name: got[name] for name in known[key]} == known[key], row
    sliced = batch.slice(rows // 3)  # buffers that begin elsewhere
    assert judge(sliced).to_pylist() == answer.to_pylist()[rows // 3 :]
    encoded = pa.Table.from_batches([batch]).set_column(0, "policy", pa.chunked_array([batch["policy"].dictionary_encode()]))
    assert judge(encoded).to_pylist() == answer.to_pylist()


@pytest.mark.parametrize(
    "codes, columns, encoded",
    [
        ((0, 1, 42, 137, 255), (), False),
        ((0, 1, 42, 137, 255), ("oom_killed",), False),
        ((0, 1, 42, 137, 255), ("container",), False),
        ((0, 1, 42, 137, 255), ("policy",), True),
        ((0, 1, 42, 137, 255), ("policy", "container", "oom_killed"), True),
        ((0, 1, 256), ("container",), True),
        ((0, 1, -1), (), False),
        ((0, 1, None), ("policy",), False),
    ],
)
def test_many_rows_are_judged_as_few_are(policies, columns, codes, encoded):
    """Of many rows without times only those that differ are judged: the answer is that to each of them."""
    rows, draw = 45_000 if len(columns) > 1 else 6_000, random.Random(len(columns))  # four for each that can differ
    values = {
        "exit_code": pa.array([draw.choice(codes) for _ in range(rows)], pa.int64()),
        "oom_killed": pa.array([draw.choice([True, False, None]) for _ in range(rows)]),
        "container": pa.array([draw.choice(["main", "log", None, "other"]) for _ in range(rows)]),
        "policy": pa.array([draw.choice(["a", "two", None, "nobody"]) for _ in range(rows)]),
    }
    if encoded:
        values = {name: column.dictionary_encode() if pa.types.is_string(column.type) else column for name, column in values.items()}
    batch = pa.record_batch({name: values[name] for name in ("exit_code", *columns)})
    judge = Judge({"a": policies["a"], "two": policies["two"]} if "policy" in columns else policies["two"], words="string")
    answer = judge(batch)
    answer.validate(full=True)
    few = [judge(batch.slice(start, 200)) for start in range(0, rows, 200)]
    assert answer.to_pylist() == pa.Table.from_batches(few).to_pylist()


def test_what_was_answered_before_answers_nothing_else(engine, policies):
    """What a judge keeps from one batch to the next is asked again when policies, columns or lengths are others, or one is closed."""
    codes = [42, 0, 1] * 2000
    short, long = ({"exit_code": pa.array(codes * n, pa.int32())} for n in (1, 3))
    mapping = {"x": policies["a"]}
    judge = Judge(mapping, words="string")
    for policy, columns in ((policies["a"], short), (policies["a"], long), (policies["b"], short), (policies["a"], short)):
        mapping["x"] = policy
        names = pa.array(["x"] * len(columns["exit_code"]))
        expected = Judge({"x": policy}, words="string")(pa.record_batch({"policy": names, **columns}))
        assert judge(pa.record_batch({"policy": names, **columns})).equals(expected)
    containers = pa.array([None, "main"] * (len(codes) // 2))
    one = Judge(policies["two"])
    for columns in (short, {**short, "container": containers}, {**short, "oom_killed": pa.array([True] * len(codes))}, long):
        batch = pa.record_batch(columns)
        assert one(batch).equals(Judge(policies["two"])(batch))
    closing = engine.compile(pod("Always"))
    judge = Judge(closing)
    judge(pa.record_batch(short))
    closing.close()
    assert closing.closed
    with pytest.raises(podfate.PodfateError, match="closed"):
        judge(pa.record_batch(short))


def test_rows_that_make_no_sense_fail_alone(policies):
    judge = Judge(policies["a"])
    codes = pa.array([42, None, 2**31, -(2**31) - 1, 42], pa.int64())
    answer = judge(pa.record_batch({"exit_code": codes}))
    assert answer["action"].to_pylist() == ["Restart", None, None, None, "Restart"]
    assert answer["error"].to_pylist() == [None, "EVENT_INVALID", "EVENT_INVALID", "EVENT_INVALID", None]
    assert answer["pod_fails"].to_pylist() == [False, None, None, None, False]
    below = judge(pa.record_batch({"exit_code": [1, 1], "history": [0, -1], "ran_for_millis": [-1, 0]}))
    assert below["error"].to_pylist() == ["EVENT_INVALID"] * 2
    two = Judge(policies["two"])
    assert two(pa.record_batch({"exit_code": [1, 1], "container": ["log", None]}))["error"].to_pylist() == [None, "EVENT_INVALID"]


def test_columns_of_other_names_and_types(policies):
    judge = Judge(policies["b"], columns={"exit_code": "code", "container": "c"}, keep=["code"])
    answer = judge(pa.record_batch({"code": pa.array([0, 255], pa.uint8()), "c": pa.array(["main", "main"], pa.large_string())}))
    assert answer["action"].to_pylist() == ["Stop", "Restart"]
    assert answer["code"].to_pylist() == [0, 255]
    numbers = Judge({7: policies["a"], 8: policies["b"]})
    assert numbers(pa.record_batch({"policy": [8, 7, 9], "exit_code": [1, 1, 1]}))["action"].to_pylist() == ["Restart", "Stop", None]


@pytest.mark.parametrize(
    "batch, error, words",
    [
        ({"code": [1]}, ValueError, "no column 'exit_code'; its columns are code"),
        ({"exit_code": ["1"]}, TypeError, "'exit_code' has the type string; integers are wanted"),
        ({"exit_code": [1.5]}, TypeError, "'exit_code' has the type double; integers are wanted"),
        ({"exit_code": [1], "container": [3]}, TypeError, "'container' has the type int64; texts are wanted"),
        ({"exit_code": [1], "oom_killed": [1]}, TypeError, "'oom_killed' has the type int64; booleans are wanted"),
    ],
)
def test_a_batch_without_the_columns(policies, batch, error, words):
    with pytest.raises(error, match=words):
        Judge(policies["a"])(pa.record_batch(batch))


def test_arguments(policies):
    with pytest.raises(ValueError, match="no column 'policy'"):
        Judge(policies)(pa.record_batch({"exit_code": [1]}))
    with pytest.raises(ValueError, match="at least one"):
        Judge({})
    with pytest.raises(ValueError, match="known are policy, container"):
        Judge(policies, columns={"code": "c"})
    with pytest.raises(TypeError, match="a list of names"):
        Judge(policies, keep="pod")
    with pytest.raises(ValueError, match='"dictionary" or "string"'):
        Judge(policies, words="text")
    with pytest.raises(TypeError, match="not list"):
        Judge(policies["a"])([1])
    with pytest.raises(ValueError, match="no column 'pod'"):
        Judge(policies["a"], keep=["pod"])(pa.record_batch({"exit_code": [1]}))
    with pytest.raises(ValueError, match="no column 'c'"):
        Judge(policies["a"], columns={"container": "c"})(pa.record_batch({"exit_code": [1]}))


def test_it_is_sent_once_to_a_process(policies):
    judge = Judge({"a": policies["a"]})
    sent = pickle.dumps(judge)
    first, second = pickle.loads(sent), pickle.loads(sent)
    assert first is second
    batch = pa.record_batch({"policy": ["a"], "exit_code": [42]})
    assert first(batch).equals(judge(batch))
    for number in range(arrow.MAX_RECEIVED + 1):
        pickle.loads(pickle.dumps(Judge({str(number): policies["a"]})))
    assert len(arrow._judges) == arrow.MAX_RECEIVED
    assert pickle.loads(sent) is not first


def run(example, *arguments):
    done = subprocess.run([sys.executable, EXAMPLES / example, *arguments], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if line]


@pytest.fixture(scope="module")
def month(tmp_path_factory):
    file = tmp_path_factory.mktemp("history") / "month.parquet"
    run("history.py", str(file), "20000")
    return str(file)


def expected(policies_of, file):
    """What each policy and code comes to, row by row and by the way of JSON: {(policy, code): (action, rows)}."""
    import pyarrow.parquet

    policies, counts = policies_of, {}
    for row in pyarrow.parquet.read_table(file, columns=["policy", "exit_code"]).to_pylist():
        key = row["policy"], row["exit_code"]
        counts[key] = counts.get(key, 0) + 1
    return {key: (policies[key[0]].decide(podfate.Exit("main", key[1])).action, rows) for key, rows in counts.items()}


@pytest.mark.parametrize("name, packages", [("duckdb", ["duckdb"]), ("polars", ["polars"]), ("dask", ["dask"]), ("spark", ["pyspark", "pandas"])])
def test_examples_on_engines(engine, month, name, packages):
    for package in packages:
        pytest.importorskip(package, reason=f"{package} is not installed")
    sys.path.insert(0, str(EXAMPLES))
    import policies as of

    totals = {}
    for (policy, _), (action, rows) in expected(of.today(engine), month).items():
        totals[policy, action] = totals.get((policy, action), 0) + rows
    assert run(f"{name}_exits.py", month) == [f"{policy} {action} {rows}" for (policy, action), rows in sorted(totals.items())]


def test_last_month(engine, month):
    sys.path.insert(0, str(EXAMPLES))
    import policies as of

    before, after = expected(of.today(engine), month), expected(of.proposed(engine), month)
    differ = sorted((key, rows, action, after[key][0]) for key, (action, rows) in before.items() if action != after[key][0])
    assert [key for key, *_ in differ] == [("trainer", 42), ("trainer", 137)]
    lines = [f"{policy}  exit {code:3}  {action} -> {then}  {rows} exits" for (policy, code), rows, action, then in differ]
    assert run("last_month.py", month) == lines


def test_dictionaries_and_columns_of_nulls(policies):
    codes = pa.array([42, 1, 42])
    plain = pa.record_batch({"policy": ["a", "b", "a"], "container": ["main", None, None], "exit_code": codes, "oom_killed": [False, True, None]})
    names = pa.DictionaryArray.from_arrays(pa.array([2, 1, 1], pa.uint8()), pa.array(["other", None, "main"]))
    encoded = {"policy": plain["policy"].dictionary_encode(), "container": names, "exit_code": codes.dictionary_encode(), "oom_killed": plain["oom_killed"].dictionary_encode()}
    judge = Judge(policies)
    assert judge(pa.record_batch(encoded)).to_pylist() == judge(plain).to_pylist()
    assert judge(plain)["error"].to_pylist() == [None] * 3
    nothing = pa.nulls(2)
    times = {"ran_for_millis": nothing, "history": nothing, "oom_killed": nothing, "container": nothing}
    assert judge(pa.record_batch({"policy": ["a", "b"], "exit_code": [42, 0], **times}))["action"].to_pylist() == ["Restart", "Stop"]
    assert judge(pa.record_batch({"policy": nothing, "exit_code": [42, 0]}))["error"].to_pylist() == ["UNKNOWN_POLICY"] * 2
    assert judge(pa.record_batch({"policy": ["a", "b"], "exit_code": nothing}))["error"].to_pylist() == ["EVENT_INVALID"] * 2
    with pytest.raises(TypeError, match="podfate.Policy is wanted.*not dict"):
        Judge({"a": pod("Never")})
