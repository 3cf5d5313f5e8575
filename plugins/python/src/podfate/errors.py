"""What can go wrong. Every exception of this package is a :class:`PodfateError`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Mapping, Optional, Tuple


@dataclass(frozen=True)
class Fault:
    """One fault in a manifest or a request.

    path: from the manifest's root (``spec.containers[0].restartPolicy``), or from the request's root.
    code: stable, for programs. detail: for people. message: the exact text of the API server, where it has one.
    line, column: where it is in the JSON text that was sent, from 1; 0 if unknown.
    """

    path: str
    code: str
    detail: str = ""
    message: str = ""
    type: str = ""
    allowed: Tuple[str, ...] = ()
    line: int = 0
    column: int = 0

    @classmethod
    def _of(cls, value: Mapping[str, Any]) -> "Fault":
        return cls(
            path=value.get("path", ""),
            code=value.get("code", ""),
            detail=value.get("detail", ""),
            message=value.get("message", ""),
            type=value.get("type", ""),
            allowed=tuple(value.get("allowed", ())),
            line=value.get("line", 0),
            column=value.get("column", 0),
        )


class PodfateError(Exception):
    """What the module refused, or what is wrong with the module.

    code: that of the module (``MANIFEST_INVALID``), or ``DIGEST``, ``ABI``, ``TRAP``, ``MALFORMED`` of this package.
    num: the module's number for it, 0 for this package's own codes. path, offset, limit, faults: as the module
    gives them, else empty.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        num: int = 0,
        path: str = "",
        offset: Optional[int] = None,
        limit: str = "",
        faults: Tuple[Fault, ...] = (),
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.num = num
        self.path = path
        self.offset = offset
        self.limit = limit
        self.faults = faults

    def __reduce__(self) -> Tuple[Any, ...]:
        # Exception would be made again from its text alone: that fails, and a multiprocessing.Pool then waits forever.
        again = partial(type(self), num=self.num, path=self.path, offset=self.offset, limit=self.limit, faults=self.faults)
        return again, (self.code, self.message)


class PolicyError(PodfateError):
    """The manifest, the cluster or the JSON itself is not acceptable."""


class EventError(PodfateError):
    """An exit, a run or an event of the request is not acceptable."""


class LimitError(PodfateError):
    """The request is within the grammar and beyond a limit; ``limit`` names it."""


class TrapError(PodfateError):
    """A call ended its instance, or its answer broke a rule. The instance is dropped, the request not repeated."""


class ModuleError(PodfateError):
    """The file is not the expected module: other bytes (``DIGEST``) or another ABI (``ABI``)."""


# By number: the numbers are the ABI's, which only grow.
_CLASSES = {
    1: PolicyError,
    2: PolicyError,
    3: PolicyError,
    4: EventError,
    6: LimitError,
    8: PolicyError,
    9: TrapError,
    11: LimitError,
    12: LimitError,
}

_CODES = {
    1: "BAD_JSON",
    2: "BAD_UTF8",
    3: "MANIFEST_INVALID",
    4: "EVENT_INVALID",
    5: "UNKNOWN_HANDLE",
    6: "LIMIT_EXCEEDED",
    7: "UNSUPPORTED_OP",
    8: "UNSUPPORTED_VERSION",
    9: "INTERNAL",
    10: "BAD_BUFFER",
    11: "OUTPUT_TOO_SMALL",
    12: "BUDGET_EXCEEDED",
}


def from_payload(error: Mapping[str, Any], event: bool = False) -> PodfateError:
    """The exception for the object ``error`` of an error payload; event: the request was one, not a manifest."""
    num = error.get("num", 0)
    kind = EventError if event and num in (1, 2) else _CLASSES.get(num, PodfateError)
    return kind(
        error.get("code", "INTERNAL"),
        error.get("message", ""),
        num=num,
        path=error.get("path", ""),
        offset=error.get("offset"),
        limit=error.get("limit", ""),
        faults=tuple(Fault._of(f) for f in error.get("faults", ())),
    )


def from_number(num: int, message: str) -> PodfateError:
    """The exception for a negated error number that a function without payload returned."""
    return _CLASSES.get(num, PodfateError)(_CODES.get(num, "INTERNAL"), message, num=num)
