"""Rules of what sees the rows beside a row: ranks, shifts, running and rolling aggregates."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from headrace._src.errors import UnsupportedError, UserError
from headrace._src.frame.scope import Key, Scope, Value, combined, converted
from headrace._src.frame.translate import rule
from headrace._src.frame.types import DIGITS_MAX, is_decimal, is_float, is_numeric, sql_type

_COUNT = pa.int64()
_DOUBLE = pa.float64()


def _in_rows(scope: Scope, what: str, value: Value) -> None:
    if scope.grouped:
        raise UnsupportedError(
            f"lists are not supported: {what} inside of agg() needs an aggregate around it"
        )
    if value.where:
        raise UnsupportedError(f"{what} of filtered values is not supported: filter the frame")


@rule("rank")
def _rank(scope: Scope, value: Value, method: str, descending: bool) -> Value:
    _in_rows(scope, "rank()", value)
    key = Key(value.sql, descending, True)
    peers = replace(scope, keys=(*scope.keys, value.sql))
    if method == "ordinal":
        place = scope.window(
            "row_number()", _COUNT, value.level, order=[key, *scope.ordered("an ordinal rank")]
        )
        sql, dtype = place.sql, _COUNT
    elif method in ("min", "dense"):
        call = "rank()" if method == "min" else "dense_rank()"
        place = scope.window(call, _COUNT, value.level, order=[key])
        sql, dtype = place.sql, _COUNT
    elif method in ("average", "max"):
        place = scope.window("rank()", _COUNT, value.level, order=[key])
        others = peers.window("count(*)", _COUNT, value.level).sql
        share = f"({others} - 1) / 2" if method == "average" else f"({others} - 1)"
        sql, dtype = f"({place.sql} + {share})", _DOUBLE if method == "average" else _COUNT
    else:
        raise UserError(f"method is average, min, max, dense or ordinal, got {method}")
    return combined(f"case when {value.sql} is not null then {sql} end", dtype, value, place)


@rule("shift")
def _shift(scope: Scope, value: Value, fill: Value, n: int) -> Value:
    _in_rows(scope, "shift()", value)
    call = f"lag({value.sql}, {n})" if n >= 0 else f"lead({value.sql}, {-n})"
    if not (fill.literal and fill.value is None):
        call = f"{call[:-1]}, {converted(fill, value.type).sql})"
    return scope.window(call, value.type, value.level, order=scope.ordered("shift()"))


def _numeric(value: Value, what: str) -> pa.DataType:
    if not is_numeric(value.type):
        raise UserError(f"{what} takes numbers, got {value.type}")
    if is_decimal(value.type):
        return pa.decimal128(DIGITS_MAX, value.type.scale)
    return pa.int64() if value.type in (pa.int8(), pa.int16()) else value.type


@rule("cumulative")
def _cumulative(scope: Scope, value: Value, function: str, reverse: bool) -> Value:
    what = f"cum_{function}()"
    _in_rows(scope, what, value)
    dtype = _COUNT if function == "count" else _numeric(value, what) if function == "sum" else value.type
    if is_float(value.type) and function == "max":
        raise UnsupportedError("cum_max() of floats is not supported")
    order = scope.ordered(what)
    keys = [key.reversed for key in order] if reverse else order
    frame = "rows between unbounded preceding and current row"
    total = scope.window(f"{function}({value.sql})", dtype, value.level, order=keys, frame=frame)
    if function == "count":
        return total
    sql = f"case when {value.sql} is not null then {total.sql} end"
    return combined(f"cast({sql} as {sql_type(dtype)})", dtype, value, total)


@rule("rolling")
def _rolling(scope: Scope, value: Value, function: str, size: int, samples: int) -> Value:
    what = f"rolling_{function}()"
    _in_rows(scope, what, value)
    numeric = _numeric(value, what)
    if is_float(value.type) and function == "max":
        raise UnsupportedError("rolling_max() of floats is not supported")
    dtype = _DOUBLE if function == "mean" else numeric if function == "sum" else value.type
    order, frame = scope.ordered(what), f"rows between {size - 1} preceding and current row"
    call = {"mean": "avg"}.get(function, function)
    found = scope.window(f"{call}({value.sql})", dtype, value.level, order=order, frame=frame)
    count = scope.window(f"count({value.sql})", _COUNT, value.level, order=order, frame=frame)
    if value.type == pa.float32():
        dtype = value.type
    sql = f"cast(case when {count.sql} >= {samples} then {found.sql} end as {sql_type(dtype)})"
    return combined(sql, dtype, found, count)
