"""Groups found by dictionary codes and by integers of few values, or else by hash: the same groups.

Sources: passes/lower/cpu/kernel_group_codes.cpp
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import check

ROWS = 40_000
WRITERS: dict[str, dict[str, Any]] = {
    "codes": {},
    "plain": {"use_dictionary": False},
    # The dictionary is full early: a chunk starts with codes and goes on with plain pages.
    "codes, then plain": {"dictionary_pagesize_limit": 600, "data_page_size": 2000, "write_batch_size": 100},
    "many row groups": {"row_group_size": 1500},
}
QUERIES = {
    "one key": "select a, count(*), sum(v) from t group by a",
    "two keys": "select a, b, count(*), sum(v), min(v) from t group by a, b",
    "more combinations than an array has": "select a, c, count(*), sum(v) from t group by a, c",
    "after a filter": "select a, b, sum(v) from t where v % 3 = 0 group by a, b",
    "after a filter on the key": "select a, b, sum(v) from t where a like '%1%' group by a, b",
    "after joins": "select a, b, count(*), sum(v + w) from t, u where v % 50 = k group by a, b",
    "after a filter behind a join": "select a, count(*), sum(v) from t, u where v % 50 = k"
    " and length(a) + w > 9 group by a",
    "after filters of all kinds": "select a, b, count(*) from t where v % 3 < 2 and a < b"
    " and length(a) + v % 7 > 4"
    " and v + length(b) > 20 group by a, b",
    "read by a map too": "select a, sum(case when a = 'a1' then v else 1 end) from t group by a",
    "with a number": "select a, v % 4 as m, count(*) from t group by a, v % 4",
    "small numbers": "select small, flag, count(*), sum(v) from t group by small, flag",
    "small numbers and texts": "select a, small, day, sum(v), min(v) from t group by a, small, day",
    "small numbers that are computed": "select year(day) as y, small + 7 as s, count(*) from t"
    " where v % 7 > 2 group by y, s",
    "small numbers after joins": "select small, k % 2 as half, sum(v + w) from t, u"
    " where v % 50 = k group by small, half",
    "too many small numbers": "select small, wide, count(*) from t group by small, wide",
    "distinct": "select distinct b, a from t",
}


def _table(nulls: float) -> pa.Table:
    rng = random.Random(f"groups {nulls}")

    def texts(stem: str, different: int) -> pa.Array:
        # Later rows have more different texts: new combinations turn up everywhere.
        values = [
            f"{stem}{rng.randrange(1 + different * (row + ROWS // 10) // (2 * ROWS))}" for row in range(ROWS)
        ]
        return pa.array([None if rng.random() < nulls else value for value in values], pa.string())

    columns = {"a": texts("a", 40), "b": texts("a longer text ", 30), "c": texts("c", 400)}
    columns["small"] = pa.array(
        [None if rng.random() < nulls else rng.randint(-3, 4) for _ in range(ROWS)], pa.int32()
    )
    columns["flag"] = pa.array([None if rng.random() < nulls else rng.random() < 0.3 for _ in range(ROWS)])
    columns["day"] = pa.array([rng.randint(-40, 40) for _ in range(ROWS)], pa.int32()).cast(pa.date32())
    columns["wide"] = pa.array([rng.randint(0, 999) for _ in range(ROWS)], pa.int64())
    columns["v"] = pa.array([rng.randrange(10_000) for _ in range(ROWS)], pa.int64())
    schema = pa.schema([pa.field(name, column.type, nullable=nulls > 0) for name, column in columns.items()])
    return pa.table(columns, schema=schema)


@pytest.mark.parametrize("nulls", [0, 0.1], ids=["full", "nulls"])
@pytest.mark.parametrize("writer", WRITERS)
def test_groups_equal_duckdb(tmp_path: Path, writer: str, nulls: float) -> None:
    table = _table(nulls)
    parquet.write_table(table, tmp_path / "t.parquet", **WRITERS[writer])
    small = pa.table({"k": pa.array(range(0, 50, 2)), "w": pa.array(range(25))})
    parquet.write_table(small, tmp_path / "u.parquet")
    oracle = duckdb.connect()
    oracle.register("t", table)
    oracle.register("u", small)
    for name, query in QUERIES.items():
        expected = sorted(oracle.execute(query).fetchall(), key=str)
        for ranks in (1, 2):
            got = hr.sql(query, tables=tmp_path, ranks=ranks, threads=2)
            rows = sorted((tuple(row.values()) for row in got.to_pylist()), key=str)
            assert rows == [tuple(row) for row in expected], f"{name}, {ranks} ranks"


@pytest.mark.parametrize("ranks", [1, 2])
def test_remainders_as_keys_of_joins(ranks: int) -> None:
    """A remainder may be 0 where the dividend never is."""
    tables = {"t": pa.table({"n": pa.array(range(1, 9), pa.int32())})}
    check(
        "select n, k, c from (select n, n % 3 as m from t) join"
        " (select n % 3 as k, count(*) as c from t group by n % 3) on m = k",
        tables,
        ranks=ranks,
    )
