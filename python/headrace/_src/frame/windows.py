"""Rules of what sees the rows beside a row: ranks, shifts, running and rolling aggregates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from headrace._src.errors import UnsupportedError, UserError
from headrace._src.frame.expression import Expr
from headrace._src.frame.row_choices import among
from headrace._src.frame.scope import Key, Scope, Value, combined, converted
from headrace._src.frame.translate import own_rule, rule
from headrace._src.frame.types import (
    DIGITS_MAX,
    counted_in,
    difference_of,
    is_decimal,
    is_float,
    is_integer,
    is_moment,
    is_numeric,
    sql_type,
)

_COUNT = pa.int64()
_DOUBLE = pa.float64()


def _rows_of(scope: Scope, what: str, value: Value) -> Scope:
    """Windows over the rows of a value."""
    if scope.grouped:
        raise UnsupportedError(f"{what} inside of agg() beside aggregates needs an aggregate around it")
    return among(scope, value)


def _of_rows(value: Value, *of: Value) -> Value:
    """A value of the same rows as another."""
    return replace(value, where=of[0].where, order=of[0].order)


@rule("rank", of_rows=True)
def _rank(scope: Scope, value: Value, method: str, descending: bool) -> Value:
    rows = _rows_of(scope, "rank()", value)
    key = Key(value.sql, descending, True)
    peers = replace(rows, keys=(*rows.keys, value.sql))
    if method == "ordinal":
        order = [key, *rows.ordered("an ordinal rank")]
        place = rows.window("row_number()", _COUNT, value.level, order=order)
        sql, dtype = place.sql, _COUNT
    elif method in ("min", "dense"):
        call = "rank()" if method == "min" else "dense_rank()"
        place = rows.window(call, _COUNT, value.level, order=[key])
        sql, dtype = place.sql, _COUNT
    elif method in ("average", "max"):
        place = rows.window("rank()", _COUNT, value.level, order=[key])
        others = peers.window("count(*)", _COUNT, value.level).sql
        share = f"({others} - 1) / 2" if method == "average" else f"({others} - 1)"
        sql, dtype = f"({place.sql} + {share})", _DOUBLE if method == "average" else _COUNT
    else:
        raise UserError(f"method is average, min, max, dense or ordinal, got {method}")
    ranked = Value(f"case when {value.sql} is not null then {sql} end", dtype, max(value.level, place.level))
    return _of_rows(ranked, value)


@rule("shift", of_rows=True)
def _shift(scope: Scope, value: Value, fill: Value, n: int) -> Value:
    rows = _rows_of(scope, "shift()", value)
    call = f"lag({value.sql}, {n})" if n >= 0 else f"lead({value.sql}, {-n})"
    if not (fill.literal and fill.value is None):
        call = f"{call[:-1]}, {converted(fill, value.type).sql})"
    return _of_rows(rows.window(call, value.type, value.level, order=rows.ordered("shift()")), value)


@own_rule("row_index")
def _row_index(scope: Scope, expr: Expr) -> Value:
    """The number of the row, from 0 on."""
    rows = _rows_of(scope, "a number of the row", Value("", _COUNT))
    at = rows.window("row_number()", _COUNT, 0, order=rows.ordered("a number of the row"))
    return replace(at, sql=f"({at.sql} - 1)")


@rule("diff", of_rows=True)
def _diff(scope: Scope, value: Value, n: int) -> Value:
    if not is_numeric(value.type):
        raise UserError(f"diff() takes numbers, got {value.type}")
    if is_integer(value.type):
        value = converted(value, difference_of(value.type))
    before = _shift(scope, value, Value("NULL", pa.null(), literal=True), n)
    dtype = value.type
    if is_decimal(dtype):
        dtype = pa.decimal128(min(dtype.precision + 1, DIGITS_MAX), dtype.scale)
    return combined(f"({value.sql} - {before.sql})", dtype, value, before)


@rule("share_of_change", of_rows=True)
def _share_of_change(scope: Scope, value: Value, n: int) -> Value:
    if not is_numeric(value.type):
        raise UserError(f"pct_change() takes numbers, got {value.type}")
    value = scope.once(value if is_float(value.type) else converted(value, _DOUBLE))
    before = _shift(scope, value, Value("NULL", pa.null(), literal=True), n)
    return combined(f"(({value.sql} - {before.sql}) / {before.sql})", value.type, value, before)


@rule("filled", of_rows=True)
def _filled(scope: Scope, value: Value, backward: bool) -> Value:
    what = "backward_fill()" if backward else "forward_fill()"
    rows = _rows_of(scope, what, value)
    order = rows.ordered(what)
    keys = [key.reversed for key in order] if backward else order
    call, frame = f"last_value({value.sql} ignore nulls)", "rows between unbounded preceding and current row"
    return _of_rows(rows.window(call, value.type, value.level, order=keys, frame=frame), value)


@rule("duplicated", of_rows=True)
def _duplicated(scope: Scope, value: Value) -> Value:
    rows = _rows_of(scope, "is_duplicated()", value)
    count = replace(rows, keys=(*rows.keys, value.sql)).window("count(*)", _COUNT, value.level)
    return _of_rows(replace(count, sql=f"({count.sql} > 1)", type=pa.bool_()), value)


@rule("end_of_equals", of_rows=True)
def _end_of_equals(scope: Scope, value: Value, last: bool) -> Value:
    what = f"is_{'last' if last else 'first'}_distinct()"
    rows = _rows_of(scope, what, value)
    order = [key.reversed for key in rows.ordered(what)] if last else rows.ordered(what)
    equals = replace(rows, keys=(*rows.keys, value.sql))
    at = equals.window("row_number()", _COUNT, value.level, order=order)
    return _of_rows(replace(at, sql=f"({at.sql} = 1)", type=pa.bool_()), value)


@rule("rle_id", of_rows=True)
def _rle_id(scope: Scope, value: Value) -> Value:
    rows = _rows_of(scope, "rle_id()", value)
    order = rows.ordered("rle_id()")
    before = rows.window(f"lag({value.sql})", value.type, value.level, order=order)
    at = rows.window("row_number()", _COUNT, value.level, order=order)
    change = f"case when {value.sql} is distinct from {before.sql} and {at.sql} > 1 then 1 else 0 end"
    frame = "rows between unbounded preceding and current row"
    count = rows.window(f"sum({change})", _COUNT, at.level, order=order, frame=frame)
    return _of_rows(replace(count, sql=f"cast({count.sql} as bigint)"), value)


def _numeric(value: Value, what: str) -> pa.DataType:
    if not is_numeric(value.type):
        raise UserError(f"{what} takes numbers, got {value.type}")
    if is_decimal(value.type):
        return pa.decimal128(DIGITS_MAX, value.type.scale)
    return counted_in(value.type) if is_integer(value.type) else value.type


@rule("cumulative", of_rows=True)
def _cumulative(scope: Scope, value: Value, function: str, reverse: bool) -> Value:
    what = f"cum_{function}()"
    rows = _rows_of(scope, what, value)
    if function == "sum" and value.type == pa.bool_():
        value = converted(value, _COUNT)
    dtype = _COUNT if function == "count" else _numeric(value, what) if function == "sum" else value.type
    order = rows.ordered(what)
    keys = [key.reversed for key in order] if reverse else order
    frame = "rows between unbounded preceding and current row"
    total = rows.window(f"{function}({value.sql})", dtype, value.level, order=keys, frame=frame)
    if function == "count":
        return _of_rows(total, value)
    if is_float(value.type) and function == "max":  # NaN only of nothing else
        number = f"case when not isnan({value.sql}) then {value.sql} end"
        most = rows.window(f"max({number})", dtype, value.level, order=keys, frame=frame)
        total = replace(total, sql=f"coalesce({most.sql}, {total.sql})")
    sql = f"cast(case when {value.sql} is not null then {total.sql} end as {sql_type(dtype)})"
    return _of_rows(Value(sql, dtype, max(value.level, total.level)), value)


_CALLS = {"mean": "avg", "std": ("stddev_pop", "stddev_samp"), "var": ("var_pop", "var_samp")}


@rule("rolling", of_rows=True)
def _rolling(
    scope: Scope, value: Value, function: str, size: int, samples: int, center: bool, ddof: int
) -> Value:
    what = f"rolling_{function}()"
    rows = _rows_of(scope, what, value)
    after = (size + 1) // 2 - 1 if center else 0
    frame = f"rows between {size - 1 - after} preceding and {after} following"
    return _over_frame(rows, value, what, function, samples, ddof, rows.ordered(what), frame)


def _over_frame(
    rows: Scope,
    value: Value,
    what: str,
    function: str,
    samples: int,
    ddof: int,
    order: Sequence[Key],
    frame: str,
) -> Value:
    """An aggregate of the rows of a frame, null of too few values."""
    numeric = _numeric(value, what)
    if ddof not in (0, 1):
        raise UnsupportedError(f"{what} takes ddof=0 or 1, got {ddof}")
    dtype = _DOUBLE if function in _CALLS else numeric if function == "sum" else value.type
    call = _CALLS.get(function, function)
    name, of = (call, value) if isinstance(call, str) else (call[ddof], converted(value, _DOUBLE))
    found = rows.window(f"{name}({of.sql})", dtype, value.level, order=order, frame=frame)
    count = rows.window(f"count({value.sql})", _COUNT, value.level, order=order, frame=frame)
    if value.type == pa.float32():
        dtype = value.type
    if is_float(value.type) and function == "min":  # NaN if there is one
        most = rows.window(f"max({value.sql})", dtype, value.level, order=order, frame=frame)
        found = replace(found, sql=f"case when isnan({most.sql}) then {most.sql} else {found.sql} end")
    shown = f"coalesce({found.sql}, 0)" if function == "sum" else found.sql
    sql = f"cast(case when {count.sql} >= {samples} then {shown} end as {sql_type(dtype)})"
    return _of_rows(Value(sql, dtype, max(found.level, count.level)), value)


#: Of the lengths of time that are the same everywhere, in microseconds.
_LENGTHS = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "m": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
    "w": 604_800_000_000,
}


def steps(size: str, dtype: pa.DataType, what: str) -> int:
    """A length such as 3d or 1h30m in microseconds, or such as 5i of integers."""
    parts = re.findall(r"(\d+)(us|ms|mo|[smhdwqyi])", size)
    if not parts or "".join(map("".join, parts)) != size:
        raise UserError(f"{what} takes a length such as 3d, 1h30m or 5i, got {size}")
    units = {unit for _, unit in parts}
    if units == {"i"} and is_integer(dtype):
        return sum(int(count) for count, _ in parts)
    if not units <= set(_LENGTHS) or not is_moment(dtype):
        raise UnsupportedError(
            f"{what} of {dtype} by {size}: w, d, h, m, s, ms, us of moments, i of integers"
        )
    return sum(int(count) * _LENGTHS[unit] for count, unit in parts)


def as_steps(value: Value) -> Value:
    """A moment in microseconds, an integer as it is."""
    if is_integer(value.type):
        return converted(value, _COUNT)
    if value.type == pa.timestamp("ns"):
        raise UnsupportedError("windows by times in nanoseconds are not supported: cast to Datetime('us')")
    return replace(converted(value, pa.timestamp("us")), sql=f"epoch_us({value.sql})", type=_COUNT)


@rule("rolling_by", of_rows=True)
def _rolling_by(
    scope: Scope, value: Value, by: Value, function: str, size: str, samples: int, closed: str, ddof: int
) -> Value:
    what = f"rolling_{function}_by()"
    rows = _rows_of(scope, what, value)
    length = steps(size, by.type, what)
    if closed not in ("right", "left", "both", "none"):
        raise UserError(f"closed is right, left, both or none, got {closed}")
    first = length if closed in ("left", "both") else length - 1
    last = "current row" if closed in ("right", "both") else "1 preceding"
    at = rows.staged(as_steps(by))
    frame = f"range between {first} preceding and {last}"
    value = replace(value, level=max(value.level, at.level))
    return _over_frame(rows, value, what, function, samples, ddof, [Key(at.sql)], frame)
