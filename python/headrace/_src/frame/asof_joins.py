"""`LazyFrame.join_asof`: each row with that of another frame whose key is nearest to its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headrace._src.errors import UserError
from headrace._src.frame.scope import Scope, Value, converted, typed_literal
from headrace._src.frame.types import is_moment, is_numeric, supertype
from headrace._src.frame.windows import as_steps, steps
from headrace._src.sql.tables import quoted

if TYPE_CHECKING:
    from headrace._src.frame.lazy_frame import LazyFrame


@dataclass(frozen=True)
class AsOf:
    """How two frames are joined."""

    left_on: str
    right_on: str
    by_left: Sequence[str]
    by_right: Sequence[str]
    strategy: str
    suffix: str
    #: None, or what `steps` takes, a length of time or a number.
    tolerance: Any
    coalesce: bool
    exact: bool


def joined_asof(left: LazyFrame, right: LazyFrame, how: AsOf) -> LazyFrame:
    """All rows of the left frame in their order, each with at most one of the right frame's."""
    if how.strategy not in ("backward", "forward", "nearest"):
        raise UserError(f"strategy is backward, forward or nearest, got {how.strategy}")
    if len(how.by_left) != len(how.by_right):
        raise UserError(
            f"join_asof needs as many columns in by_left as in by_right: {how.by_left}, {how.by_right}"
        )
    left._check([how.left_on, *how.by_left])
    right._check([how.right_on, *how.by_right])
    one, other = left._columns[how.left_on], right._columns[how.right_on]
    dtype = supertype(one.type, other.type)
    if dtype is None or not (is_numeric(dtype) or is_moment(dtype)):
        raise UserError(
            f"join_asof by {one.type} and {other.type}: cast them to one type of numbers or moments"
        )
    return _Join(left, right, how, dtype).frame()


class _Join:
    """The parts of the text."""

    def __init__(self, left: LazyFrame, right: LazyFrame, how: AsOf, dtype: pa.DataType) -> None:
        self._left = left
        self._right = right
        self._how = how
        self._dtype = dtype
        self._key = self._step(Value(left._columns[how.left_on].sql, left._columns[how.left_on].type))
        gone = {*how.by_right} | ({how.right_on} if how.coalesce and how.left_on == how.right_on else set())
        self._shown = {
            (name + how.suffix if name in left._columns else name): column
            for name, column in right._columns.items()
            if name not in gone
        }

    def _step(self, value: Value) -> str:
        """A key as what can be subtracted."""
        met = converted(value, self._dtype)
        return as_steps(met).sql if is_moment(self._dtype) else met.sql

    def frame(self) -> LazyFrame:
        from headrace._src.frame.lazy_frame import LazyFrame, _columns_of

        left, how = self._left, self._how
        clash = [name for name in self._shown if name in left._columns]
        if clash:
            raise UserError(f"two columns have the same name: {clash[0]}; choose another suffix")
        values = {name: Value(f"l.{column.sql}", column.type) for name, column in left._columns.items()}
        near = how.strategy == "nearest"
        signs = {"backward": ">=" if how.exact else ">", "forward": "<=" if how.exact else "<"}
        sides = ["forward", "backward"] if near else [how.strategy]
        for number, (name, column) in enumerate(self._shown.items()):
            values[name] = Value(self._chosen(f'"~{number}"', sides), column.type)
        made = _columns_of(values, {key.sql for key in left._order})
        texts = [f"{value.sql} as {made[name].sql}" for name, value in values.items()]
        kept = {each.sql for each in made.values()}
        texts += [f"l.{sql}" for sql in dict.fromkeys(key.sql for key in left._order) if sql not in kept]
        scope = Scope(self._right._columns, self._right._order)
        tables = {side: self._rows(scope, last=near or side == "backward") for side in sides}
        equal = "".join(
            f" and l.{left._columns[a].sql} = {{0}}.{quoted(f'~b{number}')}"
            for number, a in enumerate(how.by_left)
        )

        def render(source: str, other: str) -> str:
            text = f'select {", ".join(texts)} from (select *, {self._key} as "~k" from {source}) as l'
            for side in sides:
                on = f'l."~k" {signs[side]} {side[0]}."~k"{equal.format(side[0])}'
                rows = tables[side].format(scope.stages.around(other))
                text += f" asof left join ({rows}) as {side[0]} on {on}"
            return text

        return LazyFrame(left._made("join_asof", render, self._right), made, left._order)

    def _chosen(self, name: str, sides: Sequence[str]) -> str:
        """A column of the row that is found, null if it is too far away."""
        at = {side: f'{side[0]}."~k"' for side in sides}
        most = self._tolerance()
        if len(sides) == 1:
            (side,) = sides
            shown = f"{side[0]}.{name}"
            return shown if most is None else f'case when abs(l."~k" - {at[side]}) <= {most} then {shown} end'
        after, before = (f'abs(l."~k" - {at[side]})' for side in ("forward", "backward"))
        limit = "" if most is None else f" and {{}} <= {most}"
        return (
            f"case when {at['forward']} is not null and ({at['backward']} is null or {after} <= {before})"
            f" then case when true{limit.format(after)} then f.{name} end"
            f" when true{limit.format(before)} then b.{name} end"
        )

    def _tolerance(self) -> str | None:
        given = self._how.tolerance
        if given is None:
            return None
        if isinstance(given, timedelta):
            given = given // timedelta(microseconds=1)
        elif isinstance(given, str):
            given = steps(given, self._dtype, "tolerance")
        elif is_moment(self._dtype):
            raise UserError(f"a tolerance of moments is a length such as 3d, got {given}")
        return typed_literal(given, pa.float64() if isinstance(given, float) else pa.int64())

    def _rows(self, scope: Scope, *, last: bool) -> str:
        """The right frame with one row of those that are equal in key and by: the last or the first."""
        how, columns = self._how, self._right._columns
        order = [key.reversed for key in scope.order] if last else scope.order
        value = columns[how.right_on]
        inside = Scope(
            columns,
            scope.order,
            tuple(columns[name].sql for name in (*how.by_right, how.right_on)),
            stages=scope.stages,
        )
        at = inside.window("row_number()", pa.int64(), 0, order=order)
        texts = [f'{column.sql} as "~{number}"' for number, column in enumerate(self._shown.values())]
        texts += [f'{columns[name].sql} as "~b{number}"' for number, name in enumerate(how.by_right)]
        texts.append(f'{self._step(Value(value.sql, value.type))} as "~k"')
        return f"select {', '.join(texts)} from {{0}} where {at.sql} = 1 and {value.sql} is not null"
