"""Rules of aggregates: of a GROUP BY, or as windows over the group of each row."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from headrace._src.errors import UnsupportedError, UserError
from headrace._src.frame.expression import Expr
from headrace._src.frame.row_choices import among
from headrace._src.frame.scope import Key, Scope, Value, converted
from headrace._src.frame.translate import AGGREGATES, check_boolean, own_rule, rule
from headrace._src.frame.types import (
    DIGITS_MAX,
    counted_in,
    is_decimal,
    is_float,
    is_integer,
    is_numeric,
    is_unsigned,
    sql_type,
)

_COUNT = pa.int64()
_DOUBLE = pa.float64()
AGGREGATES.add("len")


def _call(scope: Scope, call: str, dtype: pa.DataType, *values: Value, where: str = "") -> Value:
    """An aggregate function with its filter."""
    condition = " and ".join(f"({each})" for each in (*{v.where for v in values if v.where}, where) if each)
    filtered = f"{call} filter (where {condition})" if condition else call
    level = max((value.level for value in values), default=0)
    if scope.grouped:
        scope.stages.reach(level)
        return Value(filtered, dtype, grouped=True)
    return scope.window(filtered, dtype, level)


def _wrapped(value: Value, sql: str, dtype: pa.DataType) -> Value:
    return Value(sql, dtype, value.level, grouped=value.grouped)


@own_rule("len")
def _len(scope: Scope, expr: Expr) -> Value:
    return _call(scope, "count(*)", _COUNT)


@rule("len_of", aggregate=True)
def _len_of(scope: Scope, value: Value) -> Value:
    return _call(scope, "count(*)", _COUNT, value)


@rule("count", aggregate=True)
def _count(scope: Scope, value: Value) -> Value:
    return _call(scope, f"count({value.sql})", _COUNT, value)


@rule("null_count", aggregate=True)
def _null_count(scope: Scope, value: Value) -> Value:
    return _call(scope, "count(*)", _COUNT, value, where=f"{value.sql} is null")


@rule("n_unique", aggregate=True)
def _n_unique(scope: Scope, value: Value) -> Value:
    values = _call(scope, f"count(distinct {value.sql})", _COUNT, value)
    nulls = _call(scope, "count(*)", _COUNT, value, where=f"{value.sql} is null")
    level = max(values.level, nulls.level)
    sql = f"({values.sql} + case when {nulls.sql} > 0 then 1 else 0 end)"
    return Value(sql, _COUNT, level, grouped=values.grouped)


@rule("sum", aggregate=True)
def _sum(scope: Scope, value: Value) -> Value:
    dtype = value.type
    if dtype == pa.bool_():
        return _call(scope, "count(*)", _COUNT, value, where=value.sql)
    _check_number(value, "sum")
    if is_decimal(dtype):
        dtype = pa.decimal128(DIGITS_MAX, dtype.scale)
    elif is_integer(dtype):
        dtype = counted_in(dtype)
    total = _call(scope, f"sum({value.sql})", dtype, value)
    sql = f"coalesce({total.sql}, 0)"
    if is_unsigned(dtype):  # around, as in Polars
        sql = f"{sql} % {1 << dtype.bit_width}"
    return _wrapped(total, f"cast({sql} as {sql_type(dtype)})", dtype)


def _check_number(value: Value, what: str) -> None:
    if not is_numeric(value.type):
        raise UserError(f"{what} takes numbers, got {value.type}")


def _as_float(total: Value, of: pa.DataType) -> Value:
    if of == pa.float32():
        return _wrapped(total, f"cast({total.sql} as float)", of)
    return total


@rule("mean", aggregate=True)
def _mean(scope: Scope, value: Value) -> Value:
    if value.type == pa.bool_():
        value = converted(value, pa.int32())
    _check_number(value, "mean")
    return _as_float(_call(scope, f"avg({value.sql})", _DOUBLE, value), value.type)


@rule("min", aggregate=True)
def _min(scope: Scope, value: Value) -> Value:
    return _call(scope, f"min({value.sql})", value.type, value)


@rule("max", aggregate=True)
def _max(scope: Scope, value: Value) -> Value:
    most = _call(scope, f"max({value.sql})", value.type, value)
    if not is_float(value.type):
        return most
    numbers = _call(scope, f"max({value.sql})", value.type, value, where=f"not isnan({value.sql})")
    return _wrapped(numbers, f"coalesce({numbers.sql}, {most.sql})", value.type)


@rule("any", aggregate=True)
def _any(scope: Scope, value: Value) -> Value:
    check_boolean(value, "any")
    found = _call(scope, f"bool_or({value.sql})", pa.bool_(), value)
    return _wrapped(found, f"coalesce({found.sql}, false)", pa.bool_())


@rule("all", aggregate=True)
def _all(scope: Scope, value: Value) -> Value:
    check_boolean(value, "all")
    found = _call(scope, f"bool_and({value.sql})", pa.bool_(), value)
    return _wrapped(found, f"coalesce({found.sql}, true)", pa.bool_())


@rule("product", aggregate=True)
def _product(scope: Scope, value: Value) -> Value:
    if not is_float(value.type):
        raise UnsupportedError(f"product of {value.type} is not supported: cast to a float")
    found = _call(scope, f"product({value.sql})", _DOUBLE, value)
    return _as_float(_wrapped(found, f"coalesce({found.sql}, 1e0)", _DOUBLE), value.type)


def _spread(kind: str, functions: tuple[str, str]) -> None:
    @rule(kind, aggregate=True)
    def spread(scope: Scope, value: Value, ddof: int) -> Value:
        _check_number(value, kind)
        if ddof not in (0, 1):
            raise UnsupportedError(f"{kind} takes ddof=0 or 1, got {ddof}")
        found = _call(scope, f"{functions[ddof]}({converted(value, _DOUBLE).sql})", _DOUBLE, value)
        return _as_float(found, value.type)


_spread("std", ("stddev_pop", "stddev_samp"))
_spread("var", ("var_pop", "var_samp"))


@rule("median", aggregate=True)
def _median(scope: Scope, value: Value) -> Value:
    return _share(scope, value, 0.5, "linear")


@rule("quantile", aggregate=True)
def _quantile(scope: Scope, value: Value, quantile: float, interpolation: str) -> Value:
    return _share(scope, value, quantile, interpolation)


#: interpolation -> the places of the values between which the quantile lies, of n values from 0 on.
_PLACES = {
    "nearest": ("round({q}e0 * ({n} - 1))",),
    "lower": ("floor({q}e0 * ({n} - 1))",),
    "higher": ("ceil({q}e0 * ({n} - 1))",),
    "midpoint": ("floor({q}e0 * ({n} - 1))", "ceil({q}e0 * ({n} - 1))"),
}


def _share(scope: Scope, value: Value, share: float, interpolation: str) -> Value:
    """A quantile; the value at a place in the order where it is not between two."""
    _check_number(value, "quantile")
    if not 0 <= share <= 1:
        raise UserError(f"a quantile is from 0 to 1, got {share}")
    if interpolation not in ("linear", *_PLACES):
        raise UserError(f"interpolation is linear or {', '.join(_PLACES)}, got {interpolation}")
    dtype, value = value.type, converted(value, _DOUBLE)
    if scope.grouped and interpolation == "linear":
        return _as_float(_call(scope, f"quantile_cont({value.sql}, {share!r})", _DOUBLE, value), dtype)
    # Each row counts those before it; the aggregate takes the one at the place.
    rows = among(scope, value)
    at = rows.window("row_number()", _COUNT, value.level, order=[Key(value.sql, nulls_last=True)])
    count = rows.window(f"count({value.sql})", _COUNT, value.level)
    places = _PLACES.get("midpoint" if interpolation == "linear" else interpolation, ())
    found = [
        _call(
            scope,
            f"max({value.sql})",
            _DOUBLE,
            value,
            at,
            count,
            where=f"{at.sql} - 1 = {place.format(q=repr(float(share)), n=count.sql)}",
        )
        for place in places
    ]
    if len(found) == 1:
        return _as_float(found[0], dtype)
    low, high = found
    part = "0.5e0"
    if interpolation == "linear":
        n = _call(scope, f"count({value.sql})", _COUNT, value)
        part = f"({share!r}e0 * ({n.sql} - 1) - floor({share!r}e0 * ({n.sql} - 1)))"
    # Of two infinities the difference is none.
    between = f"{low.sql} + ({high.sql} - {low.sql}) * {part}"
    sql = f"case when {low.sql} = {high.sql} then {low.sql} else {between} end"
    return _as_float(Value(sql, _DOUBLE, max(low.level, high.level), grouped=low.grouped), dtype)


def _end(kind: str, window: str, backwards: bool) -> None:
    @rule(kind, aggregate=True)
    def end(scope: Scope, value: Value) -> Value:
        order = value.order or scope.ordered(f"{kind}()")
        keys = [key.reversed for key in order] if backwards else order
        if scope.grouped:
            return _call(scope, f"first({value.sql} order by {', '.join(map(str, keys))})", value.type, value)
        if not value.where:
            every = "rows between unbounded preceding and unbounded following"
            return scope.window(f"{window}({value.sql})", value.type, value.level, order=order, frame=every)
        at = among(scope, value).window("row_number()", _COUNT, value.level, order=keys)
        return _call(scope, f"max({value.sql})", value.type, value, at, where=f"{at.sql} = 1")


_end("first", "first_value", False)
_end("last", "last_value", True)


@rule("implode", aggregate=True)
def _implode(scope: Scope, value: Value) -> Value:
    if not scope.grouped:
        raise UnsupportedError("lists of rows beside rows are not supported: group_by(…).agg(…), and join")
    order = ", ".join(map(str, value.order or scope.ordered("a list of the rows of a group")))
    dtype = pa.list_(value.type)
    found = _call(scope, f"list({value.sql} order by {order})", dtype, value)
    empty = f"cast([] as {sql_type(dtype)})"
    none = value.where or not scope.in_group  # a group has rows, a frame may have none
    return _wrapped(found, f"coalesce({found.sql}, {empty})" if none else found.sql, dtype)


def _place(kind: str, function: str) -> None:
    @rule(kind, aggregate=True)
    def place(scope: Scope, value: Value) -> Value:
        """Where the least or greatest value is first; nulls are passed over."""
        value = scope.rows.once(value)
        rows = among(scope, value)
        best = rows.window(f"{function}({value.sql})", value.type, value.level)
        if is_float(value.type) and function == "max":
            number = f"case when not isnan({value.sql}) then {value.sql} end"
            most = rows.window(f"max({number})", value.type, value.level)
            best = replace(best, sql=f"coalesce({most.sql}, {best.sql})")
        at = rows.window("row_number()", _COUNT, value.level, order=rows.ordered(f"{kind}()"))
        where = f"{value.sql} = {best.sql}"
        return _call(scope, f"min({at.sql} - 1)", _COUNT, value, best, at, where=where)


_place("arg_min", "min")
_place("arg_max", "max")
