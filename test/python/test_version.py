"""The version stands once, in the CMakeLists.txt of the project; the package and every tool say it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import headrace
import pytest
from dev import places

BINARIES = Path(os.environ["HEADRACE_BUILD"]) / "bin"
TOOLS = (
    "headrace",
    *(f"headrace-{name}" for name in ("interpret", "opt", "run", "topo", "translate", "tune")),
)


def declared() -> str:
    match = re.search(r"project\(headrace VERSION ([\d.]+)", (places.ROOT / "CMakeLists.txt").read_text())
    assert match is not None
    return match.group(1)


def test_the_package() -> None:
    assert headrace.__version__ == declared()


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool(tool: str) -> None:
    done = subprocess.run([BINARIES / tool, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"{tool} {declared()}\n"
    helped = subprocess.run([BINARIES / tool, "--help"], capture_output=True, text=True, check=True)
    assert "--version" in helped.stdout


def test_every_tool_is_here() -> None:
    folders = {folder.name for folder in (places.ROOT / "tools").glob("headrace-*")}
    assert folders - {"headrace-gpu"} == set(TOOLS) - {"headrace"}  # that one is the runner of the GPU bundle
