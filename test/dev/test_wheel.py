"""The wheel, installed in a virtual environment of its own, far from the build and from LLVM's packages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from dev import linked_libraries, places, tpch_data, wheel

SIZE_MAX = 80e6
QUERY = "select l_returnflag, sum(l_quantity) q from lineitem group by l_returnflag order by l_returnflag"
PROGRAM = """
import headrace as hr, numpy as np, pyarrow as pa

people = pa.table({"name": ["ann", "bob", "ann"], "age": [3, 4, 5]})
found = hr.sql("select name, sum(age) s from people group by name order by name", {"people": people}, ranks=2)
assert found["name"].to_pylist() == ["ann", "bob"] and [int(s) for s in found["s"].to_pylist()] == [8, 4]

@hr.jit
def product(a, b):
    return a @ b

left, right = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
assert (product(left, right) == left @ right).all()
print("\\n".join({line.split()[-1] for line in open("/proc/self/maps") if "/" in line}))
"""


@dataclass(frozen=True)
class Installed:
    """A virtual environment with the wheel, and a folder to work in."""

    environment: Path
    folder: Path

    def run(self, command: str, *arguments: str | Path) -> str:
        """Only what pip installed is on the path, and no variable of ./dev is set."""
        path = f"{self.environment / 'bin'}:/usr/bin:/bin"
        variables = {"PATH": path, "HOME": str(self.folder), "HEADRACE_CALIBRATION": "off"}
        program = self.environment / "bin" / command
        done = subprocess.run(
            [program, *arguments], env=variables, cwd=self.folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel.make(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    pip = [folder / "venv" / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run([*pip, made], check=True, env=clean)
    return Installed(folder / "venv", folder)


def test_its_size(made: Path) -> None:
    size = made.stat().st_size
    assert size < SIZE_MAX
    stated = re.search(r"a Python package of (\d+) MB", (places.ROOT / "README.md").read_text())
    assert stated is not None
    assert size == pytest.approx(int(stated[1]) * 1e6, rel=0.1)


def test_its_content(made: Path) -> None:
    with zipfile.ZipFile(made) as archive:
        names = archive.namelist()
        information = f"headrace-{wheel.version()}.dist-info"
        metadata = archive.read(f"{information}/METADATA").decode()
    needed = {f"{information}/licenses/LICENSE", f"{information}/licenses/NOTICE", "headrace/py.typed"}
    assert needed <= set(names)
    assert [name for name in names if "__pycache__" in name or name.endswith((".cpp", ".h", ".a"))] == []
    for line in wheel.requirements():
        assert f"\nRequires-Dist: {line}\n" in metadata
    assert any(line.startswith("pyarrow==") for line in wheel.requirements())


def test_queries_and_arrays_load_nothing_but_the_package_and_the_system(installed: Installed) -> None:
    program = installed.folder / "program.py"
    program.write_text(PROGRAM)
    loaded = [Path(line) for line in installed.run("python", program).splitlines() if line.startswith("/")]
    assert any(path.name == "libheadrace_compiler.so" for path in loaded)
    elsewhere = (places.ROOT, places.environment(), Path("/usr/lib/llvm-22"))
    assert [path for path in loaded if any(path.is_relative_to(folder) for folder in elsewhere)] == []
    foreign = ("LLVM", "MLIR", "openblas", "hwloc")
    own = installed.environment / "lib"
    assert [p for p in loaded if any(w in p.name for w in foreign) and not p.is_relative_to(own)] == []


def test_a_plan_compiled_by_the_command_line_runs_without_python(installed: Installed) -> None:
    tables = tpch_data.ensure("0.01")
    printed = installed.run("headrace", "sql", QUERY, "--tables", tables, "--ranks", "2")
    assert [line.split()[0] for line in printed.splitlines()[2:]] == ["A", "N", "R"]
    installed.run("headrace", "compile", QUERY, "--tables", tables, "--ranks", "2", "--output", "q.plan")
    tool = next(installed.environment.glob("lib/python*/site-packages/headrace/bin/headrace-run"))
    for run in ("headrace-run", str(tool)):
        assert len(installed.run(run, "q.plan", "--ranks", "2").splitlines()) == 5


def test_the_tools(installed: Installed) -> None:
    text = "func.func @main() -> tensor<2xf64> {\n  %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf64>\n"
    program = installed.folder / "program.mlir"
    program.write_text(text + "  return %0 : tensor<2xf64>\n}\n")
    assert "arith.constant" in installed.run("headrace-opt", program)
    assert installed.run("headrace-interpret", program).split() == ["2", "1", "2"]
    assert "substrait-to-mlir" in installed.run("headrace-translate", "--help")
    assert installed.run("headrace-topo", "show", "gb200-100k").startswith("gb200-100k")
    assert installed.run("headrace-topo", "detect").startswith("{")
    assert "compare" in installed.run("headrace-tune", "--help")
    assert "--measure" in installed.run("headrace-tune", "search", "--help")  # of `headrace tune`


def test_the_check_finds_a_folder_of_this_machine() -> None:
    build = Path(os.environ.get("HEADRACE_BUILD") or places.build_folder("release"))
    tool = linked_libraries.Binary.read(build / "bin" / "headrace-opt")
    found = linked_libraries.faults(build, [tool], {})
    folder = f"bin/headrace-opt looks for libraries in a folder of this machine: {build}/tools/compiler"
    assert folder in found


def test_the_check_finds_a_library_that_is_missing(made: Path, tmp_path: Path) -> None:
    (tmp_path / "headrace" / "bin").mkdir(parents=True)
    tool = wheel.FOLDER / "content" / "headrace" / "bin" / "headrace-run"
    shutil.copy(tool, tmp_path / "headrace" / "bin")
    found = linked_libraries.binaries(tmp_path)
    beside = {"pyarrow": [name for name in found[0].needed if "arrow" in name or "parquet" in name]}
    assert len(beside["pyarrow"]) == 2
    missing = "headrace/bin/headrace-run needs a library that it will not find:"
    wanted = [f"{missing} libheadrace_blas.so", f"{missing} libre2.so.9"]
    assert sorted(linked_libraries.faults(tmp_path, found, beside)) == wanted
