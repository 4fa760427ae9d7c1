"""WITH queries that are read several times: each is computed once, so all readers see the same rows."""

from __future__ import annotations

import duckdb
import headrace as hr
import numpy
import pyarrow
import pytest

_ROWS = 60_000

_QUERIES = {
    # Sums of doubles depend on the order of the rows: computed twice, the largest may not be found again.
    "doubles": "with s as (select k, sum(x) v from t group by k) "
    "select count(*) from s where v = (select max(v) from s)",
    "joined": "with s as materialized (select t.k, y, z from t join u on t.k = u.k where y < 50) "
    "select a.z, count(*), sum(b.y) from s a join (select z, max(y) y from s group by z) b "
    "on a.z = b.z and a.y = b.y group by a.z",
    # Which rows a limit without an order takes is open, but all readers take the same.
    "limit": "with s as materialized (select k, x from t limit 1000) "
    "select count(*) from s a join s b on a.k = b.k and a.x = b.x where a.x not in (select x from s)",
    "scalars": "with s as materialized (select k, count(*) c from t group by k) "
    "select (select count(*) from s), (select sum(c) from s), (select max(c) from s where k < 100), "
    "(select count(*) from s where c > (select avg(c) from s))",
    "united": "with s as materialized (select t.k, y, z from t left join u on t.k = u.k) "
    "select count(*) from s union all select sum(z) from s "
    "union all select max(y) from s where z in (select z from s where y = 3)",
    "nested": "with s as materialized (select distinct y from t), "
    "r as materialized (select a.y from s a join s b on a.y = b.y + 1) "
    "select count(*), (select count(*) from r x join r w on x.y = w.y) from r",
}


@pytest.fixture(scope="module")
def tables() -> dict[str, pyarrow.Table]:
    random = numpy.random.default_rng(1)
    return {
        "t": pyarrow.table(
            {
                "k": random.integers(0, 5000, _ROWS),
                "x": random.normal(size=_ROWS) * 10.0 ** random.integers(-8, 8, _ROWS),
                "y": random.integers(0, 100, _ROWS),
            }
        ),
        "u": pyarrow.table({"k": numpy.arange(0, 6000, 2), "z": random.integers(0, 9, 3000)}),
    }


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("name", _QUERIES)
def test_with_query_is_computed_once(name: str, ranks: int, tables: dict[str, pyarrow.Table]) -> None:
    with duckdb.connect() as connection:
        for table, rows in tables.items():
            connection.register(table, rows)
        expected = sorted(connection.sql(_QUERIES[name]).fetchall())
    answer = hr.sql(_QUERIES[name], tables=tables, ranks=ranks)
    assert sorted(tuple(row.values()) for row in answer.to_pylist()) == expected


_MET = {
    "by the next key": "join c b on a.k = b.k + 1",
    "by a count": "left join c b on a.k = b.n",
    "by their keys": "join c b on a.k = b.k",
    "by their keys, all of both": "full join c b on a.k = b.k",
    "by the next key, all of both": "full join c b on a.k = b.k + 1",
    "by a part of another": "join c b on a.n = b.k // 100 and a.k > b.k",
}


@pytest.mark.parametrize("memory", ["12MB", "20MB", "1GB"])
@pytest.mark.parametrize("name", _MET)
def test_groups_that_meet_each_other_in_rounds(name: str, memory: str) -> None:
    """A round has groups of some keys: what they meet may be of another one."""
    rows = pyarrow.table({"k": numpy.random.default_rng(2).integers(0, 100_000, 300_000)})
    text = (
        "with c as materialized (select k, count(*) as n from t group by k) "
        f"select count(*), sum(a.n), sum(b.n), count(b.k) from c a {_MET[name]}"
    )
    with duckdb.connect() as connection:
        connection.register("t", rows)
        expected = connection.sql(text).fetchall()
    answer = hr.sql(text, tables={"t": rows}, memory=memory)
    assert [tuple(row.values()) for row in answer.to_pylist()] == expected
