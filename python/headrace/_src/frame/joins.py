"""`LazyFrame.join`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace._src.errors import UserError
from headrace._src.frame.expression import Expr, IntoExpr, columns
from headrace._src.frame.scope import Column, Key, Scope, Value, common_type, converted
from headrace._src.frame.translate import translated

if TYPE_CHECKING:
    from headrace._src.frame.lazy_frame import LazyFrame

_WORDS = {
    "inner": "join",
    "left": "left join",
    "right": "right join",
    "full": "full join",
    "cross": "cross join",
}
_FILTERS = {"semi": "exists", "anti": "not exists"}


@dataclass(frozen=True)
class Ways:
    """How two frames are joined."""

    how: str
    suffix: str
    nulls_equal: bool
    coalesce: bool | None
    #: Of the comparisons of the keys; default: they are equal.
    signs: tuple[str, ...] = ()
    #: Which frame's order the rows keep: none, left, right, left_right or right_left.
    order: str = "none"
    #: What else holds of rows that are joined, over the columns of the result; not of semi and anti joins.
    also: Expr | None = None


def joined(
    left: LazyFrame,
    right: LazyFrame,
    on: IntoExpr | Sequence[IntoExpr] | None,
    left_on: IntoExpr | Sequence[IntoExpr] | None,
    right_on: IntoExpr | Sequence[IntoExpr] | None,
    ways: Ways,
) -> LazyFrame:
    """The join of two frames; its rows have an order only if that is asked for."""
    if ways.how not in (*_WORDS, *_FILTERS):
        raise UserError(f"how is one of {', '.join((*_WORDS, *_FILTERS))}, got {ways.how}")
    if ways.order not in ("none", "left", "right", "left_right", "right_left"):
        raise UserError(f"maintain_order is none, left, right, left_right or right_left, got {ways.order}")
    if on is not None:
        if left_on is not None or right_on is not None:
            raise UserError("a join has on, or left_on and right_on")
        left_on = right_on = on
    pairs = list(zip(*_keys(left_on, right_on, ways), strict=True))
    condition = _condition(left, right, pairs, ways)
    if ways.how in _FILTERS:
        names = left._all_sql()
        word = _FILTERS[ways.how]

        def kept(a: str, b: str) -> str:
            return f"select {names} from {a} as l where {word} (select 1 from {b} as r where {condition})"

        from headrace._src.frame.lazy_frame import LazyFrame

        # Each row is there at most once, in its place.
        return LazyFrame(left._made("join", kept, right), left._columns, left._order)
    return _of_both(left, right, pairs, condition, ways)


def _keys(
    left_on: IntoExpr | Sequence[IntoExpr] | None, right_on: IntoExpr | Sequence[IntoExpr] | None, ways: Ways
) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    left, right = columns(left_on), columns(right_on)
    if ways.how == "cross":
        if left or right:
            raise UserError("a cross join has no keys")
    elif (not left and ways.also is None) or len(left) != len(right):
        raise UserError(f"a join needs as many keys on the left as on the right: {len(left)}, {len(right)}")
    return left, right


def _condition(left: LazyFrame, right: LazyFrame, pairs: Sequence[tuple[Expr, Expr]], ways: Ways) -> str:
    signs = ways.signs or ("is not distinct from" if ways.nulls_equal else "=",) * len(pairs)
    texts = []
    for (one, other), sign in zip(pairs, signs, strict=True):
        a, b = _of_side(left, "l", one), _of_side(right, "r", other)
        dtype = common_type(a, b, "a join")
        texts.append(f"{converted(a, dtype).sql} {sign} {converted(b, dtype).sql}")
    return " and ".join(texts)


def _of_side(frame: LazyFrame, side: str, expr: Expr) -> Value:
    """A key over the columns of one side."""
    shown = {name: Column(f"{side}.{each.sql}", each.type) for name, each in frame._columns.items()}
    value = translated(expr, Scope(shown))
    if value.level or value.where:
        raise UserError("a key of a join sees its row alone: add it with with_columns first")
    return value


def _of_both(
    left: LazyFrame, right: LazyFrame, pairs: Sequence[tuple[Expr, Expr]], condition: str, ways: Ways
) -> LazyFrame:
    """The columns of both sides. Keys that are columns become one, but for a full join."""
    from headrace._src.frame.lazy_frame import LazyFrame, _columns_of

    plain = all(each.kind == "col" for pair in pairs for each in pair)
    merge = (ways.how != "full" if ways.coalesce is None else ways.coalesce) and plain
    names = [(one.options["names"][0], other.options["names"][0]) for one, other in pairs] if merge else []
    gone_left = {one for one, _ in names} if ways.how == "right" else set()
    gone_right = set() if ways.how == "right" else {other for _, other in names}
    values: dict[str, Value] = {}
    for name, each in left._columns.items():
        if name in gone_left:
            continue
        sql = f"l.{each.sql}"
        partner = next((other for one, other in names if one == name), None)
        if partner is not None and ways.how == "full":
            sql = f"coalesce({sql}, r.{right._columns[partner].sql})"
        values[name] = Value(sql, each.type)
    for name, each in right._columns.items():
        if name in gone_right:
            continue
        shown = name + ways.suffix if name in values else name
        if shown in values:
            raise UserError(f"two columns have the same name: {shown}; choose another suffix")
        values[shown] = Value(f"r.{each.sql}", each.type)
    made = _columns_of(values, set())
    texts = ", ".join(f"{value.sql} as {made[name].sql}" for name, value in values.items())
    conditions = [condition] if condition else []
    if ways.also is not None:
        shown_of = {name: Column(value.sql, value.type) for name, value in values.items()}
        conditions.append(translated(ways.also, Scope(shown_of)).sql)
    word, on = _WORDS[ways.how], f" on {' and '.join(conditions)}" if conditions else ""
    places = _places(left, right, ways, {each.sql for each in made.values()})
    texts += "".join(f", {each}.{key.sql}" for each, key, _, _ in places)

    def render(a: str, b: str) -> str:
        for side, key, place, scope in places:
            numbered = f"(select *, {place} as {key.sql} from {scope.stages.around(a if side == 'l' else b)})"
            a, b = (numbered, b) if side == "l" else (a, numbered)
        return f"select {texts} from {a} as l {word} {b} as r{on}"

    return LazyFrame(left._made("join", render, right), made, [key for _, key, _, _ in places])


def _places(
    left: LazyFrame, right: LazyFrame, ways: Ways, taken: set[str]
) -> list[tuple[str, Key, str, Scope]]:
    """For each side whose order counts: the side, its key in the result, and how it is numbered."""
    out = []
    first = ways.order.split("_")[0]
    # Rows that are equal in one order come in the other, if there is one.
    for side in () if first == "none" else ("left", "right") if first == "left" else ("right", "left"):
        frame = left if side == "left" else right
        if side != first and "_" not in ways.order and not frame._order:
            continue
        scope = Scope(frame._columns, frame._order)
        scope.ordered(f"maintain_order={ways.order!r}")
        name = f'"~{side}"'
        while name in taken or any(name == key.sql for key in (*left._order, *right._order)):
            name = f'{name[:-1]}~"'
        # A row without a partner comes behind the others.
        out.append((side[0], Key(name, nulls_last=True), frame._place(scope), scope))
    return out
