"""Whether headrace's answer is DuckDB's. Stricter than the benchmarks' comparison: numbers that are not
floating point count to the last digit."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

# Sums of floating point in another order.
DIGITS = 9


def difference(ours: pa.Table, theirs: pa.Table) -> str:
    """The first difference between two tables as multisets of rows, or an empty text; names and types of
    columns do not count."""
    if ours.num_columns != theirs.num_columns:
        return f"{ours.num_columns} columns, DuckDB {theirs.num_columns}"
    if ours.num_rows != theirs.num_rows:
        return f"{ours.num_rows} rows, DuckDB {theirs.num_rows}"
    mine, others = _rows(ours), _rows(theirs)
    if mine == others:
        return ""
    for row, other in zip(sorted(mine), sorted(others), strict=True):
        if row != other:
            return f"{row}, DuckDB {other}"[:400]
    return ""


def _rows(table: pa.Table) -> list[tuple[str, ...]]:
    columns = [[_text(value) for value in column.to_pylist()] for column in table.columns]
    return list(zip(*columns, strict=True))


def _text(value: Any) -> str:
    """A text that equal values share, whatever type of Arrow they come in."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        if math.isfinite(value) and not value.is_integer():
            return f"{value:.{DIGITS}g}"
        return str(int(value)) if math.isfinite(value) and abs(value) < 2**53 else repr(value)
    if isinstance(value, decimal.Decimal):
        return (
            f"{value.normalize():f}" if value == value.to_integral_value() else f"{float(value):.{DIGITS}g}"
        )
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return str(value.astimezone(datetime.UTC))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_text(part)}" for name, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_text(part) for part in value) + "]"
    return str(value)
