"""Every Python package is pinned to one version: what is built, tested and shipped is the same everywhere."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

import pytest
from dev import places, python_environment

INSTALLED = (places.ROOT / "requirements.txt", places.PACKAGE_REQUIREMENTS)
ON_DEMAND = (places.ENGINE_REQUIREMENTS, places.PEER_REQUIREMENTS)


def lines(*files: Path) -> list[str]:
    return [
        line.split("#")[0].split(";")[0].strip()
        for file in files
        for line in file.read_text().splitlines()
        if line and not line.startswith(("#", "-r"))
    ]


def pinned(line: str) -> tuple[str, str]:
    match = re.fullmatch(r"([\w-]+)(?:\[\w+\])?==([\w.]+)", line)
    assert match is not None, f"not pinned to one version: {line}"
    return match.group(1), match.group(2)


@pytest.mark.parametrize("line", lines(*INSTALLED))
def test_a_requirement_is_pinned_to_what_is_installed(line: str) -> None:
    name, version = pinned(line)
    assert importlib.metadata.version(name) == version


def test_what_is_installed_on_demand_is_pinned_and_nothing_else_needs_it() -> None:
    names = {pinned(line)[0] for line in lines(*ON_DEMAND)}
    assert not names & {pinned(line)[0] for line in lines(*INSTALLED)}
    tests = "".join(file.read_text() for file in (places.ROOT / "test").rglob("*.py"))
    assert not [
        name for line in lines(places.PEER_REQUIREMENTS) if f"import {(name := pinned(line)[0])}" in tests
    ]


def test_engines_of_benchmarks_are_installed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[object]] = []
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    monkeypatch.setattr(python_environment, "run", lambda command, *_, **__: commands.append(command))
    (tmp_path / "venv").mkdir()
    for _ in range(2):
        python_environment.ensure_peers()
    assert [command[-1] for command in commands] == [places.PEER_REQUIREMENTS]
