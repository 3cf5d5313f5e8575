"""Exits in Arrow record batches in, verdicts in record batches out: for Spark, DuckDB, Polars, Dask and all else that speaks Arrow.

    >>> import pyarrow, podfate
    >>> from podfate.arrow import Judge
    >>> pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"restartPolicy": "OnFailure",
    ...        "containers": [{"name": "main", "image": "i"}]}}
    >>> judge = Judge(podfate.Engine().compile(pod))
    >>> judge(pyarrow.record_batch({"exit_code": [0, 1]})).column("action").to_pylist()
    ['Stop', 'Restart']

Each exit is judged on its own, as :meth:`podfate.Policy.batch` does. Needs pyarrow and NumPy: ``pip install podfate[arrow]``.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy
import pyarrow as pa
import pyarrow.compute as pc

from . import _batch
from ._engine import Policy
from .errors import _CODES

__all__ = ["DDL", "Judge"]

#: What :attr:`Judge` reads, and under which names unless ``columns`` has others. Only exit_code is required; policy is when there
#: are several policies.
INPUT = ("policy", "container", "exit_code", "oom_killed", "ran_for_millis", "history")

_WORDS = pa.dictionary(pa.int8(), pa.string())

#: The columns of verdicts, in this order, after those that ``keep`` names.
_FIELDS = (
    ("action", _WORDS),
    ("level", _WORDS),
    ("rule", pa.int32()),
    ("reason", _WORDS),
    ("pod_fails", pa.bool_()),
    ("undecided", pa.bool_()),
    ("wait_millis", pa.int64()),
    ("error", _WORDS),
)

#: The same columns as Spark writes a schema, for a judge with ``words="string"``.
DDL = "action string, level string, rule int, reason string, pod_fails boolean, undecided boolean, wait_millis bigint, error string"

#: Words of the column error: those of the module's errors by their number, and one of this package.
_UNKNOWN_POLICY = 255
_ERRORS = tuple(_CODES.get(number, "") for number in range(max(_CODES) + 1)) + ("UNKNOWN_POLICY",)

#: Rows in one call of the module; their records stay in the processor's cache.
_ROWS = 16384

#: How many rows there have to be for each that can differ, so that only those are judged.
_FEWER = 4

#: Judges that came from other processes, by what was pickled, the latest last; and how many a process keeps.
_judges: Dict[bytes, "Judge"] = {}
_judges_lock = threading.Lock()
MAX_RECEIVED = 16


def _received(digest: bytes, sent: bytes) -> "Judge":
    """The judge of this process for what was pickled: its policies are compiled once per process and not once per task."""
    with _judges_lock:
        judge = _judges.pop(digest, None)
        if judge is None:
            policies, options = pickle.loads(sent)
            judge = Judge(policies, **options)
            while len(_judges) >= MAX_RECEIVED:
                del _judges[next(iter(_judges))]
        _judges[digest] = judge
        return judge


class Judge:
    """A function from record batches of exits to record batches of verdicts, row by row.

    policies: one policy for all rows; or several by the text or number that the column ``policy`` has.

    columns: names of columns in the input, where they differ from: ``policy``; ``container``, a text, null or no column for
    the only main container; ``exit_code``; ``oom_killed``, a boolean; ``ran_for_millis`` and ``history``, the restarts since the
    back-off began anew, without which ``wait_millis`` is null. Other columns are passed over.

    keep: columns of the input that are in front of the verdict's, as they are.

    words: "dictionary" for dictionary-encoded words, "string" for plain ones, which Spark wants.

    A row that makes no sense fails alone: its ``error`` is UNKNOWN_POLICY or EVENT_INVALID (an exit code that is null or no 32-bit
    integer, a container that the Pod does not have, a time or a count below 0), and its other columns are null. A column that is missing or
    has another type is a ValueError or TypeError that names it.

    It pickles with its policies, and in each process these are compiled once. Safe to use from any number of threads.
    """

    def __init__(
        self,
        policies: Union[Policy, Mapping[Union[str, int], Policy]],
        *,
        columns: Optional[Mapping[str, str]] = None,
        keep: Sequence[str] = (),
        words: str = "dictionary",
    ) -> None:
        if not isinstance(policies, Policy) and not policies:
            raise ValueError("policies: at least one is wanted")
        for policy in [policies] if isinstance(policies, Policy) else policies.values():
            if not isinstance(policy, Policy):
                raise TypeError(f"policies: podfate.Policy is wanted, as Engine.compile gives it, not {type(policy).__name__}")
        if isinstance(keep, str):
            raise TypeError("keep: a list of names is wanted, not one text")
        if words not in ("dictionary", "string"):
            raise ValueError(f'words: "dictionary" or "string" is wanted, not {words!r}')
        unknown = sorted(set(columns or ()) - set(INPUT))
        if unknown:
            raise ValueError(f"columns: {', '.join(unknown)} cannot be read; known are {', '.join(INPUT)}")
        self._policies = policies
        self._options: Dict[str, Any] = {"columns": dict(columns or {}), "keep": list(keep), "words": words}
        self._names = {name: (columns or {}).get(name, name) for name in INPUT}
        self._last: Optional[Tuple[Any, List[_Spread]]] = None

    def __reduce__(self) -> Tuple[Any, ...]:
        sent = pickle.dumps((self._policies, self._options))
        return _received, (hashlib.sha256(sent).digest(), sent)

    def schema(self, exits: pa.Schema) -> pa.Schema:
        """The columns of the answer to a batch with the schema exits."""
        kept = [exits.field(self._index(exits, name)) for name in self._options["keep"]]
        plain = self._options["words"] == "string"
        return pa.schema(kept + [pa.field(name, pa.string() if plain and type == _WORDS else type) for name, type in _FIELDS])

    def map(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The verdicts of each batch in turn: ``frame.mapInArrow(judge.map, DDL)`` in Spark, ``dataset.to_batches()`` elsewhere."""
        return map(self, batches)

    def __call__(self, exits: Any) -> Any:
        """The verdicts of a record batch, or of a table: as many rows, in the same order."""
        if isinstance(exits, pa.Table):
            return pa.Table.from_batches([self(batch) for batch in exits.to_batches()], schema=self.schema(exits.schema))
        if not isinstance(exits, pa.RecordBatch):
            raise TypeError(f"a pyarrow.RecordBatch or pyarrow.Table is wanted, not {type(exits).__name__}")
        schema = self.schema(exits.schema)
        kept = [exits.column(self._index(exits.schema, name)) for name in self._options["keep"]]
        return pa.RecordBatch.from_arrays(kept + self._verdicts(_Rows(self, exits)), schema=schema)

    def _index(self, schema: pa.Schema, name: str) -> int:
        found = schema.get_all_field_indices(name)
        if len(found) != 1:
            has = ", ".join(schema.names)
            raise ValueError(f"the batch has {'no column' if not found else f'{len(found)} columns'} {name!r}; its columns are {has}")
        index: int = found[0]
        return index

    def _verdicts(self, rows: "_Rows") -> List[pa.Array]:
        distinct = rows.distinct()
        if distinct is None:
            return self._judged(rows)
        few, key = distinct
        asked = (few.count, few.oom is None, few.container is None, few.policy is None, few.containers, few.policies)
        last = self._last
        # A task's batches ask the same again and again. A closed policy has no answers, so it is asked.
        if last is None or last[0] != asked or any(policy is not None and policy.closed for policy in few.policies):
            last = self._last = (asked, [_Spread(column) for column in self._judged(few)])
        return [column.over(key) for column in last[1]]

    def _judged(self, rows: "_Rows") -> List[pa.Array]:
        # Column by column from records that are still in the processor's cache: ten times as quick as from all of them.
        names = ["action", "level", "rule", "reason", "flags", "status"] + ["wait_millis"] * (rows.paced is not None)
        column = {name: numpy.empty(rows.count, _batch.verdict_dtype()[name]) for name in names}
        for start in range(0, rows.count, _ROWS):
            part = slice(start, min(start + _ROWS, rows.count))
            verdicts = rows.judge(part)
            for name in names:
                column[name][part] = verdicts[name]
        status, flags, rule = column["status"], column["flags"], column["rule"]
        good = status == 0
        every = bool(good.all())
        return [
            self._words(column["action"], _batch.ACTIONS),
            self._words(column["level"], _batch.LEVELS),
            _numbers(rule.astype(numpy.int32), pa.int32(), (rule != _batch.NONE) & good),
            self._words(column["reason"], _batch.REASONS),
            _bits(flags & _batch.POD_FAILS, good),
            _bits(flags & _batch.UNDECIDED, good),
            pa.nulls(rows.count, pa.int64()) if rows.paced is None else _numbers(column["wait_millis"], pa.int64(), (column["wait_millis"] >= 0) & good),
            self._words(status if every else numpy.where(status == _UNKNOWN_POLICY, len(_ERRORS) - 1, status).astype(numpy.uint8), _ERRORS),
        ]

    def _words(self, values: Any, table: Tuple[str, ...]) -> pa.Array:
        """The words of values, null for 0; for a number of a newer module its digits, as in Verdict."""
        most = int(values.max()) if len(values) else 0
        table += tuple(map(str, range(len(table), most + 1)))
        encoded = pa.DictionaryArray.from_arrays(_numbers(values, pa.int8(), values != 0), pa.array(table, pa.string()))
        return encoded.cast(pa.string()) if self._options["words"] == "string" else encoded


