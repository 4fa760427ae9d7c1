"""Whether two engines gave the same answer: a benchmark of a wrong one is worth nothing."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import pyarrow as pa

# Engines differ in where they go over to floating point (avg and division of decimals).
RELATIVE_TOLERANCE = 1e-6
ABSOLUTE_TOLERANCE = 2e-6


def difference(result: pa.Table, oracle: pa.Table) -> str:
    """The first difference between two tables as multisets of rows, or an empty text. Column names and exact
    types do not count; numbers are equal within the tolerances."""
    if result.num_columns != oracle.num_columns:
        return f"answer has {result.num_columns} columns, DuckDB's {oracle.num_columns}"
    if result.num_rows != oracle.num_rows:
        return f"answer has {result.num_rows} rows, DuckDB's {oracle.num_rows}"
    ours, theirs = _rows(result), _rows(oracle)
    for mine, other in zip(ours, theirs, strict=True):
        for column, (a, b) in enumerate(zip(mine, other, strict=True)):
            if not _equal(a, b):
                return f"answer differs in column {column + 1}: {a!r}, DuckDB's {b!r}"
    return ""


def _rows(table: pa.Table) -> list[tuple[Any, ...]]:
    columns = [[_plain(value) for value in column.to_pylist()] for column in table.columns]
    return sorted(zip(*columns, strict=True), key=_sort_key)


def _plain(value: Any) -> Any:
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.datetime):
        return value.date() if value.time() == datetime.time() else value
    return value


def _sort_key(row: tuple[Any, ...]) -> tuple[str, ...]:
    # Exact columns first: two rows that differ only by rounding must not change places.
    exact = [str(value) for value in row if not isinstance(value, float)]
    rounded = [f"{value:.1f}" for value in row if isinstance(value, float)]
    return (*exact, *rounded)


def _equal(a: Any, b: Any) -> bool:
    numbers = (int, float)
    if isinstance(a, numbers) and isinstance(b, numbers) and not isinstance(a, bool):
        return abs(a - b) <= max(ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE * max(abs(a), abs(b)))
    return a == b
