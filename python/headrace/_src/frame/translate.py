"""Expressions to SQL: one rule for each kind, found by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from headrace._src.errors import UnsupportedError, UserError
from headrace._src.frame.expression import Expr, transformed
from headrace._src.frame.scope import Column, Key, Rule, Scope, Value, converted, typed_literal
from headrace._src.frame.types import type_of_value

#: kind -> rule. A rule gets the scope, the translated operands and the options of the expression.
RULES: dict[str, Rule] = {}
#: Those whose operands are translated by the rule itself: it gets the expression.
_OWN: dict[str, Callable[[Scope, Expr], Value]] = {}
#: What has one value for all rows of a group.
AGGREGATES: set[str] = set()
#: What sees the rows beside a row of its first operand.
_OF_ROWS: set[str] = set()


def rule(*kinds: str, aggregate: bool = False, of_rows: bool = False) -> Callable[[Rule], Rule]:
    def enter(function: Rule) -> Rule:
        for kind in kinds:
            RULES[kind] = function
            if aggregate:
                AGGREGATES.add(kind)
            if of_rows:
                _OF_ROWS.add(kind)
        return function

    return enter


def own_rule(kind: str) -> Callable[[Callable[[Scope, Expr], Value]], Callable[[Scope, Expr], Value]]:
    def enter(function: Callable[[Scope, Expr], Value]) -> Callable[[Scope, Expr], Value]:
        _OWN[kind] = function
        return function

    return enter


def translated(expr: Expr, scope: Scope) -> Value:
    """The SQL of an expression. Raises UserError where its types do not fit."""
    if expr.kind in _OWN:
        return _OWN[expr.kind](scope, expr)
    if expr.kind not in RULES:
        raise UnsupportedError(f"unsupported expression: {expr.kind}")
    if expr.kind in AGGREGATES and _is_of_one(expr):
        raise UnsupportedError(
            f"{expr.kind} of a value that is no column: it stands for one row, not for all"
        )
    if expr.kind in _OF_ROWS and not scope.grouped and is_scalar(expr.operands[0]):
        raise UnsupportedError("what sees the rows beside a row takes a column, not one value for all rows")
    inside = scope.rows if expr.kind in AGGREGATES else scope
    operands = [translated(each, inside) for each in expr.operands]
    return RULES[expr.kind](scope, *operands, **expr.options)


def is_scalar(expr: Expr) -> bool:
    """Whether it has one value for all rows."""
    if expr.kind in AGGREGATES or expr.kind in ("lit", "len"):
        return True
    if expr.kind == "over" or not expr.operands:
        return False
    return all(map(is_scalar, expr.operands))


def is_literal(expr: Expr) -> bool:
    """Whether it sees no row at all."""
    return expr.kind == "lit" or bool(
        expr.operands and all(map(is_literal, expr.operands)) and not _sees(expr)
    )


def _is_of_one(aggregate: Expr) -> bool:
    """Whether it is of one value, which would be taken once for each row."""
    of = aggregate.operands[0]
    return is_scalar(of.operands[0] if of.kind == "filter" else of)


def _sees(expr: Expr) -> bool:
    return expr.kind in AGGREGATES or expr.kind in ("over", "len")


def name_of(expr: Expr) -> str:
    """The name of the column that it becomes: its own, or that of what stands leftmost in it."""
    if expr.kind == "alias":
        return str(expr.options["name"])
    if expr.kind == "rename":
        return str(expr.options["function"](name_of(expr.operands[0])))
    if expr.kind == "col":
        return str(expr.options["names"][0])
    if expr.kind == "len":
        return "len"
    if expr.kind == "when":  # conditions have no say
        return name_of(expr.operands[1])
    if expr.kind == "lit" or not expr.operands:
        return "literal"
    first = expr.operands[0]
    return name_of(first)


def expanded(exprs: Iterable[Expr], columns: Mapping[str, Column], keys: Iterable[str] = ()) -> list[Expr]:
    """The expressions with those of several columns written out; `all` leaves out the keys of groups."""
    out: list[Expr] = []
    for expr in exprs:
        names = _columns_of(expr, columns, set(keys))
        if names is None:
            out.append(expr)
            continue
        for name in names:
            one = Expr("col", (), {"names": (name,)})
            out.append(transformed(expr, lambda each, one=one: one if each.kind == "columns" else None))
    return out


def _columns_of(expr: Expr, columns: Mapping[str, Column], keys: set[str]) -> list[str] | None:
    """What its `all`, `exclude` or `col` of several names stands for; None if it has none."""
    if expr.kind == "columns":
        if expr.options["names"] is not None:
            return list(expr.options["names"])
        without = {*keys, *expr.options.get("without", ())}
        return [name for name in columns if name not in without]
    for each in expr.operands:
        if (found := _columns_of(each, columns, keys)) is not None:
            return found
    return None


def named(exprs: Iterable[Expr], columns: Mapping[str, Column], keys: Iterable[str] = ()) -> dict[str, Expr]:
    """The expressions by the names of their columns. Raises UserError if two have the same."""
    out: dict[str, Expr] = {}
    for expr in expanded(exprs, columns, keys):
        name = name_of(expr)
        if name in out:
            raise UserError(f"two columns have the same name: {name}; alias one of them")
        out[name] = expr
    return out


@own_rule("col")
def _column(scope: Scope, expr: Expr) -> Value:
    (name,) = expr.options["names"]
    found = scope.column(name)
    return Value(found.sql, found.type)


@own_rule("columns")
def _columns(_scope: Scope, expr: Expr) -> Value:
    raise UserError(f"several columns where one is meant: {expr}")


@own_rule("lit")
def _literal(_scope: Scope, expr: Expr) -> Value:
    value = expr.options["value"]
    dtype = type_of_value(value)
    return Value(typed_literal(value, dtype), dtype, value=value, literal=True)


@own_rule("over")
def _over(scope: Scope, expr: Expr) -> Value:
    if scope.in_group:
        raise UnsupportedError("over() inside of agg() is not supported")
    count = expr.options["keys"]
    of, keys, orders = expr.operands[0], expr.operands[1 : 1 + count], expr.operands[1 + count :]
    values = [_key(each, scope) for each in keys]
    sorts = [_key(each, scope) for each in orders]
    order = tuple(Key(value.sql, expr.options["descending"], expr.options["nulls_last"]) for value in sorts)
    floor = max((value.level for value in (*values, *sorts)), default=0)
    # Rows that are equal in an order stay in theirs.
    rest = tuple(key for key in scope.order if key.sql not in {each.sql for each in order})
    inside = replace(
        scope,
        keys=tuple(value.sql for value in values),
        order=(*order, *rest),
        floor=max(floor, scope.floor),
    )
    value = translated(of, inside)
    if value.where or value.order:
        raise UnsupportedError("over() of some of the rows, or of another order, needs an aggregate in it")
    return value


def _key(expr: Expr, scope: Scope) -> Value:
    """A key as a column of the table or of a stage."""
    value = translated(expr, replace(scope, keys=()))
    return value if value.level == 0 and expr.kind == "col" else scope.staged(value)


def check_boolean(value: Value, what: str) -> None:
    if value.type != pa.bool_() and not pa.types.is_null(value.type):
        raise UserError(f"{what} takes conditions, got {value.type}")


@rule("alias", "rename")
def _named(_scope: Scope, value: Value, **_options: Any) -> Value:
    return value


@own_rule("typed_null")
def _typed_null(_scope: Scope, expr: Expr) -> Value:
    dtype = expr.options["dtype"]
    return Value(typed_literal(None, dtype), dtype)


@rule("as_type")
def _as_type(_scope: Scope, value: Value, dtype: pa.DataType) -> Value:
    return converted(value, dtype)
