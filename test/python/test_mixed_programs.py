"""Mixed programs: columns of a query are arguments of a tensor function, in one plan."""

from __future__ import annotations

import gc
import json
import weakref
from pathlib import Path

import duckdb
import headrace as hr
import numpy as np
import pyarrow as pa
import pytest
from array_programs import normal
from headrace import array as xp

LINES = """
select l_quantity as q, l_extendedprice * (1 - l_discount) as p, l_tax as t, l_linenumber as n
from lineitem where l_shipdate < date '1995-01-01'
"""
JOINED = """
select o_totalprice as total, sum(l_quantity) as quantity
from orders join lineitem on o_orderkey = l_orderkey where o_orderdate < date '1993-01-01'
group by o_orderkey, o_totalprice
"""


def answer(folder: Path, text: str, columns: list[str]) -> np.ndarray:
    connection = duckdb.connect()
    for file in folder.glob("*.parquet"):
        connection.execute(f"create view {file.stem} as select * from '{file}'")
    found = connection.execute(text).fetchnumpy()
    return np.stack([np.asarray(found[name], dtype="float64") for name in columns], axis=1)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", [None, 0, 1, 2])
def test_rows_are_multiplied_and_reduced(ranks: int, seed: int | None, tpch_small: Path) -> None:
    w = normal(3, 5, dtype="float64")
    rows = hr.query(LINES, tpch_small).to_tensor(["q", "p", "t"])

    @hr.jit(ranks=ranks, threads=2, layout_seed=seed)
    def weigh(x: xp.Array, w: xp.Array) -> xp.Array:
        return xp.sum(xp.relu(x @ w), axis=0)

    expected = np.maximum(answer(tpch_small, LINES, ["q", "p", "t"]) @ w, 0).sum(axis=0)
    np.testing.assert_allclose(weigh(rows, w), expected, rtol=1e-9)
    plan = json.loads(weigh.compile(rows, w).plan_json)
    operations = [task.get("operation") for task in plan["tasks"]]
    assert "to_tensor" in [task["kind"] for task in plan["tasks"]]
    if seed is None:  # the rows stay where they are, only sums move
        assert ("all_reduce" in operations) == (ranks > 1)
        assert "all_gather" not in operations


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_a_join_and_its_gram_matrix(ranks: int, tpch_small: Path) -> None:
    rows = hr.query(JOINED, tpch_small).to_tensor(["total", "quantity"])
    gram = hr.jit(ranks=ranks, threads=2)(lambda x: x.T @ x)
    x = answer(tpch_small, JOINED, ["total", "quantity"])
    np.testing.assert_allclose(gram(rows), x.T @ x, rtol=1e-9)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("seed", [None, 3, 4])
