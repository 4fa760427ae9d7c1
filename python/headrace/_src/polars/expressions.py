"""Expressions of Polars' optimised plans as those of frames."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from headrace._src.errors import UnsupportedError
from headrace._src.frame.expression import Expr, Then, literal, make
from headrace._src.frame.functions import col
from headrace._src.frame.types import type_of

_OPERATORS = {
    "Plus": "add",
    "Minus": "subtract",
    "Multiply": "multiply",
    "TrueDivide": "divide",
    "FloorDivide": "floor_divide",
    "Modulus": "modulo",
    "Eq": "equal",
    "NotEq": "not_equal",
    "Lt": "less",
    "LtEq": "less_equal",
    "Gt": "greater",
    "GtEq": "greater_equal",
    "EqValidity": "equal_missing",
    "And": "and",
    "LogicalAnd": "and",
    "Or": "or",
    "LogicalOr": "or",
    "Xor": "xor",
}
_AGGREGATES = ("sum", "mean", "median", "n_unique", "first", "last")
_RADIX = 10


def expression(nt: Any, node: int) -> Expr:
    """The expression of a node. Raises UnsupportedError for one that frames do not have."""
    found = nt.view_expression(node)
    kind = type(found).__name__
    if kind not in _KINDS:
        raise UnsupportedError(f"an expression: {kind}")
    return _KINDS[kind](nt, found)


def _several(nt: Any, nodes: Sequence[int]) -> list[Expr]:
    return [expression(nt, node) for node in nodes]


def _column(_nt: Any, node: Any) -> Expr:
    return col(node.name)


def _literal(_nt: Any, node: Any) -> Expr:
    import polars

    dtype, value = node.dtype, node.value
    if isinstance(dtype, polars.List):
        return Expr("values", (), {"values": _values(value)})
    if isinstance(dtype, polars.Duration):
        per = {"ns": 1000, "us": 1, "ms": 1 / 1000}[dtype.time_unit]
        value = value if isinstance(value, timedelta) else timedelta(microseconds=value / per)
        return literal(value)
    if value is None or not isinstance(value, (bool, int, float, str)):
        return literal(value)
    return Expr("as_type", (literal(value),), {"dtype": _type(dtype)})


def _type(dtype: Any) -> Any:
    import polars

    # A whole number of rows or characters.
    return type_of(polars.Int64 if dtype in (polars.UInt32, polars.UInt64) else dtype)


def _values(value: Any) -> tuple[Any, ...]:
    import polars

    if isinstance(value, (list, tuple)):
        return tuple(value)
    series = polars.Series._from_pyseries(value)
    return tuple(series.explode(empty_as_null=False, keep_nulls=False).to_list())


def _binary(nt: Any, node: Any) -> Expr:
    name = str(node.op).rpartition(".")[2]
    sides = _several(nt, (node.left, node.right))
    if name == "NotEqValidity":
        return make("not", make("equal_missing", *sides))
    if name not in _OPERATORS:
        raise UnsupportedError(f"an operator: {name}")
    return make(_OPERATORS[name], *sides)


def _cast(nt: Any, node: Any) -> Expr:
    if node.options not in (0, 1):
        return Expr("widened", (expression(nt, node.expr),), {"dtype": node.dtype})
    return expression(nt, node.expr).cast(node.dtype, strict=node.options == 0)


def _ternary(nt: Any, node: Any) -> Expr:
    parts = (node.predicate, node.truthy, node.falsy)
    return Then("when", tuple(_several(nt, parts)))


def _aggregate(nt: Any, node: Any) -> Expr:
    (of,) = _several(nt, node.arguments)
    name, options = node.name, node.options
    if name == "count":
        return of.len() if options else of.count()
    if name in ("min", "max") and not options:
        return make(name, of)
    if name in ("std", "var"):
        return make(name, of, ddof=options)
    if name in _AGGREGATES:
        return make(name, of)
    raise UnsupportedError(f"an aggregate: {name}")


def _filter(nt: Any, node: Any) -> Expr:
    return expression(nt, node.input).filter(expression(nt, node.by))


def _window(nt: Any, node: Any) -> Expr:
    if node.options.kind != "groups_to_rows":
        raise UnsupportedError(f"over() with another mapping: {node.options.kind}")
    orders = [] if node.order_by is None else [expression(nt, node.order_by)]
    return expression(nt, node.function).over(
        _several(nt, node.partition_by),
        order_by=orders,
        descending=node.order_by_descending,
        nulls_last=node.order_by_nulls_last,
    )


def _function(nt: Any, node: Any) -> Expr:
    name, *data = node.function_data
    key = name if isinstance(name, str) else str(name)
    if key not in _FUNCTIONS:
        raise UnsupportedError(f"a function: {key}")
    return _FUNCTIONS[key](_several(nt, node.input), data)


_KINDS: dict[str, Callable[[Any, Any], Expr]] = {
    "Column": _column,
    "Literal": _literal,
    "BinaryExpr": _binary,
    "Cast": _cast,
    "Ternary": _ternary,
    "Agg": _aggregate,
    "Filter": _filter,
    "Window": _window,
    "Function": _function,
    "Len": lambda _nt, _node: Expr("len"),
}

#: Of the expressions of its operands, and what else belongs to a function.
Function = Callable[[list[Expr], list[Any]], Expr]


def _value(expr: Expr) -> Any:
    """The value of an operand that must be a literal."""
    while expr.kind == "as_type":
        expr = expr.operands[0]
    if expr.kind != "lit":
        raise UnsupportedError("an option that is a column")
    return expr.options["value"]


def _plain(kind: str) -> Function:
    return lambda operands, _data: make(kind, *operands)


def _only(condition: bool, what: str) -> None:
    if not condition:
        raise UnsupportedError(what)


def _is_in(operands: list[Expr], data: list[Any]) -> Expr:
    of, values = operands
    _only(not data[0] and values.kind == "values", "is_in of a column")
    return of.is_in(values.options["values"])


def _contains(operands: list[Expr], data: list[Any]) -> Expr:
    of, pattern = operands
    return of.str.contains(_value(pattern), literal=data[0])


def _replace(operands: list[Expr], data: list[Any]) -> Expr:
    of, pattern, value = operands
    count, is_literal = data
    _only(count in (1, -1), f"str.replace of {count} places")
    replace = of.str.replace if count == 1 else of.str.replace_all
    return replace(_value(pattern), _value(value), literal=is_literal)


def _concat(operands: list[Expr], data: list[Any]) -> Expr:
    _only(not data[1], "concat_str that passes over nulls")
    return make("concat_str", *operands, separator=data[0])


def _strip(function: str) -> Function:
    return lambda operands, _data: make(
        "strip", operands[0], function=function, characters=_value(operands[1])
    )


def _slice(operands: list[Expr], _data: list[Any]) -> Expr:
    of, offset, length = operands
    return of.str.slice(_value(offset), _value(length))


def _pad(function: str) -> Function:
    return lambda operands, data: make(
        "pad", operands[0], function=function, length=_value(operands[1]), fill=data[0]
    )


def _clip(operands: list[Expr], data: list[Any]) -> Expr:
    bounds = iter(operands[1:])
    low, high = (next(bounds) if has else None for has in data[:2])
    return operands[0].clip(low, high)


def _log(operands: list[Expr], _data: list[Any]) -> Expr:
    base = _value(operands[1])
    return operands[0].log(None if base == math.e else base)


def _round(operands: list[Expr], data: list[Any]) -> Expr:
    _only(data[1] == "half_to_even", f"round {data[1]}")
    return operands[0].round(data[0])


def _quantile(operands: list[Expr], data: list[Any]) -> Expr:
    return operands[0].quantile(_value(operands[1]), data[0])


def _of_booleans(kind: str) -> Function:
    def made(operands: list[Expr], data: list[Any]) -> Expr:
        _only(data[0], f"{kind} that does not pass over nulls")
        return make(kind, operands[0])

    return made


def _sum_horizontal(operands: list[Expr], data: list[Any]) -> Expr:
    from headrace._src.frame.functions import sum_horizontal

    _only(data[0], "sum_horizontal that does not pass over nulls")
    return sum_horizontal(*operands)


def _fused(operands: list[Expr], data: list[Any]) -> Expr:
    a, b, c = operands
    return {"fma": a * b + c, "fsm": a - b * c, "fms": a * b - c}[data[0]]


def _rank(operands: list[Expr], data: list[Any]) -> Expr:
    return operands[0].rank(data[0], descending=data[1])


def _shift(operands: list[Expr], _data: list[Any]) -> Expr:
    fill = operands[2] if len(operands) > 2 else None
    return operands[0].shift(_value(operands[1]), fill_value=fill)


def _diff(operands: list[Expr], data: list[Any]) -> Expr:
    _only(data[0] == "ignore", "diff that drops rows")
    return operands[0].diff(_value(operands[1]))


def _cumulative(function: str) -> Function:
    return lambda operands, data: make("cumulative", operands[0], function=function, reverse=data[0])


def _rolling(function: str) -> Function:
    def made(operands: list[Expr], data: list[Any]) -> Expr:
        size, samples, weights, center, *_ = data
        _only(weights is None and not center, "rolling with weights or around the middle")
        return make("rolling", operands[0], function=function, size=size, samples=samples)

    return made


def _part(part: str) -> Function:
    return lambda operands, _data: make("part", operands[0], part=part)


def _integer(operands: list[Expr], data: list[Any]) -> Expr:
    _only(_value(operands[1]) == _RADIX, "str.to_integer of another base")
    return operands[0].str.to_integer(strict=data[0])


_FUNCTIONS: dict[str, Function] = {
    **{
        name: _plain(kind)
        for name, kind in {
            "pow": "power",
            "negate": "negate",
            "abs": "abs",
            "floor": "floor",
            "ceil": "ceil",
            "sqrt": "sqrt",
            "exp": "exp",
            "sign": "sign",
            "fill_null": "coalesce",
            "coalesce": "coalesce",
            "min_horizontal": "least",
            "max_horizontal": "greatest",
            "null_count": "null_count",
            "product": "product",
            "BooleanFunction.Not": "not",
            "BooleanFunction.IsNull": "is_null",
            "BooleanFunction.IsNan": "is_nan",
            "BooleanFunction.IsFinite": "is_finite",
            "BooleanFunction.IsInfinite": "is_infinite",
            "StringFunction.Lowercase": "to_lowercase",
            "StringFunction.Uppercase": "to_uppercase",
            "StringFunction.LenChars": "len_chars",
            "StringFunction.LenBytes": "len_bytes",
            "StringFunction.StartsWith": "starts_with",
            "StringFunction.EndsWith": "ends_with",
            "StringFunction.Reverse": "reverse",
            "TemporalFunction.Date": "date",
            "TemporalFunction.MonthStart": "month_start",
        }.items()
    },
    **{
        f"TemporalFunction.{name}": _part(part)
        for name, part in {
            "Year": "year",
            "IsoYear": "isoyear",
            "Quarter": "quarter",
            "Month": "month",
            "Week": "week",
            "Day": "day",
            "WeekDay": "isodow",
            "OrdinalDay": "doy",
            "Hour": "hour",
            "Minute": "minute",
            "Second": "second",
            "Millisecond": "millisecond",
            "Microsecond": "microsecond",
        }.items()
    },
    **{f"cum_{function}": _cumulative(function) for function in ("sum", "min", "max", "count")},
    **{f"RollingFunction.{name}": _rolling(name.lower()) for name in ("Sum", "Mean", "Min", "Max")},
    "BooleanFunction.IsNotNull": lambda operands, _data: operands[0].is_not_null(),
    "BooleanFunction.IsNotNan": lambda operands, _data: operands[0].is_not_nan(),
    "BooleanFunction.IsIn": _is_in,
    "BooleanFunction.IsBetween": lambda operands, data: make("is_between", *operands, closed=data[0]),
    "BooleanFunction.Any": _of_booleans("any"),
    "BooleanFunction.All": _of_booleans("all"),
    # A hint for the rows that a join or a top-k will ask for.
    "dynamic_pred": lambda _operands, _data: literal(True),
    "clip": _clip,
    "log": _log,
    "round": _round,
    "quantile": _quantile,
    "fused": _fused,
    "sum_horizontal": _sum_horizontal,
    "rank": _rank,
    "shift": _shift,
    "shift_and_fill": _shift,
    "diff": _diff,
    "StringFunction.Contains": _contains,
    "StringFunction.Replace": _replace,
    "StringFunction.ConcatHorizontal": _concat,
    "StringFunction.StripChars": _strip("trim"),
    "StringFunction.StripCharsStart": _strip("ltrim"),
    "StringFunction.StripCharsEnd": _strip("rtrim"),
    "StringFunction.Slice": _slice,
    "StringFunction.Head": lambda operands, _data: operands[0].str.head(_value(operands[1])),
    "StringFunction.Tail": lambda operands, _data: operands[0].str.tail(_value(operands[1])),
    "StringFunction.PadStart": _pad("lpad"),
    "StringFunction.PadEnd": _pad("rpad"),
    "StringFunction.ToInteger": _integer,
    "TemporalFunction.Truncate": lambda operands, _data: operands[0].dt.truncate(_value(operands[1])),
    "TemporalFunction.OffsetBy": lambda operands, _data: operands[0].dt.offset_by(_value(operands[1])),
    "TemporalFunction.ToString": lambda operands, data: operands[0].dt.strftime(data[0]),
    "TemporalFunction.TimeStamp": lambda operands, data: operands[0].dt.epoch(data[0]),
}
