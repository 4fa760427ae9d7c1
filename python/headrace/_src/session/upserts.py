"""INSERT of constants with ON CONFLICT: of the table only rows are read that may have one of their keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headrace._src.session.kept_table import KeptTable
from headrace._src.session.merged_rows import Merged, merged
from headrace._src.session.names import BoundChange
from headrace._src.sql.collations import current_collation
from headrace._src.sql.constraints import constraints_of

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

#: What `take` makes of the rows of a statement.
Run = Callable[[BoundChange, Callable[[Iterable[Any]], Merged]], Merged]


def upserted(table: KeptTable, said: BoundChange, run: Run) -> Merged:
    """What a MERGE INTO makes of its table. run: of a statement over its tables."""
    change = said.change
    assert change.merge
    merge = change.merge
    new = None if change.rows is None else KeptTable(table.schema).with_rows(change.rows.to_batches())
    numbers = None if new is None else _conflicting(table, new)
    if new is None or numbers is None:
        return run(said, lambda rows: merged(table, merge, rows))
    if not numbers.size:
        return Merged.of_inserted(table, new)
    (name,) = said.read
    few = replace(said, tables={**said.tables, name: table.taken(numbers).table})
    return run(few, lambda rows: merged(table, merge, _renumbered(rows, numbers)))


def _conflicting(table: KeptTable, new: KeptTable) -> np.ndarray | None:
    """The numbers of the rows that may have a key of new ones; None where only a query can tell."""
    import numpy as np

    if current_collation() or "COLLATE" in table.schema.definition.upper():
        return None  # keys that are alike need not be the same
    found = [table.numbers_with(each.key, new) for each in constraints_of(table.schema) if each.key]
    known = [each for each in found if each is not None]
    return np.unique(np.concatenate(known)) if len(known) == len(found) else None


def _renumbered(batches: Iterable[pa.RecordBatch], numbers: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Rows of a statement over rows with these numbers, as if it were over the whole table."""
    import pyarrow as pa

    whole = pa.array(numbers)
    for batch in batches:
        yield batch.set_column(1, batch.schema.field(1), whole.take(batch.column(1)))
