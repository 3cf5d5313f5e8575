"""Requests as JSON, and where in one stands what JSON cannot say."""

from __future__ import annotations

import datetime
import json
import math
import operator
import re
from typing import Any, Iterator, List, Mapping, Set, Tuple, Union

from .errors import LimitError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def encode(request: Union[Mapping[str, Any], bytes]) -> bytes:
    """The bytes of a JSON text, as they are, or the text of a mapping.

    Raises ValueError or TypeError, with the path, for what JSON cannot say, and LimitError for what is nested too deep.
    """
    if isinstance(request, (bytes, bytearray, memoryview)):
        return bytes(request)
    try:
        return json.dumps(request, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain).encode("utf-8")
    except RecursionError:
        # The module takes 64 levels; Python gives up at some hundreds.
        raise LimitError("LIMIT_EXCEEDED", "the request is nested too deep", num=6, limit="depth") from None
    except (TypeError, ValueError) as cause:  # UnicodeEncodeError is a ValueError
        for path, value, parents in _values(request):
            fault = _fault(value, parents)
            if fault:
                raise fault[0](f"{path or 'the request'}: {fault[1]}") from None
        raise cause


def _plain(value: Any) -> Any:
    """What json does not know: mappings that are no dict, and whole numbers of NumPy."""
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(type(value), "__index__"):
        return operator.index(value)
    raise TypeError(f"a value of type {type(value).__name__} is no JSON")


class _Key:
    """A key of a mapping, to be judged like a value."""

    def __init__(self, key: Any) -> None:
        self.key = key


def _values(request: Any) -> Iterator[Tuple[str, Any, Set[int]]]:
    """Everything in a request in its order, with its path and the identities of what it lies in."""
    rest: List[Tuple[str, Any, Set[int]]] = [("", request, set())]
    while rest:
        path, value, parents = rest.pop()
        yield path, value, parents
        if id(value) in parents:
            continue
        inside: List[Tuple[str, Any]] = []
        if isinstance(value, Mapping):
            for key, member in value.items():
                inside += [(path, _Key(key)), (_member(path, key), member)]
        elif isinstance(value, (list, tuple)):
            inside = [(f"{path}[{i}]", item) for i, item in enumerate(value)]
        rest.extend((where, item, parents | {id(value)}) for where, item in reversed(inside))


def _member(path: str, key: Any) -> str:
    if isinstance(key, str) and _NAME.fullmatch(key):
        return f"{path}.{key}" if path else key
    return f"{path}[{key if isinstance(key, str) else repr(key)}]"


def _fault(value: Any, parents: Set[int]) -> Union[None, Tuple[type, str]]:
    """What is wrong with a value itself, whatever lies in it: the class of the exception, and why."""
    kind = type(value).__name__
    if isinstance(value, _Key):
        if isinstance(value.key, str):
            return _text(value.key, "the key")
        if value.key is None or isinstance(value.key, (bool, int)):
            return None
        if isinstance(value.key, float) and math.isfinite(value.key):
            return None
        return TypeError, f"a key of JSON is a string, not {value.key!r}"
    if id(value) in parents:
        return ValueError, "it contains itself"
    if isinstance(value, str):
        return _text(value, "the string")
    if value is None or isinstance(value, (bool, int, Mapping, list, tuple)) or hasattr(type(value), "__index__"):
        return None
    if isinstance(value, float):
        return None if math.isfinite(value) else (ValueError, f"{value} is no number of JSON")
    if isinstance(value, (datetime.date, datetime.time)):
        return TypeError, f"a {kind} is no JSON: give a string, such as {value.isoformat()!r} (in YAML, put it in quotes)"
    if isinstance(value, (set, frozenset)):
        return TypeError, f"a {kind} is no JSON, and has no order: give a list"
    if isinstance(value, (bytes, bytearray)):
        return TypeError, f"{kind} are no JSON: give a string"
    return TypeError, f"a value of type {kind} is no JSON: null, true, false, a number, a string, a list or a mapping is"


def _text(text: str, what: str) -> Union[None, Tuple[type, str]]:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as cause:
        return ValueError, f"{what} has half of a surrogate pair at character {cause.start}, which UTF-8 cannot say"
    return None
