"""ASOF JOIN: each row with the one that comes nearest, beside DuckDB."""

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
@pytest.mark.parametrize("kind", ["", "left"])
def test_the_nearest_row_of_the_same_key(kind: str, comparison: str) -> None:
    for seed in (1, 2):
        checked(f"select a.*, b.* from a asof {kind} join b on a.k = b.k and a.t {comparison} b.t", seed)


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


def test_nothing_to_join() -> None:
    checked("select x, y from a asof left join (select * from b where false) b on a.k = b.k and a.t >= b.t")
    checked("select x, y from (select * from a where false) a asof join b on a.k = b.k and a.t >= b.t")


def test_of_equal_right_rows_one_is_taken() -> None:
    left = pa.table({"t": [1, 2, 3]})
    right = pa.table({"t": [2, 2, 2], "y": [7, 8, 9]})
    found = hr.sql("select a.t, y from a asof join b on a.t >= b.t order by a.t", {"a": left, "b": right})
    assert found["t"].to_pylist() == [2, 3]
    assert found["y"].to_pylist()[0] in (7, 8, 9)


@pytest.mark.parametrize("kind", ["right", "full"])
def test_other_kinds_are_refused(kind: str) -> None:
    with pytest.raises(hr.HeadraceError, match="ASOF JOIN: only inner and left ones"):
        hr.sql(f"select * from a asof {kind} join b on a.t >= b.t", tables(1))
