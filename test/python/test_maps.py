"""Maps beside DuckDB: made, looked up, as keys and in order, in Arrow and Parquet; 1 to 3 ranks.

Sources: passes/import/duckdb/map_functions.cpp
"""

from __future__ import annotations

import random
from pathlib import Path

import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import answer, check, same

_ROWS = 200


def _tables() -> dict[str, pa.Table]:
    rng = random.Random(7)

    def some(keys: list[object], values: list[object]) -> list[object]:
        rows: list[object] = [None, []]
        while len(rows) < _ROWS:
            chosen = rng.sample(keys, rng.randrange(len(keys) + 1))
            rows.append(
                None if rng.random() < 0.1 else [(key, rng.choice([*values, None])) for key in chosen]
            )
        return rows

    columns = {"k": pa.array(range(_ROWS), pa.int32())}
    columns["g"] = pa.array([rng.choice([0, 1, None]) for _ in range(_ROWS)], pa.int32())
    columns["t"] = pa.array([rng.choice(["x", "y", "z", None]) for _ in range(_ROWS)], pa.string())
    columns["m"] = pa.array(some(["x", "y", "it's"], [1, 2, -7]), pa.map_(pa.string(), pa.int32()))
    columns["i"] = pa.array(some([1, 2, 3], [[1.5], [], [None]]), pa.map_(pa.int64(), pa.list_(pa.float64())))
    return {"t": pa.table(columns)}


_TABLES = _tables()


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize(
    "query",
    [
        "select k, m, i from t where k % 3 <> 1",
        "select k, m['x'] as a, m[t] as b, i[2] as c, i[1][1] as d, m['no'] as e from t",
        "select k, map_extract(m, t) as a, element_at(m,"
        " 'x') as b from t where m is not null and t is not null",
        "select k, map_keys(m) as a, map_values(m) as b, map_entries(m) as c, cardinality(m) as d from t",
        "select k, map_contains(m, 'x') as a, map_contains_value(m, 2) as b from t",
        "select k, map_contains_entry(m, 'x', 1) as a from t",
        "select k, map([k, k + 1], [t, 'b']) as a, map {'a': g, 'b': k} as b, cardinality(map()) as c from t",
        "select k, map_from_entries([(k, t), (k + 1, null)]) as a from t",
        "select k, map_concat(m, map {'x': k}) as a, map_concat(m, null) as b from t",
        "select k, {'m': m} as a, [m] as b, [m][1]['x'] as c from t",
        "select k, m = m as a, m = map {'x': 1} as b, m < map {'x': 2} as c from t",
        "select k, cast(m as map(varchar, bigint)) as a from t",
        "select k, try_cast(m as map(varchar, utinyint)) as a, try_cast(m as map(int, int)) as b,"
        " try_cast(map([t, k::varchar, 'no'], [1, 2, 3]) as map(int, varchar)) as c from t"
        " where t is not null",
        "select k, try_cast(map(['1', '0' || k], [t, null]) as map(int, int)) as a from t",
        "select k, try_cast([map {k::varchar: t}, map {'x': '1'}, null] as map(int, int)[]) as a from t",
        "select k, try_cast(map {'a': {'x': t, 'm': m}} as map(varchar, struct(x int, m varchar))) as a"
        " from t",
        "select map {'a': 1, 'b': null} as a, map {1: {'x': 2}} as b",
        "select k, case when g = 1 then m else map {'e': k} end as a, coalesce(m, map()) as b from t",
    ],
)
def test_values(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


def test_as_text() -> None:
    query = (
        "select k, cast(m as varchar) as a, cast(i as varchar) as b, cast([{'m': m}] as varchar) as c from t"
    )
    check(query, _TABLES)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    "query",
    [
        "select m, count(*) as c from t group by m",
        "select distinct i from t",
        "select a.k, b.k as other from t a join t b on a.m = b.m where a.k < 40",
        "select g, max(m) as a, list(m order by k) as b from t group by g",
        "select g, histogram(t) as a, histogram(k % 4) as b, histogram(distinct t) as c from t group by g",
        "select histogram(k) filter (k < 0) as a, histogram(i[1]) as b from t",
    ],
)
def test_keys(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


def test_order() -> None:
    query = "select m, k from t order by m desc nulls first, k"
    same(hr.sql(query, _TABLES, ranks=2), answer(query, _TABLES), ordered=True)


@pytest.mark.parametrize("ranks", [1, 2])
def test_parquet(ranks: int, tmp_path: Path) -> None:
    parquet.write_table(_TABLES["t"], tmp_path / "t.parquet", row_group_size=70)
    for query in ("select k, m, i from t", "select m['x'] as x, count(*) as c from t group by all"):
        found = hr.sql(query, {"t": tmp_path / "t.parquet"}, ranks=ranks)
        same(found, answer(query, _TABLES))


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select cast(m as varchar[]) from t", "unsupported cast between a list, struct or map"),
    ],
)
def test_refused(query: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql(query, _TABLES)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select map([k, k], [1, 2]) from t", "keys of a map must be unique and not NULL, and as many"),
        ("select map([g], [k]) from t", "keys of a map must be unique and not NULL, and as many"),
        ("select map([k], [k, k]) from t", "keys of a map must be unique and not NULL, and as many"),
        ("select map_from_entries([(t, 1)]) from t", "keys of a map must be unique and not NULL"),
    ],
)
def test_errors_of_data(query: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql(query, _TABLES)
