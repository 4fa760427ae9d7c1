"""Queries in the least memory that is promised, 64 MiB and 16 MiB a worker."""

from __future__ import annotations

from pathlib import Path

import headrace as hr
import numpy as np
import pyarrow as pa
import pytest
from duckdb_oracle import answer, connect, same

_MIB = 1 << 20

#: Up to sixteen group tables at a time, over the rows of a join, and their union.
_QUERIES = {
    "structs": "select st, d, max(j) as m, count(j) as n from t group by cube(st, d)",
    "texts": "select s, d, max(j) as m, count(j) as n from t group by cube(s, d)",
    "numbers": "select k, i, max(j) as m, count(j) as n from t group by rollup(k, i)",
    "two sets": "select k, i, max(s) as m from t group by grouping sets ((k), (i))",
    "three of a join": "select a.k, b.s, a.i, max(b.j) as m, count(*) as n from t a join t b on a.id = b.j "
    "group by cube(a.k, b.s, a.i)",
    "distinct": "select a.k, b.s, a.i, count(distinct a.s) as n from t a join t b on a.id = b.j "
    "group by cube(a.k, b.s, a.i)",
    "four of a left join": "select a.k, b.s, a.i, b.i as bi, sum(b.j) as m, min(b.s) as t "
    "from t a left join t b on a.id = b.j group by cube(a.k, b.s, a.i, b.i)",
    "full join": "select a.s, b.s as bs, max(b.j) as m, count(*) as n from t a full join t b on a.id = b.u "
    "group by rollup(a.s, b.s)",
    "of groups": "select s, k, i, grouping(s, k, i) as g, sum(n) as n from "
    "(select s, k, i, count(*) as n from t group by all) q "
    "group by grouping sets ((s, k), (k, i), (s), (i), ())",
}


def _table(rows: int) -> pa.Table:
    draw = np.random.default_rng(5)
    return pa.table(
        {
            "id": np.arange(rows),
            "u": draw.permutation(rows) * 3 - rows,
            "k": draw.integers(0, rows // 5 + 1, rows).astype(np.int32),
            "i": draw.integers(-1000, 1000, rows).astype(np.int32),
            "j": draw.integers(0, rows, rows),
            "d": draw.integers(-10_000, 10_000, rows),
            "s": [f"some longer text number {each:05d}" for each in draw.integers(0, 500, rows)],
            "st": pa.array([{"a": int(each) % 15, "b": f"n{each}"} for each in draw.integers(0, 100, rows)]),
        }
    )


@pytest.fixture(scope="module", params=[1_000, 12_000])
def tables(request: pytest.FixtureRequest) -> dict[str, pa.Table]:
    return {"t": _table(request.param)}


@pytest.mark.parametrize("name", _QUERIES)
def test_grouping_sets(tables: dict[str, pa.Table], name: str) -> None:
    wanted = answer(_QUERIES[name], tables)
    for ranks in (1, 2, 4):
        memory = (64 + 16 * ranks) * _MIB
        found = hr.sql(_QUERIES[name], tables, ranks=ranks, threads=ranks, memory=memory)
        assert sum(hr.last_profile().run["peak_bytes"]) <= memory
        same(found, wanted)


def test_many_sets_of_few_rows_take_little() -> None:
    """What tasks fill at a time has a part of the limit, however many they are."""
    tables = {"t": _table(1_000)}
    for ranks in (1, 2, 4):
        found = hr.sql(_QUERIES["four of a left join"], tables, ranks=ranks, threads=ranks, memory=64 * _MIB)
        same(found, answer(_QUERIES["four of a left join"], tables))


#: Of six million rows: their states are several times as large as the memory.
_LARGE = {
    "groups in order": "select l_orderkey % 500000 as k, count(*) as n, sum(l_quantity) as s from lineitem"
    " group by 1 order by s desc, k",
    "texts in order": "select l_comment, count(*) as n from lineitem where l_orderkey % 11 = 0 group by 1"
    " order by n desc, l_comment",
    "behind an offset": "select l_orderkey, l_linenumber, l_shipmode, l_comment from lineitem"
    " order by l_comment desc, l_orderkey, l_linenumber limit 50 offset 5000000",
    "texts of two tables": "select count(*) as n, min(c) as a, max(c) as b from"
    " (select l_comment as c from lineitem union select o_comment from orders) q",
    "texts of three tables": "select count(*) as n, min(c) as a, max(c) as b from"
    " (select l_comment as c from lineitem union select o_comment from orders"
    " union select ps_comment from partsupp) q",
    "texts of both": "select count(*) as n from (select l_comment as c from lineitem intersect"
    " select o_comment from orders) q",
    "texts in texts": "select l_shipmode, count(*) as n, sum(l_orderkey) as s from lineitem"
    " where l_comment in (select l_comment from lineitem where l_quantity < 10) group by 1 order by 1",
    "a window over all": "select sum(r) as r from"
    " (select rank() over (order by l_extendedprice, l_orderkey, l_linenumber) as r from lineitem) q",
}


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("name", _LARGE)
def test_large_states(tpch: Path, name: str, ranks: int) -> None:
    database = connect()
    for table in ("lineitem", "orders", "partsupp"):
        path = tpch / f"{table}.parquet"
        database.execute(f"create or replace temp view {table} as from read_parquet('{path}')")
    memory = (64 + 16 * ranks) * _MIB
    found = hr.sql(_LARGE[name], str(tpch), ranks=ranks, threads=ranks, memory=memory)
    assert sum(hr.last_profile().run["peak_bytes"]) <= memory
    same(found, database.sql(_LARGE[name]).to_arrow_table(), ordered=True)
