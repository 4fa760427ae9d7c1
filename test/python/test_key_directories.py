"""Joins by keys that lie close together, far apart and further: each way to find a key, each kind of join."""

from __future__ import annotations

import random

import headrace as hr
import pyarrow as pa
import pytest
from sql_oracle import Oracle, difference

#: How far keys lie apart, and the directory that their table gets.
SPREADS = {1: "array", 8: "ranks", 5000: "hash"}
ROWS = 4000

QUERIES = (
    "select a.k, a.x, b.y from a join b on a.k = b.k",
    "select a.k, a.x, b.y from a left join b on a.k = b.k",
    "select a.k, a.x, b.k as bk, b.y from a full join b on a.k = b.k",
    "select a.k, a.x, b.y from a join b on a.k = b.k and a.x < b.y",
    "select k, x from a where k in (select k from b)",
    "select k, x from a where exists (select * from b where b.k = a.k)",
    "select k, x from a where not exists (select * from b where b.k = a.k)",
    "select k, x from a where not exists (select * from b where b.k = a.k and b.y > a.x)",
    "select k, x, exists (select * from b where b.k = a.k) as there from a",
    "select k, x, k in (select k from b) as there from a",
    "select y from b where exists (select * from a where a.k = b.k and a.x < 3)",
)


def tables(spread: int) -> dict[str, pa.Table]:
    """Every third key is in `a` only, every third twice in `b`; `a` has keys outside b's range, and NULL."""
    chance = random.Random(spread)
    low = -7 * spread
    of_b = [low + i // 2 * 3 * spread for i in range(ROWS)] + [
        low + (i * 3 + 1) * spread for i in range(ROWS // 2)
    ]
    chance.shuffle(of_b)
    of_a: list[int | None] = [low + chance.randrange(-50, ROWS * 2) * spread for _ in range(ROWS * 3)]
    of_a += [None] * 20 + [low - 1, low + ROWS * 30 * spread]
    no_null = pa.schema(
        [pa.field("k", pa.int64(), nullable=False), pa.field("y", pa.int64(), nullable=False)]
    )
    return {
        "a": pa.table({"k": pa.array(of_a, pa.int64()), "x": [chance.randrange(10) for _ in of_a]}),
        "b": pa.table([pa.array(of_b), pa.array([chance.randrange(10) for _ in of_b])], schema=no_null),
    }


@pytest.mark.parametrize("spread", SPREADS)
def test_each_join_finds_its_keys(spread: int) -> None:
    oracle = Oracle(tables(spread))
    for text in QUERIES:
        wanted = oracle.duckdb(text)
        for ranks in (1, 3):
            assert not difference(oracle.headrace(text, ranks=ranks), wanted), text


@pytest.mark.parametrize("spread", SPREADS)
def test_the_directory_is_that_of_the_keys(spread: int) -> None:
    module = hr.lower(QUERIES[0], tables(spread), "form")
    table = next(line for line in module.splitlines() if "pipe.state" in line and " join " in line)
    assert ("direct" in table, "sparse" in table) == (SPREADS[spread] != "hash", SPREADS[spread] == "ranks")
