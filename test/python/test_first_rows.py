"""ORDER BY with LIMIT: rows whose first key is beyond the last of the first rows so far are left out
before the rest of them is read. Against DuckDB, over every type of key, NULLs, and orders of the input.

Sources: passes/form/aggregates.cpp, passes/lower/code/scalar_ops.cpp, runtime/exec/sort/sort_copy.cpp
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import duckdb
import headrace as hr
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

_ROWS = 60_000  # seven times what a worker has before it knows a bound


def _table() -> pa.Table:
    random = np.random.default_rng(17)
    numbers = random.integers(-(2**62), 2**62, _ROWS)
    reals = random.normal(size=_ROWS)
    for value in (np.nan, np.inf, -np.inf, 0.0, -0.0):
        reals[random.random(_ROWS) < 0.001] = value
    words = [f"{'a long common beginning ' * (i % 2)}{i % 7919}" for i in random.permutation(_ROWS)]

    def some(values: pa.Array | np.ndarray, kind: pa.DataType) -> pa.Array:
        array = values if isinstance(values, pa.Array) else pa.array(values)
        is_there = pa.array(random.random(_ROWS) < 0.9)
        return pc.if_else(is_there, array.cast(kind), pa.scalar(None, kind))

    wide = pa.array([Decimal(int(n)) * 10**15 for n in numbers], pa.decimal128(38, 0))
    return pa.table(
        {
            "id": pa.array(random.permutation(_ROWS)),
            "i8": some((numbers % 100).astype(np.int8), pa.int8()),
            "i16": some((numbers % 30000).astype(np.int16), pa.int16()),
            "i32": (numbers % 2**31).astype(np.int32),
            "i64": some(numbers, pa.int64()),
            "u64": some((numbers + 2**62).astype(np.uint64), pa.uint64()),
            "d18": pa.array([Decimal(int(n) % 10**12) / 100 for n in numbers], pa.decimal128(18, 2)),
            "d38": some(wide, wide.type),
            "f32": some(reals.astype(np.float32), pa.float32()),
            "f64": pa.array(reals),
            "b": some(numbers % 3 == 0, pa.bool_()),
            "day": some((numbers % 20000).astype(np.int32), pa.date32()),
            "moment": some(numbers % 10**15, pa.timestamp("us")),
            "s": some(pa.array(words), pa.string()),
            "t": pa.array(words),
            "few": pa.array([["x", "y", None][int(n) % 3] for n in numbers]),
        }
    )


T = _table()
KEYS = [name for name in T.column_names if name != "id"]
ORDERS = ["asc nulls last", "desc nulls last", "asc nulls first", "desc nulls first"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("first_rows") / "t.parquet"
    pq.write_table(T, path, row_group_size=9_000)
    return path


def _check(query: str, table: pa.Table | Path, **options: object) -> None:
    con = duckdb.connect()
    if isinstance(table, Path):
        con.execute(f"create view t as from '{table}'")
    else:
        con.register("t", table)
    wanted = con.sql(query).fetchall()
    found = hr.sql(query, {"t": str(table) if isinstance(table, Path) else table}, **options)
    assert repr([tuple(row.values()) for row in found.to_pylist()]) == repr(wanted), query


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("key", KEYS)
def test_every_type_of_key(file: Path, key: str, order: str) -> None:
    for index, limit in enumerate((1, 40)):
        query = f"select id, {key} as k, t from t order by {key} {order}, id limit {limit} offset {index * 3}"
        _check(query, file if index else T, ranks=1 + KEYS.index(key) % 3, threads=2)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_behind_filters_computed_keys_and_joins(file: Path, ranks: int) -> None:
    for query in (
        "select * from t where t like '%77%' order by i64 desc nulls last, id limit 5",
        "select id, i32 % 1000 * 2 as k from t where i32 % 2 = 0 order by k desc, id limit 30",
        "select id, s || few as k from t order by k nulls first, id limit 30",
        "select id, upper(t) as k from t where f64 > 0 order by k desc, id limit 12 offset 5",
        """select a.id, b.t from t a join t b on a.id = b.id where a.i8 > 0
           order by b.moment desc nulls last, a.id limit 9""",
        "select few, count(*), max(t) from t group by few order by few desc nulls first limit 2",
        "select i16, count(*) as c from t group by i16 order by c desc, i16 limit 8",
        """select id from (from t order by u64 desc nulls last, id limit 20000)
           order by d38 nulls first, id limit 3""",
        "select id, i8 from t order by i8 is null desc, i8, id limit 7",
        """(select id from t order by i32, id limit 3)
           union all (select id from t order by i32 desc, id limit 3) order by 1""",
    ):
        _check(query, file, ranks=ranks)


@pytest.mark.parametrize("order", ["id", "id desc"])
def test_rows_that_come_in_order_or_against_it(order: str) -> None:
    table = duckdb.sql(f"select * from T order by {order}").to_arrow_table()
    for query in (
        "select * from t order by id desc limit 10",
        "select id, t from t order by id limit 5000 offset 100",
        "select id from t order by -id limit 4",
    ):
        _check(query, table, threads=2)


@pytest.mark.parametrize("key", ["k", "t"])
def test_in_little_memory(key: str) -> None:
    """First rows that wait on disk have no bound, and the texts of one are gone with them."""
    rows = 400_000
    numbers = np.random.default_rng(3).permutation(rows)
    texts = ["a text of some length " * 4] * rows
    table = pa.table({"k": numbers, "t": [f"number {i:07}" for i in numbers], "s": texts})
    for threads in (1, 2):
        query = f"select k, s from t order by {key} limit 150000"
        found = hr.sql(query, {"t": table}, memory="96MiB", threads=threads)
        assert np.array_equal(found["k"].to_numpy(), np.arange(150_000))


def test_wide_rows_are_not_read_whole() -> None:
    """With the bound, few of the rows reach the sort."""
    rows = 1_000_000
    table = pa.table({"k": np.random.default_rng(4).permutation(rows), "v": np.arange(rows)})
    hr.sql("select * from t order by k limit 10", {"t": table}, threads=2)
    tasks = hr.last_profile().run["tasks"]
    kept = [task["stage_rows"][-1] for task in tasks if task["kind"] == "run" and task["rows_in"] == rows]
    assert kept and kept[0] < rows / 10, tasks


@pytest.mark.parametrize(
    "query",
    [
        "select k, cast(s as int) as i from t order by k limit 3",
        "select k, cast(s as int) as i from t where k % 2 = 1 order by k limit 3",
        "select k from t where k >= 0 and cast(s as int) >= 0 order by k limit 3",
        "select k from t where cast(s as int) + k >= 0 order by k limit 3",
        "select k, 2 * i as i from (select k, cast(s as int) as i from t) order by i, k limit 3",
        "select k, v * v as w from t order by k limit 3",
        "select k, v * v as w from t order by k % 100, k limit 3",
    ],
)
def test_what_fails_fails_wherever_its_row_comes(query: str) -> None:
    """The row is the last, and far from the first ones."""
    rows = 100_000
    values = np.append(np.ones(rows - 1, np.int64), 2**40)
    texts = [*map(str, range(rows - 1)), "none"]
    table = pa.table({"k": np.arange(rows), "v": values, "s": texts})
    for _ in range(3):
        with pytest.raises(hr.HeadraceError) as caught:
            hr.sql(query, {"t": table}, threads=2)
        assert caught.value.kind == "data"
