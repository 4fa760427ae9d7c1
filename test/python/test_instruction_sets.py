"""Every instruction set that this machine has gives DuckDB's answers: AVX-512, AVX2 and plain x86-64."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from pathlib import Path
import headrace as hr
from duckdb_oracle import same
from tpch_queries import NAMES, QUERIES, views
folder = Path(sys.argv[1])
oracle = views(folder)
for name in NAMES:
    text = (QUERIES / f"q{name}.sql").read_text()
    same(hr.sql(text, folder, ranks=2, threads=2), oracle.sql(text).to_arrow_table())
print(hr.explain(text, folder, tasks=True).split("isa ")[1].split()[0])
"""


def _flags() -> set[str]:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return set(line.split(":")[1].split())
    return set()


@pytest.mark.parametrize(
    ("isa", "needs", "quick_rows"),
    [
        ("x86-64", "sse2", "0"),
        ("x86-64-v3", "avx2", "0"),
        ("x86-64-v4", "avx512vl", "0"),
        ("x86-64", "sse2", "1000000000"),
        ("x86-64-v4", "avx512vl", "1000000000"),
    ],
)
def test_tpch(isa: str, needs: str, quick_rows: str, tpch_small: Path, tmp_path: Path) -> None:
    """All kernels compiled with effort, then all of them quickly."""
    if needs not in _flags():
        pytest.skip(f"this machine has no {needs}")
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    own = {"HEADRACE_ISA": isa, "HEADRACE_QUICK_ROWS": quick_rows, "HEADRACE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tpch_small)],
        env={**os.environ, **own, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == isa


# Prints a digest of the kernels of each query. The second time, everything that is made once is there.
KERNELS = """
import hashlib, json, os, shutil, sys
from pathlib import Path
from headrace._src import programs
from headrace._src.query.sql import compile_to
from tpch_queries import NAMES, QUERIES
home = Path(os.environ["HEADRACE_HOME"])
for names in (NAMES, NAMES[::-1]):
    digests = {}
    for name in names:
        programs._loaded.clear()
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        compile_to(home / "q.plan", (QUERIES / f"q{name}.sql").read_text(), sys.argv[1])
        digests[name] = hashlib.sha256((home / "q.plan" / "kernels.so").read_bytes()).hexdigest()
    print(json.dumps(digests, sort_keys=True))
"""


def test_kernels_are_the_same_bytes_whoever_compiles_them(tpch_small: Path, tmp_path: Path) -> None:
    """On one thread or four, in any order, by a code generator that is new or has made others before."""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    lines = []
    for threads in ("1", "4"):
        environment = {
            "HEADRACE_THREADS": threads,
            "HEADRACE_HOME": str(tmp_path / "home"),
            "PYTHONPATH": path,
        }
        done = subprocess.run(
            [sys.executable, "-c", KERNELS, str(tpch_small)],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        lines += done.stdout.splitlines()
    assert len(lines) == 4
    assert len(set(lines)) == 1
