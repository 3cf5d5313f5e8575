"""The engine: a compiled module, a bounded pool of instances, and policies that survive the loss of one."""

from __future__ import annotations

import hashlib
import itertools
import json
import operator
import os
import threading
import weakref
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union, overload

import wasmtime

from . import _batch
from ._cache import Cache, compiled
from ._instance import MAX_IDLE_BYTES, Instance
from ._request import encode
from ._types import Decision, Decisions, Exit, Explanation, Validation
from .errors import ModuleError, PodfateError, TrapError, from_number, from_payload

if TYPE_CHECKING:
    import numpy

#: Numbers of the operations. They never change; :meth:`Engine.describe` lists those of a module.
OPERATIONS = {
    "describe": 1,
    "validate": 2,
    "decide": 3,
    "simulate": 4,
    "curve": 5,
    "explain": 6,
    "table": 7,
    "compare": 8,
    "suggest": 9,
    "translate": 10,
    "fleet": 11,
}

_HERE = Path(__file__).parent

Manifest = Mapping[str, Any]
Cluster = Mapping[str, Any]


class Answer(NamedTuple):
    """The answer's bytes, and whether they are an error payload."""

    bytes: bytes
    failed: bool

    def json(self) -> Dict[str, Any]:
        value: Dict[str, Any] = json.loads(self.bytes)
        return value


class _Settings(NamedTuple):
    """What an engine is pickled as. module: None for the package's own, or its bytes, or an absolute path."""

    sha256: str
    instances: int
    wait: Optional[float]
    module: Union[None, str, bytes]
    cache: Union[None, bool, str]


def _sendable(module: Union[None, str, "os.PathLike[str]", bytes]) -> Union[None, str, bytes]:
    return module if module is None or isinstance(module, bytes) else os.path.abspath(os.fspath(module))


#: Engines that came from other processes, or from pickles of this one, the latest last.
_engines: Dict[_Settings, "Engine"] = {}
_engines_lock = threading.Lock()

#: How many of them a process keeps alive when nobody uses them.
MAX_RECEIVED = 4


def _received(settings: _Settings) -> "Engine":
    """The engine of this process for what was pickled."""
    with _engines_lock:
        engine = _engines.get(settings)
        if engine is None:
            sha256, instances, wait, module, cache = settings
            engine = Engine(instances=instances, wait=wait, module=module, sha256=sha256, cache=cache)
            while len(_engines) >= MAX_RECEIVED:
                del _engines[next(iter(_engines))]
            _engines[settings] = engine
        return engine


