"""Rules of expressions that keep some rows, or have them in another order: filter, head, sort, unique."""

from __future__ import annotations

import re
from dataclasses import replace

import pyarrow as pa

from headrace._src.errors import UnsupportedError, UserError
from headrace._src.frame.expression import Expr
from headrace._src.frame.scope import Key, Scope, Value
from headrace._src.frame.translate import check_boolean, own_rule, rule, translated
from headrace._src.frame.types import is_float

_COUNT = pa.int64()
_NAME = re.compile(r'"(?:[^"]|"")*"')


def among(scope: Scope, value: Value) -> Scope:
    """The same for windows over the rows that are left of a value, in its order."""
    keys = (*scope.keys, f"({value.where})") if value.where else scope.keys
    return replace(scope, keys=keys, order=value.order or scope.order, grouped=False)


def kept(value: Value, condition: str, level: int) -> Value:
    """The rows of a value for which a condition holds, too."""
    where = f"({value.where}) and ({condition})" if value.where else condition
    return replace(value, where=where, level=max(value.level, level))


def _in_rows(scope: Scope, what: str) -> None:
    if scope.grouped:
        raise UnsupportedError(f"{what} inside of agg() beside aggregates needs an aggregate around it")


@own_rule("filter")
def _filter(scope: Scope, expr: Expr) -> Value:
    _in_rows(scope, "filter()")
    value, condition = (translated(each, scope) for each in expr.operands)
    check_boolean(condition, "filter")
    if value.where:
        raise UnsupportedError("a filter of some of the rows is not supported: say a & b")
    if condition.where or condition.order or value.order:
        raise UnsupportedError("a filter by other rows than its own is not supported: filter the frame")
    return kept(value, condition.sql, condition.level)


@rule("rows")
def _rows(scope: Scope, value: Value, offset: int, length: int | None) -> Value:
    """Those from an offset on, of a negative one from the end."""
    _in_rows(scope, "slice()")
    if length is not None and length < 0:
        raise UnsupportedError(f"a length is at least 0, got {length}")
    inside = among(scope, value)
    order = inside.ordered("a part of the rows")
    if offset >= 0:
        at = inside.window("row_number()", _COUNT, value.level, order=order)
        if length is None:
            return kept(value, f"{at.sql} > {offset}", at.level)
        return kept(value, f"{at.sql} > {offset} and {at.sql} <= {offset + length}", at.level)
    at = inside.window("row_number()", _COUNT, value.level, order=[key.reversed for key in order])
    past = "" if length is None else f" and {at.sql} > {-offset - length}"
    return kept(value, f"{at.sql} <= {-offset}{past}", at.level)


@rule("drop_nulls")
def _drop_nulls(scope: Scope, value: Value) -> Value:
    _in_rows(scope, "drop_nulls()")
    value = scope.once(value)
    return kept(value, f"{value.sql} is not null", value.level)


@rule("drop_nans")
def _drop_nans(scope: Scope, value: Value) -> Value:
    _in_rows(scope, "drop_nans()")
    if not is_float(value.type):
        return value
    value = scope.once(value)
    return kept(value, f"{value.sql} is null or not isnan({value.sql})", value.level)


@rule("unique")
def _unique(scope: Scope, value: Value, maintain_order: bool) -> Value:
    _in_rows(scope, "unique()")
    inside = among(scope, value)
    order = inside.ordered("unique(maintain_order=True)") if maintain_order else inside.order
    inside = replace(inside, keys=(*inside.keys, value.sql))
    at = inside.window("row_number()", _COUNT, value.level, order=order)
    return kept(value, f"{at.sql} = 1", at.level)


@own_rule("gather_every")
def _gather_every(scope: Scope, expr: Expr) -> Value:
    _in_rows(scope, "gather_every()")
    value, n, offset = translated(expr.operands[0], scope), expr.options["n"], expr.options["offset"]
    inside = among(scope, value)
    at = inside.window("row_number()", _COUNT, value.level, order=inside.ordered("gather_every()"))
    return kept(value, f"{at.sql} > {offset} and ({at.sql} - 1 - {offset}) % {n} = 0", at.level)


# Orders


@rule("sorted")
def _sorted(scope: Scope, value: Value, descending: bool, nulls_last: bool) -> Value:
    _in_rows(scope, "sort()")
    value = _column(scope, value)
    return _in_order(scope, value, [Key(value.sql, descending, nulls_last)], value.level)


@rule("sorted_by")
def _sorted_by(
    scope: Scope, value: Value, *by: Value, descending: tuple[bool, ...], nulls_last: tuple[bool, ...]
) -> Value:
    _in_rows(scope, "sort_by()")
    for each in by:
        if each.where != value.where or each.order:
            raise UnsupportedError("sort_by() of other rows than its own is not supported: sort the frame")
    by = tuple(_column(scope, each) for each in by)
    keys = [Key(each.sql, *how) for each, *how in zip(by, descending, nulls_last, strict=True)]
    return _in_order(scope, value, keys, max((each.level for each in by), default=0))


@rule("reversed")
def _reversed(scope: Scope, value: Value) -> Value:
    _in_rows(scope, "reverse()")
    order = tuple(key.reversed for key in value.order or scope.ordered("reverse()"))
    return replace(value, order=order)


@rule("most")
def _most(scope: Scope, value: Value, k: int, descending: bool) -> Value:
    """The k greatest or least, in any order; nulls if nothing else is left."""
    _in_rows(scope, "top_k()")
    value = _column(scope, value)
    first = _in_order(scope, value, [Key(value.sql, descending, True)], value.level)
    return _rows(scope, first, 0, k)


def _column(scope: Scope, value: Value) -> Value:
    """The value as a column, to be a key."""
    return value if _NAME.fullmatch(value.sql) else scope.staged(value)


def _in_order(scope: Scope, value: Value, keys: list[Key], level: int) -> Value:
    """Rows that are equal in the keys stay in their order."""
    if not keys:
        raise UserError("an order needs a key")
    rest = [key for key in value.order or scope.order if key.sql not in {each.sql for each in keys}]
    return replace(value, order=(*keys, *rest), level=max(value.level, level))
