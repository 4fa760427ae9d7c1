"""DuckDB's answer is the definition of SQL: comparison of results in names, types and values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal

import duckdb
import headrace as hr
import pyarrow as pa

#: Sums of doubles are added in any order.
_TOLERANCE = 1e-9


def same(found: pa.Table, expected: pa.Table, *, ordered: bool = False) -> None:
    """Asserts that results are equal: as bags of rows, or row by row if `ordered`."""
    assert found.column_names == expected.column_names
    assert [field.type for field in found.schema] == [_known(field.type) for field in expected.schema]
    left, right = _rows(found), _rows(expected)
    assert len(left) == len(right), f"{len(left)} rows, expected {len(right)}"
    if not ordered:
        left, right = sorted(left, key=_order), sorted(right, key=_order)
    for a, b in zip(left, right, strict=True):
        assert all(map(equal, a, b)), f"got {a}, expected {b}"


def _known(kind: pa.DataType) -> pa.DataType:
    """The type of a bare NULL is a number's, also within another type."""
    if pa.types.is_null(kind):
        return pa.int32()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_known(field.type)) for field in kind])
    return pa.list_(_known(kind.value_type)) if pa.types.is_list(kind) else kind


def answer(query: str, tables: Mapping[str, pa.Table]) -> pa.Table:
    """DuckDB's."""
    with duckdb.connect() as connection:
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