class Engine:
    """Podfate's module, ready to answer. Safe to use from any number of threads.

    instances: how many calls may run at once, 1 or more; a further caller waits up to ``wait`` seconds, forever by
    default, and then gets :class:`TimeoutError`. Calls leave Python's lock, so instances do run in parallel.

    module: path or bytes of another policy.wasm; ``sha256`` (64 lower-case hexadecimal digits) is then required, and
    other bytes are refused before they are compiled.

    The module is compiled once per process. cache says where compiled code is kept, which saves a second at each start: True in
    this user's own folder for such things (``~/.cache/podfate`` on Linux), or nowhere if others could write there; None or
    False nowhere; or a folder, which must belong to this user and be closed to others, because what lies there is run.

    An engine pickles as the digest of its module and these settings, so that multiprocessing, Spark, Ray or Dask can send it.
    In each process there is one for all that are sent with the same settings.
    """

    def __init__(
        self,
        *,
        instances: int = 4,
        wait: Optional[float] = None,
        module: Union[None, str, "os.PathLike[str]", bytes] = None,
        sha256: Optional[str] = None,
        cache: Cache = True,
    ) -> None:
        if instances < 1:
            raise ValueError("an engine needs at least one instance")
        if wait is not None and not wait >= 0:
            raise ValueError("wait is a number of seconds from 0 on, or None")
        if module is None:
            file = (_HERE / "policy.wasm").read_bytes()
            expected = sha256 or (_HERE / "policy.wasm.sha256").read_text().split()[0]
        elif sha256 is None:
            raise ValueError("another module needs its sha256")
        else:
            file = module if isinstance(module, bytes) else Path(module).read_bytes()
            expected = sha256
        digest = hashlib.sha256(file).hexdigest()
        if digest != expected:
            raise ModuleError("DIGEST", f"the module has the SHA-256 {digest}, not {expected}")
        #: SHA-256 of the module, 64 lower-case hexadecimal digits.
        self.sha256 = digest
        #: Size of the module in bytes.
        self.size = len(file)
        self._settings = _Settings(digest, instances, wait, _sendable(module), cache if isinstance(cache, bool) or cache is None else os.fspath(cache))
        self._wasmtime, self._module = compiled(file, digest, cache)
        self._wait = None if wait is None else min(wait, threading.TIMEOUT_MAX)
        self._room = threading.BoundedSemaphore(instances)
        self._lock = threading.Lock()
        self._policies = itertools.count(1)
        self._live: set[int] = set()  # policies that are neither closed nor forgotten
        self._idle: List[Instance] = [Instance(self._wasmtime, self._module)]  # a wrong module is refused here

    def __reduce__(self) -> Tuple[Any, ...]:
        return _received, (self._settings,)

    @contextmanager
    def _instance(self) -> Iterator[Instance]:
        """Lends an instance to one caller. It comes back only if nothing went wrong with it."""
        if not self._room.acquire(timeout=self._wait):
            raise TimeoutError("all instances are busy")
        try:
            with self._lock:
                instance = self._idle.pop() if self._idle else None
            if instance is None:
                instance = Instance(self._wasmtime, self._module)
            try:
                yield instance
            except TrapError:
                raise
            except PodfateError:
                self._give_back(instance)  # refused in an orderly way
                raise
            else:
                self._give_back(instance)
        finally:
            self._room.release()

    def _give_back(self, instance: Instance) -> None:
        for policy in [p for p in instance.handles if p not in self._live]:
            handle, _ = instance.handles.pop(policy)
            instance.run("pf_release", handle)
        if instance.memory_bytes <= MAX_IDLE_BYTES:
            with self._lock:
                self._idle.append(instance)

    def call(self, operation: Union[str, int], request: Union[Mapping[str, Any], bytes] = b"{}") -> Answer:
        """Runs one operation, by name or number, on a request: a mapping, or the bytes of a JSON text.

        An error payload is an answer here. Raises :class:`TrapError` if the module failed (its instance is dropped and
        the request not repeated), :class:`LimitError` for a request without room, and ValueError for a name that is none.
        """
        number = OPERATIONS.get(operation) if isinstance(operation, str) else operator.index(operation)
        if number is None or not 0 <= number < 1 << 32:  # wasmtime would take the lower 32 bits of a larger one
            raise ValueError(f"no operation is called {operation!r}")
        with self._instance() as instance:
            return _checked(*instance.ask("pf_call", (number,), encode(request)))

    def describe(self) -> Dict[str, Any]:
        """What the module knows: versions, gates, operations, limits, and the file that was loaded."""
        return self._ask("describe", {"module": {"sha256": self.sha256, "bytes": self.size}})

    def validate(self, manifest: Manifest, *, cluster: Optional[Cluster] = None, **request: Any) -> Validation:
        """Would the API server accept the manifest? Faults are the answer, not an exception.

        cluster: ``{"version": "1.36", "featureGates": {…}}``; the newest release with its default gates if left out.
        Further members of the request (``fieldValidation`` …) are passed on.
        """
        return Validation._of(self._ask("validate", _request(manifest, cluster, request)))

    def decide(
        self,
        manifest: Manifest,
        exits: Iterable[Union[Exit, Mapping[str, Any]]] = (),
        *,
        pods: Optional[Sequence[Mapping[str, Any]]] = None,
        cluster: Optional[Cluster] = None,
        **request: Any,
    ) -> Decisions:
        """What happens after each exit, and, for a Job, about each of pods (as ``kubectl get pods -o json`` has them)?"""
        request = _request(manifest, cluster, request)
        exits = [e.request() if isinstance(e, Exit) else e for e in exits]
        if exits or pods is None:
            request["exits"] = exits
        if pods is not None:
            request["pods"] = pods
        return Decisions._of(self._ask("decide", request))

    def simulate(self, manifest: Manifest, *, cluster: Optional[Cluster] = None, **request: Any) -> Dict[str, Any]:
        """The whole timeline of ``runs`` and ``events`` until ``until``; members as the schema of simulate names them."""
        return self._ask("simulate", _request(manifest, cluster, request))

    def curve(self, **request: Any) -> Dict[str, Any]:
        """When restarts come, for any back-off setting; members as the schema of curve names them."""
        return self._ask("curve", request)

    def explain(self, of: str, request: Optional[Mapping[str, Any]] = None, *, text: bool = True) -> Explanation:
        """Another operation in words and figures: its answer, and a document to paint.

        ``print`` shows the document as text, which ``text=False`` leaves out; a notebook shows it with colours and drawings.
        A request that the operation refuses is an answer here: ``answer`` then holds ``error``.
        """
        return Explanation(self._ask("explain", {"of": of, "request": dict(request or {}), "text": text}))

    def table(self, manifest: Manifest, *, cluster: Optional[Cluster] = None, **request: Any) -> Dict[str, Any]:
        """What does every exit code lead to, for the container and for its Job? Members as its schema names them."""
        return self._ask("table", _request(manifest, cluster, request))

    def compare(self, of: str, request: Mapping[str, Any], variants: Sequence[Mapping[str, Any]], **more: Any) -> Dict[str, Any]:
        """Two to eight variants of a request: where do their answers differ? request is one of the operation ``of``, variants are {name, patch} or {name, manifest}."""
        return self._ask("compare", {"of": of, "request": dict(request), "variants": list(variants), **more})

    def suggest(self, manifest: Manifest, *, cluster: Optional[Cluster] = None, **request: Any) -> Dict[str, Any]:
        """The smallest edits that change the outcome of an exit, or the shortest policy that does what is wished. Members as its schema names them."""
        return self._ask("suggest", _request(manifest, cluster, request))

    def translate(self, manifest: Manifest, *, cluster: Optional[Cluster] = None, **request: Any) -> Dict[str, Any]:
        """The same policy written for a draft, a proposal or a release, and what is lost on the way. Members as its schema names them."""
        return self._ask("translate", _request(manifest, cluster, request))

    def fleet(self, **request: Any) -> Dict[str, Any]:
        """What many Pods on many nodes cost, calculated. Members as its schema names them."""
        return self._ask("fleet", request)

    def compile(self, manifest: Manifest, *, cluster: Optional[Cluster] = None, **request: Any) -> "Policy":
        """Compiles a manifest once, for many decisions."""
        return Policy(self, _request(manifest, cluster, request))

    def _ask(self, operation: str, request: Mapping[str, Any]) -> Dict[str, Any]:
        answer = self.call(operation, request)
        value = answer.json()
        if answer.failed:
            raise from_payload(value["error"])
        return value


