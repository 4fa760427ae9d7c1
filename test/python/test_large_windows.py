"""Window functions of partitions that several workers compute, against DuckDB."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from sql_oracle import Oracle, difference

_ROWS = 150_000


def _table() -> pa.Table:
    draw = random.Random(7)

    def some(make: object) -> list[object]:
        return [None if draw.random() < 0.1 else make() for _ in range(_ROWS)]  # type: ignore[operator]

    keys = list(range(_ROWS))
    draw.shuffle(keys)
    return pa.table(
        {
            "k": pa.array(keys, pa.int32()),
            # one partition of nearly everything, and some small ones
            "g": pa.array([draw.choice((1, 1, 1, 1, 2, draw.randint(3, 900))) for _ in keys], pa.int32()),
            "x": pa.array(some(lambda: draw.randint(0, 30_000)), pa.int64()),
            "s": pa.array(some(lambda: draw.choice("abcdefgh") * draw.randint(1, 12)), pa.string()),
            "d": pa.array(some(draw.random), pa.float64()),
        }
    )


ORACLE = Oracle({"t": _table()})

_CALLS = {
    "ranks": "rank() over (w order by x), dense_rank() over (w order by x), cume_dist() over (w order by x),"
    " percent_rank() over (w order by x)",
    "places": "row_number() over (w order by k), ntile(1000) over (w order by k)",
    "neighbours": "lag(s, 3) over (w order by k), lead(x, 70000, -1) over (w order by k),"
    " lag(x ignore nulls) over (w order by k), lead(x, 40 ignore nulls) over (w order by k)",
    "running": "sum(x) over (w order by k), count(x) over (w order by k), min(s) over (w order by k),"
    " sum(d) over (w order by k), max(d) over (w order by x)",
    "ahead": "sum(x) over (w order by k rows between unbounded preceding and 80000 following),"
    " max(s) over (w order by k rows between unbounded preceding and 3 preceding)",
    "whole": "sum(x) over (w), count(*) over (w), avg(d) over (w), max(s) over (w), count(s) over (w)",
    "sliding": "sum(x) over (w order by k rows between 70000 preceding and 5 preceding),"
    " min(d) over (w order by k rows between 3 preceding and 4 following),"
    " count(s) over (w order by k rows between 100 following and 200 following)",
    "values": "sum(x) over (w order by x range between 10 preceding and 20 following),"
    " count(*) over (w order by x desc range between 5 preceding and current row)",
    "groups": "sum(x) over (w order by x groups between 2 preceding and 1 following),"
    " max(s) over (w order by x groups between 1 following and 3 following)",
    "excluding": "sum(x) over (w order by x groups between 9 preceding and 9 following exclude ties),"
    " max(d) over (w order by k rows between unbounded preceding and current row exclude current row)",
    "distinct": "count(distinct s) over (w order by k),"
    " count(distinct x) over (w order by k rows 900 preceding),"
    " sum(distinct x) over (w order by x range between 50 preceding and 5 preceding),"
    " sum(distinct x) over (w),"
    " sum(distinct d) over (w order by k rows between 3 preceding and current row)",
    "rest": "sum(x) over (w order by k rows between current row and unbounded following)",
    "nth": "first_value(s) over (w order by k rows 10 preceding),"
    " last_value(x ignore nulls) over (w order by k),"
    " nth_value(x, 100000) over (w order by k)",
}


@pytest.mark.parametrize("keys", ["", "partition by g"])
@pytest.mark.parametrize("calls", _CALLS)
def test_large_partitions_are_duckdbs(calls: str, keys: str) -> None:
    columns = _CALLS[calls].replace("over (w", f"over ({keys}")
    query = f"select * from (select k, {columns} from t) q where k % 13 = 1"
    assert not difference(ORACLE.headrace(query, 1), ORACLE.duckdb(query))


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    "condition",
    [
        "row_number() over (partition by g order by x desc nulls last, k) <= 2",
        "rank() over (partition by s order by x) < 3",
        "rank() over (order by x nulls first) = 1 and k % 2 = 0",
        "2 >= row_number() over (partition by s, g order by k)",
        "row_number() over (order by d desc nulls last, k) between 5 and 9",
    ],
)
def test_the_first_rows_are_duckdbs(condition: str, ranks: int) -> None:
    query = f"select k, g, s from t qualify {condition}"
    assert ORACLE.difference(query, ranks) is None
