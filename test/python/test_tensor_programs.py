"""Tensor programs run on ranks: every layout gives NumPy's answer, and cost decides which one is taken."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import headrace as hr
import numpy as np
import pytest
from array_programs import PROGRAMS, assert_equal, normal
from headrace import array as xp
from headrace._src.array.jit import TensorType
from headrace._src.array.program import Program

TOPOLOGIES = Path(__file__).parents[2] / "model" / "topology" / "files"

# Extents of which none divides by 2, 3 or 4.
NETWORK = [normal(35, 17), normal(17, 29), normal(29), normal(29, 7)]
NETWORK_TEXT = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @network(%x: tensor<35x17xf32>, %w1: tensor<17x29xf32>, %b: tensor<29xf32>, %w2: tensor<29x7xf32>)
    -> tensor<35x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<35x29xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<35x29xf32>) -> tensor<35x29xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<35x17xf32>, tensor<17x29xf32>)
      outs(%z1 : tensor<35x29xf32>) -> tensor<35x29xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %b : tensor<35x29xf32>, tensor<29xf32>) outs(%e1 : tensor<35x29xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %sum = arith.addf %in, %bias : f32
    %relu = arith.maximumf %sum, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<35x29xf32>
  %e2 = tensor.empty() : tensor<35x7xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<35x7xf32>) -> tensor<35x7xf32>
  %y = linalg.matmul ins(%r, %w2 : tensor<35x29xf32>, tensor<29x7xf32>)
      outs(%z2 : tensor<35x7xf32>) -> tensor<35x7xf32>
  return %y : tensor<35x7xf32>
}
"""


def network(x: xp.Array, w1: xp.Array, b1: xp.Array, w2: xp.Array) -> xp.Array:
    return xp.relu(x @ w1 + b1) @ w2


def network_answer() -> np.ndarray:
    x, w1, b1, w2 = NETWORK
    return np.maximum(x @ w1 + b1, 0) @ w2


def operations(program: Program) -> set[str]:
    """The operations of the plan's collective and compute tasks."""
    return {task["operation"] for task in json.loads(program.plan_json)["tasks"] if task.get("operation")}


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("name", PROGRAMS)
def test_equals_numpy(name: str, ranks: int) -> None:
    function, expected, arguments = PROGRAMS[name]
    assert_equal(hr.jit(ranks=ranks, threads=2)(function)(*arguments), expected(*arguments))


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("name", PROGRAMS)
def test_equals_numpy_under_forced_layouts(name: str, ranks: int) -> None:
    function, expected, arguments = PROGRAMS[name]
    answer = expected(*arguments)
    for seed in range(4):
        assert_equal(hr.jit(ranks=ranks, threads=2, layout_seed=seed)(function)(*arguments), answer)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_network_written_in_linalg(ranks: int) -> None:
    program = hr.mlir(NETWORK_TEXT, ranks=ranks, threads=2)
    np.testing.assert_allclose(program(*NETWORK), network_answer(), rtol=1e-5, atol=1e-5)


def test_network_under_many_layouts() -> None:
    expected = network_answer()
    layouts, used = set(), set()
    for ranks in (2, 3, 4):
        for seed in range(12):
            program = hr.mlir(NETWORK_TEXT, ranks=ranks, threads=2, layout_seed=seed)
            np.testing.assert_allclose(program(*NETWORK), expected, rtol=1e-5, atol=1e-5)
            layouts.add((ranks, tuple(places(program))))
            used |= operations(program)
    assert len(layouts) >= 20
    # Every way in which data moves has been taken.
    assert used >= {"matmul", "kernel", "slice", "all_gather", "all_reduce", "reduce_scatter", "all_to_all"}


def places(program: Any) -> list[str]:
    """Where the results of a program's operators lie."""
    return [operator["where"] for operator in json.loads(program.plan_json)["explanation"]["operators"]]


def test_bandwidth_decides_the_layout(tmp_path: Path) -> None:
    fast = TOPOLOGIES / "ethernet-fast.json"
    described = json.loads(fast.read_text())
    described["name"] = "throttled"
    for node in described["node_types"].values():
        node["resources"]["nic"]["bw"] /= 1000
    for tier in described["fabric"]["tiers"]:
        tier["bw"] /= 1000
    slow = tmp_path / "throttled.json"
    slow.write_text(json.dumps(described))
    types = [TensorType(shape, "f32") for shape in [(512, 4096), (4096, 8192), (8192,), (8192, 4096)]]
    compiled = [hr.jit(ranks=4, topology=file)(network).compile(*types) for file in (fast, slow)]
    assert "topology throttled" in compiled[1].explain()
    assert places(compiled[0]) != places(compiled[1])
    # On the slow network weights and activations stay where they are; the loser and its cost are named.
    assert "next best: " in compiled[1].explain(runner_up=True)