class Policy:
    """A compiled manifest. Made by :meth:`Engine.compile`; safe to use from any number of threads.

    Each instance compiles the manifest at its first use, so a policy outlives the instances that a trap destroys.
    Use it as a context manager, or call :meth:`close`, to free its handles.

    It pickles as its request and its engine (see there), and so can be sent to other processes.
    """

    def __init__(self, engine: Engine, request: Union[Mapping[str, Any], bytes]) -> None:
        self._engine = engine
        self._source = encode(request)
        self._id = next(engine._policies)
        engine._live.add(self._id)
        weakref.finalize(self, engine._live.discard, self._id)  # a forgotten policy is as good as a closed one
        with engine._instance() as instance:
            _, compiled = self._handle(instance)
        value = json.loads(compiled)
        #: Names of the containers; a record of a batch has the position in this list.
        self.containers: Tuple[str, ...] = tuple(value["containers"])
        #: Types and statuses of conditions that the policy asks about; bit i of an event's mask stands for the i-th.
        self.conditions: Tuple[Tuple[str, str], ...] = tuple((c["type"], c["status"]) for c in value["conditions"])
        #: All that pf_compile answered.
        self.raw: Mapping[str, Any] = value

    def _handle(self, instance: Instance) -> Tuple[int, bytes]:
        if self.closed:  # asked first: the instance may not have let go of its handle yet
            raise _closed()
        known = instance.handles.get(self._id)
        if known is None:
            answer = _checked(*instance.ask("pf_compile", (), self._source))
            if answer.failed and answer.json()["error"].get("limit") in ("handles", "handleBytes") and instance.handles:
                for handle, _ in instance.handles.values():  # of other policies, which compile again when they are used
                    instance.run("pf_release", handle)
                instance.handles.clear()
                answer = _checked(*instance.ask("pf_compile", (), self._source))
            if answer.failed:
                raise from_payload(answer.json()["error"])
            known = answer.json()["handle"], answer.bytes
            instance.handles[self._id] = known
        return known

    def __reduce__(self) -> Tuple[Any, ...]:
        if self.closed:
            raise _closed()
        return Policy, (self._engine, self._source)

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._id not in self._engine._live

    def close(self) -> None:
        """Ends the policy. Each instance frees its handle when it comes back from its next call."""
        self._engine._live.discard(self._id)

    def __enter__(self) -> "Policy":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def eval(self, event: Union[Exit, Mapping[str, Any], bytes]) -> Answer:
        """One event against the policy; the answer's bytes as the module gives them, an error payload included."""
        if isinstance(event, Exit):
            event = event.request()
        with self._engine._instance() as instance:
            handle, _ = self._handle(instance)
            return _checked(*instance.ask("pf_eval", (handle,), encode(event)))

    def decide(self, exit: Union[Exit, Mapping[str, Any]]) -> Decision:
        """What happens after one exit?"""
        answer = self.eval(exit)
        value = answer.json()
        if answer.failed:
            raise from_payload(value["error"], event=True)
        return Decision._of(value)

    @overload
    def batch(self, events: numpy.ndarray[Any, Any], *, pods: bool = False) -> numpy.ndarray[Any, Any]: ...

    @overload
    def batch(self, events: Iterable[_batch.Event], *, pods: bool = False) -> List[_batch.Verdict]: ...

    def batch(self, events: Any, *, pods: bool = False) -> Any:
        """Many events at once, without JSON; any number of them.

        events: a NumPy array with :func:`podfate.event_dtype`, of any shape and strides, and then the answer is a read-only
        array of one dimension with :func:`podfate.verdict_dtype`; or an iterable of :class:`podfate.Event`, and then it is a list of
        :class:`podfate.Verdict`. An invalid event fails alone: its verdict has a status.

        pods: the events are those of failed Pods of a Job: one for each terminated container, containerStatuses before
        initContainerStatuses, all but the last of a Pod with the flag MORE; the verdict is with the last.
        """
        array = hasattr(events, "dtype")
        if array:
            import numpy

            if events.dtype != _batch.event_dtype():
                raise TypeError(f"the array has the dtype {events.dtype}, not that of podfate.event_dtype()")
            records = numpy.ascontiguousarray(events).reshape(-1).view(numpy.uint8).data
        else:
            records = memoryview(_batch.pack(events))
        parts = [self._batch(part, pods) for part in _batch.slices(records, pods)]
        answer = parts[0] if len(parts) == 1 else b"".join(parts)
        return numpy.frombuffer(answer, _batch.verdict_dtype()) if array else _batch.unpack(answer)

    def _batch(self, records: memoryview, pods: bool) -> bytes:
        count = len(records) // _batch.EVENT_BYTES
        size = _batch.HEADER_BYTES + len(records)
        room = _batch.ANSWER_BYTES + count * _batch.VERDICT_BYTES
        with self._engine._instance() as instance:
            handle, _ = self._handle(instance)
            source = instance.put("events", _batch.header(count, pods), records)
            target = instance.reserve("verdicts", room)
            answered = instance.run("pf_eval_batch", handle, source, size, target, room)
            if answered < 0:
                raise from_number(-answered, f"a batch of {count} events")
            if target + room > instance.memory_bytes:
                raise TrapError("MALFORMED", "a buffer lies outside the module's memory")
            try:
                _batch.check_answer(instance.read(target, _batch.ANSWER_BYTES), count)
            except ValueError as cause:
                raise TrapError("MALFORMED", str(cause)) from None
            return instance.read(target + _batch.ANSWER_BYTES, room - _batch.ANSWER_BYTES)


def _closed() -> PodfateError:
    return PodfateError("UNKNOWN_HANDLE", "the policy is closed", num=5)


def _request(manifest: Manifest, cluster: Optional[Cluster], more: Dict[str, Any]) -> Dict[str, Any]:
    request: Dict[str, Any] = {"manifest": manifest, **more}
    if cluster is not None:
        request["cluster"] = cluster
    return request


def _checked(answer: bytes, failed: bool) -> Answer:
    """What the module returned, if it has the shape of an answer."""
    try:
        text = answer.decode("utf-8")
    except UnicodeDecodeError:
        raise TrapError("MALFORMED", "the answer is not UTF-8") from None
    if not (text.startswith("{") and text.endswith("}")) or failed != text.startswith('{"error":{"code":"'):
        raise TrapError("MALFORMED", "the answer is not an answer")
    if failed and text.startswith('{"error":{"code":"INTERNAL"'):
        raise TrapError("INTERNAL", json.loads(text)["error"]["message"], num=9)  # a broken invariant: not to be trusted
    return Answer(answer, failed)
