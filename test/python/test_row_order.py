"""The order of rows: results, limits, windows and aggregates see tables as they are stored; 1 to 3 ranks."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import headrace as hr
import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

_ROWS = 20_000


def _table() -> pa.Table:
    rng = random.Random(5)
    return pa.table(
        {
            "i": pa.array(rng.sample(range(10 * _ROWS), _ROWS), pa.int64()),
            "k": pa.array([rng.choice([0, 1, 2, 3, None]) for _ in range(_ROWS)], pa.int32()),
            "s": pa.array([rng.choice(["", "a", "bb", "ccc", None]) for _ in range(_ROWS)]),
            "x": pa.array([float(rng.randrange(100)) for _ in range(_ROWS)]),
        }
    )


_T = _table()
_QUERIES = [
    "select * from t",
    "select i + 1, s || 'x' from t where k = 2",
    "select i from t where i % 1000 = 7",
    "select i from t limit 7",
    "select i, s from t limit 10 offset 15000",
    "select i from t offset 19990",
    "select i from t limit 0",
    "select i from t limit 30000",
    "select i from t where k is null limit 100",
    "select i from (select i, k from t limit 5000) where k = 1 limit 50",
    "select sum(i), count(*) from (select i from t limit 12345)",
    "select i from t where k in (select 1) limit 9",
    "select row_number() over (), i from t",
    "select i, lag(i) over (), lead(s, 2) over () from t",
    "select i, sum(i) over (rows between 3 preceding and current row) from t",
    "select first_value(i) over (), last_value(i) over (), nth_value(i, 3) over (), i from t",
    "select count(*) over (), rank() over (), row_number() over (), sum(k) over () from t",
    "select row_number() over () r, i from t where k = 3 limit 12",
    "select i, row_number() over () from (select * from t order by i desc limit 400)",
    "select i, lag(i) over () from (select row_number() over () r, i from t) where r % 3 = 0",
    "select first(i), last(i), first(s), last(s) from t",
    "select k, first(i), last(i), count(*), first(s) from t group by k order by k",
    "select k, first(x) filter (where x > 50) from t group by k order by k",
    "select k, list(i) from t where i < 2000 group by k order by k",
    "select string_agg(s, ',') from t where i < 3000",
    "select k, array_agg(i order by x, i) from (select * from t limit 300) group by k order by k",
    "select distinct on (k) k, i from t order by k",
    "select case when sum(i) < 0 then error('negative') else first(i) end from t",
    "with a as (select i from t), b as (select i, row_number() over () r from a) select * from b where r < 9",
    "select unnest([i, k]) from t limit 11",
    "select * from (values (3), (1), (2), (9)) v(a) limit 3",
    "select a, row_number() over () from (values (3), (1), (2)) v(a)",
    "select i from (select i, k from t order by i limit 5000) where k = 1 limit 50",
    "select i from (select i, k from t where x > 10) where k = 1 limit 50 offset 3",
    "select a.i from t a join t b on a.rowid = b.rowid where b.k = 2 order by 1 limit 20",
    "select i, lag(i) over () from range(3000) r(i) where i % 2 = 0",
    "select i from range(5000, 0, -2) r(i) limit 2000 offset 7",
    "select i from t where rowid in (select rowid from t where x = 7) order by 1",
    "select i from t where exists (select 1 from (values (1), (2)) v(a) where a = k) limit 6",
    "select list(i), first(s) from t where not exists (select 1 from range(3) r(x) where x = 7)",
    "select i from t where exists (select 1 from range(3) r(x) where x = 2) limit 7 offset 30",
    "select i, m from t, (select max(x) m from range(9) r(x)) where k = 2 limit 9",
    "select m, i from (select 'one' m) cross join t limit 9 offset 300",
    "select i from t where x >= (select max(x) from t) limit 3",
    "select i from t union all select k from t where k = 1",
    "select 1 as i union all select i from t where k = 2 union all select 999",
    "select i from t union all select i from range(5) r(i) limit 7",
    "select i from t where i < 40 union all select i from range(5) r(i) limit 12 offset 2",
    "(select i, s from t where k = 1 limit 3) union all (select k, s from t limit 4) limit 6",
    "(select i from t order by x, i limit 20) union all select i from t limit 30",
    "(select s, k from t order by s desc nulls first, i limit 9) union all select s, i from t limit 15 offset 4",
    "select string_agg(a, ' ') from (select 'a' a union all select s from t where i < 900 union all select 'z')",
    "select i, row_number() over () from (select i from t where k = 0 union all select -i from t where k = 1)",
    "select i, lag(i) over () from (values (5), (3)) v(i) union all (select i, k from t limit 4) limit 5",
    "select i from (select i, k from t union all select i, 9 from t) where k > 2 limit 6000 offset 100",
]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("row_order") / "t.parquet"
    parquet.write_table(_T, path, row_group_size=3_000)
    return {"arrow": _T, "parquet": str(path)}


@pytest.mark.parametrize("query", _QUERIES)
def test_as_duckdb_keeps_it(query: str, sources: dict[str, Any]) -> None:
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    connection.register("arrow", _T)
    connection.execute("create table t as select * from arrow")
    wanted = connection.sql(query).fetchall()
    for source in sources.values():
        for ranks, threads in ((1, 1), (1, 2), (2, 2), (3, 1)):
            found = hr.sql(query, {"t": source}, ranks=ranks, threads=threads).to_pydict()
            assert list(zip(*found.values(), strict=True)) == wanted, (ranks, threads)


def test_several_files_are_one_table(tmp_path: Path) -> None:
    for number in range(4):
        parquet.write_table(_T.slice(number * 5_000, 5_000), tmp_path / f"part-{number}.parquet")
    for ranks in (1, 3):
        found = hr.sql("select i from t where k = 0", {"t": str(tmp_path / "*.parquet")}, ranks=ranks)
        assert found["i"].to_pylist() == [row["i"] for row in _T.to_pylist() if row["k"] == 0]


@pytest.mark.parametrize("limit", ["limit 5", "where i > 4 limit 5", "limit 3 offset 2"])
def test_a_limit_does_not_read_on(tmp_path: Path, limit: str) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"i": range(4_000_000)}), path, row_group_size=50_000)
    hr.sql(f"select i from t {limit}", {"t": str(path)}, threads=2)
    scanned = max(each.rows for each in hr.last_profile().operators())
    assert scanned < 1_000_000, scanned


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_first_and_the_last_of_a_union(ranks: int, sources: dict[str, Any]) -> None:
    """DuckDB merges the states of the inputs in any order."""
    text = "select first(i) f, last(i) l from (select i from t union all select k from t where k is not null)"
    last = [k for k in _T["k"].to_pylist() if k is not None][-1]
    for source in sources.values():
        assert hr.sql(text, {"t": source}, ranks=ranks).to_pylist() == [{"f": _T["i"][0].as_py(), "l": last}]


def test_parts_of_a_union_do_not_read_on(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"i": range(4_000_000)}), path, row_group_size=50_000)
    for text in ("select i from t union all select -i from t limit 9", "from t union all from t limit 3"):
        hr.sql(text, {"t": str(path)}, threads=2)
        scanned = max(each.rows for each in hr.last_profile().operators())
        assert scanned < 1_000_000, scanned


def test_results_that_do_not_fit_memory() -> None:
    rows = pa.table({"i": range(3_000_000), "s": [f"text number {i % 1000}" for i in range(3_000_000)]})
    found = hr.sql("select i, s from t where i % 3 > 0", {"t": rows}, threads=2, memory="64MB")
    assert found["i"].to_pylist() == [i for i in range(3_000_000) if i % 3]


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_rows_become_tensors_in_order(ranks: int, sources: dict[str, Any]) -> None:
    wanted = [2 * row["x"] for row in _T.to_pylist() if row["k"] == 1]
    for source in sources.values():
        rows = hr.query("select x from t where k = 1", {"t": source}).to_tensor(["x"])
        found = hr.jit(ranks=ranks, threads=2)(lambda x: x * 2.0)(rows)
        assert np.asarray(found)[:, 0].tolist() == wanted


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_totals_of_a_rollup_see_the_stored_order(ranks: int, sources: dict[str, Any]) -> None:
    """DuckDB's total goes by groups: it merges their states."""
    query = "select k, list(i) l from t group by rollup (k) order by grouping(k), k nulls last"
    wanted = [[r["i"] for r in _T.to_pylist() if r["k"] == k] for k in (0, 1, 2, 3, None)]
    wanted.append(_T["i"].to_pylist())
    for source in sources.values():
        assert hr.sql(query, {"t": source}, ranks=ranks)["l"].to_pylist() == wanted


