"""DuckDB's answer is the definition of SQL: comparison of results in names, types and values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal

import duckdb
import headrace as hr
import numpy as np
import pyarrow as pa

#: Sums of doubles are added in any order.
_TOLERANCE = 1e-9
#: Opening a database takes 20 ms, a connection to one that is open next to nothing.
_DATABASE = duckdb.connect()


def connect() -> duckdb.DuckDBPyConnection:
    """A connection with tables and settings of its own to a database that stays open."""
    return _DATABASE.cursor()


def same(found: pa.Table, expected: pa.Table, *, ordered: bool = False) -> None:
    """Asserts that results are equal: as bags of rows, or row by row if `ordered`."""
    assert found.column_names == expected.column_names
    assert [field.type for field in found.schema] == [_known(field.type) for field in expected.schema]
    assert found.num_rows == expected.num_rows, f"{found.num_rows} rows, expected {expected.num_rows}"
    if alike(found, expected, ordered=ordered):
        return
    left, right = _rows(found), _rows(expected)
    if not ordered:
        left, right = sorted(left, key=_order), sorted(right, key=_order)
    for a, b in zip(left, right, strict=True):
        assert all(map(equal, a, b)), f"got {a}, expected {b}"


def alike(found: pa.Table, wanted: pa.Table, *, ordered: bool) -> bool:
    """Whether tables of the same types have the same rows, as far as Arrow and NumPy can say it at once.

    Millions of values are compared in no time this way. Where it says no, the rows may still be the same:
    nested ones, or doubles whose last digits decide the order of rows.
    """
    if found.num_rows != wanted.num_rows:
        return False
    names = [str(at) for at in range(found.num_columns)]
    try:
        left, right = (_sorted(table.rename_columns(names), ordered) for table in (found, wanted))
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):  # types without an order
        return False
    return all(map(_columns_alike, left.columns, right.columns))


def _sorted(table: pa.Table, ordered: bool) -> pa.Table:
    if ordered or not table.num_columns:
        return table
    exact_first = sorted(table.schema, key=lambda field: pa.types.is_floating(field.type))
    return table.sort_by([(field.name, "ascending") for field in exact_first])


def _columns_alike(found: pa.ChunkedArray, wanted: pa.ChunkedArray) -> bool:
    if not pa.types.is_floating(found.type) or not pa.types.is_floating(wanted.type):
        return found.equals(wanted)
    if not found.is_null().equals(wanted.is_null()):
        return False
    values, others = (column.fill_null(0.0).to_numpy() for column in (found, wanted))
    return np.allclose(values, others, rtol=_TOLERANCE, atol=0.0, equal_nan=True)


def _known(kind: pa.DataType) -> pa.DataType:
    """The type of a bare NULL is a number's, also within another type."""
    if pa.types.is_null(kind):
        return pa.int32()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_known(field.type)) for field in kind])
    return pa.list_(_known(kind.value_type)) if pa.types.is_list(kind) else kind


def answer(query: str, tables: Mapping[str, pa.Table]) -> pa.Table:
    """DuckDB's."""
    with connect() as connection:
        for name, table in tables.items():
            connection.register(name, table)
        return connection.sql(query).to_arrow_table()


def check(query: str, tables: Mapping[str, pa.Table], **options: object) -> None:
    """Asserts that headrace's answer, with these options of hr.sql, is DuckDB's but for the order of rows."""
    same(hr.sql(query, dict(tables), **options), answer(query, tables))  # type: ignore[arg-type]


def equal(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return (
            a == b
            or (math.isnan(a) and math.isnan(b))
            or math.isclose(a, b, rel_tol=_TOLERANCE, abs_tol=1e-12)
        )
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    return a == b


def _rows(table: pa.Table) -> list[tuple[object, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _order(row: tuple[object, ...]) -> list[tuple[bool, str]]:
    """Doubles by the digits that must agree."""
    return [
        (value is None, f"{value:.6g}" if isinstance(value, (float, Decimal)) else str(value))
        for value in row
    ]
