"""ASOF JOIN: each row with the one that comes nearest, beside DuckDB.

Sources: passes/import/NearestJoin.cpp
"""

from __future__ import annotations

import random

import headrace as hr
import pyarrow as pa
import pytest
from sql_oracle import Oracle, difference

COMPARISONS = (">=", ">", "<=", "<")


def tables(seed: int) -> dict[str, pa.Table]:
    """Right rows differ in key and moment: of equal ones any may be taken. Keys and moments may be NULL."""
    chance = random.Random(seed)

    def some(values: list[int], rows: int) -> list[int | None]:
        return [None if chance.random() < 0.05 else chance.choice(values) for _ in range(rows)]

    rights = sorted(
        {(chance.randrange(6), chance.randrange(200)) for _ in range(300)}, key=lambda _: chance.random()
    )
    rights += [(None, 3), (2, None)]
    lefts = 800
    return {
        "a": pa.table(
            {
                "k": pa.array(some(list(range(8)), lefts), pa.int32()),
                "t": pa.array(some(list(range(-5, 210)), lefts), pa.int64()),
                "x": list(range(lefts)),
                "s": [f"left {i % 7}" for i in range(lefts)],
            }
        ),
        "b": pa.table(
            {
                "k": pa.array([k for k, _ in rights], pa.int64()),
                "t": pa.array([t for _, t in rights], pa.int32()),
                "y": [f"right {i}" for i in range(len(rights))],
            }
        ),
    }


def checked(text: str, seed: int = 1, ranks: tuple[int, ...] = (1, 3)) -> None:
    oracle = Oracle(tables(seed))
    wanted = oracle.duckdb(text)
    for count in ranks:
        assert not difference(oracle.headrace(text, ranks=count), wanted), text


@pytest.mark.parametrize("comparison", COMPARISONS)
@pytest.mark.parametrize("kind", ["", "left", "right", "full", "semi", "anti"])
def test_the_nearest_row_of_the_same_key(kind: str, comparison: str) -> None:
    columns = "a.*" if kind in ("semi", "anti") else "a.*, b.*"
    for seed in (1, 2):
        for key in ("a.k = b.k", "a.k is not distinct from b.k"):
            checked(f"select {columns} from a asof {kind} join b on {key} and a.t {comparison} b.t", seed)


@pytest.mark.parametrize("comparison", COMPARISONS)
@pytest.mark.parametrize("kind", ["", "left", "semi", "anti"])
@pytest.mark.parametrize(
    "condition",
    [
        "a.k = b.k and a.x % 7 <> b.t % 5",
        "a.k is not distinct from b.k and (a.s = 'left 3' or b.t % 2 = 0)",
        "a.k = b.k and a.x < 300",
        "a.k = b.k and false",
        "(a.k = b.k or a.k = b.k + 1) and a.x % 3 = 0 and b.k < 4",
    ],
)
def test_under_further_conditions(condition: str, kind: str, comparison: str) -> None:
    # of right rows with one value any is taken: those are asked for alone that the conditions tell apart
    columns = "a.*" if kind in ("semi", "anti") else "a.*, b.t as bt"
    checked(f"select {columns} from a asof {kind} join b on {condition} and a.t {comparison} b.t")


def test_without_keys() -> None:
    right = "(select t, min(y) as y from b group by t) r"
    for comparison in COMPARISONS:
        checked(f"select x, y from a asof left join {right} on a.t {comparison} r.t")


def test_of_expressions_and_using() -> None:
    checked("select x, y from a asof join b on a.k + 1 = b.k and a.t * 2 >= b.t + 1")
    checked("select k, t, x, y from a asof join b using (k, t)")
    checked("select b.y, count(*) n, max(a.x) m from a asof join b on a.k = b.k and a.t > b.t group by b.y")


def test_moments_and_texts() -> None:
    text = """select a.x, b.y from (select *, to_timestamp(t) as ts, k::varchar as kt from a) a
              asof left join (select *, to_timestamp(t) as ts, k::varchar as kt from b) b
              on a.kt = b.kt and a.ts >= b.ts"""
    checked(text)


@pytest.mark.parametrize("kind", ["", "left", "right", "full", "semi", "anti"])
@pytest.mark.parametrize(
    "value", ["[{t} % 7, {t}]", "{{'a': {t} % 5, 'b': -{t}}}", "to_days({t}) - to_months(1)"]
)
def test_of_values_of_any_type(value: str, kind: str) -> None:
    columns = "a.x" if kind in ("semi", "anti") else "a.x, b.t"
    condition = f"{value.format(t='a.t')} >= {value.format(t='b.t')}"
    checked(f"select {columns} from a asof {kind} join b on a.k = b.k and {condition}")


def test_nothing_to_join() -> None:
    checked("select x, y from a asof left join (select * from b where false) b on a.k = b.k and a.t >= b.t")
    checked("select x, y from (select * from a where false) a asof join b on a.k = b.k and a.t >= b.t")
    for kind in ("right", "full"):
        checked(f"select x, y from a asof {kind} join (select * from b where false) b using (k, t)")
        checked(f"select x, y from (select * from a where false) a asof {kind} join b using (k, t)")
    checked("select x, y from a asof left join (select * from b where false) b on a.x <> b.k and a.t >= b.t")


def test_of_equal_right_rows_one_is_taken() -> None:
    left = pa.table({"t": [1, 2, 3]})
    right = pa.table({"t": [2, 2, 2], "y": [7, 8, 9]})
    found = hr.sql("select a.t, y from a asof join b on a.t >= b.t order by a.t", {"a": left, "b": right})
    assert found["t"].to_pylist() == [2, 3]
    assert found["y"].to_pylist()[0] in (7, 8, 9)


def test_right_rows_that_nobody_takes() -> None:
    left = pa.table({"t": [2, None, 5], "x": [1, 2, 3]})
    right = pa.table({"t": [1, 1, None, 4, 9], "y": [1, 2, 3, 4, 5]})
    query = "select x, y from a asof full join b on a.t >= b.t"
    for ranks in (1, 2, 3):
        rows = hr.sql(query, {"a": left, "b": right}, ranks=ranks).to_pylist()
        found = sorted((row["x"] or 9, row["y"] or 9) for row in rows)
        taken = next(y for x, y in found if x == 1)
        assert found == sorted([(1, taken), (2, 9), (3, 4), (9, 3 - taken), (9, 3), (9, 5)])


@pytest.mark.parametrize("kind", ["right", "full"])
def test_right_ones_under_further_conditions_are_refused_by_duckdb(kind: str) -> None:
    with pytest.raises(hr.HeadraceError, match="Unsupported ASOF JOIN type .* with arbitrary predicate"):
        hr.sql(f"select * from a asof {kind} join b on a.t >= b.t and a.x <> b.k", tables(1))
