"""Operations that make other rows of those that there are: explode, row numbers, frames side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from headrace._src.errors import UserError
from headrace._src.frame.scope import Column, Key, Scope, Value
from headrace._src.frame.types import is_list, sql_type

if TYPE_CHECKING:
    from headrace._src.frame.lazy_frame import LazyFrame


def exploded(frame: LazyFrame, names: Sequence[str], *, empty_as_null: bool, keep_nulls: bool) -> LazyFrame:
    """A row for each element of lists, of several columns side by side."""
    from headrace._src.frame.lazy_frame import LazyFrame

    frame._check(names)
    if not names:
        raise UserError("explode needs a column of lists")
    for name in names:
        if not is_list(frame._columns[name].type):
            raise UserError(f"explode takes lists, got {name} of {frame._columns[name].type}")
    lists = {name: _list(frame._columns[name], empty_as_null, keep_nulls) for name in names}
    made = {
        name: Column(each.sql, each.type.value_type) if name in lists else each
        for name, each in frame._columns.items()
    }
    texts = [
        f"unnest({lists[name]}) as {each.sql}" if name in lists else each.sql
        for name, each in frame._columns.items()
    ]
    first = next(iter(lists.values()))
    checks = [f"coalesce(len({other}), 0) = coalesce(len({first}), 0)" for other in list(lists.values())[1:]]
    message = "explode of lists of other lengths in a row"
    where = f" where case when {' and '.join(checks)} then true else error('{message}') end" if checks else ""
    # Rows that are equal in all keys of the order may come in any, but the elements of one stay together.
    scope = Scope(frame._columns, frame._order)
    row = Key(frame._unused(frame._order))
    place = Key(frame._unused((row,)))
    order = (row, place) if frame._order else ()
    if order:
        texts.append(f"{frame._place(scope)} as {row.sql}")
        texts.append(f"generate_subscripts({first}, 1) as {place.sql}")
    return LazyFrame(
        frame._made(
            "explode",
            lambda source: f"select {', '.join(texts)} from {scope.stages.around(source)}{where}",
        ),
        made,
        order,
    )


def _list(column: Column, empty_as_null: bool, keep_nulls: bool) -> str:
    one = f"[cast(NULL as {sql_type(column.type.value_type)})]"
    cases = [f"when {column.sql} is null then {one} "] if keep_nulls else []
    cases += [f"when len({column.sql}) = 0 then {one} "] if empty_as_null else []
    return f"case {''.join(cases)}else {column.sql} end" if cases else column.sql


def numbered(frame: LazyFrame, name: str, offset: int) -> LazyFrame:
    """The number of each row as a first column."""
    if name in frame._columns:
        raise UserError(f"two columns have the same name: {name}; choose another name")
    if offset < 0:
        raise UserError(f"with_row_index counts from at least 0, got {offset}")
    scope = Scope(frame._columns, frame._order)
    order = scope.ordered("with_row_index")
    at = scope.window("row_number()", pa.int64(), 0, order=order)
    dtype = pa.uint32()
    value = Value(f"cast({at.sql} - 1 + {offset} as {sql_type(dtype)})", dtype, at.level)
    others = {name: Value(each.sql, each.type) for name, each in frame._columns.items()}
    return frame._selected("with_row_index", {name: value, **others}, scope, frame._order)


def beside_each_other(frames: Sequence[LazyFrame]) -> LazyFrame:
    """The columns of frames with as many rows each, row by row."""
    from headrace._src.frame.lazy_frame import LazyFrame, _columns_of

    values: dict[str, Value] = {}
    for number, frame in enumerate(frames):
        Scope(frame._columns, frame._order).ordered("concat(how='horizontal')")
        for name, each in frame._columns.items():
            if name in values:
                raise UserError(f"two columns have the same name: {name}; rename one of them")
            values[name] = Value(f"t{number}.{each.sql}", each.type)
    made = _columns_of(values, set())
    texts = [f"{value.sql} as {made[name].sql}" for name, value in values.items()]
    place = Key('"~place"')
    while any(each.sql == place.sql for each in made.values()):
        place = Key(f'{place.sql[:-1]}~"')
    scopes = [Scope(frame._columns, frame._order) for frame in frames]
    at = [scope.window("row_number()", pa.int64(), 0, order=scope.order).sql for scope in scopes]
    one = ", ".join(f"t{number}.{place.sql}" for number in range(len(frames)))
    missing = " or ".join(f"t{number}.{place.sql} is null" for number in range(len(frames)))
    message = "concat(how=horizontal) of frames of other lengths"
    texts.append(f"case when {missing} then error('{message}') else coalesce({one}) end as {place.sql}")

    def render(*sources: str) -> str:
        tables = [
            f"(select *, {sql} as {place.sql} from {scope.stages.around(source)}) as t{number}"
            for number, (sql, scope, source) in enumerate(zip(at, scopes, sources, strict=True))
        ]
        joins = "".join(
            f" full join {table} on t0.{place.sql} = t{number}.{place.sql}"
            for number, table in enumerate(tables[1:], 1)
        )
        return f"select {', '.join(texts)} from {tables[0]}{joins}"

    first, *others = frames
    return LazyFrame(first._made("concat", render, *others), made, [place])
