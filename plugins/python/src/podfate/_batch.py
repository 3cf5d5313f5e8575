"""Packed batches: the records of the ABI, as named tuples or as NumPy structured arrays. The layout is the ABI's, version 1."""

from __future__ import annotations

import struct
from typing import Any, Iterable, Iterator, List, NamedTuple, Optional, Tuple

#: What a number of 16 bits says when there is nothing to name.
NONE = 0xFFFF

# Flags of events.
OOM_KILLED, HISTORY, MORE, RESTARTS = 1, 2, 4, 8
# Flags of verdicts.
POD_FAILS, UNDECIDED, COUNTED, MORE_FOLLOWS = 1, 2, 4, 8

# The words of the numbers in a verdict, append-only.
ACTIONS = (
    "",
    "Restart",
    "RestartAllContainers",
    "Stop",
    "FailJob",
    "FailIndex",
    "Ignore",
    "Count",
    "Complete",
    "Terminate",
    "TerminatePod",
    "RestartPod",
)
LEVELS = ("", "rule", "container", "pod", "default", "limit")
REASONS = (
    "",
    "rule_matched",
    "policy_always",
    "policy_on_failure_failed",
    "policy_on_failure_succeeded",
    "policy_never",
    "unknown_pod_policy",
    "sidecar_always_restarts",
    "init_completed",
    "init_retried",
    "ephemeral_never_restarts",
    "unknown_action",
    "unknown_operator",
    "no_rule_matched",
    "managed_by",
    "policy_always_pod",
    "restart_limit_reached",
)
IGNORED = ("", "unknown_action", "gate_off", "sidecar", "init_completed", "no_policy", "restart_limit")

#: Records in one call of the module.
MAX_RECORDS = 65536

_HEADER = struct.Struct("<4sHHIIQ")
_EVENT = struct.Struct("<iHHIIqQ")
_ANSWER = struct.Struct("<4sHHII")
_VERDICT = struct.Struct("<BBHBBBBqHHI")

HEADER_BYTES, EVENT_BYTES = _HEADER.size, _EVENT.size
ANSWER_BYTES, VERDICT_BYTES = _ANSWER.size, _VERDICT.size

_EVENT_FIELDS: Any = {
    "names": ["exit_code", "container", "flags", "history", "tag", "ran_for_millis", "conditions"],
    "formats": ["<i4", "<u2", "<u2", "<u4", "<u4", "<i8", "<u8"],
    "offsets": [0, 4, 6, 8, 12, 16, 24],
    "itemsize": 32,
}
_VERDICT_FIELDS: Any = {
    "names": ["action", "status", "rule", "reason", "level", "ignored", "flags", "wait_millis", "container", "condition", "tag"],
    "formats": ["u1", "u1", "<u2", "u1", "u1", "u1", "u1", "<i8", "<u2", "<u2", "<u4"],
    "offsets": [0, 1, 2, 4, 5, 6, 7, 8, 16, 18, 20],
    "itemsize": 24,
}


class Event(NamedTuple):
    """One record. Numbers only; the fields are those of the array of :func:`event_dtype`.

    container: its position in ``Policy.containers``; NONE for the only main container of the Pod, or, in a failed Pod, for one that
    the manifest does not have. flags: OOM_KILLED, HISTORY, MORE, RESTARTS. history: restarts since the back-off began anew (failures
    in a row for a Pod), read with HISTORY only. tag: the caller's, repeated in the verdict. ran_for_millis: how long the container
    ran, from 0. conditions: a bit for each position in ``Policy.conditions``; failed Pods only. Of an exit
    with RESTARTS the restartCount of its container, and in the upper half the sum of all: rules of proposals ask for them.
    """

    exit_code: int
    container: int = NONE
    flags: int = 0
    history: int = 0
    tag: int = 0
    ran_for_millis: int = 0
    conditions: int = 0


class Verdict(NamedTuple):
    """The answer to one :class:`Event`.

    action: its word, "" for none. status: 0, or the number of the error that the event is. rule: None for none. wait_millis: how long
    the back-off lasts; None if nothing is started or the history was not given. flags: POD_FAILS, UNDECIDED, COUNTED,
    MORE_FOLLOWS. container, condition: what was judged and matched, None for none.
    """

    action: str
    status: int
    rule: Optional[int]
    reason: str
    level: str
    ignored: str
    flags: int
    wait_millis: Optional[int]
    container: Optional[int]
    condition: Optional[int]
    tag: int


