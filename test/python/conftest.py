"""Fixtures of the Python tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def _tpch(scale: str) -> Path:
    """TPC-H as Parquet outside the source tree, made once per machine."""
    home = Path(os.environ.get("HEADRACE_HOME") or Path.home() / ".cache" / "headrace")
    folder = home / "data" / "tpch" / f"sf{scale}"
    if not (folder / "supplier.parquet").exists():
        generator = Path(sys.executable).parent / "tpchgen-cli"
        subprocess.run(
            [generator, "parquet", "-s", scale, f"--output-dir={folder}"], check=True, capture_output=True
        )
    return folder


@pytest.fixture(scope="session")
def tpch() -> Path:
    """TPC-H at scale 1 (HEADRACE_TEST_SCALE changes it)."""
    return _tpch(os.environ.get("HEADRACE_TEST_SCALE", "1"))


@pytest.fixture(scope="session")
def tpch_small() -> Path:
    """TPC-H at scale 0.01."""
    return _tpch("0.01")


@pytest.fixture(scope="session")
def tpch_tiny() -> Path:
    """TPC-H at scale 0.001, for what runs row by row."""
    return _tpch("0.001")
