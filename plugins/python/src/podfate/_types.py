"""What goes in and what comes out, as frozen dataclasses. ``raw`` of an answer holds all that the module said."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Tuple

from . import _html
from .errors import Fault


@dataclass(frozen=True)
class Exit:
    """One end of a container. exit_code: any 32-bit integer. reason: as the kubelet writes it, e.g. ``OOMKilled``.

    restarts: how often the container was restarted since its back-off began anew. ran_for_millis: how long it ran. With both a restart
    has a delay; for :meth:`Policy.decide` only.
    """

    container: str
    exit_code: int
    reason: str = ""
    restarts: Optional[int] = None
    ran_for_millis: Optional[int] = None

    def request(self) -> Dict[str, Any]:
        """The member of ``exits`` for this exit."""
        value: Dict[str, Any] = {"container": self.container, "exitCode": self.exit_code}
        if self.reason:
            value["reason"] = self.reason
        if self.restarts is not None:
            value["restarts"] = self.restarts
        if self.ran_for_millis is not None:
            value["ranForMillis"] = self.ran_for_millis
        return value


@dataclass(frozen=True)
class DecidedBy:
    """The part of the manifest that decided. level: rule, container, pod or default. rule: its index, else None."""

    level: str
    path: str
    rule: Optional[int] = None


@dataclass(frozen=True)
class Step:
    """One thing that was looked at. result: matched, not_matched, skipped or not_reached; code: why."""

    path: str
    result: str
    code: str
    ignored: str = ""


@dataclass(frozen=True)
class Decision:
    """What the kubelet does about one exit.

    action: Restart, RestartAllContainers or Stop; None where the module does not know, and then ``undecided`` is its
    reason and ``undecided_path`` the place in the manifest. delay_millis: how long the back-off waits before the restart; None
    without one, or where the exit had no history.
    """

    container: str
    exit_code: int
    action: Optional[str]
    because: str = ""
    decided_by: Optional[DecidedBy] = None
    undecided: str = ""
    undecided_path: str = ""
    pod_fails: bool = False
    delay_millis: Optional[int] = None
    trace: Tuple[Step, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def _of(cls, value: Mapping[str, Any]) -> "Decision":
        by = value.get("decidedBy")
        undecided = value.get("undecided", {})
        return cls(
            container=value["container"],
            exit_code=value["exitCode"],
            action=value.get("action"),
            because=value.get("because", ""),
            decided_by=DecidedBy(by["level"], by["path"], by.get("rule")) if by else None,
            undecided=undecided.get("reason", ""),
            undecided_path=undecided.get("path", ""),
            pod_fails=value.get("podFails", False),
            delay_millis=value.get("delayMillis"),
            trace=tuple(Step(s["path"], s["result"], s["code"], s.get("ignored", "")) for s in value.get("trace", ())),
            raw=value,
        )


@dataclass(frozen=True)
class PodDecision:
    """What the Job controller does about one pod. action: FailJob, FailIndex, Ignore or Count; None if not judged."""

    pod: str
    action: Optional[str]
    rule: Optional[int] = None
    counted: bool = False
    message: str = ""
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def _of(cls, value: Mapping[str, Any]) -> "PodDecision":
        return cls(
            pod=value.get("pod", ""),
            action=value.get("action"),
            rule=value.get("rule"),
            counted=value.get("counted", False),
            message=value.get("message", ""),
            raw=value,
        )


@dataclass(frozen=True)
class Validation:
    """Would the API server accept the manifest? faults in its order; raw has what it drops and the warnings."""

    valid: bool
    faults: Tuple[Fault, ...]
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def warnings(self) -> List[Mapping[str, Any]]:
        """What the API server accepts and still cannot work: path, code, detail."""
        return list(self.raw.get("warnings", ()))

    @property
    def dropped(self) -> List[Mapping[str, Any]]:
        """Fields that a disabled feature gate silently removes: path, gate."""
        return list(self.raw.get("dropped", ()))

    @classmethod
    def _of(cls, value: Mapping[str, Any]) -> "Validation":
        return cls(value["valid"], tuple(Fault._of(f) for f in value["faults"]), value)


@dataclass(frozen=True)
class Decisions:
    """The answer of decide: one decision for each exit, one for each pod, in the order of the request."""

    decisions: Tuple[Decision, ...]
    pod_decisions: Tuple[PodDecision, ...]
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def _of(cls, value: Mapping[str, Any]) -> "Decisions":
        return cls(
            tuple(Decision._of(d) for d in value.get("decisions", ())),
            tuple(PodDecision._of(d) for d in value.get("podDecisions", ())),
            value,
        )


class Explanation(Dict[str, Any]):
    """The answer of explain, a dictionary with ``answer``, ``document`` and ``text``. Printed it is the text; in a notebook it paints itself."""

    @property
    def text(self) -> str:
        """The document as plain text, drawings left out; "" if it was not asked for."""
        text: str = self.get("text", "")
        return text

    def __str__(self) -> str:
        return self.text or super().__str__()

    def _repr_html_(self) -> str:
        return _html.page(self["document"])
