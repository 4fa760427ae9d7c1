"""GROUPING SETS, ROLLUP, CUBE and grouping() against DuckDB, on several ranks."""

from __future__ import annotations

import random

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import check


def _table(rows: int) -> pa.Table:
    draw = random.Random(11)

    def some(make: object) -> list[object]:
        return [None if draw.random() < 0.1 else make() for _ in range(rows)]  # type: ignore[operator]

    return pa.table(
        {
            "a": pa.array(some(lambda: draw.randint(0, 5)), pa.int32()),
            "b": pa.array(some(lambda: draw.choice("xyzö")), pa.string()),
            "c": pa.array(some(lambda: draw.randint(0, 300)), pa.int64()),
            "d": pa.array(some(lambda: draw.random()), pa.float64()),
            "e": pa.array(range(rows), pa.int32()),
        }
    )


TABLES = {"t": _table(5_000), "nothing": _table(0)}

QUERIES = [
    "select a, b, grouping(a, b) as g, grouping(b) as h, sum(c) as s, count(*) as n, count(c) as m"
    " from t group by rollup (a, b)",
    "select a, b, c % 3 as m, min(b) as least, max(c) as most, avg(c) as mean from t group by cube (a, b, c % 3)",
    "select a, b, count(distinct c) as n, sum(c) as s from t group by grouping sets ((a), (b), ())",
    "select a, b, count(distinct c) as n, count(distinct e) as m, sum(distinct c) as s, avg(c) as mean"
    " from t group by rollup (a, b)",
    "select a, b, stddev(c) as d, count(*) filter (where c > 100) as n from t"
    " group by grouping sets ((a, b), (a), (a), ())",
    "select a, b, sum(c) as s from t group by grouping sets ((a, b), (b)) having grouping(a) = 1",
    "select a, grouping(a) as g from t group by a",
    "select a + 1 as k, sum(d) as s from t group by rollup (k) order by k nulls last limit 3",
    "select a, a, count(*) as n from t group by rollup (a, a)",
    "select a, b, c, count(*) as n from t group by a, rollup (b, c)",
    "select 1 as one, count(*) as n from t group by rollup (one)",
    "select x.a, y.n from t as x join (select a, count(*) as n from t group by rollup (a)) as y"
    " on x.a is not distinct from y.a where x.e < 50",
    # Over no rows only the set without keys has one.
    "select a, count(*) as n, sum(c) as s, grouping(a) as g from nothing group by rollup (a)",
    "select count(*) as n, sum(c) as s from t where c > 1000 group by grouping sets ((), ())",
    "select a, b, count(*) as n from nothing group by grouping sets ((a), (b))",
]


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("query", QUERIES)
def test_sets_are_duckdbs(query: str, ranks: int) -> None:
    check(query, TABLES, ranks=ranks)


def test_a_rollup_reads_its_rows_once() -> None:
    query = "explain select a, b, sum(c) as s from t group by rollup (a, b)"
    lines = hr.sql(query, TABLES).column(0).to_pylist()
    assert sum("scan t" in line for line in lines) == 1
