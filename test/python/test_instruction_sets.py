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
    ("isa", "needs"), [("x86-64", "sse2"), ("x86-64-v3", "avx2"), ("x86-64-v4", "avx512vl")]
)
def test_tpch(isa: str, needs: str, tpch_small: Path) -> None:
    if needs not in _flags():
        pytest.skip(f"this machine has no {needs}")
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tpch_small)],
        env={**os.environ, "HEADRACE_ISA": isa, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == isa
