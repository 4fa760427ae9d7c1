"""More ranks than there are machines here: hundreds on the simulated network, 64 with little memory each.

HEADRACE_MANY_RANKS=1000 simulates a thousand: ten seconds of a core for each test.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import headrace as hr
import numpy as np
import pytest
from headrace import _compiler, _runtime
from headrace._src.programs import checked, compiler
from tpch_queries import QUERIES, rows

SIMULATED = int(os.environ.get("HEADRACE_MANY_RANKS", "200"))


def query(name: str) -> str:
    return (QUERIES / f"{name}.sql").read_text()


def test_simulated_ranks_run_q03(tpch_small: Path) -> None:
    """By exchanges between all of them, as on a cluster of so many nodes."""
    found = hr.sql(query("q03"), tpch_small, ranks=SIMULATED, simulation_seed=3, memory="100GB")
    run = hr.last_profile().run
    assert run["ranks"] == SIMULATED
    assert len({task["rank"] for task in run["tasks"] if task["kind"] == "exchange"}) == SIMULATED
    assert rows(found) == rows(hr.sql(query("q03"), tpch_small))


def summing(width: int) -> tuple[str, bytes]:
    """Plan and kernels: each rank sums its row of a tensor, and all_reduce their sums."""
    x, y = f"tensor<{SIMULATED}x{width}xf32>", f"tensor<{width}xf32>"
    request = _compiler.Request()
    request.ranks = SIMULATED
    request.topology = "gb200-100k"
    request.isa = _runtime.instruction_set()
    request.mlir = f"""
        func.func @main(%x: {x}) -> {y} {{
          %zero = arith.constant 0.0 : f32
          %e = tensor.empty() : {y}
          %z = linalg.fill ins(%zero : f32) outs(%e : {y}) -> {y}
          %y = linalg.reduce {{ arith.addf }} ins(%x : {x}) outs(%z : {y}) dimensions = [0]
          return %y : {y}
        }}
    """
    for seed in range(200):
        request.layout_seed = seed
        answer = checked(compiler().compile_mlir(request))
        tasks = json.loads(answer.plan_json)["tasks"]
        kinds = [task.get("operation", task["kind"]) for task in tasks]
        if kinds == ["input", "kernel", "all_reduce", "tensor_result"]:
            return answer.plan_json, answer.kernels
    raise AssertionError("no layout has each rank sum its part")


@pytest.mark.parametrize("width", [64, 32_768])  # by doubling, and around a ring
def test_simulated_ranks_all_reduce(width: int) -> None:
    plan, kernels = summing(width)
    given = np.broadcast_to(np.arange(SIMULATED, dtype=np.float32)[:, None], (SIMULATED, width))
    program = _runtime.load_plan(plan, kernels)
    name = json.loads(plan)["slots"][0]["name"]
    result = program.run({name: given}, ranks=SIMULATED, simulation_seed=1, memory=100 << 30)
    (found,) = result.tensors
    assert np.all(found == SIMULATED * (SIMULATED - 1) / 2)


def test_64_ranks_with_256_megabytes_each_run_q18(tpch_small: Path) -> None:
    """On threads: pools of messages shrink so that states have room."""
    ranks, each = 64, 256 << 20
    options = {"ranks": ranks, "memory": ranks * each, "topology": "gb200-100k"}
    found = hr.sql(query("q18"), tpch_small, **options)
    run = hr.last_profile().run
    assert run["ranks"] == ranks and len(run["peak_bytes"]) == ranks
    assert max(run["peak_bytes"]) < each / 2
    assert rows(found) == rows(hr.sql(query("q18"), tpch_small))