def test_rowid_is_the_number_of_the_row() -> None:
    for ranks in (1, 3):
        found = hr.sql("select i, rowid from t", {"t": _T}, ranks=ranks)
        assert found["i"].to_pylist() == _T["i"].to_pylist()
        assert found["rowid"].to_pylist() == list(range(_ROWS))


@pytest.mark.parametrize("condition", ["rowid > 19990", "rowid = 7", "7 >= rowid", "rowid between 3 and 5"])
def test_conditions_of_rowid(condition: str, sources: dict[str, Any]) -> None:
    wanted = duckdb.sql(f"select rowid from range({_ROWS}) r(rowid) where {condition}").fetchall()
    for source in sources.values():
        for ranks in (1, 2):
            found = hr.sql(f"select rowid from t where {condition}", {"t": source}, ranks=ranks)
            assert [(row,) for row in found["rowid"].to_pylist()] == wanted


@pytest.mark.parametrize(
    "query",
    [
        "select k from many where m in (select x from few)",
        "select k from many where m not in (select x from few)",
        "select k from many where not exists (select 1 from few where x = m)",
        "select k from many semi join few on x = m",
        "select k from many where m > (select avg(x) - 400 from few)",
    ],
)
def test_lookups_keep_the_order_of_many_rows(query: str) -> None:
    many = pa.table({"k": range(300_000), "m": [k % 1000 for k in range(300_000)]})
    few = pa.table({"x": range(900)})
    found = hr.sql(query, {"many": many, "few": few}, threads=2)["k"].to_pylist()
    assert found and found == sorted(found)