def test_profile_and_phases() -> None:
    jitted = hr.jit(ranks=2, threads=1)(network)
    program = jitted.compile(*NETWORK)
    program(*NETWORK)
    assert program.profile
    phases = jitted.trace(*NETWORK).lower().phases
    assert "linalg.matmul" in phases["import"]
    assert list(phases) == ["import", "optimize", "shard", "form", "lower", "schedule"]
    assert "sched.compute" in phases["schedule"]


def test_a_program_takes_strided_and_read_only_arrays() -> None:
    doubled = hr.jit(ranks=2, threads=1)(lambda x: x + x)
    x = normal(8, 6)
    x.flags.writeable = False
    for view in (x.T, x[::2, 1::2], x[::-1]):
        np.testing.assert_array_equal(doubled(view), view + view)


def test_several_results_keep_their_order() -> None:
    function = hr.jit(threads=2)(lambda x, y: (x @ y, x, x @ y, xp.sum(y)))
    x, y = normal(200, 100), normal(100, 50)
    for got, wanted in zip(function(x, y), (x @ y, x, x @ y, y.sum()), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)


def mistake_of(function: Callable, *arguments: object) -> hr.HeadraceError:
    with pytest.raises(hr.HeadraceError) as caught:
        hr.jit(function)(*arguments)
    return caught.value


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        (lambda x, y: x @ y, ValueError, "equal inner extents"),
        (lambda x, y: xp.softmax(x), AttributeError, "no such array function .*: softmax"),
        (lambda x, y: x + xp.astype(y, "f64"), TypeError, "one type"),
        (lambda x, y: np.exp(x), TypeError, "NumPy's functions do not take traced arrays"),
        (lambda x, y: x.reshape(3, 2), AttributeError, "reshape"),
        (lambda x, y: 3, TypeError, "must return traced arrays"),
    ],
)
def test_mistakes_name_the_line(body: Callable, kind: type, message: str) -> None:
    error = mistake_of(body, normal(2, 3), normal(4, 5))
    assert isinstance(error, kind)
    line = body.__code__.co_firstlineno
    assert error.place == f"{__file__}:{line}"
    assert re.search(message, str(error))
    assert f"test_tensor_programs.py:{line}" in str(error)


def test_wrong_arrays_are_refused() -> None:
    program = hr.mlir(NETWORK_TEXT)
    with pytest.raises(hr.HeadraceError, match="takes 4 arrays, got 1"):
        program(NETWORK[0])
    with pytest.raises(hr.HeadraceError, match="another shape or element"):
        program(*reversed(NETWORK))
    with pytest.raises(hr.HeadraceError, match="not an array"):
        program("x", *NETWORK[1:])


def one_op(op: str, type: str) -> str:
    return f"func.func @f(%x: {type}) -> {type} {{ %y = {op} : {type} return %y : {type} }}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f(", "expected"),
        (one_op("arith.addi %x, %x", "tensor<2xi8>"), "elements of f32, f64 and i64"),
        (one_op("math.cbrt %x", "tensor<2x2xf32>"), "kernels have no code for: math.cbrt"),
    ],
)
def test_wrong_text_is_refused(text: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message):
        hr.mlir(text)


def test_ranks_must_be_positive() -> None:
    with pytest.raises(hr.HeadraceError, match="ranks must be between 1 and 2147483647, got 0"):
        hr.jit(ranks=0)(network)(*NETWORK)


def test_a_run_has_a_timeout() -> None:
    with pytest.raises(hr.errors.QueryTimeoutError, match="took longer than its timeout: 1e-09 s"):
        hr.jit(timeout=1e-9)(network)(*NETWORK)
    with pytest.raises(hr.errors.UserError, match="timeout must be a positive number of seconds, got -1"):
        hr.jit(timeout=-1)

    def many(x: Any) -> Any:
        for _ in range(40):
            x = x @ x
        return x

    started = time.monotonic()
    with pytest.raises(hr.errors.QueryTimeoutError, match="took longer than its timeout: 0.2 s"):
        hr.jit(timeout=0.2, threads=1)(many)(np.eye(1500))
    assert time.monotonic() - started < 30
    assert hr.jit(timeout=60)(network)(*NETWORK).shape == hr.jit(network)(*NETWORK).shape
