"""Rules of arithmetic, comparisons, logic, choices and casts, with the meaning that they have in Polars."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa

from headrace._src.errors import UnsupportedError, UserError
from headrace._src.frame.scope import Scope, Value, combined, common_type, converted, floored
from headrace._src.frame.translate import check_boolean, rule
from headrace._src.frame.types import (
    DIGITS_MAX,
    is_decimal,
    is_float,
    is_integer,
    is_moment,
    is_numeric,
    is_timestamp,
    is_unsigned,
    sql_type,
    supertype,
    type_of,
)

_DOUBLE = pa.float64()
_BOOL = pa.bool_()


def _numbers(left: Value, right: Value, what: str) -> tuple[Value, Value, pa.DataType]:
    """Both as the type in which they meet; decimals keep their digits."""
    kinds = [is_numeric(side.type) for side in (left, right)]
    for side in (left, right):
        counts = side.type == _BOOL and any(kinds)  # true is 1 beside a number
        if not is_numeric(side.type) and not pa.types.is_null(side.type) and not counts:
            raise UserError(f"{what} takes numbers, got {left.type} and {right.type}")
    dtype = common_type(left, right, what)
    if pa.types.is_null(dtype):
        dtype = pa.int32()
    if not is_decimal(dtype):
        return converted(left, dtype), converted(right, dtype), dtype
    left, right = (side if is_decimal(side.type) else _as_decimal(side) for side in (left, right))
    return left, right, dtype


def _as_decimal(value: Value) -> Value:
    if value.literal and isinstance(value.value, int):
        return converted(value, pa.decimal128(max(len(str(abs(value.value))), 1), 0))
    digits = {8: 3, 16: 5, 32: 10, 64: 20 if is_unsigned(value.type) else 19}
    return converted(value, pa.decimal128(digits[value.type.bit_width], 0))


@rule("add")
def _add(scope: Scope, left: Value, right: Value) -> Value:
    if left.type == pa.string() and right.type == pa.string():
        return combined(f"({left.sql} || {right.sql})", pa.string(), left, right)
    if (moved := _moved(left, right, "+") or _moved(right, left, "+")) is not None:
        return moved
    return _sum(left, right, "+")


@rule("subtract")
def _subtract(scope: Scope, left: Value, right: Value) -> Value:
    if (moved := _moved(left, right, "-")) is not None:
        return moved
    return _sum(left, right, "-")


def _moved(moment: Value, step: Value, sign: str) -> Value | None:
    """A date or timestamp and a length of time."""
    if not is_moment(moment.type) or not step.literal or not hasattr(step.value, "total_seconds"):
        return None
    if moment.type == pa.timestamp("ns"):  # the unit of the length
        moment = converted(moment, pa.timestamp("us"))
    sql = f"({moment.sql} {sign} {step.sql})"
    return combined(f"cast({sql} as {sql_type(moment.type)})", moment.type, moment)


def _sum(left: Value, right: Value, sign: str) -> Value:
    a, b, dtype = _numbers(left, right, "+ and -")
    if is_decimal(dtype):
        scale = max(a.type.scale, b.type.scale)
        whole = max(a.type.precision - a.type.scale, b.type.precision - b.type.scale)
        dtype = pa.decimal128(min(whole + scale + 1, DIGITS_MAX), scale)
    return combined(_around(a, b, sign, dtype), dtype, a, b)


def _around(a: Value, b: Value, sign: str, dtype: pa.DataType) -> str:
    """Of integers without sign: modulo a power of two."""
    if not is_unsigned(dtype) or dtype == pa.uint64():
        return f"({a.sql} {sign} {b.sql})"
    sides = f"cast({a.sql} as bigint) {sign} cast({b.sql} as bigint)"
    return f"cast(({sides}) & {(1 << dtype.bit_width) - 1} as {sql_type(dtype)})"


@rule("multiply")
def _multiply(scope: Scope, left: Value, right: Value) -> Value:
    a, b, dtype = _numbers(left, right, "*")
    if not is_decimal(dtype):
        return combined(_around(a, b, "*", dtype), dtype, a, b)
    kept, scale = max(a.type.scale, b.type.scale), a.type.scale + b.type.scale
    if scale > DIGITS_MAX:
        raise UnsupportedError(f"a product of decimals with {scale} digits behind the point")
    exact = pa.decimal128(min(a.type.precision + b.type.precision, DIGITS_MAX), scale)
    product = combined(f"({a.sql} * {b.sql})", exact, a, b)
    return product if kept == scale else _fewer_digits(scope, product, kept)


def _fewer_digits(scope: Scope, value: Value, scale: int) -> Value:
    """A decimal rounded to fewer digits behind the point; what is between two goes to the even one."""
    extra = value.type.scale - scale
    dtype = pa.decimal128(min(value.type.precision - extra + 1, DIGITS_MAX), scale)
    value = scope.once(value)
    near = f"cast({value.sql} as {sql_type(dtype)})"
    # SQL goes away from zero: back by one unit where that was half of one, and made it odd.
    unit = f"0.{'0' * (scale - 1)}1" if scale else "1"
    double = f"0.{'0' * (scale - 1)}2" if scale else "2"
    half = f"0.{'0' * scale}5"
    sql = (
        f"case when abs({near} - {value.sql}) = {half} and {near} % {double} <> 0 "
        f"then {near} - case when {value.sql} < 0 then -{unit} else {unit} end else {near} end"
    )
    return combined(f"cast({sql} as {sql_type(dtype)})", dtype, value)


@rule("divide")
def _divide(scope: Scope, left: Value, right: Value) -> Value:
    a, b, dtype = _numbers(left, right, "/")
    if is_decimal(dtype):
        scale = max(a.type.scale, b.type.scale)
        quotient = scope.once(combined(f"({a.sql} / {b.sql} * 1e{scale})", _DOUBLE, a, b))
        whole = _half_even(scope, quotient)
        dtype = pa.decimal128(DIGITS_MAX, scale)
        return combined(f"cast({whole.sql} / 1e{scale} as {sql_type(dtype)})", dtype, whole)
    if dtype == pa.float32():
        return combined(f"cast({a.sql} / {b.sql} as float)", dtype, a, b)
    a, b = converted(a, _DOUBLE), converted(b, _DOUBLE)
    return combined(f"({a.sql} / {b.sql})", _DOUBLE, a, b)


def _half_even(scope: Scope, value: Value) -> Value:
    """A double as a whole number; of two that are as near the even one."""
    x = scope.once(value).sql
    sql = f"case when abs({x} - trunc({x})) = 0.5 then 2 * round({x} / 2) else round({x}) end"
    return combined(sql, _DOUBLE, scope.once(value))


@rule("floor_divide")
def _floor_divide(scope: Scope, left: Value, right: Value) -> Value:
    a, b, dtype = _numbers(left, right, "//")
    if is_float(dtype):
        return combined(f"cast(floor({a.sql} / {b.sql}) as {sql_type(dtype)})", dtype, a, b)
    if is_decimal(dtype):
        raise UnsupportedError("// of decimals is not supported: cast to a float")
    a, b = scope.once(a), scope.once(b)
    down = f"case when {a.sql} % {b.sql} <> 0 and ({a.sql} < 0) <> ({b.sql} < 0) then 1 else 0 end"
    return combined(_unless_zero(b, f"{a.sql} // {b.sql} - {down}", dtype), dtype, a, b)


@rule("modulo")
def _modulo(scope: Scope, left: Value, right: Value) -> Value:
    a, b, dtype = _numbers(left, right, "%")
    if is_decimal(dtype):
        raise UnsupportedError("% of decimals is not supported: cast to a float")
    a, b = scope.once(a), scope.once(b)
    if is_float(dtype):
        rest = f"({a.sql} - floor({a.sql} / {b.sql}) * {b.sql})"
        return combined(f"cast({rest} as {sql_type(dtype)})", dtype, a, b)
    back = f"case when {a.sql} % {b.sql} <> 0 and ({a.sql} < 0) <> ({b.sql} < 0) then {b.sql} else 0 end"
    return combined(_unless_zero(b, f"{a.sql} % {b.sql} + {back}", dtype), dtype, a, b)


def _unless_zero(divisor: Value, sql: str, dtype: pa.DataType) -> str:
    """Integers by zero are null."""
    if divisor.literal and divisor.value:
        return f"cast({sql} as {sql_type(dtype)})"
    return f"cast(case when {divisor.sql} <> 0 then {sql} end as {sql_type(dtype)})"


@rule("power")
def _power(scope: Scope, left: Value, right: Value) -> Value:
    small = right.literal and isinstance(right.value, int) and 0 <= right.value <= 8
    if is_integer(left.type) and small:
        one = f"cast(case when {left.sql} is not null then 1 end as {sql_type(left.type)})"
        factors = [left.sql] * right.value or [one]
        return combined(f"({' * '.join(factors)})", left.type, left)
    if is_integer(left.type) and is_integer(right.type):
        raise UnsupportedError("** of integers by more than 8, or by columns: cast one of them to a float")
    if right.literal and right.value == 0.5 and is_float(left.type):
        return _sqrt(scope, left)
    a, b, dtype = _numbers(left, right, "**")
    dtype = left.type if left.type == pa.float32() else _DOUBLE
    sql = f"pow({converted(a, _DOUBLE).sql}, {converted(b, _DOUBLE).sql})"
    return combined(f"cast({sql} as {sql_type(dtype)})", dtype, a, b)


@rule("negate")
def _negate(scope: Scope, value: Value) -> Value:
    _check_number(value, "-")
    if is_unsigned(value.type):
        raise UserError(f"{value.type} has no values below zero: cast it before -")
    return combined(f"(-{value.sql})", value.type, value)


def _check_number(value: Value, what: str) -> None:
    if not is_numeric(value.type):
        raise UserError(f"{what} takes numbers, got {value.type}")


@rule("abs")
def _abs(scope: Scope, value: Value) -> Value:
    _check_number(value, "abs")
    return combined(f"abs({value.sql})", value.type, value)


@rule("sign")
def _sign(scope: Scope, value: Value) -> Value:
    _check_number(value, "sign")
    if is_float(value.type):
        value = scope.once(value)
        sql = f"case when isnan({value.sql}) then {value.sql} else sign({value.sql}) end"
        return combined(f"cast({sql} as {sql_type(value.type)})", value.type, value)
    return combined(f"cast(sign({value.sql}) as {sql_type(value.type)})", value.type, value)


@rule("floor")
def _floor(scope: Scope, value: Value) -> Value:
    return _whole(value, "floor")


@rule("ceil")
def _ceil(scope: Scope, value: Value) -> Value:
    return _whole(value, "ceil")


def _whole(value: Value, function: str) -> Value:
    _check_number(value, function)
    if is_integer(value.type):
        return value
    return combined(f"cast({function}({value.sql}) as {sql_type(value.type)})", value.type, value)


@rule("round")
def _round(scope: Scope, value: Value, decimals: int, mode: str) -> Value:
    _check_number(value, "round")
    if mode not in ("half_to_even", "half_away_from_zero"):
        raise UserError(f"mode is half_to_even or half_away_from_zero, got {mode}")
    if decimals < 0:
        raise UserError(f"round takes a number of decimals, got {decimals}")
    if is_integer(value.type):
        return value
    if is_decimal(value.type):
        if decimals >= value.type.scale:
            return value
        if mode == "half_away_from_zero":
            raise UnsupportedError("round of decimals away from zero is not supported: cast to a float")
        rounded = _fewer_digits(scope, value, decimals)
        return converted(rounded, pa.decimal128(min(value.type.precision + 1, DIGITS_MAX), value.type.scale))
    scaled = scope.once(combined(f"({value.sql} * 1e{decimals})" if decimals else value.sql, _DOUBLE, value))
    whole = _half_even(scope, scaled)
    if mode == "half_away_from_zero":
        whole = combined(f"round({scaled.sql})", _DOUBLE, scaled)
    sql = f"(({whole.sql}) / 1e{decimals})" if decimals else whole.sql
    return combined(f"cast({sql} as {sql_type(value.type)})", value.type, whole)


@rule("truncated")
def _truncated(scope: Scope, value: Value, decimals: int) -> Value:
    _check_number(value, "truncate")
    if decimals < 0:
        raise UserError(f"truncate takes a number of decimals, got {decimals}")
    if is_decimal(value.type):
        raise UnsupportedError("truncate of decimals is not supported: cast to a float")
    if is_integer(value.type):
        return value
    scaled = f"trunc({value.sql} * 1e{decimals}) / 1e{decimals}" if decimals else f"trunc({value.sql})"
    return combined(f"cast({scaled} as {sql_type(value.type)})", value.type, value)


@rule("sqrt")
def _sqrt(scope: Scope, value: Value) -> Value:
    # SQL refuses numbers below zero, Polars says NaN.
    value = scope.once(value)
    sql = f"case when {value.sql} < 0 then cast('nan' as double) else sqrt({value.sql}) end"
    return _function(value, sql, "sqrt")


@rule("exp")
def _exp(scope: Scope, value: Value) -> Value:
    return _function(value, f"exp({value.sql})", "exp")


@rule("log")
def _log(scope: Scope, value: Value, base: float | None) -> Value:
    by = "" if base is None else f" / ln({float(base)!r}e0)"
    return _function(value, f"(ln({value.sql}){by})", "log")


def _function(value: Value, sql: str, what: str) -> Value:
    _check_number(value, what)
    dtype = value.type if value.type == pa.float32() else _DOUBLE
    return combined(f"cast({sql} as {sql_type(dtype)})" if dtype != _DOUBLE else sql, dtype, value)


# Comparisons and logic


def _comparison(kind: str, sign: str) -> None:
    @rule(kind)
    def compare(scope: Scope, left: Value, right: Value) -> Value:
        a, b = _same_type(left, right, sign)
        return combined(f"({a.sql} {sign} {b.sql})", _BOOL, a, b)


def _same_type(left: Value, right: Value, what: str) -> tuple[Value, Value]:
    dtype = common_type(left, right, what)
    if is_decimal(dtype):  # SQL compares decimals of any scale
        return left, right
    return converted(left, dtype), converted(right, dtype)


for _kind, _by in {
    "equal": "=",
    "not_equal": "<>",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "equal_missing": "is not distinct from",
}.items():
    _comparison(_kind, _by)


@rule("is_between")
def _between(scope: Scope, value: Value, lower: Value, upper: Value, closed: str) -> Value:
    signs = {"both": (">=", "<="), "left": (">=", "<"), "right": (">", "<="), "none": (">", "<")}
    if closed not in signs:
        raise UserError(f"closed is both, left, right or none, got {closed}")
    value = scope.once(value)
    (a, low), (b, high) = _same_type(value, lower, "between"), _same_type(value, upper, "between")
    above, below = signs[closed]
    return combined(f"({a.sql} {above} {low.sql} and {b.sql} {below} {high.sql})", _BOOL, a, low, high)


@rule("is_in")
def _is_in(scope: Scope, value: Value, values: tuple[Any, ...]) -> Value:
    from headrace._src.frame.expression import literal
    from headrace._src.frame.translate import translated

    known = [translated(literal(each), scope) for each in values if each is not None]
    if not known:
        return combined(f"case when {value.sql} is not null then false end", _BOOL, value)
    texts = [_same_type(value, each, "is_in")[1].sql for each in known]
    return combined(f"({value.sql} in ({', '.join(texts)}))", _BOOL, value)


def _logic(kind: str, word: str) -> None:
    @rule(kind)
    def logic(scope: Scope, left: Value, right: Value) -> Value:
        if is_integer(left.type) and is_integer(right.type):
            dtype = common_type(left, right, kind)
            a, b = converted(left, dtype), converted(right, dtype)
            sql = f"xor({a.sql}, {b.sql})" if kind == "xor" else f"({a.sql} {'&|'[kind == 'or']} {b.sql})"
            return combined(f"cast({sql} as {sql_type(dtype)})", dtype, a, b)
        for side in (left, right):
            check_boolean(side, kind)
        return combined(f"({left.sql} {word} {right.sql})", _BOOL, left, right)


for _kind, _word in {"and": "and", "or": "or", "xor": "<>"}.items():
    _logic(_kind, _word)


@rule("not")
def _not(scope: Scope, value: Value) -> Value:
    if is_integer(value.type):
        return combined(f"(~{value.sql})", value.type, value)
    check_boolean(value, "~")
    return combined(f"(not {value.sql})", _BOOL, value)


@rule("is_null")
def _is_null(scope: Scope, value: Value) -> Value:
    return combined(f"({value.sql} is null)", _BOOL, value)


def _of_floats(kind: str, function: str, otherwise: str) -> None:
    @rule(kind)
    def test(scope: Scope, value: Value) -> Value:
        _check_number(value, kind)
        if is_float(value.type):
            return combined(f"{function}({value.sql})", _BOOL, value)
        return combined(f"case when {value.sql} is not null then {otherwise} end", _BOOL, value)


for _kind, _call, _other in (
    ("is_nan", "isnan", "false"),
    ("is_finite", "isfinite", "true"),
    ("is_infinite", "isinf", "false"),
):
    _of_floats(_kind, _call, _other)


# Choices


def _to_one_type(values: list[Value], what: str) -> list[Value]:
    met = values[0]
    for value in values[1:]:
        met = replace(
            value if met.literal else met,
            type=common_type(met, value, what),
            literal=met.literal and value.literal,
        )
    return [converted(value, met.type) for value in values]


@rule("when")
def _when(scope: Scope, *operands: Value) -> Value:
    pairs = len(operands) // 2
    conditions = list(operands[: pairs * 2 : 2])
    for condition in conditions:
        check_boolean(condition, "when")
    values = _to_one_type([*operands[1 : pairs * 2 : 2], *operands[pairs * 2 :]], "when")
    branches = " ".join(
        f"when {condition.sql} then {value.sql}" for condition, value in zip(conditions, values, strict=False)
    )
    otherwise = f" else {values[pairs].sql}" if len(values) > pairs else ""
    return combined(f"case {branches}{otherwise} end", values[0].type, *conditions, *values)


@rule("coalesce")
def _coalesce(scope: Scope, *values: Value) -> Value:
    values = tuple(_to_one_type(list(values), "coalesce"))
    return combined(f"coalesce({', '.join(each.sql for each in values)})", values[0].type, *values)


@rule("like")
def _like(scope: Scope, value: Value, other: Value) -> Value:
    """A value in the type of another; of a float for an integer its whole part."""
    if is_integer(other.type) and is_float(value.type):
        value = combined(f"trunc({value.sql})", value.type, value)
    return converted(value, other.type)


@rule("fill_nan")
def _fill_nan(scope: Scope, value: Value, other: Value) -> Value:
    _check_number(value, "fill_nan")
    value, other = _to_one_type([scope.once(value), other], "fill_nan")
    if not is_float(value.type):
        return value
    return combined(
        f"case when isnan({value.sql}) then {other.sql} else {value.sql} end", value.type, value, other
    )


@rule("clip")
def _clip(scope: Scope, value: Value, lower: Value, upper: Value) -> Value:
    for sign, bound in (("<", lower), (">", upper)):
        if bound.literal and bound.value is None:
            continue
        value, bound = scope.once(value), converted(bound, value.type)
        beyond = f"{value.sql} {sign} {bound.sql}"
        if sign == ">" and is_float(value.type):
            beyond += f" and not isnan({value.sql})"
        value = combined(
            f"case when {beyond} then {bound.sql} else {value.sql} end", value.type, value, bound
        )
    return value


@rule("least")
def _least(scope: Scope, *values: Value) -> Value:
    values = tuple(_to_one_type(list(values), "min_horizontal"))
    return combined(f"least({', '.join(each.sql for each in values)})", values[0].type, *values)


@rule("greatest")
def _greatest(scope: Scope, *values: Value) -> Value:
    values = tuple(scope.once(each) for each in _to_one_type(list(values), "max_horizontal"))
    sql = f"greatest({', '.join(each.sql for each in values)})"
    if is_float(values[0].type):  # NaN only of nothing else
        some = ", ".join(f"case when not isnan({each.sql}) then {each.sql} end" for each in values)
        sql = f"coalesce(greatest({some}), {sql})"
    return combined(sql, values[0].type, *values)


# Casts


@rule("cast")
def _cast(scope: Scope, value: Value, dtype: Any, strict: bool) -> Value:
    to = type_of(dtype)
    if value.type == to:
        return value if value.literal else combined(value.sql, to, value)
    if not strict and value.type == pa.binary():
        raise UnsupportedError(f"unsupported cast of binary to {to} that is not strict")
    sql = _castable(value, to)
    if is_decimal(to) and is_decimal(value.type) and to.scale < value.type.scale:
        value = _fewer_digits(scope, value, to.scale)
        sql = value.sql
    elif is_decimal(to) and is_float(value.type):
        value = _half_even(scope, combined(f"({sql} * 1e{to.scale})", _DOUBLE, value))
        sql = f"({value.sql}) / 1e{to.scale}"
    sure = strict or supertype(value.type, to) == to
    return combined(f"{'cast' if sure else 'try_cast'}({sql} as {sql_type(to)})", to, value)


@rule("widened")
def _widened(scope: Scope, value: Value, dtype: Any) -> Value:
    """A cast that cannot fail."""
    to = type_of(dtype)
    if supertype(value.type, to) != to:
        raise UnsupportedError(f"a cast that wraps around: {value.type} to {to}")
    return converted(value, to)


#: A text that Polars takes for a float.
_FLOAT = "[+-]?(([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|(?i:inf|infinity|nan))"


def _castable(value: Value, to: pa.DataType) -> str:
    """What SQL casts to the same as Polars."""
    text, of = pa.string(), value.type
    if pa.types.is_null(of):
        return "NULL"
    if {of, to} == {text, pa.binary()}:  # the bytes of UTF-8
        return f"{'encode' if of == text else 'decode'}({value.sql})"
    known = (
        (is_numeric(of) or of in (_BOOL, text))
        and (is_numeric(to) or to == _BOOL)
        or to == text
        and (is_integer(of) or of in (_BOOL, pa.date32()))
        or is_moment(of)
        and is_moment(to)
        or is_integer(of)
        and to == pa.timestamp("us")
    )
    if not known or (of in (text, _BOOL) and is_decimal(to)) or (of == text and to == _BOOL):
        hint = "; use str.to_date or str.to_datetime" if of == text and is_moment(to) else ""
        hint = "; use dt.strftime" if is_timestamp(of) and to == text else hint
        raise UnsupportedError(f"unsupported cast of {of} to {to}{hint}")
    if to == _BOOL:
        return f"({value.sql} <> 0)"
    if of == text and is_numeric(to):
        # SQL rounds, and takes blanks and signs that Polars does not. No number begins with '?'.
        sign = "[+]?" if is_unsigned(to) else "[+-]?"
        number = f"{sign}[0-9]+" if is_integer(to) else _FLOAT
        known = f"regexp_full_match({value.sql}, '{number}')"
        return f"case when {known} then {value.sql} else '?' || {value.sql} end"
    if is_integer(to) and (is_float(of) or is_decimal(of)):
        return f"trunc({value.sql})"
    if to == pa.timestamp("us") and is_integer(of):
        return f"make_timestamp({value.sql})"
    if is_timestamp(of) and to == pa.date32():
        return f"date_trunc('day', {floored(value, pa.timestamp('us', of.tz))})"
    return floored(value, to)
