"""The reference interpreter against DuckDB, and every stage of the compiler against the interpreter."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from interpreter_tool import interpret, value_of, write_table
from tpch_queries import NAMES, QUERIES, canonical, close, views

SUBSTRAIT = QUERIES.parent / "substrait"
ALL_NAMES = [path.stem[1:] for path in sorted(SUBSTRAIT.glob("q*.json"))]
#: HEADRACE_INTERPRETER_LAYOUTS: how many random layouts per query and mesh.
LAYOUTS = os.environ.get("HEADRACE_INTERPRETER_LAYOUTS", "5")
MESHES = ["ranks:1", "ranks:2", "ranks:3", "ranks:4"]


def _as_csv(source: Path, folder: Path) -> Path:
    for file in source.glob("*.parquet"):
        write_table(folder, file.stem, parquet.read_table(file))
    return folder


@pytest.fixture(scope="module")
def small(tpch_small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _as_csv(tpch_small, tmp_path_factory.mktemp("sf0.01"))


@pytest.fixture(scope="module")
def tiny(tpch_tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _as_csv(tpch_tiny, tmp_path_factory.mktemp("sf0.001"))


@pytest.mark.parametrize("name", NAMES)
def test_interpreter_equals_duckdb(name: str, tpch_small: Path, small: Path) -> None:
    expected = views(tpch_small).sql((QUERIES / f"q{name}.sql").read_text()).to_arrow_table()
    (output,) = interpret(SUBSTRAIT / f"q{name}.json", small)
    assert not output.differences
    found = [
        tuple(canonical(value_of(text, kind)) for text, kind in zip(row, expected.schema.types, strict=True))
        for row in output.rows
    ]
    wanted = [tuple(map(canonical, row.values())) for row in expected.to_pylist()]
    assert len(found) == len(wanted)
    for got, row in zip(sorted(found, key=repr), sorted(wanted, key=repr), strict=True):
        assert all(close(a, b) for a, b in zip(got, row, strict=True)), (got, row)


@pytest.mark.parametrize("name", NAMES)
def test_every_stage_equals_the_imported_program(name: str, tiny: Path) -> None:
    meshes = [argument for mesh in MESHES for argument in ("--mesh", mesh)]
    (output,) = interpret(SUBSTRAIT / f"q{name}.json", tiny, "--check", "--layouts", LAYOUTS, *meshes)
    assert not output.differences
    assert output.compared > 3 * 3 * int(LAYOUTS)


@pytest.mark.parametrize("name", sorted(set(ALL_NAMES) - set(NAMES)))
def test_other_queries_on_a_mesh_of_two_axes(name: str, tiny: Path) -> None:
    (output,) = interpret(SUBSTRAIT / f"q{name}.json", tiny, "--check", "--layouts", "1", "--mesh", "a:2,b:2")
    assert not output.differences
    assert output.compared == 10