def test_two_queries_in_one_program(ranks: int, seed: int | None, tpch_small: Path) -> None:
    lines = hr.query(LINES, tpch_small).to_tensor(["q", "p"])
    orders = hr.query(JOINED, tpch_small).to_tensor(["total", "quantity"])
    function = hr.jit(ranks=ranks, threads=2, layout_seed=seed)(lambda x, y: (xp.sum(x, axis=0), y.T @ y))
    x, y = answer(tpch_small, LINES, ["q", "p"]), answer(tpch_small, JOINED, ["total", "quantity"])
    total, gram = function(lines, orders)
    np.testing.assert_allclose(total, x.sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(gram, y.T @ y, rtol=1e-9)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_aligned_tensors_come_back_whole(ranks: int, tpch_small: Path) -> None:
    x, n = hr.query(LINES, tpch_small).to_tensors(["q", "p"], "n")
    doubled = hr.jit(ranks=ranks, threads=2)(lambda x, n: (x * 2, n + 1))
    got, counted = doubled(x, n)
    expected = answer(tpch_small, LINES, ["q", "p", "n"]) * [2, 2, 1] + [0, 0, 1]
    found = np.column_stack([got, counted])
    # Rows come in any order.
    order = np.lexsort
    np.testing.assert_allclose(found[order(found.T)], expected[order(expected.T)], rtol=1e-12)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("seed", [None, 0, 1])
def test_rows_keep_the_order_of_the_query(ranks: int, seed: int | None) -> None:
    values = np.random.default_rng(1)
    rows = 300_000
    table = pa.table({"k": values.permutation(rows), "g": values.integers(0, 999, rows)})
    x = hr.query("select k, k * 0.5 as x from t order by k desc", {"t": table}).to_tensor(["k", "x"])
    g, n = hr.query(
        "select g, count(*) as n from t group by g order by g limit 900", {"t": table}
    ).to_tensors("g", "n")
    function = hr.jit(ranks=ranks, threads=4, layout_seed=seed)(lambda x, g, n: (x + 0.0, g * 1.0, n / 2.0))
    got, groups, counts = function(x, g, n)
    wanted = np.arange(rows)[::-1]
    np.testing.assert_array_equal(got, np.stack([wanted, wanted * 0.5], axis=1))
    np.testing.assert_array_equal(groups, np.arange(900))
    np.testing.assert_array_equal(counts, np.bincount(table["g"].to_numpy())[:900] / 2)


def test_means_of_rows_that_are_not_counted() -> None:
    table = pa.table({"x": [1.0, 5.0, 9.0], "y": [3.0, 7.0, 2.0]})
    rows = hr.query("select x, y from t order by x", {"t": table}).to_tensor(["x", "y"])
    np.testing.assert_array_equal(hr.jit(ranks=2, threads=1)(lambda v: xp.mean(v, axis=1))(rows), [2, 6, 5.5])


def test_no_rows_and_null() -> None:
    table = pa.table({"x": pa.array([1.0, None, 3.0]), "k": [1, 2, 3]})
    total = hr.jit(ranks=2, threads=1)(lambda x: xp.sum(x))
    assert total(hr.query("select x from t where k > 5", {"t": table}).to_tensor("x")) == 0
    assert total(hr.query("select x from t where k <> 2", {"t": table}).to_tensor("x")) == 4
    with pytest.raises(hr.HeadraceError, match="NULL cannot become an element of a tensor"):
        total(hr.query("select x from t", {"t": table}).to_tensor("x"))


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select a::double as a from range(7) as r(a)", [0, 2, 4, 6, 8, 10, 12]),
        ("select * from (values (3.0), (1.0), (2.0)) as v(a)", [6, 2, 4]),
        ("select 1.0 as a where false", []),
    ],
)
def test_rows_that_are_of_no_table(ranks: int, query: str, expected: list[float]) -> None:
    found = hr.jit(lambda x: x * 2, ranks=ranks)(hr.query(query, {}).to_tensor("a"))
    assert found.tolist() == expected


def test_mistakes(tpch_small: Path) -> None:
    lines = hr.query(LINES, tpch_small)
    total = hr.jit(lambda x: xp.sum(x, axis=0))
    with pytest.raises(hr.HeadraceError, match="no column: nowhere"):
        total(lines.to_tensor(["q", "nowhere"]))
    with pytest.raises(hr.HeadraceError, match="known only when the program runs"):
        hr.jit(lambda x: xp.mean(x, axis=0))(lines.to_tensor(["q", "p"]))
    with pytest.raises(hr.HeadraceError, match="do not broadcast"):
        hr.jit(lambda x, y: x + y)(lines.to_tensor("q"), lines.to_tensor("p"))
    with pytest.raises(TypeError, match="dtype is not one of f32, f64, i64: got i8"):
        lines.to_tensor("q", dtype="i8")
    others = hr.query(LINES, tpch_small)
    with pytest.raises(hr.HeadraceError, match="rows of two queries cannot be dimensions of one array yet"):
        hr.jit(lambda x, y: x @ y.T)(lines.to_tensor(["q", "p"]), others.to_tensor(["q", "p"]))


def test_one_name_for_two_tables() -> None:
    sums = hr.jit(lambda x, y: (xp.sum(x), xp.sum(y)))
    x, y = (
        hr.query("select a from t", {"t": pa.table({"a": [value]})}).to_tensor("a") for value in (1.0, 2.0)
    )
    with pytest.raises(
        hr.HeadraceError, match="two queries of a program mean different tables by the name: t"
    ):
        sums(x, y)


def test_what_the_last_run_took_needs_a_run() -> None:
    program = hr.jit(lambda x: xp.sum(x)).compile(normal(4))
    with pytest.raises(hr.HeadraceError, match="analyze shows the last run: call the program first"):
        program.explain(analyze=True)


def test_programs_end_with_their_query() -> None:
    doubled = hr.jit(lambda x: x * 2)
    queries = []
    for start in range(3):
        query = hr.query("select a from t", {"t": pa.table({"a": [start, start + 1]})})
        column = query.to_tensor("a")
        for _ in range(2):
            assert doubled(column).tolist() == [2 * start, 2 * start + 2]
        queries.append(weakref.ref(query))
    del query, column
    gc.collect()
    assert [query() for query in queries] == [None] * 3
