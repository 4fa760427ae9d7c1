"""The memory limit as the system sees it: queries among processes that get no more than they were given."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from control_group import limited
from dev.bench.memory import LARGE
from test_tpch import QUERIES

# What is there before (the compiler, kernels, threads) counts where it was made; then the process enters the
# group, which counts what it touches anew, pages of files too: those give way.
CHILD = """
import ctypes, json, sys
import headrace as hr

text, tables, memory, ranks, group = json.loads(sys.argv[1])

def run():
    return hr.sql(text, tables, threads=2, memory=memory, ranks=ranks)

expected = run()
hr.sql("select 1 as a", {}, threads=2, memory=2 << 20)  # another session: what the first one kept goes
ctypes.CDLL(None).malloc_trim(0)
with open(group, "w") as processes:
    processes.write("0")
assert run().equals(expected)
print("equal")
"""
#: Beside the limit: stacks of threads, the plan, small objects of malloc, tables of pages, the result.
OVERHEAD = 12 << 20


def check(text: str, tables: Path, memory: int, ranks: int) -> None:
    with limited(memory + OVERHEAD) as group:
        if not group:
            pytest.skip("no group of processes with a limit can be made here")
        arguments = json.dumps([text, str(tables), memory, ranks, str(group.processes)])
        ran = subprocess.run(
            [sys.executable, "-c", CHILD, arguments], capture_output=True, text=True, check=False
        )
        assert group.kills() == 0
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "equal\n"


@pytest.mark.parametrize("name", [f"q{number:02}" for number in range(1, 23)])
def test_no_query_is_killed_by_its_own_limit(name: str, tpch_tenth: Path) -> None:
    check((QUERIES / f"{name}.sql").read_text(), tpch_tenth, 64 << 20, 2)


@pytest.mark.parametrize("name", sorted(LARGE))
def test_what_spills_stays_within_the_limit(name: str, tpch: Path) -> None:
    check(LARGE[name], tpch, 96 << 20, 1)


def test_a_limit_that_is_passed_kills() -> None:
    """That the checks above can fail."""
    with limited(32 << 20) as group:
        if not group:
            pytest.skip("no group of processes with a limit can be made here")
        enter = f"open({str(group.processes)!r}, 'w').write('0'); bytearray(1 << 27).count(1)"
        ran = subprocess.run([sys.executable, "-c", enter], check=False)
        assert ran.returncode == -9
        assert group.kills() == 1
