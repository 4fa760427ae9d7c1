"""Which files are looked at, with git and in a copy without it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from dev.findings import Finding, source_files


@pytest.mark.parametrize("with_git", [True, False])
def test_lists_sources_and_not_what_is_built(tmp_path: Path, with_git: bool) -> None:
    for name in ("runtime/x.cpp", "build/release/y.cpp", "README.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("//\n")
    if with_git:
        (tmp_path / ".gitignore").write_text("/build*/\n/.gitignore\n")
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert source_files(tmp_path) == ["README.md", "runtime/x.cpp"]


def test_a_finding_prints_as_compilers_do() -> None:
    assert str(Finding("a/b.h", 3, "layering", "no")) == "a/b.h:3: no [layering]"
    assert str(Finding("a/b.h", 0, "name", "no")) == "a/b.h: no [name]"
