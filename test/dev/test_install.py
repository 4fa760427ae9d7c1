"""`cmake --install`: another project finds the runtime, builds against it and runs a plan."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from dev import linked_libraries, places, testing, tpch_data

BUILD = Path(os.environ.get("HEADRACE_BUILD") or places.build_folder("release"))
CONSUMER = places.ROOT / "test" / "dev" / "consumer"
QUERY = "select count(*) as orders from orders"


def run(*command: str | Path, clean: bool = True) -> str:
    variables = {"PATH": "/usr/bin:/bin"} if clean else {**os.environ, **testing.variables("release")}
    done = subprocess.run(list(command), env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--prefix", folder, "--strip")
    return folder


@pytest.mark.parametrize("compiler", ["clang++-22", "g++"])
def test_a_consumer(compiler: str, prefix: Path, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} here")
    configure = ["cmake", "-S", CONSUMER, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}"]
    run(*configure, f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Release")
    run("cmake", "--build", tmp_path / "build")
    plan = tmp_path / "orders.plan"
    tables = tpch_data.ensure("0.01")
    run(BUILD / "bin" / "headrace", "compile", QUERY, "--tables", tables, "--output", plan, clean=False)
    assert run(tmp_path / "build" / "consumer", plan) == "orders\n15000\n"


def test_nothing_of_the_build_is_needed(prefix: Path) -> None:
    # Arrow's libraries are those of the pyarrow that it was built with; the rest is libc's.
    found = linked_libraries.binaries(prefix)
    assert {binary.path.name for binary in found} >= {
        "headrace-run",
        "libheadrace_blas.so",
        "libarrow.so.2600",
    }
    assert linked_libraries.faults(prefix, found, {}) == []
    for file in prefix.rglob("*.cmake"):
        assert str(places.ROOT) not in file.read_text(), file


def test_the_licence_is_there(prefix: Path) -> None:
    folder = prefix / "share" / "doc" / "headrace"
    assert {file.name for file in folder.iterdir()} == {"LICENSE", "NOTICE"}


def test_the_tools_run(prefix: Path) -> None:
    assert run(prefix / "bin" / "headrace-topo", "show", "gb200-100k").startswith("gb200-100k")
    assert "NAME.plan" in run(prefix / "bin" / "headrace-run", "--help")
