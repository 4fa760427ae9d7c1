"""Joins whose keys have none, one or hundreds of rows on the side looked up equal DuckDB, of all kinds."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

ROWS = 1_600
KEYS = {
    "dense": lambda key: key,
    "sparse": lambda key: key * 1_000_003,
    "text": lambda key: f"key {key} {'of a longer text' * (key % 2)}",
}
ON = "l.k = r.k"
QUERIES = {
    "inner": f"select l.v, r.w from l join r on {ON}",
    "inner, with a condition": f"select l.v, r.w from l join r on {ON} and l.v < r.w",
    "left": f"select l.v, r.w from l left join r on {ON}",
    "left, with a condition": f"select l.v, r.w from l left join r on {ON} and l.v % 3 = r.w % 3",
    "right": f"select l.v, r.w from l right join r on {ON}",
    "full": f"select l.v, r.w from l full join r on {ON}",
    "semi": "select v from l where k in (select k from r)",
    "semi, with a condition": f"select v from l where exists (select 1 from r where {ON} and l.v < r.w)",
    "anti": f"select v from l where not exists (select 1 from r where {ON})",
    "anti, with a condition": f"select v from l where not exists (select 1 from r where {ON} and l.v > r.w)",
    # Few rows on the left, which are then in the table: four and more look up each of them.
    "semi of few": "select w from r where k in (select k from l)",
    "semi of few, if": f"select w from r where exists (select 1 from l where {ON} and l.v < r.w)",
    "semi of few, counted": "select count(*) as n from r where k in (select k from l)",
    "anti of few": f"select w from r where not exists (select 1 from l where {ON})",
    "anti of few, if": f"select w from r where not exists (select 1 from l where {ON} and l.v > r.w)",
    "anti of few, counted": f"select count(*) as n from r where not exists (select 1 from l where {ON})",
    "mark": "select v from l where k in (select k from r) or v % 5 = 0",
    "two joins": f"select l.v, r.w, s.w as z from l join r on {ON} join r s on r.w = s.w",
}


def _side(stem: str, kind: str, nulls: float) -> pa.Table:
    rng = random.Random(f"{stem} {kind} {nulls}")
    # A few keys have hundreds of rows, many have one, some only the other side has.
    picks = [
        int(rng.paretovariate(0.7)) % 800 + (130 if stem == "r" else 0) * (row % 3) for row in range(ROWS)
    ]
    keys = [None if rng.random() < nulls else KEYS[kind](key) for key in picks]
    value = pa.array([rng.randrange(ROWS) for _ in range(ROWS)], pa.int32())
    key = pa.array(keys, pa.string() if kind == "text" else pa.int64())
    fields = [
        pa.field("k", key.type, nullable=nulls > 0),
        pa.field("v" if stem == "l" else "w", pa.int32(), nullable=False),
    ]
    table = pa.table([key, value], schema=pa.schema(fields))
    return table if stem == "l" else table.slice(0, ROWS // 4)


@pytest.mark.parametrize("nulls", [0, 0.1], ids=["full", "nulls"])
@pytest.mark.parametrize("kind", KEYS)
def test_joins_equal_duckdb(tmp_path: Path, kind: str, nulls: float) -> None:
    oracle = duckdb.connect()
    for stem in ("l", "r"):
        table = _side(stem, kind, nulls)
        parquet.write_table(table, tmp_path / f"{stem}.parquet", row_group_size=ROWS // 8)
        oracle.register(stem, table)
    for name, text in QUERIES.items():
        expected = sorted(map(repr, oracle.execute(text).fetchall()))
        assert expected, name
        for ranks in (1, 3):
            rows = hr.sql(text, str(tmp_path), ranks=ranks).to_pylist()
            assert sorted(repr(tuple(row.values())) for row in rows) == expected, f"{name} on {ranks} ranks"
