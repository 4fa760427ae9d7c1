"""ARRAY beside DuckDB: values, casts, functions, keys, orders, aggregates, windows; in and out of Arrow."""

from __future__ import annotations

import random
from pathlib import Path

import headrace as hr
import numpy as np
import pyarrow as pa
import pytest
from duckdb_oracle import answer, check, same
from pyarrow import parquet

_ROWS = 400


def _floats(rng: random.Random) -> list[float | None] | None:
    values = [rng.choice([0.0, 1.5, -2.25, 3.0, float("nan"), float("inf"), 1e-30]) for _ in range(3)]
    return None if rng.random() < 0.1 else values


def _integers(rng: random.Random) -> list[int | None] | None:
    return None if rng.random() < 0.1 else [rng.choice([None, 0, 1, -7, 2**31 - 1]) for _ in range(2)]


def _words(rng: random.Random) -> list[list[str | None] | None] | None:
    def inner() -> list[str | None] | None:
        return None if rng.random() < 0.1 else [rng.choice(["", "a", "ab", "ß, '", None])]

    return None if rng.random() < 0.1 else [inner() for _ in range(3)]


def _table() -> pa.Table:
    rng = random.Random(7)
    return pa.table(
        {
            "k": pa.array(range(_ROWS), pa.int32()),
            "g": pa.array([rng.randrange(6) for _ in range(_ROWS)], pa.int32()),
            "f": pa.array([_floats(rng) for _ in range(_ROWS)], pa.list_(pa.float32(), 3)),
            "d": pa.array(
                [[rng.uniform(-2, 2) for _ in range(3)] for _ in range(_ROWS)], pa.list_(pa.float64(), 3)
            ),
            "i": pa.array([_integers(rng) for _ in range(_ROWS)], pa.list_(pa.int32(), 2)),
            "w": pa.array([_words(rng) for _ in range(_ROWS)], pa.list_(pa.list_(pa.string(), 1), 3)),
            "l": pa.array(
                [rng.choice([None, [1, 2], [None, 3]]) for _ in range(_ROWS)], pa.list_(pa.int64())
            ),
        }
    )


_TABLES = {"t": _table(), "u": _table().slice(100, 90)}


