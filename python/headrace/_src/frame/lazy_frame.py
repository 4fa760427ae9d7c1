"""`LazyFrame`: a table that is not computed yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._src.arguments import checked, checked_methods
from headrace._src.errors import HeadraceError, UnsupportedError, UserError
from headrace._src.frame import aggregates as aggregates
from headrace._src.frame import arithmetic as arithmetic
from headrace._src.frame import joins, shapes
from headrace._src.frame import lists as lists
from headrace._src.frame import row_choices as row_choices
from headrace._src.frame import texts_and_moments as texts_and_moments
from headrace._src.frame import windows as windows
from headrace._src.frame.asof_joins import AsOf, joined_asof
from headrace._src.frame.batch_functions import BatchFunction, failure_of, mapped
from headrace._src.frame.expression import Expr, IntoExpr, column, columns, flags, literal
from headrace._src.frame.functions import col
from headrace._src.frame.group_by import GroupBy, grouped
from headrace._src.frame.nodes import Node, composed, owned, user_line
from headrace._src.frame.scope import Column, Key, Scope, Value, converted, unknown_column
from headrace._src.frame.translate import check_boolean, is_literal, is_scalar, named, translated
from headrace._src.frame.types import is_of_kind, sql_type, supertype, type_of
from headrace._src.query import sql as queries
from headrace._src.sql.composed import Composed
from headrace._src.sql.tables import quoted

if TYPE_CHECKING:
    import polars
    import pyarrow as pa

    from headrace._src.query.dataset import Dataset
    from headrace._src.query.profile import Profile


@checked_methods
class LazyFrame:
    """A table that is computed by `collect`, from what its methods say, which mean what they mean in Polars.

    Made by `scan_parquet` and `from_arrow`. Rows come in the order of their source or of `sort`; groups and
    joins have none, unless it is asked for: `head` takes any of theirs, and what needs an order is refused.
    Every method gives another frame.
    """

    def __init__(self, node: Node, columns: Mapping[str, Column], order: Sequence[Key] = ()) -> None:
        self._node = node
        self._columns = dict(columns)
        self._order = tuple(order)

    # What it is

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        import pyarrow as pa

        return pa.schema([(name, each.type) for name, each in self._columns.items()])

    def collect_schema(self) -> pa.Schema:
        """As `schema`."""
        return self.schema

    def __repr__(self) -> str:
        columns = ", ".join(f"{name}: {each.type}" for name, each in self._columns.items())
        return f"LazyFrame of {self._node.owner}: {columns}"

    # Columns

    def select(self, *exprs: IntoExpr | Iterable[IntoExpr], **named_exprs: IntoExpr) -> LazyFrame:
        """These columns alone. If all are aggregates, the result is one row."""
        return owned("select", lambda: self._select(_with_names(exprs, named_exprs)))

    def _select(self, exprs: Sequence[Expr]) -> LazyFrame:
        chosen = named(exprs, self._columns)
        if not chosen:
            raise UserError("select needs a column")
        if all(map(is_literal, chosen.values())):
            return self._computed("select", chosen, table=False)
        if all(map(is_scalar, chosen.values())):
            return grouped(self, {}, chosen, "select")
        scope = Scope(self._columns, self._order)
        values = {name: _typed(translated(each, scope)) for name, each in chosen.items()}
        rows = [values[name] for name, each in chosen.items() if not is_scalar(each)]
        wheres, orders = {each.where for each in rows}, {each.order for each in rows}
        if len(wheres) > 1 or len(orders) > 1:
            raise UnsupportedError(
                "columns of different rows beside each other: filter or sort all in the same way"
            )
        return self._of_rows(values, scope, wheres.pop(), orders.pop())

    def _of_rows(
        self, values: Mapping[str, Value], scope: Scope, where: str, order: Sequence[Key]
    ) -> LazyFrame:
        """A selection of rows, in their order or another."""
        for value in values.values():
            scope.stages.reach(value.level)
        hidden: dict[str, Key] = {}
        for key in order:
            hidden[key.sql] = Key(self._unused(hidden.values()), key.descending, key.nulls_last)
        return self._selected(
            "select",
            values,
            scope,
            tuple(hidden.values()) if order else self._order,
            where=f" where {where}" if where else "",
            extra=[f"{sql} as {key.sql}" for sql, key in hidden.items()],
        )

    def with_columns(self, *exprs: IntoExpr | Iterable[IntoExpr], **named_exprs: IntoExpr) -> LazyFrame:
        """These columns beside, or in place of, those that there are."""

        def made() -> LazyFrame:
            new = named(_with_names(exprs, named_exprs), self._columns)
            kept = {name: column(name) for name in self._columns}
            return self._computed("with_columns", {**kept, **new})

        return owned("with_columns", made)

    def _computed(self, operation: str, exprs: Mapping[str, Expr], *, table: bool = True) -> LazyFrame:
        """A selection of expressions by name; without a table it is one row."""
        scope = Scope(self._columns, self._order)
        values = {name: _without_filter(translated(each, scope)) for name, each in exprs.items()}
        for value in values.values():
            scope.stages.reach(value.level)
        return self._selected(operation, values, scope, self._order if table else (), table=table)

    def _selected(
        self,
        operation: str,
        values: Mapping[str, Value],
        scope: Scope,
        order: Sequence[Key],
        *,
        table: bool = True,
        where: str = "",
        extra: Sequence[str] = (),
    ) -> LazyFrame:
        """The values as columns, with the keys of the order beside them, which may be `extra` columns."""
        made = _columns_of(values, {key.sql for key in order})
        texts = [f"{value.sql} as {made[name].sql}" for name, value in values.items()]
        kept = {each.sql for each in made.values()}
        texts += extra or [key.sql for key in dict.fromkeys(order) if key.sql not in kept]
        select = f"select {', '.join(texts)}"

        def render(source: str) -> str:
            if not table and not scope.stages.columns:
                return select
            return f"{select} from {scope.stages.around(source if table else '(select 0)')}{where}"

        return LazyFrame(self._made(operation, render), made, order)

    def _made(self, operation: str, render: Callable[..., str], *others: LazyFrame) -> Node:
        inputs = (self._node, *(other._node for other in others))
        return Node(render, inputs, f"{operation}, {user_line()}")

    def rename(self, mapping: Mapping[str, str] | Callable[[str], str], *, strict: bool = True) -> LazyFrame:
        """Other names; strict=False passes over names that are not there."""

        def made() -> LazyFrame:
            given = (
                mapping if isinstance(mapping, Mapping) else {name: mapping(name) for name in self._columns}
            )
            if strict:
                self._check(given)
            exprs = [column(name).alias(given.get(name, name)) for name in self._columns]
            return self._computed("rename", named(exprs, self._columns))

        return owned("rename", made)

    def drop(self, *names: str | Iterable[str], strict: bool = True) -> LazyFrame:
        """Without these columns; strict=False passes over names that are not there."""

        def made() -> LazyFrame:
            gone = set(_texts(names))
            if strict:
                self._check(gone)
            kept = {name: column(name) for name in self._columns if name not in gone}
            if not kept:
                raise UserError("a frame has at least one column")
            return self._computed("drop", kept)

        return owned("drop", made)

    def _check(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self._columns:
                raise UserError(unknown_column(name, self._columns))

    def cast(self, dtypes: Any, *, strict: bool = True) -> LazyFrame:
        """All columns as a type, or those of a dict of names to types."""

        def made() -> LazyFrame:
            wanted = dtypes if isinstance(dtypes, Mapping) else dict.fromkeys(self._columns, dtypes)
            self._check(wanted)
            cast = {
                name: column(name).cast(wanted[name], strict=strict) if name in wanted else column(name)
                for name in self._columns
            }
            return self._computed("cast", cast)

        return owned("cast", made)

    def fill_null(self, value: IntoExpr = None, strategy: str | None = None) -> LazyFrame:
        """A value in place of nulls, in all columns of its kind, or by a strategy as of `Expr`.

        A number is for all columns of numbers, which may change their types to hold it.
        """

        def made() -> LazyFrame:
            if strategy is not None:
                return self.with_columns(col(*self.columns).fill_null(strategy=strategy))
            kind = translated(literal(value), Scope(self._columns)).type
            filled = {
                name: column(name).fill_null(value) if is_of_kind(each.type, kind) else column(name)
                for name, each in self._columns.items()
            }
            return self._computed("fill_null", filled)

        return owned("fill_null", made)

    # Rows

    def filter(self, *predicates: Expr | Iterable[Expr], **constraints: Any) -> LazyFrame:
        """The rows where all conditions are true; `name=value` is a condition, too."""

        def made() -> LazyFrame:
            conditions = [
                *columns(*predicates),
                *(column(name) == value for name, value in constraints.items()),
            ]
            if not conditions:
                raise UserError("filter needs a condition")
            scope = Scope(self._columns, self._order)
            values = [_without_filter(translated(each, scope)) for each in conditions]
            for value in values:
                check_boolean(value, "filter")
                scope.stages.reach(value.level)
            where = " and ".join(value.sql for value in values)
            names = self._all_sql()
            return self._same(
                "filter", lambda source: f"select {names} from {scope.stages.around(source)} where {where}"
            )

        return owned("filter", made)

    def _all_sql(self) -> str:
        names = [each.sql for each in self._columns.values()]
        return ", ".join(dict.fromkeys([*names, *(key.sql for key in self._order)]))

    def _same(self, operation: str, render: Callable[[str], str]) -> LazyFrame:
        """The same columns of other rows."""
        return LazyFrame(self._made(operation, render), self._columns, self._order)

    def drop_nulls(self, subset: str | Iterable[str] | None = None) -> LazyFrame:
        """The rows without a null, or without one in some columns."""

        def made() -> LazyFrame:
            names = self.columns if subset is None else _texts([subset])
            return self.filter(*(column(name).is_not_null() for name in names))

        return owned("drop_nulls", made)

    def sort(
        self,
        by: IntoExpr | Iterable[IntoExpr],
        *more_by: IntoExpr,
        descending: bool | Sequence[bool] = False,
        nulls_last: bool | Sequence[bool] = False,
        maintain_order: bool = False,
    ) -> LazyFrame:
        """In an order, nulls first; rows that are equal in it in any order (maintain_order: in theirs)."""

        def made() -> LazyFrame:
            keys = columns(by, *more_by)
            downs, lasts = (
                flags(descending, len(keys), "descending"),
                flags(nulls_last, len(keys), "nulls_last"),
            )
            scope = Scope(self._columns, self._order)
            order: list[Key] = []
            extra: list[Key] = []
            texts = [self._all_sql()]
            for expr, down, last in zip(keys, downs, lasts, strict=True):
                value = _without_filter(translated(expr, scope))
                if expr.kind != "col":
                    value = scope.staged(value)
                    hidden = self._unused([*extra, *self._order])
                    extra.append(Key(hidden))
                    texts.append(f"{value.sql} as {hidden}")
                    value = replace(value, sql=hidden)
                order.append(Key(value.sql, down, last))
            if maintain_order:
                order += self._order
            names = ", ".join(texts)
            frame = self._same("sort", lambda source: f"select {names} from {scope.stages.around(source)}")
            return LazyFrame(frame._node, self._columns, order)

        return owned("sort", made)

    def _unused(self, keys: Iterable[Key]) -> str:
        """A name in SQL for a hidden key of the order."""
        used = {*(key.sql for key in keys), *(each.sql for each in self._columns.values())}
        return next(name for number in count(1) if (name := quoted(f"~o{number}")) not in used)

    def head(self, n: int = 5) -> LazyFrame:
        """The first rows; any of groups and joins."""
        return owned("head", lambda: self._slice("head", 0, n))

    def limit(self, n: int = 5) -> LazyFrame:
        """As `head`."""
        return owned("limit", lambda: self._slice("limit", 0, n))

    def tail(self, n: int = 5) -> LazyFrame:
        """The last rows; not of groups and joins."""
        return owned("tail", lambda: self._last("tail", n, n))

    def reverse(self) -> LazyFrame:
        """The rows from the last to the first; not of groups and joins."""

        def made() -> LazyFrame:
            order = [key.reversed for key in Scope(self._columns, self._order).ordered("reverse")]
            return LazyFrame(self._node, self._columns, order)

        return owned("reverse", made)

    def gather_every(self, n: int, offset: int = 0) -> LazyFrame:
        """Each n-th row; not of groups and joins."""
        return owned("gather_every", lambda: self.select(col(*self.columns).gather_every(n, offset)))

    def with_row_index(self, name: str = "index", offset: int = 0) -> LazyFrame:
        """The number of each row as a first column, of 32 bits without sign; not of groups and joins."""
        return owned("with_row_index", lambda: shapes.numbered(self, name, offset))

    def explode(
        self,
        *names: str | Iterable[str],
        empty_as_null: bool = False,
        keep_nulls: bool = True,
    ) -> LazyFrame:
        """A row for each element of the lists in some columns, which are as long as each other in a row.

        empty_as_null: an empty list gives a row with null; keep_nulls: a null in place of a list does.
        """
        return owned(
            "explode",
            lambda: shapes.exploded(self, _texts(names), empty_as_null=empty_as_null, keep_nulls=keep_nulls),
        )

    def slice(self, offset: int, length: int | None = None) -> LazyFrame:
        """The rows from an offset, of a negative one from the end; not of groups and joins."""

        def made() -> LazyFrame:
            if offset:
                Scope(self._columns, self._order).ordered("slice")
            if offset < 0:
                return self._last("slice", -offset, length)
            return self._slice("slice", offset, length)

        return owned("slice", made)

    def _slice(self, operation: str, offset: int, length: int | None) -> LazyFrame:
        for rows in (offset, length):
            if rows is not None and rows < 0:
                raise UserError(f"a number of rows is at least 0, got {rows}")
        most = "" if length is None else f" limit {length}"
        start = f" offset {offset}" if offset else ""
        names, order = self._all_sql(), self._order_sql()
        return self._same(operation, lambda source: f"select {names} from {source}{order}{most}{start}")

    def _last(self, operation: str, n: int, length: int | None) -> LazyFrame:
        """`length` rows from the nth last place on, which may be before the first row."""
        order = Scope(self._columns, self._order).ordered(operation)
        back = LazyFrame(self._node, self._columns, [key.reversed for key in order])
        taken = n if length is None else min(length, n)
        found = back._slice(operation, n - taken, taken)
        return LazyFrame(found._node, self._columns, self._order)

    def _place(self, scope: Scope) -> str:
        """A number that says where a row stands, as a column in SQL; 0 if rows have no order."""
        import pyarrow as pa

        match self._order:
            case ():
                return "0"
            case (key,) if not key.descending and key.sql.startswith('"~row'):  # as sources have it
                return key.sql
        return scope.window("row_number()", pa.int64(), 0, order=self._order).sql

    def _order_sql(self) -> str:
        return f" order by {', '.join(map(str, self._order))}" if self._order else ""

    def top_k(self, k: int, *, by: IntoExpr | Iterable[IntoExpr]) -> LazyFrame:
        """The k rows that are greatest in `by`."""
        return self.sort(by, descending=True, nulls_last=True).head(k)

    def bottom_k(self, k: int, *, by: IntoExpr | Iterable[IntoExpr]) -> LazyFrame:
        """The k rows that are least in `by`."""
        return self.sort(by, nulls_last=True).head(k)

    def unique(
        self, subset: str | Iterable[str] | None = None, *, keep: str = "any", maintain_order: bool = False
    ) -> LazyFrame:
        """One of the rows that are equal, or equal in some columns.

        keep: any; first or last, for which rows must have an order; none: no row of several.
        """

        def made() -> LazyFrame:
            names = self.columns if subset is None else _texts([subset])
            self._check(names)
            if keep not in ("any", "first", "last", "none"):
                raise UserError(f"keep is any, first, last or none, got {keep}")
            scope = Scope(self._columns, self._order, tuple(self._columns[name].sql for name in names))
            order = () if keep in ("any", "none") else scope.ordered(f"unique(keep={keep!r})")
            if maintain_order:
                scope.ordered("unique(maintain_order=True)")
            shown = self._all_sql()
            if keep == "any" and len(names) == len(self._columns) and not maintain_order:
                distinct = ", ".join(each.sql for each in self._columns.values())
                node = self._made("unique", lambda source: f"select distinct {distinct} from {source}")
                return LazyFrame(node, self._columns)
            keys = [key.reversed for key in order] if keep == "last" else order
            call = "count(*)" if keep == "none" else "row_number()"
            import pyarrow as pa

            place = scope.window(call, pa.int64(), 0, order=keys)
            node = self._made(
                "unique",
                lambda source: f"select {shown} from {scope.stages.around(source)} where {place.sql} = 1",
            )
            return LazyFrame(node, self._columns, self._order if maintain_order else ())

        return owned("unique", made)

    # Groups, joins, several frames

    def group_by(
        self, *by: IntoExpr | Iterable[IntoExpr], maintain_order: bool = False, **named_by: IntoExpr
    ) -> GroupBy:
        """Groups of rows that are equal in some columns, for `agg` and `len`.

        maintain_order: groups come in the order of their first rows.
        """
        return owned(
            "group_by", lambda: GroupBy(self, _with_names(by, named_by), maintain_order=maintain_order)
        )

    def join(
        self,
        other: LazyFrame,
        on: IntoExpr | Sequence[IntoExpr] | None = None,
        how: str = "inner",
        *,
        left_on: IntoExpr | Sequence[IntoExpr] | None = None,
        right_on: IntoExpr | Sequence[IntoExpr] | None = None,
        suffix: str = "_right",
        nulls_equal: bool = False,
        coalesce: bool | None = None,
        maintain_order: str = "none",
    ) -> LazyFrame:
        """The pairs of rows with equal keys; null equals nothing, unless `nulls_equal`.

        how: inner, left, right, full, semi, anti or cross.
        suffix: of the right frame's columns whose names the left one has.
        coalesce: whether the keys of both become one column (default: but for `full`).
        maintain_order: none; left or right: rows come in that frame's order; left_right or right_left: those
            that are equal in it in the order of the other.
        """
        ways = joins.Ways(how, suffix, nulls_equal, coalesce, order=maintain_order)
        return owned("join", lambda: joins.joined(self, other, on, left_on, right_on, ways))

    def join_asof(
        self,
        other: LazyFrame,
        *,
        on: str | None = None,
        left_on: str | None = None,
        right_on: str | None = None,
        by: str | Sequence[str] | None = None,
        by_left: str | Sequence[str] | None = None,
        by_right: str | Sequence[str] | None = None,
        strategy: str = "backward",
        suffix: str = "_right",
        tolerance: Any = None,
        coalesce: bool = True,
        allow_exact_matches: bool = True,
    ) -> LazyFrame:
        """Each row with the other frame's whose key is the last up to its own; nulls where there is none.

        by: columns that must be equal.
        strategy: backward; forward: the first from its own on; nearest: the nearer of both.
        tolerance: how far away it may be: a number, or of moments a length such as 3d or 1h30m.
        coalesce: whether the other key is left out, if it has the same name.
        allow_exact_matches: whether an equal key counts (not of nearest).
        Rows stay in their order; neither frame needs to be sorted. Of equal keys of the other frame the
        last counts, of forward the first.
        """

        def made() -> LazyFrame:
            a, b = (each or on for each in (left_on, right_on))
            if a is None or b is None:
                raise UserError("join_asof needs on, or left_on and right_on")
            if strategy == "nearest" and not allow_exact_matches:
                raise UnsupportedError("the nearest key that is not equal is not supported")
            lefts, rights = (
                [] if (each or by) is None else _texts([each or by]) for each in (by_left, by_right)
            )
            how = AsOf(a, b, lefts, rights, strategy, suffix, tolerance, coalesce, allow_exact_matches)
            return joined_asof(self, other, how)

        return owned("join_asof", made)

    def join_where(self, other: LazyFrame, *predicates: Expr, suffix: str = "_right") -> LazyFrame:
        """The pairs of rows for which all conditions are true.

        In them the right frame's columns have their suffix, if they need one.
        """
        crossed = self.join(other, how="cross", suffix=suffix)
        return crossed.filter(*predicates)

    def unpivot(
        self,
        on: str | Iterable[str] | None = None,
        *,
        index: str | Iterable[str] | None = None,
        variable_name: str = "variable",
        value_name: str = "value",
    ) -> LazyFrame:
        """A row for each of the columns `on`, with its name and value, beside the columns `index`."""

        def made() -> LazyFrame:
            kept = [] if index is None else _texts([index])
            names = [name for name in self.columns if name not in kept] if on is None else _texts([on])
            self._check([*kept, *names])
            parts = [
                self.select(*kept, literal(name).alias(variable_name), column(name).alias(value_name))
                for name in names
            ]
            return concat(parts, how="vertical_relaxed")

        return owned("unpivot", made)

    def pivot(
        self,
        on: str,
        on_columns: Sequence[Any],
        *,
        index: str | Iterable[str],
        values: str,
        aggregate_function: str = "first",
    ) -> LazyFrame:
        """A column for each of the values `on_columns` of the column `on`, and a row for each `index`.

        aggregate_function: sum, mean, min, max, len, median, first or last.
        """

        def made() -> LazyFrame:
            if aggregate_function not in ("sum", "mean", "min", "max", "len", "median", "first", "last"):
                raise UserError(f"no aggregate of pivot: {aggregate_function}")
            cells = []
            for value in on_columns:
                cell = column(values).filter(column(on).eq_missing(value))
                cells.append(getattr(cell, aggregate_function)().alias(str(value)))
            return self.group_by(*_texts([index])).agg(*cells)

        return owned("pivot", made)

    def map_batches(self, function: BatchFunction, schema: pa.Schema | None = None) -> LazyFrame:
        """What a function of Python gives for each pyarrow.RecordBatch of the rows: a batch of any length.

        The rows come in their order, in batches of any size. The function runs in this process, in the thread
        that collects, before what follows it is compiled.
        schema: of what it gives, if that is not the frame's.
        """
        return owned("map_batches", lambda: mapped(self, function, schema))

    # What comes of it

    def sql(self) -> str:
        """The query that it becomes, in DuckDB's SQL."""
        return self._composed()[0].text

    def _composed(self) -> tuple[Composed, dict[str, Any]]:
        shown = ", ".join(each.sql for each in self._columns.values())
        return composed(self._node, lambda name: f"select {shown} from {name}{self._order_sql()}")

    def _ask(self, call: Callable[..., Any], options: Mapping[str, Any]) -> Any:
        return self._told(call, self._composed(), options)

    @staticmethod
    def _told(call: Callable[..., Any], about: tuple[Composed, Any], options: Mapping[str, Any]) -> Any:
        """The answer; its errors as they are about the frame."""
        text, tables = about
        try:
            return call(text.text, tables, **options)
        except HeadraceError as error:
            raise failure_of(tables) or text.retold(error) from None

    def collect(self, **options: Any) -> pa.Table:
        """The rows as a pyarrow.Table; options: those of `headrace.sql`."""
        table = self._ask(queries.sql, options)
        return None if table is None else table.rename_columns(self.columns).cast(self.schema)

    def to_polars(self, **options: Any) -> polars.DataFrame:
        """The rows as a polars.DataFrame; UserError if Polars is not installed."""
        from headrace._src.session.relation import needed

        table = self.collect(**options)
        polars = needed("polars", "to_polars() needs Polars: pip install polars")
        return table if table is None else polars.from_arrow(table)

    def persist(self, *, by: str | Sequence[str] = (), **options: Any) -> Dataset | None:
        """Computes the rows, which stay on the ranks that make them; see `headrace.persist`."""
        return self._told(queries.persist, self._typed(), {"by": by, **options})

    def _typed(self) -> tuple[Composed, Any]:
        """The query of the rows with the names and types of the frame, for those who do not see it."""
        inner = [f'{each.sql} as "~{i}"' for i, each in enumerate(self._columns.values())]
        outer = [
            f'cast("~{i}" as {sql_type(each.type)}) as {quoted(name)}'
            for i, (name, each) in enumerate(self._columns.items())
        ]

        def query(name: str) -> str:
            rows = f"select {', '.join(inner)} from {name}{self._order_sql()}"
            return f"select {', '.join(outer)} from ({rows})"

        return composed(self._node, query)

    def explain(self, **options: Any) -> str:
        """What was decided for it and why; options: those of `headrace.explain`."""
        return self._ask(queries.explain, options)

    def profile(self, **options: Any) -> Profile:
        """Runs it for what it takes."""
        return self._ask(queries.profiled, options)

    def sink_parquet(
        self, path: str | Path, *, folder: Mapping[str, Any] | None = None, **options: Any
    ) -> None:
        """Writes the rows to a Parquet file, which is there whole or not at all; options: as `collect`.

        folder: for a folder of files, which all ranks write at once: {"per_thread_output": True} or
            {"partition_by": ["a", "b"]}, with "overwrite": True to replace one that is there.
        """
        self._sink(str(path), ".parquet", folder, options)

    def sink_csv(self, path: str | Path, *, folder: Mapping[str, Any] | None = None, **options: Any) -> None:
        """The same as CSV."""
        self._sink(str(path), ".csv", folder, options)

    def sink_ipc(self, path: str | Path, *, folder: Mapping[str, Any] | None = None, **options: Any) -> None:
        """The same as an Arrow file."""
        self._sink(str(path), ".arrow", folder, options)

    def _sink(
        self, path: str, suffix: str, folder: Mapping[str, Any] | None, options: Mapping[str, Any]
    ) -> None:
        import pyarrow as pa

        from headrace._src.part_files import ResultFolder, output_of

        file = output_of(path, suffix, **(folder or {}))
        if isinstance(file, ResultFolder):
            self._told(queries.written, self._typed(), {"output": file, **options})
            return
        file.within(options.get("memory"), options.get("threads"))
        found = self._ask(queries.batches, options)
        if found is None:
            return
        schema = self.schema
        renamed = (pa.record_batch(batch.columns, names=schema.names).cast(schema) for batch in found)
        file.write(pa.RecordBatchReader.from_batches(schema, renamed))

    def _repr_html_(self) -> str:
        from headrace._src.session import display

        table = self.head(display.ROWS + 1).collect()
        return "" if table is None else display.as_html(table)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.collect().__arrow_c_stream__(requested_schema)