class _Spread:
    """A column of few rows, to be given for many. Where all are the same, as in most columns of most policies, nothing is copied."""

    def __init__(self, few: pa.Array) -> None:
        self._few = few
        self._same = few.slice(0, 1) if len(few.unique()) == 1 else None

    def over(self, key: Any) -> pa.Array:
        same = self._same
        if same is None:
            return self._few.take(pa.array(key))
        if len(same) < len(key):
            same = self._same = same.take(pa.array(numpy.zeros(len(key), numpy.int8)))
        return same.slice(0, len(key))


def _numbers(values: Any, type: pa.DataType, valid: Any) -> pa.Array:
    """An array without a copy, null where valid is not."""
    return pa.Array.from_buffers(type, len(values), [_bitmap(valid), pa.py_buffer(values)])


def _bits(values: Any, valid: Any) -> pa.Array:
    return pa.Array.from_buffers(pa.bool_(), len(values), [_bitmap(valid), pa.py_buffer(numpy.packbits(values, bitorder="little"))])


def _bitmap(valid: Any) -> Optional[pa.Buffer]:
    return None if valid.all() else pa.py_buffer(numpy.packbits(valid, bitorder="little"))


class _Rows:
    """The columns of one batch as arrays of numbers."""

    def __init__(self, judge: Judge, batch: pa.RecordBatch) -> None:
        self.count: int = batch.num_rows
        policies = judge._policies
        column = {}
        for name, actual in judge._names.items():
            wanted = name == "exit_code" or name == "policy" and not isinstance(policies, Policy) or actual != name
            if wanted or batch.schema.get_field_index(actual) >= 0 or len(batch.schema.get_all_field_indices(actual)) > 1:
                column[name] = batch.column(judge._index(batch.schema, actual))
        self.bad = numpy.zeros(self.count, bool)  # rows with a number that no event has
        self.exit_code = self._integers(column["exit_code"], judge._names["exit_code"], numpy.int32, None)
        self.oom = self._oom(column.get("oom_killed"), judge._names["oom_killed"])
        self.ran_for = self.history = self.paced = None
        if "ran_for_millis" in column and "history" in column:
            for name in ("ran_for_millis", "history"):
                column[name] = self._plain(column[name], pa.int64())
            self.paced = ~(self._nulls(column["ran_for_millis"]) | self._nulls(column["history"]))
            self.ran_for = self._integers(column["ran_for_millis"], judge._names["ran_for_millis"], numpy.int64, 0)
            self.history = self._integers(column["history"], judge._names["history"], numpy.uint32, 0)
        self.containers, self.container = self._texts(column.get("container"), judge._names["container"])
        if isinstance(policies, Policy):
            self.policy = None
            self.policies: List[Optional[Policy]] = [policies]
        else:
            keys, self.policy = self._keys(column["policy"], judge._names["policy"])
            self.policies = [None if key is None else policies.get(key) for key in keys]

    def distinct(self) -> Optional[Tuple["_Rows", Any]]:
        """All rows that there can be, and for each row its place among them: without times a verdict depends on policy, container, OOM kill
        and exit code alone. None where these are not much fewer than the rows, and for rows that make no sense and codes of Windows."""
        size = 256
        for places, known in ((self.oom, 2), (self.container, len(self.containers) + 1), (self.policy, len(self.policies) + 1)):
            size *= 1 if places is None else known
        if self.paced is not None or size * _FEWER > self.count or self.bad.any():
            return None
        if int(self.exit_code.min()) < 0 or int(self.exit_code.max()) > 255:
            return None
        few: _Rows = object.__new__(_Rows)
        few.__dict__.update(self.__dict__)
        few.count, few.bad = size, numpy.zeros(size, bool)
        left = numpy.arange(size)
        few.exit_code, left = (left % 256).astype(numpy.int32), left // 256
        key = self.exit_code.astype(numpy.intp)
        scale = 256
        if self.oom is not None:
            few.oom, left = left % 2 == 1, left // 2
            key += self.oom * scale
            scale *= 2
        if self.container is not None:  # -1 is null
            few.container, left = left % (len(self.containers) + 1) - 1, left // (len(self.containers) + 1)
            key += (self.container.astype(numpy.intp) + 1) * scale
            scale *= len(self.containers) + 1
        if self.policy is not None:
            few.policy = left - 1
            key += (self.policy.astype(numpy.intp) + 1) * scale
        return few, key

    @staticmethod
    def _nulls(column: pa.Array) -> Any:
        return numpy.zeros(len(column), bool) if not column.null_count else pc.is_null(column).to_numpy(zero_copy_only=False)

    @staticmethod
    def _plain(column: pa.Array, nulls: pa.DataType) -> pa.Array:
        """A column without a dictionary; one that has nothing but nulls, and no type, has that of nulls."""
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        return column.cast(nulls) if pa.types.is_null(column.type) else column

    def _integers(self, column: pa.Array, name: str, dtype: Any, null: Optional[int]) -> Any:
        """The column as dtype. Rows outside of it are bad; nulls are too, unless null has a number for them."""
        column = self._plain(column, pa.int64())
        if not pa.types.is_integer(column.type):
            raise TypeError(f"column {name!r} has the type {column.type}; integers are wanted")
        if column.null_count:
            if null is None:
                self.bad |= self._nulls(column)
            column = column.fill_null(0)
        values = column.to_numpy(zero_copy_only=False)
        if values.dtype == dtype:
            return values
        least, most = numpy.iinfo(dtype).min, numpy.iinfo(dtype).max
        had = numpy.iinfo(values.dtype)
        if had.min < least or had.max > most:
            outside = (values < least) if had.min < least else numpy.zeros(len(values), bool)
            if had.max > most:
                outside |= values > most
            if outside.any():
                self.bad |= outside
        return values.astype(dtype)

    def _oom(self, column: Optional[pa.Array], name: str) -> Any:
        if column is None:
            return None
        column = self._plain(column, pa.bool_())
        if not pa.types.is_boolean(column.type):
            raise TypeError(f"column {name!r} has the type {column.type}; booleans are wanted")
        return column.fill_null(False).to_numpy(zero_copy_only=False)

    @staticmethod
    def _encoded(column: pa.Array) -> Tuple[pa.Array, Any]:
        """The distinct values of a column, and for each row the position of its own, -1 for null."""
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        indices = encoded.indices
        if indices.null_count:
            indices = indices.cast(pa.int64()).fill_null(-1)
        return encoded.dictionary, indices.to_numpy(zero_copy_only=False)

    def _texts(self, column: Optional[pa.Array], name: str) -> Tuple[List[Optional[str]], Any]:
        if column is None or pa.types.is_null(column.type):
            return [], None
        values = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if not (pa.types.is_string(values) or pa.types.is_large_string(values) or pa.types.is_string_view(values)):
            raise TypeError(f"column {name!r} has the type {column.type}; texts are wanted")
        words, indices = self._encoded(column)
        return words.to_pylist(), indices

    def _keys(self, column: pa.Array, name: str) -> Tuple[List[Any], Any]:
        if pa.types.is_null(column.type):
            column = column.cast(pa.string())
        values = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        texts = pa.types.is_string(values) or pa.types.is_large_string(values) or pa.types.is_string_view(values)
        if not (texts or pa.types.is_integer(values)):
            raise TypeError(f"column {name!r} has the type {column.type}; texts or integers are wanted")
        words, indices = self._encoded(column)
        return words.to_pylist(), indices

    def judge(self, part: slice) -> Any:
        """The verdicts of the rows of part."""
        size = part.stop - part.start
        events = numpy.zeros(size, _batch.event_dtype())
        events["exit_code"] = self.exit_code[part]
        if self.oom is not None:
            events["flags"] = self.oom[part]
        if self.paced is not None and self.ran_for is not None and self.history is not None:
            events["flags"] |= numpy.where(self.paced[part], _batch.HISTORY, 0).astype(numpy.uint16)
            events["ran_for_millis"] = self.ran_for[part]
            events["history"] = self.history[part]
        verdicts: Any = None
        if self.policy is None:
            verdicts = self._ask(self.policies[0], events, part, None)
        else:
            keys = self.policy[part]
            order = numpy.argsort(keys, kind="stable")
            found, starts = numpy.unique(keys[order], return_index=True)
            verdicts = numpy.zeros(size, _batch.verdict_dtype())
            for key, rows in zip(found, numpy.split(order, starts[1:])):
                policy = None if key < 0 else self.policies[key]
                if policy is None:
                    verdicts["status"][rows] = _UNKNOWN_POLICY
                    verdicts["wait_millis"][rows] = -1
                else:
                    verdicts[rows] = self._ask(policy, events[rows], part, rows)
        bad = self.bad[part]
        if bad.any():
            verdicts = verdicts.copy()
            known = bad & (verdicts["status"] != _UNKNOWN_POLICY)
            verdicts[known] = numpy.zeros(1, _batch.verdict_dtype())
            verdicts["status"][known] = 4
        return verdicts

    def _ask(self, policy: Any, events: Any, part: slice, rows: Any) -> Any:
        """The verdicts of policy about events, which are rows of part, or all of it."""
        events["container"] = _batch.NONE
        if self.container is not None:
            positions = {name: place for place, name in enumerate(policy.containers)}
            # After the known names the place of null, which is the index -1.
            places = numpy.array(
                [_batch.NONE if name is None else positions.get(name, _batch.NONE - 1) for name in self.containers] + [_batch.NONE], numpy.uint16
            )
            indices = self.container[part]
            events["container"] = places[indices if rows is None else indices[rows]]
        return policy.batch(events)
