"""Dask itself: four ranks in processes of theirs answer queries and a network.

`./dev test --only engines` installs it.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import headrace as hr
import pytest
from test_launchers import NAMES, absent, check
from tpch_queries import QUERIES

PROGRAM = Path(__file__).with_name("dask_program.py")


def python_with_dask() -> str:
    """The interpreter of the environment that has Dask."""
    python = os.environ.get("HEADRACE_ENGINES_PYTHON", "")
    if not python:
        absent("Dask is not installed: ./dev test --only engines", os.environ.get("HEADRACE_ENGINES"))
    return python


def test_ranks_in_dask(tpch_small: Path, tmp_path: Path) -> None:
    """Queries, a network, errors; then ranks are killed, rank 0 too, and come back."""
    python = python_with_dask()
    command = [python, PROGRAM, QUERIES, tpch_small, tmp_path, *NAMES]
    environment = {**os.environ, "HEADRACE_THREADS": "1"}
    done = subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = done.stdout.splitlines()
    assert [*said[-4:-2], said[-1]] == ["rank 2 came back", "rank 0 came back", "done"]
    print(said[-2])
    check(tmp_path, tpch_small)


def test_what_is_no_engine() -> None:
    with pytest.raises(hr.errors.UserError, match="a launcher or a Dask client, got: int"):
        hr.cluster(3)
    with pytest.raises(
        hr.errors.UserError, match="ranks is for engines: a launcher has said how many there are"
    ):
        hr.cluster("mpi", ranks=2)