@checked
def concat(items: Iterable[LazyFrame], *, how: str = "vertical") -> LazyFrame:
    """The rows of several frames, one after another.

    how: vertical, for frames of the same columns; vertical_relaxed: types may differ; diagonal: columns, too,
        and what one lacks is null; horizontal: beside each other, for frames of as many rows.
    """
    frames = list(items)

    def made() -> LazyFrame:
        if not frames:
            raise UserError("concat needs a frame")
        if how == "horizontal":
            return shapes.beside_each_other(frames)
        if how not in ("vertical", "vertical_relaxed", "diagonal"):
            raise UnsupportedError(f"unsupported way to concat: {how}")
        types: dict[str, Any] = {}
        for frame in frames:
            if how != "diagonal" and frame.columns != frames[0].columns:
                raise UserError(f"concat of frames with other columns: {frame.columns}, {frames[0].columns}")
            for name, each in frame._columns.items():
                met = supertype(types.get(name, each.type), each.type)
                if met is None or (how != "vertical_relaxed" and met != types.get(name, met)):
                    raise UserError(f"concat of other types: column {name}: {types[name]}, {each.type}")
                types[name] = met
        parts = [
            frame.select(*(_as(frame, name, dtype).alias(name) for name, dtype in types.items()))
            for frame in frames
        ]
        first, *others = parts
        part_key = Key(first._unused([]))
        row_key = Key(first._unused([part_key]))
        scopes = [Scope(part._columns, part._order) for part in parts]
        chosen = [
            ", ".join(
                [
                    *(each.sql for each in part._columns.values()),
                    f"{number} as {part_key.sql}",
                    f"{part._place(scope)} as {row_key.sql}",
                ]
            )
            for number, (part, scope) in enumerate(zip(parts, scopes, strict=True))
        ]

        def render(*sources: str) -> str:
            return " union all ".join(
                f"select {names} from {scope.stages.around(source)}"
                for names, scope, source in zip(chosen, scopes, sources, strict=True)
            )

        return LazyFrame(first._made("concat", render, *others), first._columns, [part_key, row_key])

    return owned("concat", made)


