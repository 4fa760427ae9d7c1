"""The order of tasks: found by simulation where it matters, and the same answers in any."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import headrace as hr
import pytest
from duckdb_oracle import same
from headrace import array as xp
from headrace._src.array.jit import TensorType
from tpch_queries import QUERIES, plan_of

TOPOLOGIES = Path(__file__).parents[2] / "model" / "topology" / "files"


def network(x, w, v):
    return xp.maximum(x @ w, 0.0) @ v


def three_networks(x, w, v, y, p, q, z, r, s):
    return network(x, w, v), network(y, p, q), network(z, r, s)


#: Batch, inputs and hidden features of each.
UNEQUAL = ((4096, 4096, 16384), (64, 16384, 65536), (16384, 1024, 4096))


def seconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"s": 1, "ms": 1e-3, "µs": 1e-6}[unit]


@pytest.mark.parametrize(
    ("topology", "ranks", "most"),
    [("p5-2node", 16, 2.7e-3), ("l40s-pcie", 8, 26e-3), ("gb200-nvl72", 64, 0.88e-3)],
)
def test_networks_beside_each_other(topology: str, ranks: int, most: float) -> None:
    """One is computed while another's sums are on their way. Good layouts leave less to the order."""
    function: Callable = hr.jit(ranks=ranks, topology=topology)(three_networks)  # type: ignore[assignment]
    shapes = [shape for b, d, h in UNEQUAL for shape in ((b, d), (d, h), (h, d))]
    shown = function.explain(*[TensorType(shape, "f32") for shape in shapes])  # type: ignore[attr-defined]
    found = re.search(r"simulated to take (.*) instead of (.*), of \d+ orders", shown)
    assert found, shown
    assert seconds(found[1]) < 0.88 * seconds(found[2])
    assert seconds(found[1]) < most


#: Four sums over many groups, one as large as the other.
MANY_GROUPS = " union all ".join(
    f"select count(*) n, max(s) s from (select l_orderkey * 8 + l_linenumber k, sum(l_quantity + {number}) s "
    "from lineitem group by l_orderkey * 8 + l_linenumber)"
    for number in range(4)
)


def small_memory(folder: Path, capacity: float) -> str:
    topology = json.loads((TOPOLOGIES / "ethernet-fast.json").read_text())
    topology["device_types"]["server"]["mem"]["capacity"] = capacity
    topology["instances"][0]["count"] = 2
    file = folder / "small.json"
    file.write_text(json.dumps(topology))
    return str(file)


def test_states_that_do_not_fit_together_follow_each_other(tpch_small: Path, tmp_path: Path) -> None:
    query = f"select sum(n), max(s) from ({MANY_GROUPS})"
    roomy = plan_of(query, tpch_small, ranks=2, topology="ethernet-fast")["tasks"]
    held = [task["bytes"]["expected"] for task in roomy if task["kind"] == "reserve"]
    capacity = 4e6
    assert max(held) < 0.9 * capacity < sum(held)
    topology = small_memory(tmp_path, capacity)
    plan = plan_of(query, tpch_small, ranks=2, topology=topology)
    waits = [
        before
        for task in plan["tasks"]
        if task["kind"] == "reserve"
        for before in task.get("after", [])
        if plan["tasks"][before]["kind"] == "release"
    ]
    assert len(waits) >= 2
    assert "states wait until others have gone" in plan["explanation"]["order"]
    same(
        hr.sql(query, tpch_small, ranks=2, topology=topology, threads=2),
        hr.sql(query, tpch_small, threads=2),
    )


@pytest.mark.parametrize("name", ["q05", "q09", "q21"])
def test_layout_seeds_give_other_orders(name: str, tpch_small: Path) -> None:
    """So that all tests of random layouts are also tests of random orders."""
    text = (QUERIES / f"{name}.sql").read_text()
    orders = {
        tuple(task["name"] for task in plan_of(text, tpch_small, layout_seed=seed)["tasks"])
        for seed in range(6)
    }
    assert len(orders) > 1
