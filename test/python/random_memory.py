"""Random queries whose states are as large as their tables, for runs in little memory."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
import pyarrow as pa

#: Columns of both tables: `id` is unique, `few` has a handful of values, `many` about half as many as rows,
#: `skew` one that most rows have, `v` and `n` are numbers, `s` short texts, `t` longer ones, `d` days.
_INTEGERS = ("id", "few", "many", "skew", "v", "n")
_TEXTS = ("s", "t")
_KEYS = ("few", "many", "skew", "s", "d", "id", "t")


def random_tables(random: Random) -> dict[str, pa.Table]:
    return {name: _table(random, random.choice((500, 60_000, 200_000))) for name in ("a", "b")}


def _table(random: Random, rows: int) -> pa.Table:
    draw = np.random.default_rng(random.randrange(1 << 30))
    number = draw.integers(-1000, 1000, rows)
    text = draw.integers(0, max(rows // 3, 1), rows)

    def some(values: np.ndarray) -> pa.Array:
        return pa.array(np.ma.masked_array(values, draw.random(rows) < 0.1))

    return pa.table(
        {
            "id": pa.array(draw.permutation(rows).astype(np.int64)),
            "few": some(draw.integers(0, 5, rows).astype(np.int32)),
            "many": some(draw.integers(0, max(rows // 2, 1), rows).astype(np.int64)),
            "skew": pa.array(np.where(draw.random(rows) < 0.7, 7, draw.integers(0, rows, rows))),
            "v": pa.array(number),
            "n": some(number * 3),
            "s": pa.array([f"k{each % 997}" for each in text]),
            "t": pa.array([None if each % 13 == 0 else f"a longer text, number {each}" for each in text]),
            "d": pa.array(draw.integers(8000, 9000, rows).astype(np.int32)).cast(pa.date32()),
        }
    )


@dataclass(frozen=True)
class _Rows:
    """A relation: its text, and what its columns are (named `i…` for integers, `x…` for texts, `d…`)."""

    text: str
    columns: tuple[str, ...]

    def integers(self) -> list[str]:
        return [name for name in self.columns if name.startswith("i")]


class _Generator:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._names = 0

    def _name(self, stem: str) -> str:
        self._names += 1
        return f"{stem}{self._names}"

    def _stem(self, column: str) -> str:
        if column in ("id", "few", "many", "skew", "v", "n") or column.startswith("i"):
            return "i"
        return "x" if column in _TEXTS or column.startswith("x") else "d"

    def _base(self) -> _Rows:
        random = self._random
        table = random.choice("ab")
        chosen = random.sample(("id", *_KEYS[:-2], "t", "v", "n"), random.randint(3, 7))
        named = [(column, self._name(self._stem(column))) for column in chosen]
        where = random.choice(
            ("", "", " where v > -500", " where few < 3 or n > 0", " where t > 'a longer text, number 3'")
        )
        made = ", ".join(f"{column} as {name}" for column, name in named)
        return _Rows(f"select {made} from {table}{where}", tuple(name for _, name in named))

    def rows(self, depth: int) -> _Rows:
        if depth == 0:
            return self._base()
        shape = self._random.choice(
            (
                self._aggregate,
                self._aggregate,
                self._join,
                self._window,
                self._window,
                self._set,
                self._distinct,
                self._read_twice,
            )
        )
        return shape(depth - 1)

    def _aggregate(self, depth: int) -> _Rows:
        random = self._random
        of = self.rows(depth)
        keys = random.sample(of.columns, min(len(of.columns), random.randint(1, 3)))
        made = [(key, self._name(self._stem(key))) for key in keys]
        for _ in range(random.randint(1, 3)):
            column = random.choice(of.columns)
            function = random.choice(("min", "max", "count", "count(distinct"))
            if self._stem(column) == "i" and random.random() < 0.4:
                made.append((f"cast(sum({column}) as bigint)", self._name("i")))
            elif function.startswith("count"):
                text = f"{function} {column})" if "distinct" in function else f"count({column})"
                made.append((text, self._name("i")))
            else:
                made.append((f"{function}({column})", self._name(self._stem(column))))
        listed = ", ".join(f"{text} as {name}" for text, name in made)
        by = ", ".join(keys)
        if random.random() < 0.2:
            sets = ", ".join(f"({key})" for key in keys)
            by = random.choice((f"cube({by})", f"rollup({by})", f"grouping sets ({sets}, ({by}), ())"))
        return _Rows(
            f"select {listed} from ({of.text}) {self._name('q')} group by {by}",
            tuple(name for _, name in made),
        )

    def _join(self, depth: int) -> _Rows:
        """By a key that is unique on one side, so that no product of rows arises."""
        random = self._random
        left = self.rows(depth)
        column = random.choice(left.columns)
        stem = self._stem(column)
        other = self._base()
        keys = [name for name in other.columns if self._stem(name) == stem]
        if not keys:
            return left
        key = random.choice(keys)
        rest = [name for name in other.columns if name != key]
        folded = [(f"{random.choice(('min', 'max'))}({name})", self._name(self._stem(name))) for name in rest]
        unique = f"select {key}, " + ", ".join(f"{text} as {name}" for text, name in folded)
        right = f"{unique} from ({other.text}) {self._name('q')} group by {key}"
        kind = random.choice(("join", "left join", "right join", "full join", "semi", "anti"))
        p, q = self._name("p"), self._name("q")
        if kind in ("semi", "anti"):
            word = "exists" if kind == "semi" else "not exists"
            where = f"{word} (select 1 from ({other.text}) {q} where {q}.{key} = {p}.{column})"
            return _Rows(f"select * from ({left.text}) {p} where {where}", left.columns)
        columns = (*left.columns, *(name for _, name in folded))
        on = f"{p}.{column} = {q}.{key}"
        return _Rows(
            f"select {', '.join(columns)} from ({left.text}) {p} {kind} ({right}) {q} on {on}",
            columns,
        )

    def _window(self, depth: int) -> _Rows:
        """Whose order is that of all columns, so that rows that are peers are equal."""
        random = self._random
        of = self.rows(depth)
        order = ", ".join(random.sample(of.columns, len(of.columns)))
        by = random.choice(("", "", f"partition by {random.choice(of.columns)} "))
        column = random.choice(of.columns)
        integer = random.choice(of.integers() or ["1"])
        frame = random.choice(
            (
                "",
                " rows between 3 preceding and 2 following",
                " rows between unbounded preceding and 4 following",
                " rows between unbounded preceding and unbounded following",
            )
        )
        function = random.choice(
            (
                f"row_number() over ({by}order by {order})",
                f"rank() over ({by}order by {column})",
                f"dense_rank() over ({by}order by {column})",
                f"count({column}) over ({by}order by {order}{frame})",
                f"cast(sum({integer}) over ({by}order by {order}{frame}) as bigint)",
                f"lag({column}, {random.randint(1, 30)}) over ({by}order by {order})",
                f"lead({column}) over ({by}order by {order})",
                f"max({column}) over ({by}order by {order}{frame})",
                f"first_value({column}) over ({by}order by {order}{frame})",
                f"count({column}) over ({by}order by {column})",
                f"ntile(5) over ({by}order by {order})",
            )
        )
        copies = any(function.startswith(word) for word in ("lag", "lead", "max", "first_value"))
        name = self._name(self._stem(column) if copies else "i")
        return _Rows(
            f"select *, {function} as {name} from ({of.text}) {self._name('q')}", (*of.columns, name)
        )

    def _set(self, depth: int) -> _Rows:
        of = self.rows(depth)
        word = self._random.choice(("union", "union all", "except", "intersect", "except all"))
        name = self._name("q")
        some = self._random.choice(of.columns)
        return _Rows(
            f"({of.text}) {word} (select * from ({of.text}) {name} where {some} is not null)", of.columns
        )

    def _read_twice(self, depth: int) -> _Rows:
        """Rows beside what is made of all of them, of some, or of those of each key."""
        random = self._random
        of = self.rows(depth)
        c, p, q, name = (self._name(stem) for stem in ("c", "p", "q", "i"))
        key = random.choice(of.columns)
        integer = random.choice(of.integers() or [f"cast(length(cast({key} as varchar)) as bigint)"])
        columns = ", ".join(f"{p}.{column}" for column in of.columns)
        query = random.choice(
            (
                f"select {columns}, {q}.n as {name} from {c} {p} join (select {key} as y, count(*) as n "
                f"from {c} group by {key}) {q} on {p}.{key} = {q}.y",
                f"select {columns}, {q}.n as {name} from {c} {p}, (select count(*) as n from {c}) {q}",
                f"select {columns}, (select count(*) from {c} {q} where {q}.{key} = {p}.{key}) as {name} "
                f"from {c} {p}",
                f"select {columns}, 1 as {name} from {c} {p} "
                f"where {integer} = (select max({integer}) from {c})",
                f"select {columns}, (select count(*) from (select 1 from {c} limit 7) {q}) as {name} "
                f"from {c} {p}",
            )
        )
        kind = random.choice(("materialized", "materialized", ""))
        return _Rows(
            f"select * from (with {c} as {kind} ({of.text}) {query}) {self._name('q')}", (*of.columns, name)
        )

    def _distinct(self, depth: int) -> _Rows:
        of = self.rows(depth)
        chosen = self._random.sample(of.columns, self._random.randint(1, len(of.columns)))
        return _Rows(f"select distinct {', '.join(chosen)} from ({of.text}) {self._name('q')}", tuple(chosen))


def random_query(random: Random) -> str:
    rows = _Generator(random).rows(random.choice((1, 1, 2, 2, 3)))
    order = ", ".join(random.sample(rows.columns, len(rows.columns)))
    limit = random.choice(("", "", f" limit {random.choice((10, 5000))} offset {random.choice((0, 700))}"))
    if random.random() < 0.4:
        return f"select * from ({rows.text}) q order by {order}{limit}"
    return rows.text
