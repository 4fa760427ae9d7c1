"""Windows without partition keys, divided among the ranks by range of their order, against DuckDB."""

from __future__ import annotations

import random
from decimal import Decimal

import headrace as hr
import pyarrow as pa
import pytest
from sql_oracle import Oracle, difference

_ROWS = 3000


def _table(rows: int, skew: bool) -> pa.Table:
    draw = random.Random(rows)

    def some(make: object) -> list[object]:
        return [None if draw.random() < 0.1 else make() for _ in range(rows)]  # type: ignore[operator]

    keys = list(range(rows))
    draw.shuffle(keys)

    def number() -> int:
        if skew:
            return 5 if draw.random() < 0.9 else draw.randint(0, 9)
        return draw.randint(0, 400)

    return pa.table(
        {
            "k": pa.array(keys, pa.int32()),
            "x": pa.array(some(number), pa.int64()),
            "s": pa.array(some(lambda: draw.choice("abcdefgh") * draw.randint(0, 12)), pa.string()),
            "p": pa.array(some(lambda: Decimal(draw.randint(0, 9000)).scaleb(-2)), pa.decimal128(9, 2)),
            "d": pa.array(some(lambda: draw.choice((0.5, -0.0, 0.0, float("nan"), 2.25))), pa.float64()),
            "b": pa.array(some(lambda: draw.random() < 0.5), pa.bool_()),
        }
    )


_TABLES = {
    "many": _table(_ROWS, skew=False),
    "skewed": _table(_ROWS, skew=True),
    "two": _table(2, skew=False),
    "none": _table(0, skew=False),
    "alike": pa.table(
        {
            "k": pa.array(range(40), pa.int32()),
            "x": pa.array([7] * 40, pa.int64()),
            "s": ["a"] * 40,
            "p": pa.array([Decimal(1)] * 40, pa.decimal128(9, 2)),
            "d": [0.5] * 40,
            "b": [True] * 40,
        }
    ),
}

