"""What will Kubernetes do when this container exits?

    >>> import podfate
    >>> engine = podfate.Engine()
    >>> pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
    ...        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]}}
    >>> engine.decide(pod, [podfate.Exit("main", 42)]).decisions[0].action
    'Stop'

The answers come from policy.wasm, the module that answers everywhere else too; this package loads it on wasmtime.
Requests and answers have the JSON of the HTTP API and of the command line.
"""

__version__ = "0.1.0"

from ._batch import (
    ACTIONS,
    COUNTED,
    HISTORY,
    IGNORED,
    LEVELS,
    MORE,
    MORE_FOLLOWS,
    NONE,
    OOM_KILLED,
    POD_FAILS,
    REASONS,
    RESTARTS,
    UNDECIDED,
    Event,
    Verdict,
    event_dtype,
    verdict_dtype,
)
from ._engine import OPERATIONS, Answer, Engine, Policy
from ._types import DecidedBy, Decision, Decisions, Exit, Explanation, PodDecision, Step, Validation
from .errors import EventError, Fault, LimitError, ModuleError, PodfateError, PolicyError, TrapError

__all__ = [
    "ACTIONS",
    "COUNTED",
    "HISTORY",
    "IGNORED",
    "LEVELS",
    "MORE",
    "MORE_FOLLOWS",
    "NONE",
    "OOM_KILLED",
    "OPERATIONS",
    "POD_FAILS",
    "REASONS",
    "RESTARTS",
    "UNDECIDED",
    "Answer",
    "DecidedBy",
    "Decision",
    "Decisions",
    "Engine",
    "Event",
    "EventError",
    "Exit",
    "Explanation",
    "Fault",
    "LimitError",
    "ModuleError",
    "PodDecision",
    "PodfateError",
    "Policy",
    "PolicyError",
    "Step",
    "TrapError",
    "Validation",
    "Verdict",
    "__version__",
    "event_dtype",
    "verdict_dtype",
]