def _as(frame: LazyFrame, name: str, dtype: pa.DataType) -> Expr:
    """A column as a type, null where there is none."""
    if name not in frame._columns:
        return Expr("typed_null", (), {"dtype": dtype})
    return (
        column(name)
        if frame._columns[name].type == dtype
        else Expr("as_type", (column(name),), {"dtype": dtype})
    )


def _without_filter(value: Value) -> Value:
    if value.where or value.order:
        raise UnsupportedError(
            "some of the rows, or others in their places, beside all: aggregate them, or select them alone"
        )
    return _typed(value)


def _typed(value: Value) -> Value:
    if str(value.type) == "null":
        return converted(value, type_of("Int32"))
    return value


def _columns_of(values: Mapping[str, Value], kept: set[str]) -> dict[str, Column]:
    """A name in SQL for each column, which differs from all others also without regard to case.

    kept: names that go on as they are.
    """
    used: set[str] = set()
    others = {name.lower() for name in kept}
    out = {}
    for name, value in values.items():
        sql, number = quoted(name or " "), 2
        while sql.lower() in used or (sql.lower() in others and value.sql != sql):
            sql, number = quoted(f"{name}~{number}"), number + 1
        used.add(sql.lower())
        out[name] = Column(sql, value.type)
    return out


def _with_names(exprs: Iterable[Any], named_exprs: Mapping[str, IntoExpr]) -> list[Expr]:
    return [*columns(*exprs), *(column(each).alias(name) for name, each in named_exprs.items())]


def _texts(names: Iterable[str | Iterable[str]]) -> list[str]:
    out: list[str] = []
    for each in names:
        out += [each] if isinstance(each, str) else list(each)
    return out
