"""Type checkers see the package's real signatures: mypy over a user's program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import headrace
import pytest
from dev import places

PROGRAM = """
import headrace as hr
from headrace import array as xp

table = hr.sql("select 1 as a", {}, ranks=2)
reveal_type(hr.explain("select 1 as a", {}))
reveal_type(hr.cost("select 1 as a", {}).seconds)
reveal_type(hr.query("select 1 as a", {}).to_tensor("a"))
reveal_type(hr.__version__)

@hr.jit(ranks=2)
def product(x: xp.Array, y: xp.Array) -> xp.Array:
    return xp.exp(x) @ y

reveal_type(product)
try:
    hr.sql("select a", {}, rnaks=2)
except hr.errors.SqlError as error:
    reveal_type(error.place)
hr.jit(rank=2)
hr.sequel("select 1")
frame = hr.scan_parquet("x").filter(hr.col("a").str.len_chars() > 1).group_by("k").agg(hr.len())
reveal_type(frame)
frame.filtre(hr.when(hr.col("a") > 1).then(1).otherwise("b"))
reveal_type(hr.connect("x", ranks=2).sql("select 1 as a", [1]).profile())
"""
EXPECTED = [
    '6: note: Revealed type is "str"',
    '7: note: Revealed type is "float"',
    '8: note: Revealed type is "headrace._src.array.queries.QueryTensor"',
    '9: note: Revealed type is "str"',
    '15: note: Revealed type is "headrace._src.array.jit.Jit"',
    '17: error: Unexpected keyword argument "rnaks" for "sql"; did you mean "ranks"?  [call-arg]',
    '19: note: Revealed type is "str"',
    '20: error: Unexpected keyword argument "rank" for overloaded function "jit"; did you mean "ranks"?'
    "  [call-overload]",
    '21: error: Module has no attribute "sequel"  [attr-defined]',
    '23: note: Revealed type is "headrace._src.frame.lazy_frame.LazyFrame"',
    '24: error: "LazyFrame" has no attribute "filtre"; maybe "filter"?  [attr-defined]',
    '25: note: Revealed type is "headrace._src.query.profile.Profile"',
]


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("mypy")
    (folder / "program.py").write_text(PROGRAM)
    # Of the package only signatures matter here, and what pyarrow does not say is not ours.
    options = ["--follow-imports=silent", "--ignore-missing-imports", "--cache-dir", "cache"]
    command = [sys.executable, "-m", "mypy", *options, "program.py"]
    environment = {**os.environ, "MYPYPATH": str(places.ROOT / "python")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("expected", EXPECTED)
def test_a_line(lines: list[str], expected: str) -> None:
    assert f"program.py:{expected}" in lines


def test_nothing_else_is_wrong(lines: list[str]) -> None:
    assert [line for line in lines if ": error: " in line and line[11:] not in EXPECTED] == []


def test_every_public_name_is_declared() -> None:
    source = Path(headrace.__file__).read_text()
    assert (Path(headrace.__file__).parent / "py.typed").exists()
    for name in headrace.__all__:
        assert f"import {name} as {name}\n" in source, name
