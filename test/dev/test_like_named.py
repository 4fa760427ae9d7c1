"""Tests of the like name: of which ops and passes they are missed, and the repository as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from dev import like_named


def test_every_op_and_pass_has_its_test() -> None:
    assert [str(finding) for finding in like_named.check()] == []


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in {
        "dialects/pipe/Pipe.td": 'def Pipe_ReadOp : Pipe_Op<"read"> {\n',
        "passes/shard/Passes.td": 'def Solve : Pass<"shard-solve", "::mlir::ModuleOp"> {\n',
        "passes/driver/passes.cpp": '  registerVerifyPass("verify-shard",\n',
        "test/dialects/pipe/read.mlir": "// expected-error@+1 {{no}}\npipe.read @a\n",
        "test/passes/shard/solve.mlir": "// RUN: headrace-opt --shard-solve=mesh=r:2 %s\n",
        "test/passes/shard/verify.mlir": "// RUN: headrace-opt --verify-shard %s\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_nothing_is_missed_where_all_are_there(checkout: Path) -> None:
    assert like_named.check(checkout) == []


@pytest.mark.parametrize(
    ("test", "text", "fragment"),
    [
        ("test/dialects/pipe/read.mlir", "", "pipe.read needs a test that prints and refuses it"),
        ("test/dialects/pipe/read.mlir", "pipe.read @a\n", "pipe.read needs a test"),
        (
            "test/passes/shard/solve.mlir",
            "",
            "--shard-solve needs a test that runs it, of the name solve.mlir",
        ),
        ("test/passes/shard/solve.mlir", "// RUN: headrace-opt --shard-solver %s\n", "--shard-solve needs"),
        ("test/passes/shard/verify.mlir", "// RUN: headrace-opt --shard %s\n", "--verify-shard needs"),
    ],
)
def test_a_test_has_to_be_of_what_it_is_named_after(
    checkout: Path, test: str, text: str, fragment: str
) -> None:
    (checkout / test).write_text(text)
    (finding,) = like_named.check(checkout)
    assert fragment in finding.message


def test_the_phase_is_the_folder() -> None:
    assert like_named.stem_of_test("optimize-or-factoring") == "or_factoring"
    assert like_named.stem_of_test("dist-localize") == "localize"
    assert like_named.stem_of_test("verify-form") == "verify"
