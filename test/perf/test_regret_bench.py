"""`./dev bench regret`: how statistics are scaled, what is compared, how it is shown."""

from __future__ import annotations

import json

import pytest
from dev.bench import regret
from dev.bench.regret import Case, Outcome


def outcome(topology: str, seconds: float, best: float) -> Outcome:
    return Outcome(Case("q03", topology, 1, 8), seconds, best, "near 1" if best < seconds else "chosen", 5)


def test_keys_grow_with_the_rows_and_kinds_do_not() -> None:
    statistics = {
        "rows": 1000,
        "columns": {
            "o_orderkey": {"min": 1, "max": 4000, "distinct": 1000},
            "o_status": {"distinct": 3, "average_bytes": 1.0},
            "o_comment": {"distinct": 990, "average_bytes": 40.0},
            "o_totalprice": {"min": 5, "max": 900, "distinct": 20},
        },
    }
    made = regret.scaled(statistics, "orders", 10)
    assert made["rows"] == 10_000
    few = {"ordered": False}  # of one row group
    assert made["columns"]["o_orderkey"] == {"min": 1, "max": 40_000, "distinct": 10_000} | few
    assert made["columns"]["o_status"] == statistics["columns"]["o_status"] | few
    assert made["columns"]["o_comment"]["distinct"] == 9900
    assert made["columns"]["o_totalprice"] == statistics["columns"]["o_totalprice"] | few
    large = regret.scaled(statistics, "orders", 1000)
    assert large["row_groups"] == 9
    assert [name for name, column in large["columns"].items() if column["ordered"]] == ["o_orderkey"]
    assert regret.scaled(statistics, "nation", 10) == statistics


def test_the_table_has_the_mean_and_the_worst_of_each_topology() -> None:
    outcomes = [outcome("a", 1.0, 1.0), outcome("a", 1.5, 1.0), outcome("b", 2.0, 2.0)]
    assert regret.mean(outcomes) == pytest.approx(0.5 / 3)
    lines = regret.table(outcomes).splitlines()
    assert lines[2] == "| a | 8 | 2 | 25.0 % | 50.0 % | q03, scale 1 | near 1 |"
    assert lines[3] == "| b | 8 | 1 | 0.0 % | 0.0 % |  |  |"


def test_a_choice_is_compared_with_layouts_next_to_it_and_random_ones() -> None:
    programs = regret.Programs()
    found = regret.examine(programs, Case("q03", "ethernet-slow", 0.1, 8), near=4, seeds=2)
    assert found.layouts > 2
    assert found.best_seconds <= found.seconds
    assert found.regret < 0.15
    network = regret.examine(programs, Case(regret.NETWORK, "p5-2node", 0.1, 8), near=2, seeds=1)
    assert network.regret < 0.15


#: Where exchanges take as long as scans, where they are mostly messages, and where a start is.
CLUSTERS = [
    ("ethernet-slow", 8),
    ("l40s-pcie", 8),
    ("gb200-nvl72", 144),
    ("dgx-h100", 32),
    ("dgx-h200-superpod", 1024),
]


@pytest.mark.parametrize(("topology", "ranks"), CLUSTERS)
@pytest.mark.parametrize("program", ["q05", "q10", "q14"])
def test_the_schedule_of_layouts_is_near_the_simulation(program: str, topology: str, ranks: int) -> None:
    """What the compiler compares layouts by says of each what the simulator says of its plan."""
    from headrace import _runtime

    programs = regret.Programs()
    for alternative in range(5):
        plan = programs.plan(Case(program, topology, 1, ranks), alternative=alternative)
        assert plan is not None
        simulated = json.loads(_runtime.cost(plan, topology, ranks))["seconds"]
        ratio = json.loads(plan)["explanation"]["totalSeconds"] / simulated
        assert 0.75 < ratio < 1.25, alternative


def test_a_layout_that_does_more_at_once_is_taken() -> None:
    """By their sums others are cheaper: these were 36 to 66 % from the best that is known.

    The last four were 12 to 26 % from it when pipelines did their work before what they look into was there,
    turned joins were scheduled as if they were not, and keys hashed, bytes loaded and offsets of texts had
    two prices.
    """
    programs = regret.Programs()
    for case in (
        Case("q14", "dgx-h100", 1, 32),
        Case("q04", "dgx-h200-superpod", 1, 1024),
        Case("q12", "ethernet-slow", 1, 8),
        Case("q18", "ethernet-slow", 0.1, 8),
        Case("q21", "dgx-a100", 1, 8),
        Case("q12", "dgx-h200", 1, 32),
    ):
        assert regret.examine(programs, case, near=10, seeds=4).regret < 0.10, case
