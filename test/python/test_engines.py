"""Engines themselves: four ranks in processes of Dask, Ray and Spark answer queries and a network.

`./dev test --only engines` installs them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import headrace as hr
import pytest
from dev import documented_commands, places
from test_launchers import NAMES, absent, check
from tpch_queries import QUERIES

pytestmark = pytest.mark.alone

PROGRAM = Path(__file__).with_name("engine_program.py")
PACKAGES = {"dask": "distributed", "ray": "ray", "spark": "pyspark"}


def python_with(engine: str) -> str:
    """The interpreter of the environment that has it."""
    python = os.environ.get("HEADRACE_ENGINES_PYTHON", "")
    expected = os.environ.get("HEADRACE_ENGINES")
    there = python and list(Path(python).parents[1].glob(f"lib/python*/site-packages/{PACKAGES[engine]}"))
    if not there:
        absent(f"{engine} is not installed: ./dev test --only engines", expected)
    if engine == "spark" and not shutil.which("java"):
        absent("java is not installed (Debian: openjdk-17-jre-headless)", expected)
    return python


@pytest.mark.parametrize("engine", PACKAGES)
def test_ranks_in_an_engine(
    engine: str, tpch_small: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Queries, a network, errors; ranks are killed, rank 0 too, and come back; more and fewer of them."""
    command = [python_with(engine), PROGRAM, engine, QUERIES, tpch_small, tmp_path, *NAMES]
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = done.stdout.splitlines()
    for words in ("rank 2 came back", "rank 0 came back", "rank 1 came back", "rank 3 woke", "done"):
        assert any(line.startswith(words) for line in said)
    for line in said:
        if line.endswith(" s"):
            record_property("figure", line)
    check(tmp_path, tpch_small)


PROGRAMS = [
    block
    for block in documented_commands.blocks(places.ROOT / "docs" / "machines.md")
    if block.mark == "engines"
]


@pytest.mark.parametrize("engine", PACKAGES)
def test_the_program_of_the_docs(engine: str, tpch_small: Path, tmp_path: Path) -> None:
    (block,) = [
        each for each in PROGRAMS if re.search(rf"^ *(from|import) {PACKAGES[engine]}\b", each.text, re.M)
    ]
    (tmp_path / "tables").symlink_to(tpch_small)
    (tmp_path / "program.py").write_text(block.text)
    command = [python_with(engine), "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == "4 [{'n': 60175}]"


def test_what_is_no_engine() -> None:
    with pytest.raises(
        hr.errors.UserError, match="a Dask client, the module ray or a Spark session, got: int"
    ):
        hr.cluster(3)
    ray = ModuleType("ray")
    ray.is_initialized = lambda: False  # type: ignore[attr-defined]
    with pytest.raises(hr.errors.UserError, match="ranks in Ray need a connection: call ray.init"):
        hr.cluster(ray)
    session = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(hr.errors.UserError, match="need a SparkContext in this process: .*Connect has none"):
        hr.cluster(session)
    conf = {"spark.dynamicAllocation.enabled": "true"}
    own = {"__module__": "pyspark.core.context", "getConf": lambda _: conf}
    with pytest.raises(hr.errors.UserError, match="does not start with spark.dynamicAllocation.enabled"):
        hr.cluster(type("SparkContext", (), own)())
    with pytest.raises(
        hr.errors.UserError, match="ranks is for engines: a launcher has said how many there are"
    ):
        hr.cluster("mpi", ranks=2)
