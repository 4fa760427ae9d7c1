"""Random queries of all of the SQL surface over random tables, as trees that a failing one is shrunk on.

Written from docs/semantics.md. Numbers stay so small that nothing overflows; divisors are literals.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random

import pyarrow as pa

_ARROW = {
    "boolean": pa.bool_(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "decimal": pa.decimal128(9, 2),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "zoned": pa.timestamp("us", "UTC"),
    "varchar": pa.string(),
}
KINDS = tuple(_ARROW)
_NUMBERS = ("integer", "bigint", "double", "decimal")
_LEAVES = {
    "boolean": ("true", "false", "null::boolean"),
    "integer": ("0", "1", "-3", "7", "null::integer"),
    "bigint": ("0::bigint", "5::bigint", "-2::bigint"),
    "double": ("0.5::double", "-1.25::double", "'nan'::double", "'inf'::double", "0.0::double", "1e-20"),
    "decimal": ("0.3", "2.50", "-1.25", "0.0"),
    "date": ("date '2024-02-29'", "date '1969-12-31'", "date '2023-01-31'"),
    "timestamp": (
        *(
            "timestamp '2024-02-29 12:30:45.123456'",
            "timestamp '1969-12-31 23:59:59'",
            "date '2023-01-31'::timestamp",
        ),
        "null::timestamp",
    ),
    "zoned": ("timestamptz '2024-02-29 12:30:45.123456+02'", "timestamptz '1970-01-01 00:00:00+00'"),
    "varchar": ("''", "'a'", "'ab'", "'b_c'", "'%'", "null::varchar"),
}
_MOMENTS = tuple(
    datetime.datetime.fromisoformat(text)
    for text in (
        *("2024-02-29 12:30:45.123456", "2024-02-29 00:00:00", "2023-01-31 00:00:00", "1970-01-01 00:00:00"),
        *("1969-12-31 23:59:59.999999", "2024-02-29 10:30:45.123456"),
    )
)
_TRUNCATED = ("minute", "hour", "day", "week", "month", "quarter", "year")
_POOLS: dict[str, tuple[object, ...]] = {
    "boolean": (True, False),
    "integer": (0, 1, 2, 3, -3, 7),
    "bigint": (0, 1, 5, -2, 40),
    "double": (0.0, -0.0, 0.5, -1.25, 2.0, float("nan"), float("inf"), 1e-20, 3.0),
    "decimal": tuple(map(Decimal, ("0.00", "0.30", "2.50", "-1.25", "7.00"))),
    "date": tuple(
        datetime.date.fromisoformat(d) for d in ("2024-02-29", "1969-12-31", "2023-01-31", "1970-01-01")
    ),
    "timestamp": _MOMENTS,
    "zoned": tuple(moment.replace(tzinfo=datetime.UTC) for moment in _MOMENTS),
    "varchar": ("", "a", "ab", "b_c", "bxc", "100%", "Ž", " a"),
}


@dataclass(frozen=True)
class Expression:
    """SQL text in pieces, some of which are expressions or queries themselves."""

    kind: str
    parts: tuple[str | Expression | Query, ...]

    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text() for part in self.parts)

    def smaller(self) -> Iterator[Expression]:
        """Simpler expressions of the same kind, the boldest first."""
        if len(self.parts) > 1:
            yield from (p for p in self.parts if isinstance(p, Expression) and p.kind == self.kind)
            yield Expression(self.kind, (_LEAVES[self.kind][0],))
        for position, part in enumerate(self.parts):
            if not isinstance(part, str):
                for less in part.smaller():
                    yield dataclasses.replace(
                        self, parts=(*self.parts[:position], less, *self.parts[position + 1 :])
                    )


@dataclass(frozen=True)
class Source:
    """A FROM clause: text with queries and conditions inside, and the columns that it offers."""

    parts: tuple[str | Expression | Query | Source, ...]
    columns: tuple[tuple[str, str], ...]

    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text() for part in self.parts)

    def smaller(self) -> Iterator[Source]:
        for position, part in enumerate(self.parts):
            if isinstance(part, str):
                continue
            for less in part.smaller():
                if isinstance(part, Source) and less.columns != part.columns:
                    continue
                yield dataclasses.replace(
                    self, parts=(*self.parts[:position], less, *self.parts[position + 1 :])
                )


@dataclass(frozen=True)
class Query:
    """One SELECT, perhaps united with another."""

    items: tuple[Expression, ...]
    source: Source
    where: Expression | None = None
    group: tuple[Expression, ...] = ()
    grouping: str = ""  # around the keys: rollup, cube
    having: Expression | None = None
    distinct: bool = False
    with_: tuple[str, Query] | None = None
    united: tuple[str, Query] | None = None
    ordered: bool = False
    limit: int | None = None
    alias: str = "c"
    fixed: bool = field(default=False)  # the number of columns matters to what is around

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(item.kind for item in self.items)

    def text(self) -> str:
        items = ", ".join(f"{item.text()} as {self.alias}{i}" for i, item in enumerate(self.items))
        out = f"with {self.with_[0]} as ({self.with_[1].text()}) " if self.with_ else ""
        out += f"select {'distinct ' if self.distinct else ''}{items} from {self.source.text()}"
        if self.where:
            out += f" where {self.where.text()}"
        if self.group:
            keys = ", ".join(key.text() for key in self.group)
            out += f" group by {self.grouping} ({keys})" if self.grouping else f" group by {keys}"
        if self.having:
            out += f" having {self.having.text()}"
        if self.united:
            out += f" {self.united[0]} {self.united[1].text()}"
        if self.ordered:
            out += " order by " + ", ".join(str(i + 1) for i in range(len(self.items)))
        if self.limit is not None:
            out += f" limit {self.limit}"
        return out

    def smaller(self) -> Iterator[Query]:
        replace = dataclasses.replace
        if self.united:
            yield replace(self, united=None)
        if self.limit is not None:
            yield replace(self, limit=None)
        if self.ordered and self.limit is None:
            yield replace(self, ordered=False)
        for name in ("having", "where", "with_"):
            if getattr(self, name) is not None:
                yield replace(self, **{name: None})
        if self.distinct:
            yield replace(self, distinct=False)
        if self.grouping:
            yield replace(self, grouping="")
        if len(self.items) > 1 and not self.fixed and not self.united:
            for position in range(len(self.items)):
                yield replace(self, items=self.items[:position] + self.items[position + 1 :])
        for name in ("source", "where", "having"):
            part = getattr(self, name)
            if part is not None:
                yield from (replace(self, **{name: less}) for less in part.smaller())
        for name in ("with_", "united"):
            part = getattr(self, name)
            if part is not None:
                yield from (replace(self, **{name: (part[0], less)}) for less in part[1].smaller())
        for position, item in enumerate(self.items):
            for less in item.smaller():
                yield replace(self, items=(*self.items[:position], less, *self.items[position + 1 :]))


def random_tables(random: Random) -> dict[str, pa.Table]:
    """Three tables with a column of each kind: many NULLs, few values, some skewed; one may be empty."""
    tables = {}
    for name in ("r", "s", "t"):
        count = random.choice((0, 1, 5, 12, 30)) if name == "t" else random.choice((3, 8, 20))
        fields, columns = [], []
        for kind in KINDS:
            nullable = random.random() < 0.7
            share = random.choice((0.1, 0.4, 1.0)) if nullable else 0.0
            pool = random.sample(_POOLS[kind], random.randint(1, len(_POOLS[kind])))
            values = [
                None if random.random() < share else pool[min(int(random.expovariate(1.0)), len(pool) - 1)]
                for _ in range(count)
            ]
            fields.append(pa.field(f"{name}_{kind[:3]}", _ARROW[kind], nullable=nullable))
            columns.append(pa.array(values, _ARROW[kind]))
        tables[name] = pa.table(columns, schema=pa.schema(fields))
    return tables


class Generator:
    """Draws one query."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._names = 0

    def query(self) -> Query:
        query = self._select(depth=3, outer=())
        random = self._random
        if random.random() < 0.3:
            ordered = dataclasses.replace(query, ordered=True)
            return (
                dataclasses.replace(ordered, limit=random.choice((0, 1, 4)))
                if random.random() < 0.5
                else ordered
            )
        return query

    # Queries.

    def _select(
        self, depth: int, outer: tuple[tuple[str, str], ...], kinds: tuple[str, ...] | None = None
    ) -> Query:
        random = self._random
        with_ = None
        if kinds is None and depth > 2 and random.random() < 0.15:
            with_ = (self._name("w"), self._select(depth - 1, ()))
        source = self._source(depth, with_)
        scope = source.columns + outer
        wanted = kinds or tuple(random.choice(KINDS) for _ in range(random.randint(1, 4)))
        where = self._expression("boolean", scope, depth) if random.random() < 0.6 else None
        alias = self._name("c")
        if random.random() < 0.35:
            query = self._grouped(source, where, scope, wanted, depth, alias)
        else:
            items = tuple(self._expression(kind, scope, depth) for kind in wanted)
            query = Query(items, source, where, distinct=random.random() < 0.15, alias=alias)
        query = dataclasses.replace(query, with_=with_, fixed=kinds is not None)
        if depth > 1 and random.random() < 0.12:
            operation = random.choice(("union", "union all", "intersect", "except"))
            query = dataclasses.replace(query, united=(operation, self._select(depth - 2, outer, wanted)))
        return query

    def _grouped(
        self,
        source: Source,
        where: Expression | None,
        scope: tuple[tuple[str, str], ...],
        wanted: tuple[str, ...],
        depth: int,
        alias: str,
    ) -> Query:
        random = self._random
        keys = tuple(
            Expression(kind, (name,))
            for name, kind in random.sample(source.columns, random.randint(0, min(2, len(source.columns))))
        )
        grouping = random.choice(("rollup", "cube", "")) if keys and random.random() < 0.3 else ""
        items = []
        for kind in wanted:
            if grouping and kind == "bigint" and random.random() < 0.3:
                items.append(Expression(kind, ("grouping(", random.choice(keys), ")")))
                continue
            same = [key for key in keys if key.kind == kind]
            items.append(
                random.choice(same) if same and random.random() < 0.6 else self._aggregate(kind, scope, depth)
            )
        having = None
        if keys and random.random() < 0.3:
            operator = random.choice(("<", ">", "=", "<>"))
            having = Expression(
                "boolean", (self._aggregate("bigint", scope, 1), f" {operator} ", self._leaf("integer", ()))
            )
        return Query(tuple(items), source, where, keys, grouping, having, alias=alias)

    def _source(self, depth: int, with_: tuple[str, Query] | None) -> Source:
        random = self._random
        first = self._relation(depth, with_)
        while depth > 0 and random.random() < 0.4:
            second = self._relation(depth - 1, with_)
            columns = first.columns + second.columns
            draw = random.random()
            if draw < 0.1:
                first = Source((first, ", ", second), columns)
                continue
            kind = random.choice(("join", "left join", "right join", "full join"))
            condition = self._equality(first.columns, second.columns)
            if condition is None or (draw < 0.35 and kind in ("join", "left join")):
                extra = self._expression("boolean", columns, 1)
                parts = (condition, " and ", extra) if condition else (extra,)
                kind = "join" if condition is None else kind
                condition = Expression("boolean", parts)
            first = Source((first, f" {kind} ", second, " on ", condition), columns)
            depth -= 1
        return first

    def _equality(
        self, left: tuple[tuple[str, str], ...], right: tuple[tuple[str, str], ...]
    ) -> Expression | None:
        same = [(a, b) for a, kind in left for b, other in right if kind == other]
        if not same:
            return None
        a, b = self._random.choice(same)
        operator = " = " if self._random.random() < 0.85 else " is not distinct from "
        return Expression("boolean", (Expression("any", (a,)), operator, Expression("any", (b,))))

    def _relation(self, depth: int, with_: tuple[str, Query] | None) -> Source:
        random = self._random
        alias = self._name("q")
        if with_ and random.random() < 0.6:
            columns = tuple((f"{alias}.{with_[1].alias}{i}", kind) for i, kind in enumerate(with_[1].kinds))
            return Source((f"{with_[0]} as {alias}",), columns)
        if depth > 1 and random.random() < 0.25:
            inner = dataclasses.replace(self._select(depth - 1, ()), fixed=True)
            columns = tuple((f"{alias}.{inner.alias}{i}", kind) for i, kind in enumerate(inner.kinds))
            return Source(("(", inner, f") as {alias}"), columns)
        table = random.choice(("r", "s", "t"))
        return Source(
            (f"{table} as {alias}",), tuple((f"{alias}.{table}_{kind[:3]}", kind) for kind in KINDS)
        )

    # Expressions.

    def _expression(self, kind: str, scope: tuple[tuple[str, str], ...], depth: int) -> Expression:
        random = self._random
        if depth <= 0 or random.random() < 0.25:
            return self._leaf(kind, scope)
        draw = random.random()
        if draw < 0.08 and depth > 1:
            return self._scalar_subquery(kind, scope, depth)
        if draw < 0.2:
            return self._choice(kind, scope, depth)
        return getattr(self, f"_{kind}")(scope, depth - 1)

    def _leaf(self, kind: str, scope: tuple[tuple[str, str], ...]) -> Expression:
        names = [name for name, each in scope if each == kind]
        if names and self._random.random() < 0.75:
            return Expression(kind, (self._random.choice(names),))
        return Expression(kind, (self._random.choice(_LEAVES[kind]),))

    def _choice(self, kind: str, scope: tuple[tuple[str, str], ...], depth: int) -> Expression:
        a, b = (self._expression(kind, scope, depth - 1) for _ in range(2))
        condition = self._expression("boolean", scope, depth - 1)
        forms: tuple[tuple[str | Expression, ...], ...] = (
            ("case when ", condition, " then ", a, " else ", b, " end"),
            ("case when ", condition, " then ", a, " end"),
            ("coalesce(", a, ", ", b, ")"),
            ("nullif(", a, ", ", b, ")"),
            ("greatest(", a, ", ", b, ")"),
            ("least(", a, ", ", b, ")"),
            ("try(", self._expression(kind, scope, 1), ")"),  # so deep there is no subquery
        )
        return Expression(kind, self._random.choice(forms))

    def _scalar_subquery(self, kind: str, scope: tuple[tuple[str, str], ...], depth: int) -> Expression:
        source = self._relation(0, None)
        inner = source.columns
        where = self._correlation(inner, scope, depth)
        item = self._aggregate(kind, inner, 0)
        return Expression(kind, ("(", Query((item,), source, where, fixed=True), ")"))

    def _correlation(
        self, inner: tuple[tuple[str, str], ...], scope: tuple[tuple[str, str], ...], depth: int
    ) -> Expression | None:
        random = self._random
        draw = random.random()
        equal = self._equality(inner, scope) if draw < 0.7 else None
        if equal and draw < 0.25:
            return Expression(
                "boolean", (equal, " and ", self._expression("boolean", inner + scope, depth - 2))
            )
        if equal:
            return equal
        return self._expression("boolean", inner, 1) if draw > 0.85 else None

    def _boolean(self, scope: tuple[tuple[str, str], ...], depth: int) -> Expression:
        random = self._random
        draw = random.random()
        if draw < 0.22 and depth > 0:
            return self._quantified(scope, depth)
        if draw < 0.55:
            kind = random.choice(KINDS)
            a, b = (self._expression(kind, scope, depth) for _ in range(2))
            if kind in _NUMBERS and random.random() < 0.4:
                b = self._expression(random.choice(_NUMBERS), scope, depth)
            operator = random.choice(
                ("=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from")
            )
            return Expression("boolean", ("(", a, f" {operator} ", b, ")"))
        if draw < 0.75:
            a, b = (self._expression("boolean", scope, depth) for _ in range(2))
            return Expression("boolean", ("(", a, random.choice((" and ", " or ")), b, ")"))
        if draw < 0.82:
            return Expression("boolean", ("(not ", self._expression("boolean", scope, depth), ")"))
        if draw < 0.9:
            kind = random.choice(KINDS)
            return Expression(
                "boolean",
                ("(", self._expression(kind, scope, depth), random.choice((" is null)", " is not null)"))),
            )
        if draw < 0.92:
            return self._about_timestamps(scope, depth)
        if draw < 0.95:
            a = self._expression("varchar", scope, depth)
            tail = random.choice(
                (
                    " like 'a%')",
                    " not like '%b%')",
                    " like '_')",
                    " ilike 'B!_c' escape '!')",
                    " in ('a', 'b_c', null))",
                )
            )
            return Expression("boolean", ("(", a, tail))
        a = self._expression("boolean", scope, depth)
        return Expression("boolean", ("(", a, random.choice((" is true)", " is not true)", " is false)"))))

    def _about_timestamps(self, scope: tuple[tuple[str, str], ...], depth: int) -> Expression:
        a, b, c = (self._expression("timestamp", scope, depth) for _ in range(3))
        forms: tuple[tuple[str | Expression, ...], ...] = (
            ("(", a, " between ", b, " and ", c, ")"),
            ("(", a, " in (", b, ", '2024-02-29 00:00:00', null))"),
            ("(", a, " - ", b, " > interval 30 day)"),
            ("(", a, " < ", self._expression("date", scope, depth), ")"),
            ("(", a, " >= ", self._expression("zoned", scope, depth), ")"),
        )
        return Expression("boolean", self._random.choice(forms))

    def _quantified(self, scope: tuple[tuple[str, str], ...], depth: int) -> Expression:
        """IN, NOT IN, EXISTS, ANY, ALL, correlated or not."""
        random = self._random
        source = self._relation(0, None)
        kind = random.choice(KINDS)
        where = self._correlation(source.columns, scope, depth)
        item = Expression(kind, (next(name for name, each in source.columns if each == kind),))
        inner = Query((item,), source, where, fixed=True)
        draw = random.random()
        negated = "not " if random.random() < 0.4 else ""
        if draw < 0.35:
            return Expression("boolean", (f"({negated}exists (", inner, "))"))
        a = self._expression(kind, scope, depth - 1)
        if draw < 0.85:
            return Expression("boolean", ("(", a, f" {negated}in (", inner, "))"))
        operator = random.choice(("<", "<=", ">", "=", "<>"))
        return Expression("boolean", ("(", a, f" {operator} {random.choice(('any', 'all'))} (", inner, "))"))

    def _integer(self, scope: tuple[tuple[str, str], ...], depth: int) -> Expression:
        a, b = (self._expression("integer", scope, depth) for _ in range(2))
        forms: tuple[tuple[str | Expression, ...], ...] = (
            ("(", a, " + ", b, ")"),
            ("(", a, " - ", b, ")"),
            ("(", self._leaf("integer", scope), " * ", self._leaf("integer", scope), ")"),
            ("(", a, " // 3)"),
            ("(", a, " % 4)"),
            ("(- ", a, ")"),
            ("abs(", a, ")"),
            ("cast(", self._expression("boolean", scope, depth), " as integer)"),
            ("cast(", self._leaf("decimal", scope), " as integer)"),
        )
        return Expression("integer", self._random.choice(forms))

    def _bigint(self, scope: tuple[tuple[str, str], ...], depth: int) -> Expression:
        a, b = (self._expression("bigint", scope, depth) for _ in range(2))
        forms: tuple[tuple[str | Expression, ...], ...] = (
            ("(", a, " + ", b, ")"),
            ("(", a, " - ", self._expression("integer", scope, depth), ")"),
            ("length(", self._expression("varchar", scope, depth), ")"),
            (
                "extract(",
                self._random.choice(("year", "month", "day", "quarter")),
                " from ",
                self._expression("date", scope, depth),
                ")",
            ),
            ("(", self._expression("date", scope, depth), " - ", self._expression("date", scope, depth), ")"),
            (
                f"extract({self._random.choice(('hour', 'dow', 'doy', 'week', 'second', 'year'))} from ",
                self._expression(self._random.choice(("timestamp", "zoned")), scope, depth),
                ")",
            ),
            (
                f"date_diff('{self._random.choice(_TRUNCATED)}', ",
                self._expression("timestamp", scope, depth),
                ", ",
                self._expression("timestamp", scope, depth),
                ")",
            ),
            ("epoch_ms(", self._expression("timestamp", scope, depth), ")"),
            ("cast(", self._expression("integer", scope, depth), " as bigint)"),
        )
        return Expression("bigint", self._random.choice(forms))

    def _double(self, scope: tuple[tuple[str, str], ...], depth: int) -> Expression:
        a, b = (self._expression("double", scope, depth) for _ in range(2))
        number = self._expression(self._random.choice(_NUMBERS), scope, depth)
        forms: tuple[tuple[str | Expression, ...], ...] = (
            ("(", a, " + ", b, ")"),
            ("(", a, " * ", b, ")"),
            ("(", a, " - ", number, ")"),
            ("(", number, " / ", self._random.choice(("2", "4", "-8")), ")"),
            ("abs(", a, ")"),
            (self._random.choice(("atan(", "sin(", "tanh(", "radians(")), a, ")"),
            ("cast(", number, " as double)"),
        )
        return Expression("double", self._random.choice(forms))

    def _decimal(self, scope: tuple[tuple[str, str], ...], depth: int) -> Expression:
        a = self._expression("decimal", scope, depth)
        leaf = self._leaf("decimal", scope)
        forms: tuple[tuple[str | Expression, ...], ...] = (
            ("cast(", a, " + ", leaf, " as decimal(9,2))"),
            ("cast(", leaf, " * ", self._leaf("integer", scope), " as decimal(9,2))"),
            ("(- ", a, ")"),
            ("cast(", self._expression("integer", scope, depth), " as decimal(9,2))"),
        )
        return Expression("decimal", self._random.choice(forms))

    def _date(self, scope: tuple[tuple[str, str], ...], depth: int) -> Expression:
        a = self._expression("date", scope, depth)
        forms: tuple[tuple[str | Expression, ...], ...] = (
            ("(", a, " + 3)"),
            ("cast(", a, " + interval 1 month as date)"),
            ("cast(", a, " - interval 40 day as date)"),
            ("cast(", self._expression("timestamp", scope, depth), " as date)"),
        )
        return Expression("date", self._random.choice(forms))

    def _timestamp(self, scope: tuple[tuple[str, str], ...], depth: int) -> Expression:
        a = self._expression("timestamp", scope, depth)
        forms: tuple[tuple[str | Expression, ...], ...] = (
            ("(", a, " + interval 1 month)"),
            ("(", a, " - interval '1 day 12:00:00.5')"),
            (f"date_trunc('{self._random.choice(_TRUNCATED)}', ", a, ")"),
            ("cast(", self._expression("date", scope, depth), " as timestamp)"),
            ("cast(", self._expression("zoned", scope, depth), " as timestamp)"),
            ("(", a, " + ", self._leaf("integer", scope), " * interval 1 hour)"),
        )
        return Expression("timestamp", self._random.choice(forms))

    def _zoned(self, scope: tuple[tuple[str, str], ...], depth: int) -> Expression:
        a = self._expression("zoned", scope, depth)
        forms: tuple[tuple[str | Expression, ...], ...] = (
            ("(", a, " + interval 90 minute)"),
            (f"date_trunc('{self._random.choice(_TRUNCATED)}', ", a, ")"),
            ("cast(", self._expression("timestamp", scope, depth), " as timestamptz)"),
        )
        return Expression("zoned", self._random.choice(forms))

    def _varchar(self, scope: tuple[tuple[str, str], ...], depth: int) -> Expression:
        a, b = (self._expression("varchar", scope, depth) for _ in range(2))
        forms: tuple[tuple[str | Expression, ...], ...] = (
            ("(", a, " || ", b, ")"),
            ("concat(", a, ", ", b, ")"),
            ("upper(", a, ")"),
            ("trim(", a, ")"),
            ("substring(", a, ", 1, 2)"),
            ("replace(", a, ", 'a', 'bb')"),
            ("left(", a, ", 1)"),
            (
                "cast(",
                self._expression(
                    self._random.choice(("integer", "date", "boolean", "decimal", "timestamp", "zoned")),
                    scope,
                    depth,
                ),
                " as varchar)",
            ),
        )
        return Expression("varchar", self._random.choice(forms))

    def _aggregate(self, kind: str, scope: tuple[tuple[str, str], ...], depth: int) -> Expression:
        random = self._random
        inner = min(depth - 1, 1)
        plain = tuple((name, each) for name, each in scope)
        if kind == "bigint" and random.random() < 0.7:
            other = random.choice(KINDS)
            bits = random.choice(("bit_and", "bit_or", "bit_xor"))
            argument: tuple[str | Expression, ...] = random.choice(
                (
                    ("count(*)",),
                    ("count(", self._expression(other, plain, inner), ")"),
                    ("count(distinct ", self._expression(other, plain, inner), ")"),
                    ("cast(sum(", self._expression("integer", plain, inner), ") as bigint)"),
                    ("cast(sum(distinct ", self._expression("integer", plain, inner), ") as bigint)"),
                    (f"cast({bits}(", self._expression("integer", plain, inner), ") as bigint)"),
                    (f"cast({bits}(distinct ", self._expression("integer", plain, inner), ") as bigint)"),
                )
            )
        elif kind == "double" and random.random() < 0.6:
            function = random.choice(("sum", "avg", "avg(distinct"))
            number = "double" if function == "sum" else random.choice(_NUMBERS)
            if function.endswith("distinct"):
                return Expression(kind, (f"{function} ", self._expression(number, plain, inner), ")"))
            argument = (f"{function}(", self._expression(number, plain, inner), ")")
        elif kind == "decimal" and random.random() < 0.5:
            argument = ("cast(sum(", self._expression("decimal", plain, inner), ") as decimal(9,2))")
        else:
            argument = (f"{random.choice(('min', 'max'))}(", self._expression(kind, plain, inner), ")")
        if argument[-1] == ")" and argument[0] != "count(*)" and random.random() < 0.2:
            argument = (*argument, " filter (where ", self._expression("boolean", plain, inner), ")")
        return Expression(kind, argument)

    def _name(self, stem: str) -> str:
        self._names += 1
        return f"{stem}{self._names}"


def random_query(seed: int) -> tuple[dict[str, pa.Table], Query]:
    random = Random(seed)
    return random_tables(random), Generator(random).query()
