"""One instance of the module: raw calls, bounds, and what becomes of a trap. Not for users of the package."""

from __future__ import annotations

import ctypes
from typing import Dict, Tuple, Union

import wasmtime

from .errors import LimitError, ModuleError, TrapError

ABI_MAJOR = 1

# The exports of the ABI with parameters and results as wasmtime spells them.
EXPORTS = {
    "_initialize": ((), ()),
    "pf_abi_version": ((), ("i32",)),
    "pf_alloc": (("i32",), ("i32",)),
    "pf_free": (("i32",), ("i32",)),
    "pf_call": (("i32", "i32", "i32"), ("i64",)),
    "pf_compile": (("i32", "i32"), ("i64",)),
    "pf_release": (("i32",), ("i32",)),
    "pf_eval": (("i32", "i32", "i32"), ("i64",)),
    "pf_eval_batch": (("i32", "i32", "i32", "i32", "i32"), ("i32",)),
    "pf_reset": ((), ("i32",)),
}

MIN_BUFFER_BYTES = 4096

# Linear memory never shrinks: an instance beyond this is replaced after its call.
MAX_IDLE_BYTES = 16 << 20

# The longest answer of the ABI. A longer one is a wrong pointer, not an answer.
MAX_ANSWER_BYTES = 4 << 20


class Instance:
    """A live instance with its own memory. One caller at a time: :class:`podfate.Engine` sees to that."""

    def __init__(self, engine: wasmtime.Engine, module: wasmtime.Module) -> None:
        self._store = wasmtime.Store(engine)
        try:
            exports = wasmtime.Instance(self._store, module, []).exports(self._store)
        except (wasmtime.WasmtimeError, wasmtime.Trap) as cause:
            raise ModuleError("ABI", "the module cannot be started without imports") from cause
        self._functions: Dict[str, wasmtime.Func] = {}
        for name, (parameters, results) in EXPORTS.items():
            function = exports.get(name)
            if not isinstance(function, wasmtime.Func):
                raise ModuleError("ABI", f"the module does not export {name}")
            kind = function.type(self._store)
            if tuple(map(str, kind.params)) != parameters or tuple(map(str, kind.results)) != results:
                raise ModuleError("ABI", f"{name} of the module has another signature")
            self._functions[name] = function
        memory = exports.get("memory")
        if not isinstance(memory, wasmtime.Memory):
            raise ModuleError("ABI", "the module does not export memory")
        self._memory = memory
        # Where the module says what it printed before a trap; a module without it is only less talkative.
        self._diagnostic = [g for g in map(exports.get, ("pf_diag", "pf_diag_len")) if isinstance(g, wasmtime.Global)]
        self._buffers: Dict[str, Tuple[int, int]] = {}  # purpose -> (address, bytes)
        self.handles: Dict[int, Tuple[int, bytes]] = {}  # policy -> (handle, what pf_compile answered)
        self.run("_initialize")
        version = self.run("pf_abi_version") & 0xFFFFFFFF
        if version >> 16 != ABI_MAJOR:
            raise ModuleError("ABI", f"the module has ABI {version >> 16}.{version & 0xFFFF}, this package needs {ABI_MAJOR}")

    @property
    def memory_bytes(self) -> int:
        return self._memory.data_len(self._store)

    def run(self, name: str, *arguments: int) -> int:
        """Calls an export. A trap becomes a :class:`TrapError`; the instance must not be used after it."""
        try:
            result: int = self._functions[name](self._store, *arguments)
            return result
        except (wasmtime.Trap, wasmtime.WasmtimeError) as cause:
            raise TrapError("TRAP", f"the module ended {name}: {self._first_line(cause)}") from cause

    def ask(self, name: str, before: Tuple[int, ...], request: bytes) -> Tuple[bytes, bool]:
        """Puts request into the module, calls ``name(*before, pointer, length)``, and copies the answer out.

        Returns the answer's bytes and whether they are an error payload.
        """
        pointer = self.put("request", request)
        word = self.run(name, *before, pointer, len(request)) & 0xFFFFFFFFFFFFFFFF
        start, length = word >> 32, word & 0x7FFFFFFF
        if not 0 < length <= MAX_ANSWER_BYTES or start + length > self.memory_bytes:
            raise TrapError("MALFORMED", f"an answer of {length} bytes at {start} lies outside the module's memory")
        return self.read(start, length), bool(word >> 31 & 1)

    def put(self, purpose: str, *parts: Union[bytes, memoryview]) -> int:
        """Copies parts, one after the other, into the buffer kept for a purpose and returns its address."""
        size = sum(map(len, parts))
        pointer = self.reserve(purpose, size)
        target = memoryview((ctypes.c_ubyte * size).from_address(self._address() + pointer)).cast("B")
        offset = 0
        for part in parts:
            target[offset : offset + len(part)] = part
            offset += len(part)
        return pointer

    def reserve(self, purpose: str, size: int) -> int:
        """Makes the buffer kept for a purpose at least size bytes large and returns its address."""
        pointer, capacity = self._buffers.get(purpose, (0, 0))
        if pointer and size <= capacity:
            return pointer
        if pointer:
            del self._buffers[purpose]
            if self.run("pf_free", pointer) != 0:
                raise TrapError("MALFORMED", "pf_free refused a live buffer")
        for wanted in (max(size, 2 * capacity, MIN_BUFFER_BYTES), size):  # exactly size where twice as much is too much
            pointer = self.run("pf_alloc", min(wanted, 0x7FFFFFFF)) & 0xFFFFFFFF
            if pointer:
                break
        if not pointer:
            raise LimitError("LIMIT_EXCEEDED", f"the module has no buffer of {size} bytes", num=6, limit="bufferBytes")
        if pointer + wanted > self.memory_bytes:
            raise TrapError("MALFORMED", "a buffer lies outside the module's memory")
        self._buffers[purpose] = (pointer, wanted)
        return pointer

    def read(self, pointer: int, size: int) -> bytes:
        """Copies bytes out of the memory. The caller has checked the bounds."""
        return ctypes.string_at(self._address() + pointer, size)

    def _address(self) -> int:
        # Asked for each time: a call may have grown the memory, and then it lies elsewhere.
        return ctypes.cast(self._memory.data_ptr(self._store), ctypes.c_void_p).value or 0

    def _first_line(self, cause: Exception) -> str:
        """What the runtime of the module printed before the trap, else the engine's own words."""
        if len(self._diagnostic) == 2:
            start, length = (g.value(self._store) & 0xFFFFFFFF for g in self._diagnostic)
            if 0 < length and start + length <= self.memory_bytes:
                printed = self.read(start, min(length, 200)).decode("utf-8", "replace")
                return printed.split("\n", 1)[0]
        return str(cause).strip().split("\n", 1)[0]