_CALLS = {
    "ranks": "rank() over (order by x), dense_rank() over (order by x), cume_dist() over (order by x),"
    " percent_rank() over (order by x)",
    "ranks of several keys": "rank() over (order by s desc nulls first, x nulls last, b),"
    " dense_rank() over (order by d desc, s), cume_dist() over (order by b nulls first)",
    "places": "row_number() over (order by k), ntile(7) over (order by k),"
    " ntile(5000) over (order by k desc), row_number() over (order by x desc nulls last, k)",
    "running": "sum(x) over (order by k), count(x) over (order by k), min(s) over (order by k),"
    " avg(p) over (order by x), sum(d) over (order by x nulls first), max(d) over (order by x),"
    " min(b) over (order by k desc), count(*) over (order by x)",
    "running rows": "sum(p) over (order by k rows unbounded preceding),"
    " max(s) over (order by k rows unbounded preceding),"
    " count(*) over (order by k groups between unbounded preceding and current row)",
    "rest": "sum(x) over (order by k rows between current row and unbounded following),"
    " min(p) over (order by x range between current row and unbounded following),"
    " count(s) over (order by x desc groups between current row and unbounded following)",
    "whole": "rank() over (order by x), count(*) over (), max(s) over (),"
    " sum(p) over (order by x range between unbounded preceding and unbounded following)",
    "values": "first_value(s) over (order by k), last_value(x) over (order by k),"
    " last_value(s) over (order by k rows between current row and unbounded following),"
    " first_value(d) over (order by k desc rows between current row and unbounded following)",
    "neighbours": "lag(x) over (order by k), lead(s, 3) over (order by k), lag(p, -2) over (order by k),"
    " lead(x, 2, -1) over (order by k), lag(s, 1, 'none') over (order by k), lag(b, 0) over (order by k)",
    "near": "sum(x) over (order by k rows between 3 preceding and 2 following),"
    " avg(p) over (order by k rows 5 preceding),"
    " min(s) over (order by k rows between 2 following and 4 following),"
    " first_value(d) over (order by k rows 2 preceding),"
    " count(distinct x) over (order by k rows between 6 preceding and 1 preceding),"
    " sum(x) over (order by k rows between 2 preceding and 2 following exclude current row),"
    " nth_value(x, 2) over (order by k rows between 1 preceding and 1 following)",
    "both": "row_number() over (order by k), lag(x, 2) over (order by k), sum(x) over (order by k),"
    " max(s) over (order by k rows between 1 preceding and 1 following)",
    "frames by value": "sum(x) over (order by x range between 2 preceding and 3 following),"
    " count(*) over (order by x range between 7 preceding and 1 preceding),"
    " min(s) over (order by x range between 1 following and 5 following),"
    " count(distinct s) over (order by x range between 2 preceding and current row exclude group),"
    " list(k order by k) over (order by x range between current row and 1 following)",
    "frames by value from behind": "sum(k) over (order by p desc nulls first range between 2.5 preceding and"
    " 1 following), max(s) over (order by p desc nulls first range between 3 following and 4.25 following),"
    " mode(x order by k) over (order by p desc nulls first range between 9 preceding and 1.5 preceding)",
    "frames by doubles": "sum(x) over (order by d range between 0.5 preceding and 1.75 following),"
    " count(*) over (order by d range between 2 preceding and current row exclude ties)",
    "frames by distances of rows": "sum(k) over (order by x range between (k % 3) preceding and"
    " (k % 2) following)",
    "groups": "sum(x) over (order by x groups between 2 preceding and 3 following),"
    " count(*) over (order by x groups between 5 preceding and 2 preceding),"
    " count(distinct s) over (order by x groups between 1 following and 2 following),"
    " max(s) over (order by x groups between current row and 1 following exclude current row)",
    "known neighbours": "lag(x ignore nulls) over (order by k), lead(s, 3 ignore nulls) over (order by k),"
    " lag(p, -2 ignore nulls) over (order by k), lag(b, 2, true ignore nulls) over (order by k),"
    " fill(x) over (order by k)",
    "known values": "last_value(x ignore nulls) over (order by k), first_value(s ignore nulls) over"
    " (order by k), first_value(p ignore nulls) over (order by k rows between current row and unbounded"
    " following), last_value(d ignore nulls) over (order by k rows between current row and unbounded"
    " following), last_value(x ignore nulls) over (order by k rows between unbounded preceding and unbounded"
    " following), any_value(b) over (order by k rows between unbounded preceding and unbounded following)",
    "nth values": "nth_value(x, 3) over (order by k), nth_value(s, 2 ignore nulls) over (order by k),"
    " nth_value(p, 700) over (order by k rows unbounded preceding), nth_value(x, 2) over (order by k rows"
    " between current row and unbounded following), nth_value(s, 4096 ignore nulls) over (order by k rows"
    " between unbounded preceding and unbounded following)",
    "different values": "count(distinct s) over (order by k), sum(distinct x) over (order by k),"
    " count(distinct p) over (order by x), count(distinct b) over (order by k rows between current row and"
    " unbounded following), avg(distinct x) over (order by k)",
    "chosen rows": "arg_max(s, k) over (order by k rows 4 preceding), min(x, 3) over (order by k rows between"
    " 2 preceding and 2 following), list(distinct x order by x) over (order by k rows between 1 following and"
    " 3 following), rank(order by p) over (order by k rows 5 preceding), mode(x) over (order by k rows"
    " between 1 preceding and current row), arg_min(s, k) over (), min(x, 2) over ()",
    "mixed": "count(distinct s) over (order by x), sum(x) over (order by x range between 1 preceding and 1"
    " following), rank() over (order by x), sum(x) over (order by x), count(*) over (order by x groups 1"
    " preceding), nth_value(x, 2) over (order by x)",
    "on one rank": "nth_value(x, k) over (order by k), mode(x order by k) over (order by k),"
    " sum(x) over (order by k rows between k % 2 preceding and 3 following),"
    " list(distinct s order by s) over (order by k)",
}


def _difference(oracle: Oracle, query: str, ranks: int, wanted: bool) -> str | None:
    """Of a layout in which the window goes by range, if `wanted`: small tables are cheapest on one rank."""
    for seed in range(40):
        explained = hr.explain(query, oracle.tables, ranks=ranks, layout_seed=seed)
        if ("rank number" in explained) == wanted:
            return difference(oracle.headrace(query, ranks, layout_seed=seed), oracle.duckdb(query))
    return "no layout of 40 has the window " + ("by range" if wanted else "on one rank") + ":\n" + explained


@pytest.mark.parametrize("table", _TABLES)
@pytest.mark.parametrize("calls", _CALLS)
def test_windows_by_range_are_duckdbs(calls: str, table: str) -> None:
    oracle = Oracle({"t": _TABLES[table]})
    query = f"select k, {_CALLS[calls]} from t"
    for ranks in (2, 3, 4):
        assert _difference(oracle, query, ranks, wanted=calls != "on one rank") is None, f"{ranks} ranks"


@pytest.mark.parametrize(
    "query",
    [
        "select k, row_number() over (order by k) + 1 as n from t where x > 100 qualify n % 3 = 0",
        "select x, rank() over (order by count(*) desc, x) from t group by x",
        "select a.k, sum(a.x) over (order by a.k), b.n from t a"
        " join (select k, rank() over (order by p) as n from t) b on a.k = b.k",
        "select max(n), count(*) from (select row_number() over () as n from t) q",
        "select k, n, rank() over (order by n desc) from (select k, sum(x) over (order by k) as n from t) q",
        "select k, row_number() over (order by k), sum(x) over (partition by b order by k) from t",
    ],
)
def test_windows_within_queries_are_duckdbs(query: str) -> None:
    oracle = Oracle({"t": _TABLES["many"]})
    for ranks in (2, 4):
        assert _difference(oracle, query, ranks, wanted=True) is None, f"{ranks} ranks"
