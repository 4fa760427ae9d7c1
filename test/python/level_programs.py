"""Small programs of every kind, for tests of the texts of the compiler's levels."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import headrace as hr
import numpy as np
import pyarrow as pa
from headrace import array as xp

#: The phases whose texts can be compiled further.
PHASES = ("import", "optimize", "shard", "form", "schedule")

_NAMES = ("Ada", "Bea", None, "Cal", "dan", "Eva", "Al", "a text longer than sixteen bytes", "")
_MONEY = pa.decimal128(12, 2)
_FIRST_DAY = datetime.date(1996, 2, 27)

TABLES = {
    "orders": pa.table(
        {
            "id": pa.array(range(40), pa.int64()),
            "customer": pa.array([number * 7 % 11 for number in range(40)], pa.int32()),
            "day": pa.array([_FIRST_DAY + datetime.timedelta(number % 9) for number in range(40)]),
            "total": pa.array([Decimal(number * 37 % 101) / 4 for number in range(40)], _MONEY),
            "rebate": pa.array([None if number % 4 == 0 else number % 6 for number in range(40)], pa.int32()),
            "urgent": pa.array([number % 3 == 0 for number in range(40)]),
        }
    ),
    "customers": pa.table(
        {
            "id": pa.array(range(9), pa.int32()),
            "name": pa.array(_NAMES, pa.string()),
            "nation": pa.array([0, 1, 2, None, 1, 0, 2, 1, 5], pa.int32()),
        }
    ),
    "points": pa.table(
        {
            "x": pa.array([number / 8 - 2 for number in range(24)], pa.float64()),
            "y": pa.array([(number * 5 % 7) / 2 for number in range(24)], pa.float64()),
            "group": pa.array([number % 4 for number in range(24)], pa.int64()),
        }
    ),
}


@dataclass(frozen=True)
class LevelProgram:
    """A query, or a function of arrays and queries, for a number of ranks and a random layout."""

    name: str
    ranks: int
    #: The cheapest layout of tables as small as these would move nothing.
    layout_seed: int | None = None
    sql: str = ""
    function: Any = None
    #: Of the function: arrays, and the queries (text and columns) that stand for one.
    arguments: tuple[Any, ...] = ()
    #: Axes of the ranks; empty: one.
    mesh: str = ""

    @property
    def ordered(self) -> bool:
        return "order by" in self.sql

    def target(self) -> dict[str, Any]:
        mesh = {"mesh": self.mesh} if self.mesh else {}
        return {"ranks": self.ranks, "layout_seed": self.layout_seed, **mesh}

    def arrays(self) -> list[np.ndarray]:
        return [argument for argument in self.arguments if isinstance(argument, np.ndarray)]

    def _arguments(self) -> list[Any]:
        return [
            argument
            if isinstance(argument, np.ndarray)
            else hr.query(argument[0], TABLES).to_tensor(argument[1])
            for argument in self.arguments
        ]

    def answer(self) -> Any:
        """The result, compiled in one go."""
        if self.sql:
            return self.comparable(hr.sql(self.sql, TABLES, threads=2, **self.target()))
        return self.comparable(hr.jit(threads=2, **self.target())(self.function)(*self._arguments()))

    def texts(self) -> dict[str, str]:
        """The program after each phase."""
        if self.sql:
            return {phase: hr.lower(self.sql, TABLES, phase, **self.target()) for phase in PHASES}
        phases = hr.jit(**self.target())(self.function).trace(*self._arguments()).lower().phases
        return {phase: phases[phase] for phase in PHASES}

    def request(self, text: str, phase: str) -> Any:
        """To the compiler, for the program's text after a phase."""
        from headrace import _compiler

        request = _compiler.Request()
        request.mlir, request.resume_after = text, phase
        request.ranks, request.mesh = self.ranks, self.mesh
        request.layout_seed = -1 if self.layout_seed is None else self.layout_seed
        return request

    def run(self, answer: Any) -> Any:
        """The result of a plan, the compiler's answer: a table or arrays."""
        from headrace import _runtime

        plan = _runtime.load_plan(answer.plan_json, answer.kernels)
        slots = [slot["name"] for slot in json.loads(answer.plan_json)["slots"] if slot["kind"] == "tensor"]
        bindings = {**TABLES, **dict(zip(slots, self.arrays(), strict=False))}
        result = plan.run(bindings, ranks=self.ranks, threads=2, memory=256 << 20)
        return pa.table(result) if self.sql else tuple(result.tensors)

    def comparable(self, result: Any) -> list[tuple[object, ...]]:
        """Names and rows of a table, in order if the program orders them; elements of arrays, rounded."""
        if isinstance(result, pa.Table):
            columns = [column.to_pylist() for column in result.columns]
            return self.comparable_rows(result.column_names, zip(*columns, strict=True))
        results: Sequence[Any] = result if isinstance(result, tuple) else [result]
        return [(array.shape, *map(_rounded, np.asarray(array).ravel().tolist())) for array in results]

    def comparable_rows(
        self, names: Sequence[str | None], rows: Iterable[Sequence[object]]
    ) -> list[tuple[object, ...]]:
        rounded = [tuple(map(_rounded, row)) for row in rows]
        return [tuple(names), *(rounded if self.ordered else sorted(rounded, key=repr))]


