"""Compiled code: once per process, and once per machine where there is a folder that nobody else can write to.

What lies in such a folder is machine code that this process will run. So the folder belongs to this user and is closed to others.
The one that is used without being asked for also lies where nobody else can put another in its place, as the host in Go demands.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import threading
from pathlib import Path
from typing import Dict, Optional, Tuple, Union

import wasmtime

from .errors import ModuleError

Cache = Union[None, bool, str, "os.PathLike[str]"]

#: Compiled modules that a process keeps; the package's own is one.
MAX_COMPILED = 4

#: Files of compiled code, of other releases too, that a folder keeps; each is some 10 MB.
MAX_KEPT = 4

_FILE = re.compile(r"[0-9a-f]{64}\.wasmtime-.*")

_compiled: Dict[str, Tuple[wasmtime.Engine, wasmtime.Module]] = {}
_lock = threading.Lock()


def _unlock() -> None:
    """In the child of a fork, where the thread that held the lock does not run on."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


def compiled(file: bytes, digest: str, cache: Cache) -> Tuple[wasmtime.Engine, wasmtime.Module]:
    """The module, compiled at most once per process. cache: True for this user's own folder, None or False for none, or a folder.

    Raises PermissionError for a folder that was named and is open to others. This user's own is passed over where it is not safe.
    """
    named = None if cache is None or isinstance(cache, bool) else Path(cache)
    if named is not None:
        _make_private(named)
    with _lock:
        engine, known = _compiled.get(digest, (None, None))
        if engine is None or known is None or named is not None:
            engine = engine or wasmtime.Engine()
            module = _load(engine, file, digest, _own_folder() if cache is True else named, known)
            while len(_compiled) >= MAX_COMPILED and digest not in _compiled:
                del _compiled[next(iter(_compiled))]
            _compiled[digest] = engine, module
        return _compiled[digest]


def _load(engine: wasmtime.Engine, file: bytes, digest: str, folder: Optional[Path], known: Optional[wasmtime.Module]) -> wasmtime.Module:
    path = folder and folder / f"{digest}.wasmtime-{_wasmtime_version()}"
    if path:
        try:
            kept = path.read_bytes()
            if hashlib.sha256(kept[32:]).digest() == kept[:32]:  # wasmtime would run code with a flipped byte
                return known or wasmtime.Module.deserialize(engine, kept[32:])
        except (OSError, wasmtime.WasmtimeError):
            pass  # not there yet, or written by another build of the engine, or for another processor
    module = known or _compile(engine, file)
    if path:
        try:
            _keep(path, bytes(module.serialize()))
        except OSError:
            pass  # a full disk costs a second at the next start, nothing else
    return module


def _keep(path: Path, code: bytes) -> None:
    partial = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            out.write(hashlib.sha256(code).digest() + code)
        partial.replace(path)  # whole or not at all
    except OSError:
        partial.unlink(missing_ok=True)
        raise
    kept = sorted((p for p in path.parent.iterdir() if _FILE.fullmatch(p.name) and p != path), key=lambda p: p.stat().st_mtime)
    for old in kept[: max(0, len(kept) + 1 - MAX_KEPT)]:
        old.unlink(missing_ok=True)


def _compile(engine: wasmtime.Engine, file: bytes) -> wasmtime.Module:
    try:
        return wasmtime.Module(engine, file)
    except wasmtime.WasmtimeError as cause:
        raise ModuleError("ABI", "the file is no WebAssembly module that this engine can compile") from cause


def _own_folder() -> Optional[Path]:
    """The folder for compiled code of this user, made if need be; None where there is none that is safe."""
    try:
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA")
            folder = Path(base) / "podfate" / "cache" if base else None
        elif sys.platform == "darwin":
            folder = Path.home() / "Library" / "Caches" / "podfate"
        else:
            base = os.environ.get("XDG_CACHE_HOME", "")
            folder = (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "podfate"
        if folder is not None:
            _check_above(folder)
            _make_private(folder)
        return folder
    except (OSError, RuntimeError):  # no home, a home of somebody else, a file system that is read-only
        return None


def _check_above(folder: Path) -> None:
    """Raises PermissionError if somebody else could put another folder in the place of this one."""
    for path in folder.absolute().parents if hasattr(os, "geteuid") else ():
        if not path.exists():
            continue
        info = path.stat()
        if info.st_uid not in (0, os.geteuid()):
            raise PermissionError(f"{path}: it belongs to another user")
        if info.st_mode & 0o022 and not info.st_mode & stat.S_ISVTX:
            raise PermissionError(f"{path}: others may rename what lies in it")


def _make_private(folder: Path) -> None:
    """Makes a folder if need be. Raises PermissionError unless it belongs to this user and is closed to others."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if hasattr(os, "geteuid"):
        info = folder.stat()
        if info.st_uid != os.geteuid() or stat.S_IMODE(info.st_mode) & 0o077:
            raise PermissionError(f"{folder}: the cache must belong to this user and be closed to others (mode 0700)")


def _wasmtime_version() -> str:
    from importlib.metadata import version

    return version("wasmtime")
