"""The functions that expressions begin with: `hr.col` and its like. Some have the names of Python's own."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any

from headrace._src.errors import UserError
from headrace._src.frame.expression import Expr, IntoExpr, When, all_of, columns, make


def col(*names: str | Iterable[str]) -> Expr:
    """A column by its name, or several."""
    flat = _names(names)
    if flat == ("*",):
        return all()
    return Expr("col" if builtins.len(flat) == 1 else "columns", (), {"names": flat})


def all(*names: str) -> Expr:
    """All columns; with a name, whether all of that one are true."""
    return col(*names).all() if names else Expr("columns", (), {"names": None})


def any(*names: str) -> Expr:
    """Whether any of a column is true."""
    return col(*names).any()


def exclude(*names: str | Iterable[str]) -> Expr:
    """All columns but these."""
    return Expr("columns", (), {"names": None, "without": _names(names)})


def _names(names: Iterable[str | Iterable[str]]) -> tuple[str, ...]:
    flat = tuple(
        each
        for name in names
        for each in ([name] if isinstance(name, str) or not isinstance(name, Iterable) else name)
    )
    if not flat or not builtins.all(isinstance(name, str) for name in flat):
        raise UserError(f"names of columns are texts, got {names!r}")
    return flat


def lit(value: Any, dtype: Any = None) -> Expr:
    """A value: a text is a text here, and no name."""
    made = Expr("lit", (), {"value": value})
    return made if dtype is None else made.cast(dtype)


def len() -> Expr:
    """The number of rows."""
    return Expr("len")


def when(*conditions: Expr) -> When:
    """`when(condition).then(value).otherwise(value)`, with more `.when(…).then(…)` between if need be."""
    return When((), all_of(conditions))


def coalesce(*exprs: IntoExpr) -> Expr:
    """The first that is not null; a text is the name of a column."""
    return make("coalesce", *columns(*exprs))


def concat_str(*exprs: IntoExpr, separator: str = "") -> Expr:
    """The texts one behind the other; null if one is."""
    return make("concat_str", *columns(*exprs), separator=separator)


def min_horizontal(*exprs: IntoExpr) -> Expr:
    """The least in the row; nulls are passed over."""
    return make("least", *columns(*exprs))


def max_horizontal(*exprs: IntoExpr) -> Expr:
    """The greatest in the row; nulls are passed over."""
    return make("greatest", *columns(*exprs))


def sum_horizontal(*exprs: IntoExpr) -> Expr:
    """The sum of the row; nulls are passed over."""
    filled = [make("coalesce", each, 0) for each in columns(*exprs)]
    total = filled[0]
    for each in filled[1:]:
        total = total + each
    return total
