"""Random feasible layouts and other topologies change the plan, never the answer."""

from __future__ import annotations

from pathlib import Path

import duckdb
import headrace as hr
import numpy as np
import pyarrow
import pytest
from duckdb_oracle import same
from tpch_queries import NAMES, OTHERS, QUERIES, plan_of, rows, views

SEEDS = 20
SEEDS_OF_OTHERS = 6


@pytest.fixture(scope="module")
def oracle(tpch_small: Path) -> duckdb.DuckDBPyConnection:
    return views(tpch_small)


@pytest.mark.parametrize("name", NAMES + OTHERS)
def test_random_layouts_equal_duckdb(name: str, tpch_small: Path, oracle: duckdb.DuckDBPyConnection) -> None:
    text = (QUERIES / f"q{name}.sql").read_text()
    expected = oracle.sql(text).to_arrow_table()
    plans = set()
    seeds = SEEDS if name in NAMES else SEEDS_OF_OTHERS
    for seed in range(seeds):
        ranks = 1 + (seed + 1) % 4
        same(hr.sql(text, tpch_small, ranks=ranks, threads=2, layout_seed=seed), expected)
        plans.add(hr.explain(text, tpch_small, ranks=ranks, layout_seed=seed).partition("\n\n")[2])
    assert len(plans) > seeds // 4, "the seeds do not lead to different layouts"


def test_bandwidth_changes_the_choice_for_q03(tpch: Path) -> None:
    text = (QUERIES / "q03.sql").read_text()
    fast = hr.explain(text, tpch, ranks=4, topology="ethernet-fast", runner_up=True)
    assert "topology ethernet-fast" in fast
    assert "next best" in fast, "the cost of what was rejected is shown"

    def ways(topology: str) -> list[str]:
        operators = plan_of(text, tpch, ranks=4, topology=topology)["explanation"]["operators"]
        return [operator.get("way", "") for operator in operators]

    assert ways("ethernet-fast") != ways("ethernet-slow")
    assert rows(hr.sql(text, tpch, ranks=4, topology="ethernet-slow")) == rows(
        hr.sql(text, tpch, ranks=4, topology="ethernet-fast")
    )


def test_rounds_that_hand_rows_to_each_other_in_random_layouts() -> None:
    """Sets of tasks that wait for each other have no other order than the given one."""
    table = pyarrow.table(
        {
            "id": list(range(5000)),
            "u": [i * 7919 % 1000 for i in range(5000)],
            "s": [f"t{i % 8}" for i in range(5000)],
        }
    )
    text = """
        select g, s, h, sum(u) as a, min(v) as b
        from (select a.id % 10 as g, a.u, b.u % 10 as h, b.u as v, b.s
              from t a join (select * from t order by id limit 7) b on a.u > b.u)
        group by cube(g, s, h)"""
    for seed in range(20):
        assert "rounds" in hr.explain(text, {"t": table}, ranks=2, memory="4MB", layout_seed=seed, tasks=True)


def test_rows_become_tensors_in_their_stored_order() -> None:
    count = 20_000
    table = pyarrow.table({"id": np.arange(count), "u": np.random.default_rng(0).permutation(count)})
    columns = hr.query("select id, u from t where u % 5 = 2", {"t": table}).to_tensor(["id", "u"])
    both = np.stack([table["id"].to_numpy(), table["u"].to_numpy()], axis=1)
    expected = both[both[:, 1] % 5 == 2].astype(float)
    for ranks in (2, 3):
        for seed in range(15):
            found = hr.jit(lambda x, w: x @ w, ranks=ranks, layout_seed=seed)(columns, np.eye(2))
            assert np.array_equal(np.asarray(found), expected), (ranks, seed)
