"""What MERGE INTO, or ON CONFLICT of an INSERT, makes of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace._src.errors import ConstraintError, DataError
from headrace._src.query.kept_rows import kept_batches, larger
from headrace._src.session.kept_table import KeptTable
from headrace._src.sql.merges import NO_ACTION, Action, Kind, Merge

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


@dataclass(frozen=True)
class Merged:
    """A table after the actions, and which of its rows they have changed."""

    table: KeptTable
    #: Those that stay of the table before, with their new values; and with those that go.
    stayed: KeptTable
    after: KeptTable
    #: Of the rows of `after`.
    has_changed: np.ndarray
    goes: np.ndarray
    inserted: KeptTable
    #: That have other values.
    columns: frozenset[str]

    @staticmethod
    def of_inserted(table: KeptTable, new: KeptTable) -> Merged:
        """Where no row of the table was there for a new one."""
        import numpy as np

        none = np.zeros(table.num_rows, bool)
        made = table.with_rows(part.rows for part in new.parts)
        return Merged(made, table, table, none, none, new, frozenset())

    @property
    def changed(self) -> KeptTable:
        """All that were changed: of deleted ones what they were."""
        updated, deleted = self.after.where(self.has_changed), self.after.where(self.goes)
        return KeptTable(self.table.schema, (*updated.parts, *deleted.parts, *self.inserted.parts))

    @property
    def counts(self) -> dict[str, int]:
        """How many of `changed` come of which action, in their order."""
        import numpy as np

        return {
            "UPDATE": int(np.count_nonzero(self.has_changed)),
            "DELETE": int(np.count_nonzero(self.goes)),
            "INSERT": self.inserted.num_rows,
        }


def merged(table: KeptTable, merge: Merge, batches: Iterable[pa.RecordBatch]) -> Merged:
    """What the actions make of a table. batches: the rows, as `Merge` says.

    Raises ConstraintError for a row that falls under an ERROR and for a NULL that may not be, DataError for a
    row of the table that several of the source were found for.
    """
    import numpy as np

    rows = _Rows(table, merge, batches)
    rows.check()
    after, goes, has_changed = table, np.zeros(table.num_rows, bool), np.zeros(table.num_rows, bool)
    inserted, columns = KeptTable(table.schema), frozenset[str]()
    for number, action in enumerate(merge.actions):
        if action.kind is Kind.UPDATE and rows.has(number):
            after, has = after.with_values(action.columns, rows.values(number, numbered=True))
            has_changed |= has
            columns |= set(action.columns)
        elif action.kind is Kind.DELETE:
            goes[rows.numbers(number)] = True
        elif action.kind is Kind.INSERT:
            inserted = inserted.with_rows(rows.values(number, numbered=False))
    stayed = after.where(~goes) if goes.any() else after
    made = stayed.with_rows(part.rows for part in inserted.parts)
    return Merged(made, stayed, after, has_changed, goes, inserted, columns)


class _Rows:
    """Those that an action takes, on disk."""

    def __init__(self, table: KeptTable, merge: Merge, batches: Iterable[pa.RecordBatch]) -> None:
        import pyarrow as pa

        self._merge = merge
        kinds = [_kind(table, action, column) for action in merge.actions for column in action.columns]
        types = [pa.int32(), pa.int64(), *kinds]
        schema = pa.schema(list(zip(merge.names, types, strict=True)))
        taken = (_taken(batch, schema) for batch in batches)
        kept = (batch for batch in taken if batch.num_rows)
        self._rows = kept_batches(schema, larger(kept), f"the rows of a MERGE INTO table {table.schema.name}")
        self._actions: np.ndarray = self._rows.column(0).to_numpy()

    def check(self) -> None:
        for number, action in enumerate(self._merge.actions):
            if action.kind is Kind.ERROR and self.has(number):
                first = next(self.values(number, numbered=False))
                message = f": {first.column(0)[0]}" if action.columns else ""
                raise ConstraintError(f"MERGE INTO has a row {action.when} THEN ERROR{message}")
        self._check_once()

    def _check_once(self) -> None:
        import numpy as np

        matched = [number for number, action in enumerate(self._merge.actions) if action.takes_matched]
        numbers = self._rows.column(1).to_numpy()[np.isin(self._actions, matched)]
        if np.unique(numbers).size < numbers.size:
            raise DataError(
                "MERGE INTO changes a row of the table twice: several rows of the source match it; "
                "let one of them match"
            )

    def has(self, number: int) -> bool:
        return bool((self._actions == number).any())

    def numbers(self, number: int) -> np.ndarray:
        """Of the rows of the table that an action takes."""
        return self._rows.column(1).to_numpy()[self._actions == number].astype(int)

    def values(self, number: int, *, numbered: bool) -> Iterator[pa.RecordBatch]:
        """What an action has for its rows. numbered: with the numbers of the table's rows behind them."""
        import pyarrow as pa
        import pyarrow.compute as pc

        first = self._merge.first_value(number)
        count = len(self._merge.actions[number].columns)
        places = [*range(first, first + count), *([1] if numbered else [])]
        for batch in self._rows.to_batches():
            own = batch.filter(pc.equal(batch.column(0), pa.scalar(number, pa.int32())))
            if own.num_rows:
                yield own.select(places)


def _kind(table: KeptTable, action: Action, column: str) -> pa.DataType:
    import pyarrow as pa

    return pa.string() if action.kind is Kind.ERROR else table.stored.field(column).type


def _taken(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The rows of a batch that an action takes, as they are kept."""
    import pyarrow as pa
    import pyarrow.compute as pc

    own = batch.filter(pc.not_equal(batch.column(0), pa.scalar(NO_ACTION, batch.column(0).type)))
    arrays = [
        array if array.type == field.type else array.cast(field.type)
        for field, array in zip(schema, own.columns, strict=True)
    ]
    return pa.record_batch(arrays, schema=schema)