@pytest.mark.parametrize(
    "expression",
    [
        "array_value(1, 2, NULL)",
        "array_value(k, k + 1)",
        "greatest(i, [k, 1]::INT[2])",
        "least(f, d)",
        "least(w, w)",
        "array_value(f, f)",
        "[k, 2]::BIGINT[2]",
        "[[1, 2], NULL]::FLOAT[2][2]",
        "[['a'], ['b'], NULL]::VARCHAR[1][3]",
        "NULL::FLOAT[3]",
        "l::INT[2]",
        "l::VARCHAR[2]",
        "i::INT[]",
        "i::BIGINT[2]",
        "i::VARCHAR[2]",
        "i::VARCHAR",
        "w::VARCHAR",
        "w::VARCHAR[][]",
        "d::FLOAT[3]",
        "[i]::BIGINT[][1]",
        "[l]::INT[2][]",
        "{'a': i}::STRUCT(a BIGINT[2])",
        "{'a': l}::STRUCT(a INT[2])",
        "MAP {k: i}",
        "f[2]",
        "f[2:3]",
        "w[1]",
        "w[1][1]",
        "len(f)",
        "array_length(i)",
        "list_sum(i)",
        "list_sort(i)",
        "list_sort(list_distinct(i))",
        "list_contains(i, 1)",
        "list_concat(i, i)",
        "list_transform(i, lambda x: coalesce(x, 5))",
        "flatten(w)",
        "i = [1, 0]::INT[2]",
        "i < [0, 0]::INT[2]",
        "i IS NOT DISTINCT FROM l::INT[2]",
        "i = l",
        "w = [['a'], ['b'], NULL]::VARCHAR[1][3]",
        "coalesce(i, [1, 2]::INT[2])",
        "CASE WHEN g = 1 THEN i ELSE [5, 6]::INT[2] END",
        *(
            f"array_{name}(d, [1, 2, -0.5]::DOUBLE[3])"
            for name in (
                *(
                    "distance",
                    "inner_product",
                    "dot_product",
                    "negative_inner_product",
                    "negative_dot_product",
                ),
                *("cosine_similarity", "cosine_distance", "cross_product"),
            )
        ),
        "array_distance(f, f)",
        "array_cross_product([k, g, 1.5]::FLOAT[3], f)",
        "array_cosine_similarity([0, 0]::FLOAT[2], [0, 0]::FLOAT[2])",
        "array_cross_product([1, 2, 3]::FLOAT[3], NULL)",
    ],
)
def test_values(expression: str) -> None:
    check(f"select k, {expression} as x from t", _TABLES, ranks=2)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(
    "query",
    [
        "select * from t",
        "select i, count(*) as c from t group by i",
        "select w, min(k) as c from t group by w",
        "select distinct f from t",
        "select g, min(i) as a, max(i) as b, count(i) as c, count(distinct i) as e from t group by g",
        "select g, first(i order by k) as a, any_value(w order by k) as b from t group by g",
        "select g, list(i order by k) as a, arg_max(f, k) as b from t group by g",
        "select min(w) as a, max(w) as b, first(f order by k) as c from t where k < 0",
        "select t.k, u.k as o from t join u on t.i = u.i and t.w = u.w",
        "select k, lag(i) over (order by k) as p, first_value(w) over (order by k) as q from t",
        "select k, unnest(i) as e from t",
        "select k, unnest(w) as e from t",
        "select i from t union select [1, 2]::INT[2]",
        "select i from t intersect select i from u",
        "select t.k, u.d from t join u on t.k = u.k",
        "select x from (values ([1, 2]::INT[2]), (NULL)) v(x)",
    ],
)
def test_as_rows(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


@pytest.mark.parametrize(
    "order", ["i, k", "i desc nulls last, k", "w, k", "f desc, k", "array_distance(d, [1, 0, 1]::DOUBLE[3])"]
)
def test_order(order: str) -> None:
    query = f"select k, i, w from t order by {order} limit 150"
    same(hr.sql(query, _TABLES, ranks=2), answer(query, _TABLES), ordered=True)


def test_wide_points() -> None:
    """Neither side adds them in the order of their elements: of many floats the last bits differ."""
    rng = np.random.default_rng(3)
    for kind in (np.float32, np.float64):
        for size in (1, 7, 8, 9, 768):
            points = rng.standard_normal((50, size)).astype(kind)
            table = pa.table({"v": pa.FixedSizeListArray.from_arrays(pa.array(points.ravel()), size)})
            names = ("distance", "inner_product", "cosine_similarity", "cosine_distance")
            shown = ", ".join(f"array_{name}(a.v, b.v) as {name}" for name in names)
            query = f"select {shown} from t a, t b order by a.n, b.n"
            tables = {"t": table.append_column("n", pa.array(range(50)))}
            found, expected = hr.sql(query, tables), answer(query, tables)
            assert found.schema.types == expected.schema.types
            for name in names:
                scale = np.abs(expected[name].to_numpy()).max()
                error = np.abs(found[name].to_numpy() - expected[name].to_numpy()).max()
                assert error <= scale * (1e-5 if kind is np.float32 else 1e-14), (name, size)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("[k, 2]::INT[3]", "a list cannot be cast to an array of another length"),
        ("list_resize([1], k + 4)::INT[3]", "a list cannot be cast to an array of another length"),
        ("[[1], list_resize([1], k + 4)]::INT[1][2]", "a list cannot be cast to an array of another length"),
        ("array_distance([k, 2]::FLOAT[2], [1, NULL]::FLOAT[2])", "or with NULL, in list_distance"),
        (
            "array_cross_product([k, 2, NULL]::FLOAT[3], [1, 2, 3]::FLOAT[3])",
            "arrays with NULL in array_cross_product",
        ),
    ],
)
def test_errors(expression: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql(f"select {expression} from t", _TABLES)


@pytest.mark.parametrize("ranks", [1, 3])
def test_try_cast(ranks: int) -> None:
    check(
        "select k, try_cast([k] as INT[2]) as a, try_cast(l as TINYINT[2]) as b,"
        " try_cast(i as VARCHAR[2]) as c,"
        " try_cast(i as SMALLINT[2]) as d, try_cast(i as SMALLINT[3]) as e, try_cast(i as SMALLINT[]) as f,"
        " try_cast(w as INT[1][3]) as g, try_cast(w as INT[2][3]) as h, try_cast(w as VARCHAR[][3]) as m,"
        " try_cast(list_resize([1], k % 4) as BIGINT[2]) as n, try_cast(f as DECIMAL(4, 1)[3]) as o,"
        " try_cast([l, [k]] as INT[2][]) as p, try_cast(f as VARCHAR) as q from t",
        _TABLES,
        ranks=ranks,
    )


def test_files(tmp_path: Path) -> None:
    """Parquet has lists alone, whatever Arrow's schema in the file says; DuckDB reads them as such."""
    path = tmp_path / "t.parquet"
    table = (
        _TABLES["t"]
        .select(["k", "d"])
        .append_column("s", pa.array([{"a": [1, 2]}] * _ROWS, pa.struct([("a", pa.list_(pa.int32(), 2))])))
    )
    parquet.write_table(table, path)
    query = f"select k, d, s, d::DOUBLE[3] as e from '{path}'"
    same(hr.sql(query), answer(query, {}))
    written = tmp_path / "w.parquet"
    hr.sql(f"copy (select k, i, w from t) to '{written}'", _TABLES)
    query = f"select * from '{written}'"
    same(hr.sql(query), answer(query, {}))


def test_frames_have_lists() -> None:
    frame = hr.from_arrow(_TABLES["t"]).select("k", "i", n=hr.col("i").list.len())
    found = frame.collect()
    assert found.schema.field("i").type == pa.list_(pa.int32())
