"""Random feasible layouts and other topologies change the plan, never the answer."""

from __future__ import annotations

from pathlib import Path

import duckdb
import headrace as hr
import pytest
from tpch_queries import NAMES, OTHERS, QUERIES, check_equal, rows, views

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
        check_equal(name, hr.sql(text, tpch_small, ranks=ranks, threads=2, layout_seed=seed), expected)
        plans.add(hr.explain(text, tpch_small, ranks=ranks, layout_seed=seed))
    assert len(plans) > seeds // 4, "the seeds do not lead to different layouts"


def test_bandwidth_changes_the_choice_for_q03(tpch: Path) -> None:
    text = (QUERIES / "q03.sql").read_text()
    fast = hr.explain(text, tpch, ranks=4, topology="ethernet-fast")
    slow = hr.explain(text, tpch, ranks=4, topology="ethernet-slow")
    assert "topology ethernet-fast" in fast and "topology ethernet-slow" in slow

    def strategies(text: str) -> list[str]:
        return [
            line.split(": ")[1].split(" (")[0] for line in text.splitlines() if line.startswith("  frame.")
        ]

    assert strategies(fast) != strategies(slow)
    assert "next best" in fast, "the cost of what was rejected is shown"
    assert rows(hr.sql(text, tpch, ranks=4, topology="ethernet-slow")) == rows(
        hr.sql(text, tpch, ranks=4, topology="ethernet-fast")
    )