def event_dtype() -> Any:
    """The NumPy dtype of events. Needs NumPy."""
    import numpy

    return numpy.dtype(_EVENT_FIELDS)


def verdict_dtype() -> Any:
    """The NumPy dtype of verdicts. Needs NumPy."""
    import numpy

    return numpy.dtype(_VERDICT_FIELDS)


def header(count: int, pods: bool) -> bytes:
    return _HEADER.pack(b"PFB1", 1, EVENT_BYTES, count, int(pods), 0)


def check_answer(head: bytes, count: int) -> None:
    """Raises ValueError if head is not the head of an answer to count events."""
    magic, version, size, answered, _ = _ANSWER.unpack(head)
    if (magic, version, size, answered) != (b"PFR1", 1, VERDICT_BYTES, count):
        raise ValueError("not the answer to this batch")


def pack(events: Iterable[Event]) -> bytes:
    """The records of events. Raises EventError for a number that its field cannot hold, and TypeError for what is no event."""
    if hasattr(events, "columns"):  # pandas, polars and their like; iterating would give the names of the columns
        raise TypeError(
            "a data frame is no batch: make an array, events = numpy.zeros(len(frame), podfate.event_dtype()), and fill its columns, "
            'events["exit_code"] = frame["exit_code"] and events["container"] = podfate.NONE'
        )
    events = list(events)
    try:
        return b"".join([_EVENT.pack(*event) for event in events])
    except (struct.error, TypeError):
        for place, event in enumerate(events):
            _judge(place, event)
        raise


def _judge(place: int, event: Any) -> None:
    """Raises the error of one event, if it has one."""
    from .errors import EventError  # here: the words above are read without the package, too

    if not isinstance(event, tuple) or len(event) != len(Event._fields):
        raise TypeError(f"events[{place}]: a podfate.Event is wanted, or its {len(Event._fields)} numbers, not {type(event).__name__} {event!r:.80}")
    for name, number, form in zip(Event._fields, event, "iHHIIqQ"):
        try:
            struct.pack(f"<{form}", number)
        except struct.error:
            path = f"events[{place}].{name}"
            if not hasattr(type(number), "__index__"):
                raise TypeError(f"{path}: a whole number is wanted, not {type(number).__name__} {number!r:.80}") from None
            bits, signed = 8 * struct.calcsize(f"<{form}"), form.islower()
            least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
            text = f"{path}: {number} is not from {least} to {most}"
            raise EventError("EVENT_INVALID", text, num=4, path=path) from None


def unpack(records: bytes) -> List[Verdict]:
    """The verdicts in records. A number that a newer module has given, and this package no word for, becomes its digits."""
    return [
        Verdict(
            _word(ACTIONS, action),
            status,
            _number(rule),
            _word(REASONS, reason),
            _word(LEVELS, level),
            _word(IGNORED, ignored),
            flags,
            None if wait < 0 else wait,
            _number(container),
            _number(condition),
            tag,
        )
        for action, status, rule, reason, level, ignored, flags, wait, container, condition, tag in _VERDICT.iter_unpack(records)
    ]


def _word(words: Tuple[str, ...], number: int) -> str:
    return words[number] if number < len(words) else str(number)


def _number(n: int) -> Optional[int]:
    return None if n == NONE else n


def slices(records: memoryview, pods: bool) -> Iterator[memoryview]:
    """Cuts records into calls of the module, at least one; those of one failed Pod stay together."""
    count = len(records) // EVENT_BYTES
    start = 0
    while True:
        end = min(start + MAX_RECORDS, count)
        if pods and end < count:
            while end > start and records[(end - 1) * EVENT_BYTES + 6] & MORE:
                end -= 1
            if end == start:  # one Pod of more records than a call takes: the module says so
                end = min(start + MAX_RECORDS + 1, count)
        yield records[start * EVENT_BYTES : end * EVENT_BYTES]
        if end == count:
            return
        start = end
