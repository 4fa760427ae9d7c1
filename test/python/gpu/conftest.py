"""Makes emulated_device importable, and finds the tools."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

TESTS = Path(__file__).parents[2]


def _tool(name: str) -> str:
    path = shutil.which(name)
    assert path, f"{name} is not on PATH"
    return path


@pytest.fixture(scope="session")
def translate() -> str:
    return _tool("headrace-translate")


@pytest.fixture(scope="session")
def formed(translate: str):
    """A TPC-H query or a file of test/, as the program after the phase form."""
    import subprocess

    optimizer = _tool("headrace-opt")

    def run(name: str) -> str:
        if name.startswith("q"):
            data = TESTS / "data" / "tpch"
            command = [translate, "--substrait-to-mlir", str(data / "substrait" / f"{name}.json")]
            command += [
                f"--statistics={path.stem}={path}" for path in sorted((data / "statistics").glob("*.json"))
            ]
            text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            phases = ["--stop-after=form"]
        else:
            text = (TESTS / name).read_text()
            phases = ["--form"] if "func.func" in text else []
        return subprocess.run(
            [optimizer, *phases], input=text, check=True, capture_output=True, text=True
        ).stdout

    return run
