"""Every Python package is pinned to one version: what is built, tested and shipped is the same everywhere."""

from __future__ import annotations

import importlib.metadata
import re

import pytest
from dev import places

FILES = (places.ROOT / "requirements.txt", places.PACKAGE_REQUIREMENTS)
LINES = [
    line.split("#")[0].split(";")[0].strip()
    for file in FILES
    for line in file.read_text().splitlines()
    if line and not line.startswith(("#", "-r"))
]


@pytest.mark.parametrize("line", LINES)
def test_a_requirement_is_pinned_to_what_is_installed(line: str) -> None:
    match = re.fullmatch(r"([\w-]+)(?:\[\w+\])?==([\w.]+)", line)
    assert match is not None, f"not pinned to one version: {line}"
    assert importlib.metadata.version(match.group(1)) == match.group(2)
