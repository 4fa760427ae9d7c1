"""The kept plans of DuckDB's binder, which the importer is tested with, are those that it gives now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"


def test_kept_plans_are_current() -> None:
    done = subprocess.run(
        [sys.executable, str(DATA / "make_duckdb.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