def _rounded(value: object) -> object:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _weighed(rows: xp.Array, weights: xp.Array) -> xp.Array:
    return xp.sum(xp.relu(rows @ weights), axis=0)


def _network(x: xp.Array, first: xp.Array, second: xp.Array) -> xp.Array:
    return xp.relu(x @ first) @ second


def _exchanged(x: xp.Array, y: xp.Array) -> xp.Array:
    both = xp.concat([x[:, 4:], y * 2.0, x[::-1, 1:4]], axis=1)
    return both[3] + xp.sum(both[::2, 1:], axis=0)[:1]


def _embedded(table: xp.Array, tokens: xp.Array, weights: xp.Array) -> xp.Array:
    return xp.sum(table[tokens] @ weights, axis=1)


def _normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape) + shape[0]).normal(size=shape)


PROGRAMS = (
    LevelProgram(
        "texts",
        1,
        None,
        "select id, upper(name) as shouted, substring(name, 2, 3) as part from customers "
        "where name like '%a%' and name <> 'Ada' or length(name) > 10",
    ),
    LevelProgram(
        "joins",
        2,
        0,
        "select c.name, o.id, n.nations from orders o join customers c on o.customer = c.id "
        "left join (select nation, count(*) as nations from customers where id > 2 group by nation) n "
        "on c.nation = n.nation where o.total > 5",
    ),
    LevelProgram(
        "semi_and_anti",
        2,
        2,
        "select id, total from orders o where exists (select * from customers c where c.id = o.customer "
        "and c.nation < 3) and not exists (select * from orders p where p.id = o.id + 5 and p.urgent)",
    ),
    LevelProgram(
        "nulls",
        2,
        4,
        "select customer, count(*) as rows, count(rebate) as rebates, sum(rebate) as total, "
        "min(rebate) as least, max(total) as most, avg(rebate) as mean from orders group by customer",
    ),
    LevelProgram(
        "top", 2, 0, "select id, total from orders order by total desc nulls last, id limit 5 offset 3"
    ),
    LevelProgram(
        "union",
        2,
        0,
        "select customer as k, total from orders where urgent union all "
        "select id as k, 1.25 as total from customers where nation is not null",
    ),
    LevelProgram(
        "single",
        1,
        None,
        "select c.id, (select max(o.total) from orders o where o.customer = c.id) as most from customers c "
        "where c.nation = (select min(nation) + 1 from customers)",
    ),
    LevelProgram(
        "dates_and_decimals",
        1,
        None,
        "select day, extract(month from day) as month, sum(total * (1 - 0.05)) as net, "
        "count(distinct customer) as customers from orders "
        "where day between date '1996-02-28' and date '1996-03-04' group by day",
    ),
    LevelProgram(
        "windows",
        2,
        0,
        "select id, rank() over w as place, lag(total, 1, 0) over w as before,"
        " count(distinct rebate) over w as rebates, sum(rebate) over (partition by customer order by total"
        " rows between 2 preceding and 1 preceding) as recent"
        " from orders window w as (partition by customer order by total desc) order by id",
    ),
    LevelProgram(
        "exchanges",
        3,
        4,
        "select c.nation, count(distinct o.day) as days, sum(o.total) as total from orders o "
        "full join customers c on o.customer = c.id group by c.nation order by total desc nulls last, nation",
    ),
    LevelProgram(
        "grouping_sets",
        2,
        0,
        "select customer, urgent, sum(total) as total, count(*) as rows, grouping(customer) as sets "
        "from orders group by grouping sets ((customer), (urgent), ()) order by sets, customer, urgent",
    ),
    LevelProgram(
        "two_axes",
        4,
        3,
        "select c.nation, o.urgent, count(distinct o.day) as days, sum(o.total) as total, "
        "max(c.name) as name from orders o left join customers c on o.customer = c.id "
        "where o.id not in (select id * 3 from customers where nation > 0) group by c.nation, o.urgent",
        mesh="node:2,gpu:2",
    ),
    LevelProgram(
        "top_of_windows",
        4,
        5,
        "select * from (select id, customer, row_number() over (partition by customer order by total, id) "
        "as place, sum(total) over (order by id) as running from orders) where place <= 2 "
        "order by running desc, id limit 7",
        mesh="node:2,gpu:2",
    ),
    LevelProgram(
        "mixed",
        2,
        1,
        function=_weighed,
        arguments=(('select x, y from points where "group" < 3', ["x", "y"]), _normal(2, 3)),
    ),
    LevelProgram(
        "network", 2, 3, function=_network, arguments=(_normal(8, 4), _normal(4, 6), _normal(6, 3) / 2)
    ),
    LevelProgram("slices", 2, 3, function=_exchanged, arguments=(_normal(8, 6), _normal(8, 2))),
    LevelProgram(
        "embeddings",
        2,
        3,
        function=_embedded,
        arguments=(_normal(9, 4), np.array([[2, -1, 0], [8, 5, 5]]), _normal(4, 2)),
    ),
)
