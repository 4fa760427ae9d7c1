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
_AGGREGATES = ("sum", "mean", "median", "n_unique", "first", "last", "implode")
_MOVING = ("Sum", "Mean", "Min", "Max", "Std", "Var")
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
    if type(value).__name__ == "PySeries":
        raise UnsupportedError("a series among the columns")
    if getattr(dtype, "time_unit", "") == "ns" and value is not None:
        raise UnsupportedError("a literal of nanoseconds, of which Polars' plans show microseconds")
    if isinstance(dtype, polars.Duration):
        per = {"ns": 1000, "us": 1, "ms": 1 / 1000}[dtype.time_unit]
        value = value if isinstance(value, timedelta) else timedelta(microseconds=value / per)
        return literal(value)
    if dtype == polars.Null:
        return literal(None)
    if value is None:
        return Expr("typed_null", (), {"dtype": _type(dtype)})
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
    if name in ("first_non_null", "last_non_null"):
        return make(name.removesuffix("_non_null"), of.drop_nulls())
    raise UnsupportedError(f"an aggregate: {name}")


def _filter(nt: Any, node: Any) -> Expr:
    return expression(nt, node.input).filter(expression(nt, node.by))


def _sort(nt: Any, node: Any) -> Expr:
    _maintain_order, nulls_last, descending = node.options
    return expression(nt, node.expr).sort(descending=descending, nulls_last=nulls_last)


def _sort_by(nt: Any, node: Any) -> Expr:
    _maintain_order, nulls_last, descending = node.sort_options
    by = _several(nt, node.by)
    down, last = (list(each) * (len(by) if len(each) == 1 else 1) for each in (descending, nulls_last))
    return expression(nt, node.expr).sort_by(by, descending=down, nulls_last=last)


def _slice_of_rows(nt: Any, node: Any) -> Expr:
    offset, length = (_value(expression(nt, each)) for each in (node.offset, node.length))
    return expression(nt, node.input).slice(offset, length)


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
    "Sort": _sort,
    "SortBy": _sort_by,
    "Slice": _slice_of_rows,
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
    return operands[0].round(data[0], mode=data[1])


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
        size, samples, weights, center, more = data
        _only(weights is None, "rolling with weights")
        ddof = more[0] if more else 1
        options = {"size": size, "samples": samples, "center": center, "ddof": ddof}
        return make("rolling", operands[0], function=function, **options)

    return made


def _rolling_by(function: str) -> Function:
    def made(operands: list[Expr], data: list[Any]) -> Expr:
        size, samples, closed, more = data
        ddof = more[0] if more else 1
        options = {"size": duration(size), "samples": samples, "closed": closed, "ddof": ddof}
        return make("rolling_by", *operands, function=function, **options)

    return made


def duration(parts: Any) -> str:
    """A length of time as Polars shows it, as it is written."""
    months, weeks, days, nanoseconds, integers, negative = parts
    if integers:
        text = f"{nanoseconds}i"
    else:
        _only(nanoseconds % 1000 == 0, "a length in nanoseconds")
        counts = ((months, "mo"), (weeks, "w"), (days, "d"), (nanoseconds // 1000, "us"))
        text = "".join(f"{count}{unit}" for count, unit in counts if count) or "0us"
    return f"-{text}" if negative else text


def _place(kind: str) -> Function:
    def made(operands: list[Expr], data: list[Any]) -> Expr:
        _only(not data, "arg_sort")  # by this name
        return make(kind, operands[0])

    return made


def _filled(operands: list[Expr], data: list[Any]) -> Expr:
    strategy, limit = data
    _only(limit is None, "fill_null with a limit")
    return operands[0].fill_null(strategy=strategy)


def _replaced(operands: list[Expr], _data: list[Any]) -> Expr:
    of, old, new = operands
    _only(old.kind == new.kind == "values", "replace by columns")
    olds, news = old.options["values"], new.options["values"]
    news = news * len(olds) if len(news) == 1 else news
    found = of
    for before, after in zip(reversed(olds), reversed(news), strict=True):
        found = Then("when", (of.eq_missing(before), make("like", literal(after), of), found))
    return found


def _list_slice(operands: list[Expr], _data: list[Any]) -> Expr:
    of, offset, length = operands
    return of.list.slice(_value(offset), _value(length))


def _list_contains(operands: list[Expr], data: list[Any]) -> Expr:
    _only(data[0], "list.contains to which nulls are not equal")
    return operands[0].list.contains(operands[1])


def _int_range(operands: list[Expr], data: list[Any]) -> Expr:
    start, end = operands
    while end.kind in ("cast", "as_type", "widened"):
        end = end.operands[0]
    _only(end.kind == "len" and data[0] == 1 and _value(start) == 0, "int_range but of the rows")
    return Expr("row_index").cast(data[1])


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
    **{f"RollingFunction.{name}": _rolling(name.lower()) for name in _MOVING},
    **{f"RollingFunctionBy.{name}By": _rolling_by(name.lower()) for name in _MOVING},
    "BooleanFunction.IsDuplicated": lambda operands, _data: operands[0].is_duplicated(),
    "BooleanFunction.IsUnique": lambda operands, _data: operands[0].is_unique(),
    "BooleanFunction.IsFirstDistinct": lambda operands, _data: operands[0].is_first_distinct(),
    "BooleanFunction.IsLastDistinct": lambda operands, _data: operands[0].is_last_distinct(),
    "BooleanFunction.HasNulls": lambda operands, _data: operands[0].null_count() > 0,
    "rle_id": lambda operands, _data: operands[0].rle_id(),
    "unique": lambda operands, data: operands[0].unique(maintain_order=data[0]),
    "reverse": lambda operands, _data: operands[0].reverse(),
    "drop_nulls": lambda operands, _data: operands[0].drop_nulls(),
    "drop_nans": lambda operands, _data: operands[0].drop_nans(),
    "top_k": lambda operands, data: make("most", operands[0], k=_value(operands[1]), descending=not data[0]),
    "gather_every": lambda operands, data: operands[0].gather_every(data[1], data[0]),
    "arg_min": _place("arg_min"),
    "arg_max": _place("arg_max"),
    "fill_null_with_strategy": _filled,
    "pct_change": lambda operands, _data: operands[0].pct_change(_value(operands[1])),
    "replace": _replaced,
    "RangeFunction.IntRange": _int_range,
    "ListFunction.Length": lambda operands, _data: operands[0].list.len(),
    "ListFunction.Get": lambda operands, data: operands[0].list.get(operands[1], null_on_oob=data[0]),
    "ListFunction.Contains": _list_contains,
    "ListFunction.Sum": lambda operands, _data: operands[0].list.sum(),
    "ListFunction.Mean": lambda operands, _data: operands[0].list.mean(),
    "ListFunction.Min": lambda operands, _data: operands[0].list.min(),
    "ListFunction.Max": lambda operands, _data: operands[0].list.max(),
    "ListFunction.Reverse": lambda operands, _data: operands[0].list.reverse(),
    "ListFunction.Sort": lambda operands, data: operands[0].list.sort(descending=data[0], nulls_last=data[1]),
    "ListFunction.Slice": _list_slice,
    "ListFunction.Concat": _plain("list_concat"),
    "ListFunction.Join": lambda operands, data: operands[0].list.join(
        _value(operands[1]), ignore_nulls=data[0]
    ),
    "BooleanFunction.IsEmpty": lambda operands, data: (
        (operands[0].count() if data[0] else operands[0].len()) == 0
    ),
    "truncate": lambda operands, data: operands[0].truncate(data[0]),
    "approx_n_unique": lambda operands, _data: operands[0].n_unique(),
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
