"""Shapes of a mesh: which are tried, which compile, and that what compiles is right."""

from __future__ import annotations

import json
from dataclasses import replace
from math import prod
from pathlib import Path

import headrace as hr
import numpy as np
import pyarrow as pa
import pytest
from headrace import _runtime
from headrace._src import programs
from headrace._src.array import program as tensors
from headrace._src.errors import HeadraceError
from headrace._src.programs import Target
from headrace._src.query.compiled_query import bindings_of, compiled_query
from headrace._src.query.tables import resolve
from headrace._src.tuning.choice import Choice
from headrace._src.tuning.shapes import SHAPES_MAX, mesh_shapes
from tuned_programs import JOIN, NETWORK


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    return tmp_path


def _sizes(shape: str) -> list[int]:
    return [int(axis.split(":")[1]) for axis in shape.split(",")]


def test_shapes_follow_the_nodes() -> None:
    assert mesh_shapes([8, 8])[:3] == ["node:2,rank:8", "node:2,group:2,rank:4", "node:2,group:4,rank:2"]
    assert mesh_shapes([4]) == ["outer:2,inner:2"]
    assert mesh_shapes([1, 1, 1, 1]) == ["outer:2,inner:2"]
    assert mesh_shapes([7]) == mesh_shapes([1]) == []
    # Nodes of 4 and 2 ranks: pairs stay within a node, triples do not.
    assert mesh_shapes([4, 2]) == ["outer:3,inner:2", "outer:2,inner:3"]
    for nodes in ([8] * 16, [8, 8, 4], [12], [1] * 60):
        shapes = mesh_shapes(nodes)
        assert len(shapes) == len(set(shapes)) <= SHAPES_MAX
        assert all(prod(_sizes(shape)) == sum(nodes) and min(_sizes(shape)) > 1 for shape in shapes)


def test_the_runtime_tells_where_ranks_are() -> None:
    assert _runtime.ranks_of_nodes("p5-2node", 16) == [8, 8]
    assert _runtime.ranks_of_nodes("p5-2node", 11) == [8, 3]
    assert _runtime.ranks_of_nodes("ethernet-slow", 3) == [1, 1, 1]
    assert _runtime.ranks_of_nodes("", 4) == [4]


@pytest.mark.parametrize("seed", range(12))
def test_a_query_on_two_axes_is_refused_or_right(seed: int, tpch_small: Path) -> None:
    tables = resolve(tpch_small)
    expected = hr.sql(JOIN, tpch_small, ranks=4)
    target = replace(Target.of(4, None, None if seed == 0 else seed), choice=Choice(mesh="a:2,b:2"))
    try:
        compiled = compiled_query(JOIN, tables, target, None)
    except HeadraceError as error:
        assert error.kind == "unsupported"
        assert "a mesh of several axes is not supported where something is over one alone: " in str(error)
        return
    assert [axis["size"] for axis in json.loads(compiled.plan_json)["mesh"]] == [2, 2]
    handle = _runtime.load_plan(compiled.plan_json, compiled.kernels)
    result = handle.run(bindings_of(tables), **programs.run_options(4, 2, None))
    assert pa.table(result).equals(expected)


@pytest.mark.parametrize("seed", range(16))
def test_a_tensor_program_on_two_axes_is_refused_or_right(seed: int) -> None:
    random = np.random.default_rng(1)
    x, w = random.standard_normal((64, 32)).astype("f4"), random.standard_normal((32, 16)).astype("f4")
    target = replace(Target.of(4, None, None if seed == 0 else seed), choice=Choice(mesh="a:2,b:2"))
    try:
        compiled = tensors.compiled(NETWORK, (), target)
    except HeadraceError as error:
        assert "a mesh of several axes is not supported" in str(error)
        return
    handle = _runtime.load_plan(compiled.plan_json, compiled.kernels)
    names = [slot["name"] for slot in json.loads(compiled.plan_json)["slots"]]
    result = handle.run(dict(zip(names, (x, w), strict=True)), **programs.run_options(4, 2, None))
    np.testing.assert_allclose(result.tensors[0], x @ w, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("mesh", "reason"),
    [
        ("a:2", "the mesh a:2 has 2 ranks, the program has 4"),
        ("a:2,b:3", "has 6 ranks, the program has 4"),
        ("a", "expected a mesh such as ranks:4 or node:2,gpu:8, got a"),
        ("a:0,b:4", "mesh axis sizes must be at least 1"),
    ],
)
def test_a_mesh_that_does_not_fit_is_refused(mesh: str, reason: str, tpch_small: Path) -> None:
    target = replace(Target.of(4, None, None), choice=Choice(mesh=mesh))
    with pytest.raises(HeadraceError, match=reason):
        compiled_query(JOIN, resolve(tpch_small), target, None)


def test_a_search_says_of_every_shape_what_became_of_it(tpch_small: Path) -> None:
    outcome = hr.tune(JOIN, tpch_small, ranks=16, topology="p5-2node", seconds=20)
    told = {one.choice.mesh for one in outcome.candidates} | {one.choice.mesh for one in outcome.skipped}
    assert told >= set(mesh_shapes([8, 8]))
    for one in outcome.skipped:
        assert one.reason
        assert f"mesh {one.choice.mesh}: {one.reason}" in str(outcome)
    recorded = json.loads(Path(outcome.path).read_text())["records"][-1]["searches"][-1]
    assert {one["choice"]["mesh"] for one in recorded} == told
    assert sum("skipped" in one for one in recorded) == len(outcome.skipped)


def test_choices_with_a_mesh_come_back() -> None:
    choice = Choice(mesh="node:2,rank:8").with_chunk_rows(4096)
    assert Choice.of(choice.document()) == choice
    assert str(choice) == "mesh node:2,rank:8, layout of the solver, chunks of 4096 rows"
    before = Choice(3).document()
    before.pop("mesh")  # records of before have none
    assert Choice.of(before) == Choice(3)
