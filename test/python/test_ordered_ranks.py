"""ORDER BY on several ranks: each sorts a range, or one all rows; who reads them gets them in order.

Sources: passes/shard/{frame_strategies,row_order}.cpp, runtime/exec/source/morsel_queue.cpp
"""

from __future__ import annotations

import headrace as hr
import numpy as np
import pyarrow as pa
import pytest

_ROWS = 40_000
_NUMBERS = np.random.default_rng(11)
T = pa.table(
    {
        "k": _NUMBERS.permutation(_ROWS),
        "v": pa.array(_NUMBERS.integers(0, 50, _ROWS), mask=_NUMBERS.random(_ROWS) < 0.1),
        "x": np.where(_NUMBERS.random(_ROWS) < 0.01, np.nan, _NUMBERS.normal(size=_ROWS)),
        "s": [f"{'long beginning ' * (i % 3)}{i % 1000}" for i in _NUMBERS.permutation(_ROWS)],
    }
)

QUERIES = [
    "select * from t order by k",
    "select k from t order by k desc",
    "select s, v from t order by v desc nulls first, s, k",
    "select k + 1 as a, x from t order by x, k",
    "select s from t where v > 10 order by s desc, k limit 30000",
    "select k from t order by k offset 39990",
    "select k, row_number() over () as n from (select k from t order by k desc)",
    "select first(k) as a, last(k) as b from (from t order by x desc, k)",
    "select k from (select k, s from t order by s, k limit 20000) where k % 3 = 0",
    "(select k from t order by v, k) union all select v from t where k < 5 order by 1",
    "select v, sum(k) over (order by k rows 3 preceding) as w from t order by v, k",
    "select * from t order by v, k limit 0",
]


@pytest.mark.parametrize("query", QUERIES)
def test_whatever_the_layout(query: str) -> None:
    wanted = hr.sql(query, {"t": T})
    for ranks in (2, 3):
        for seed in (None, *range(8)):
            found = hr.sql(query, {"t": T}, ranks=ranks, layout_seed=seed)
            assert repr(found.to_pydict()) == repr(wanted.to_pydict()), f"{ranks} ranks, seed {seed}"


def test_in_little_memory() -> None:
    """Runs of each rank's range on disk, and a result that waits there."""
    rows = 1_500_000
    table = pa.table({"k": np.random.default_rng(3).permutation(rows), "s": ["a text"] * rows})
    for ranks in (1, 2, 4):
        batches = hr.batches("select k, s from t order by k", {"t": table}, ranks=ranks, memory="96MiB")
        keys = np.concatenate([batch.column("k").to_numpy() for batch in batches])
        assert np.array_equal(keys, np.arange(rows))


def test_large_sorts_use_all_ranks() -> None:
    table = pa.table({"k": np.random.default_rng(5).permutation(3_000_000)})
    query = "select k from t order by k"
    plan = hr.explain(query, {"t": table}, ranks=4)
    assert "range" in plan, plan
    found = hr.sql(query, {"t": table}, ranks=4)
    assert np.array_equal(found["k"].to_numpy(), np.arange(3_000_000))
