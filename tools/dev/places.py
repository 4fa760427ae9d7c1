"""Where things are: the checkout, its build folders, and what is kept outside the source tree."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "build" / "logs"
LLVM_TOOLS = Path("/usr/lib/llvm-22/bin")
PACKAGE_REQUIREMENTS = ROOT / "python" / "requirements.txt"
ENGINE_REQUIREMENTS = ROOT / "test" / "python" / "requirements-engines.txt"
PEER_REQUIREMENTS = ROOT / "test" / "perf" / "requirements-peers.txt"
QUERIES = ROOT / "test" / "data" / "tpch" / "queries"


def home() -> Path:
    """The folder for the virtual environment, test data and caches; never in the source tree."""
    return Path(os.environ.get("HEADRACE_HOME") or Path.home() / ".cache" / "headrace")


def environment() -> Path:
    """The virtual environment that all checkouts of this user share."""
    return home() / "venv"


def environment_python() -> Path:
    return environment() / "bin" / "python"


def engines_python() -> Path:
    """Of a virtual environment beside it, with the engines whose processes ranks run in."""
    return home() / "engines" / "bin" / "python"


def build_folder(preset: str) -> Path:
    return ROOT / "build" / preset


def tpch_folder(scale: str) -> Path:
    """The Parquet files of TPC-H at a scale, one file a table."""
    return home() / "data" / "tpch" / f"sf{scale}"
