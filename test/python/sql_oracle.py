"""headrace and DuckDB side by side: answers to one query compared in types, values and failure."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import duckdb
import headrace as hr
import pyarrow as pa
from duckdb_oracle import alike

#: Sums of doubles depend on the order of addition; a double that is exact is compared as closely.
_RELATIVE = 1e-9
#: DuckDB 2.0.0 waits, once in some ten thousand queries, for a task of its own that none of its threads
#: runs; interrupted and asked again, it answers.
_DUCKDB_SECONDS = 120.0
#: A random query may have billions of rows: it fails before it fills the machine.
_DATABASE = duckdb.connect(config={"memory_limit": "4GB", "max_temp_directory_size": "0B"})


@dataclass(frozen=True)
class Answer:
    """What an engine made of a query: a table, or the message of its error and the kind."""

    table: pa.Table | None = None
    error: str = ""
    kind: str = ""


def _is_cast(field: pa.Field) -> bool:
    return b"cast" in (field.metadata or {})


def _source(name: str, table: pa.Table) -> str:
    """What a table is called whose columns are cast."""
    return f"{name}_texts" if any(map(_is_cast, table.schema)) else name


def _cast(name: str, table: pa.Table) -> str:
    """The columns that say `cast` as that type; an empty text if there are none."""
    if not any(map(_is_cast, table.schema)):
        return ""
    columns = (
        f"{field.name}::{field.metadata[b'cast'].decode()} as {field.name}" if _is_cast(field) else field.name
        for field in table.schema
    )
    return f"{name} as (select {', '.join(columns)} from {_source(name, table)})"


class Oracle:
    """Both engines over one set of tables; their columns may say what they are to be cast to."""

    def __init__(self, tables: Mapping[str, pa.Table]) -> None:
        self.tables = dict(tables)
        self._sources = {_source(name, table): table for name, table in tables.items()}
        casts = [cast for name, table in tables.items() if (cast := _cast(name, table))]
        self._casts = f"with {', '.join(casts)} " if casts else ""
        self._connection = _DATABASE.cursor()
        self._connection.execute("set TimeZone = 'UTC'")
        for name, table in self._sources.items():
            self._connection.register(name, table)

    def duckdb(self, query: str) -> Answer:
        answer = self._ask_duckdb(query)
        return self._ask_duckdb(query) if answer.kind == "InterruptException" else answer

    def _ask_duckdb(self, query: str) -> Answer:
        timer = threading.Timer(_DUCKDB_SECONDS, self._connection.interrupt)
        timer.daemon = True
        timer.start()
        try:
            return Answer(self._connection.sql(self._casts + query).to_arrow_table())
        except duckdb.Error as error:
            return Answer(error=str(error), kind=type(error).__name__)
        except UnicodeDecodeError as error:  # of a message that quotes a part of a character
            return Answer(error=str(error), kind="InvalidInputException")
        finally:
            timer.cancel()

    def headrace(self, query: str, ranks: int = 1, layout_seed: int | None = None) -> Answer:
        try:
            found = hr.sql(self._casts + query, self._sources, ranks=ranks, layout_seed=layout_seed)
            return Answer(found)
        except hr.HeadraceError as error:
            return Answer(error=str(error), kind=error.kind)

    def difference(self, query: str, ranks: int = 1, *, ordered: bool = False) -> str | None:
        """How headrace's answer differs from DuckDB's; nothing if both agree or both fail."""
        return difference(self.headrace(query, ranks), self.duckdb(query), ordered=ordered)


def difference(found: Answer, wanted: Answer, *, ordered: bool = False) -> str | None:
    """How two answers differ: in failure, in types, in rows (as multisets unless `ordered`)."""
    if found.table is None or wanted.table is None:
        if found.table is None and wanted.table is None:
            return None
        if found.table is None:
            return f"fails with {found.kind}: {found.error}"
        return f"answers {_shortened(rows_of(found.table))} where DuckDB fails: {wanted.error}"
    types = [_type(kind) for kind in found.table.schema.types]
    wanted_types = [_type(kind) for kind in wanted.table.schema.types]
    if types != wanted_types:
        return f"has types {_texts(types)}, DuckDB {_texts(wanted_types)}"
    if alike(found.table, wanted.table, ordered=ordered):
        return None
    rows, wanted_rows = rows_of(found.table), rows_of(wanted.table)
    if len(rows) != len(wanted_rows):
        return (
            f"has {len(rows)} rows, DuckDB {len(wanted_rows)}: {_shortened(rows)}, {_shortened(wanted_rows)}"
        )
    if not ordered:
        rows, wanted_rows = sorted(rows, key=_order), sorted(wanted_rows, key=_order)
    for row, wanted_row in zip(rows, wanted_rows, strict=True):
        if not all(_equal(a, b) for a, b in zip(row, wanted_row, strict=True)):
            return f"has row {row}, DuckDB {wanted_row}"
    return None


def _type(kind: pa.DataType) -> pa.DataType:
    """How a string is laid out is no part of the answer, nor is the type of NULL alone."""
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    return pa.int32() if pa.types.is_null(kind) else kind


def rows_of(table: pa.Table) -> list[tuple[object, ...]]:
    """The rows of a table, days and moments as numbers."""
    columns = [_plain(column).to_pylist() for column in table.columns]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Days and moments as numbers: Python's calendar ends sooner than theirs."""
    if pa.types.is_date32(column.type):
        return column.cast(pa.int32())
    number = pa.types.is_timestamp(column.type) or pa.types.is_time64(column.type)
    return column.cast(pa.int64()) if number else column


def _order(row: tuple[object, ...]) -> tuple[object, ...]:
    """A key of rows in which doubles that are nearly equal stand together."""
    return tuple(
        (value is None, f"{value:.6g}" if isinstance(value, float) and value != 0 else repr(value or 0))
        if not isinstance(value, Decimal)
        else (False, repr(value.normalize()))
        for value in row
    )


def _equal(found: object, wanted: object) -> bool:
    if isinstance(found, float) and isinstance(wanted, float):
        if math.isnan(found) or math.isnan(wanted):
            return math.isnan(found) and math.isnan(wanted)
        return found == wanted or math.isclose(found, wanted, rel_tol=_RELATIVE, abs_tol=1e-300)
    return found == wanted


def _texts(values: list[pa.DataType]) -> str:
    return ", ".join(map(str, values))


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) < 200 else text[:200] + "…"
