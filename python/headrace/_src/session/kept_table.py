"""A table of a session that statements change: rows on disk, in parts that stay as they are.

What a statement makes of it is another table, which has parts of the one before; who reads that goes on with
it. Rows lie in files without a name, mapped, where rows wait (`spillDirectory`, within `spillLimit`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from headrace._src.errors import ConstraintError, UnsupportedError
from headrace._src.query.kept_rows import kept_batches, larger
from headrace._src.query.tables import ArrowTable
from headrace._src.session.kept_parts import PART_ROWS, KeptFile, Part, compacted, in_pieces, parts_of
from headrace._src.session.key_hashes import are_known, hashes_of, indexed
from headrace._src.sql.alteration import renamed
from headrace._src.sql.arrow_types import arrow_type
from headrace._src.sql.foreign_keys import with_foreign_keys
from headrace._src.sql.tables import TableSchema

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class KeptTable:
    """Rows with their declared types."""

    schema: TableSchema
    #: In the order of the rows.
    parts: tuple[Part, ...] = ()

    @cached_property
    def stored(self) -> pa.Schema:
        """Of the rows as they lie in files: of an ENUM its texts."""
        import pyarrow as pa

        return pa.schema([(column.name, _stored_type(column.type)) for column in self.schema.columns])

    def check_types(self) -> None:
        """Raises UnsupportedError for a column of a type that cannot be kept."""
        _ = self.stored

    @cached_property
    def num_rows(self) -> int:
        return sum(part.rows.num_rows for part in self.parts)

    @cached_property
    def table(self) -> ArrowTable:
        """As queries read it."""
        import pyarrow as pa

        rows = pa.Table.from_batches([part.rows for part in self.parts], self.stored)
        return ArrowTable(rows, self.schema, tuple((part.file.table, part.place) for part in self.parts))

    @cached_property
    def described(self) -> ArrowTable:
        """As queries read it that ask about tables: with its foreign keys."""
        if not self.schema.foreign_keys:
            return self.table
        whole = with_foreign_keys(self.schema.definition, self.schema.foreign_keys)
        return replace(self.table, schema=replace(self.schema, definition=whole))

    def with_rows(self, batches: Iterable[pa.RecordBatch]) -> KeptTable:
        """The table with more rows behind its own. Raises ConstraintError for a NULL that may not be."""
        added = parts_of(self._kept(larger(in_pieces(map(self._as_stored, batches)))))
        if not added:
            return self
        parts = list(self.parts)
        # A part has at least twice the rows of the next: there are few, and a row is seldom written again.
        while parts and len(added) == 1 and _is_small(parts[-1], added[0]):
            added = parts_of(self._kept(larger([parts.pop().rows, added[0].rows])))
        return self._of([*parts, *added])

    def numbered(self, numbers: Iterable[pa.RecordBatch]) -> np.ndarray:
        """For each row whether it has one of these numbers, from 0."""
        import numpy as np

        found = np.zeros(self.num_rows, bool)
        for batch in numbers:
            found[batch.column(0).to_numpy(zero_copy_only=False)] = True
        return found

    def where(self, stays: np.ndarray) -> KeptTable:
        """The table of the rows that stay."""
        import pyarrow as pa

        def staying(batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
            own = stays[first : first + batch.num_rows]
            return batch if own.all() else batch.filter(pa.array(own))

        return self._changed(staying, ())

    def behind(self, count: int) -> KeptTable:
        """The table of the rows behind the first ones, which stay where they are."""
        return KeptTable(self.schema, tuple(parts_of(self.table.data.slice(count))))

    def taken(self, numbers: np.ndarray) -> KeptTable:
        """The table of the rows of these numbers."""
        import numpy as np
        import pyarrow as pa

        ends = np.cumsum([part.rows.num_rows for part in self.parts])
        own = np.searchsorted(ends, numbers, "right")
        batches = []
        for place in np.unique(own):
            rows = self.parts[place].rows
            batches.append(rows.take(pa.array(numbers[own == place] - (ends[place] - rows.num_rows))))
        return KeptTable(self.schema, tuple(parts_of(pa.Table.from_batches(batches, self.stored))))

    def numbers_with(
        self, key: tuple[str, ...], rows: KeptTable, their: tuple[str, ...] = ()
    ) -> np.ndarray | None:
        """The numbers, in their order, of rows that may have a key of `rows`, the same byte for byte.

        their: the columns of that key, if they are called otherwise. None where only a query can tell.
        """
        import numpy as np

        if not are_known(self.stored, key):
            return None
        wanted = np.unique(np.concatenate([hashes_of(part.rows, their or key)[0] for part in rows.parts]))
        self._index(key)
        found, first = [np.zeros(0, np.int64)], 0
        for part in self.parts:
            found.append(np.sort(part.indexes[key].find(wanted)).astype(np.int64) + first)
            first += part.rows.num_rows
        return np.concatenate(found)

    def _index(self, key: tuple[str, ...]) -> None:
        missing = [part for part in self.parts if key not in part.indexes]
        made = indexed([part.rows for part in missing], key, f"the keys of table {self.schema.name}")
        for part, index in zip(missing, made, strict=True):
            part.indexes[key] = index

    def called(self, name: str) -> KeptTable:
        """The table by another name."""
        return KeptTable(renamed(self.schema, name), self.parts)

    def with_values(
        self, columns: Sequence[str], batches: Iterable[pa.RecordBatch]
    ) -> tuple[KeptTable, np.ndarray]:
        """The table with other values in these columns of some rows; and for each row whether it has them.

        batches: the values, and behind them the numbers of their rows. Of several of one row any counts.
        """
        import numpy as np
        import pyarrow as pa

        kinds = [self.stored.field(name) for name in columns]
        told = pa.schema([*kinds, ("rowid", pa.int64())])
        values = self._kept((self._as_stored(batch, told) for batch in batches), told)
        numbers, places = np.unique(values.column(len(columns)).to_numpy(), return_index=True)

        def changed(batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
            begin, end = np.searchsorted(numbers, (first, first + batch.num_rows))
            if begin == end:
                return batch
            chosen = np.arange(batch.num_rows)
            chosen[numbers[begin:end] - first] = batch.num_rows + np.arange(end - begin)
            taken = values.take(pa.array(places[begin:end]))
            for name in columns:
                place = self.stored.get_field_index(name)
                both = pa.concat_arrays([batch.column(place), *taken.column(name).chunks])
                batch = batch.set_column(place, self.stored.field(place), both.take(pa.array(chosen)))
            return batch

        has_changed = np.zeros(self.num_rows, bool)
        has_changed[numbers] = True
        return self._changed(changed, columns), has_changed

    def altered(self, schema: TableSchema, columns: Sequence[str]) -> KeptTable:
        """The table with another schema, whose columns are these of its own, with their values.

        Raises ConstraintError for a NULL that may not be.
        """
        names = [column.name for column in schema.columns]
        files = {id(part.file): part.file.table for part in self.parts}
        renamed = {
            file: KeptFile(table.select(list(columns)).rename_columns(names)) for file, table in files.items()
        }
        parts = tuple(
            Part(part.rows.select(list(columns)).rename_columns(names), renamed[id(part.file)], part.place)
            for part in self.parts
        )
        for place, column in enumerate(schema.columns):
            if not column.nullable and any(part.rows.column(place).null_count for part in parts):
                raise ConstraintError(f"NOT NULL constraint failed: {schema.name}.{column.name}")
        return KeptTable(schema, parts)

    def _changed(
        self, change: Callable[[pa.RecordBatch, int], pa.RecordBatch], columns: Sequence[str]
    ) -> KeptTable:
        """The table of what becomes of its batches, of which each begins with the row of a number.

        columns: those that get other values, if all rows stay where they are.
        """
        made: list[Part | None] = []  # None: what is written next
        before: list[Part] = []

        def batches() -> Iterator[pa.RecordBatch]:
            first = 0
            for part in self.parts:
                rows = change(part.rows, first)
                first += part.rows.num_rows
                if rows is part.rows:
                    made.append(part)
                elif rows.num_rows:
                    made.append(None)
                    before.append(part)
                    yield rows

        written = parts_of(self._kept(batches()))
        if columns:
            for old, new in zip(before, written, strict=True):
                new.indexes.update(old.indexes_without(columns))
        following = iter(written)
        return self._of([part or next(following) for part in made])

    def _of(self, parts: Sequence[Part]) -> KeptTable:
        return KeptTable(self.schema, compacted(parts, self._kept))

    def _kept(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema | None = None) -> pa.Table:
        """The rows on disk, each batch as it is."""
        schema = schema or self.stored
        kept = (batch for batch in batches if batch.num_rows)
        return kept_batches(schema, kept, f"the rows of table {self.schema.name}")

    def _as_stored(self, batch: pa.RecordBatch, schema: pa.Schema | None = None) -> pa.RecordBatch:
        """A batch of a run as it is stored."""
        import pyarrow as pa

        schema = schema or self.stored
        known = {column.name: column.nullable for column in self.schema.columns}
        arrays = []
        for field, array in zip(schema, batch.columns, strict=True):
            if array.null_count and not known.get(field.name, True):
                raise ConstraintError(f"NOT NULL constraint failed: {self.schema.name}.{field.name}")
            arrays.append(array if array.type == field.type else array.cast(field.type))
        return pa.record_batch(arrays, schema=schema)


def _is_small(part: Part, following: Part) -> bool:
    """Whether a part is written again with that behind it."""
    return part.rows.num_rows < min(2 * following.rows.num_rows, PART_ROWS)


def _stored_type(name: str) -> Any:
    """Arrow's type of what is stored of a column. Raises UnsupportedError for one that has none."""
    import pyarrow as pa

    kind = arrow_type(name)
    if name == "UUID":
        return pa.uuid()
    if "UUID" in name and pa.types.is_nested(kind):
        raise UnsupportedError(f"a table of a session keeps no UUIDs in lists, structs and maps, got {name}")
    return _without_dictionaries(kind)


def _without_dictionaries(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return kind.value_type
    if not pa.types.is_nested(kind):
        return kind
    fields = [
        kind.field(place).with_type(_without_dictionaries(kind.field(place).type))
        for place in range(kind.num_fields)
    ]
    if pa.types.is_struct(kind):
        return pa.struct(fields)
    if pa.types.is_map(kind):
        return pa.map_(_without_dictionaries(kind.key_type), _without_dictionaries(kind.item_type))
    size = kind.list_size if pa.types.is_fixed_size_list(kind) else -1
    return pa.list_(fields[0], size)
