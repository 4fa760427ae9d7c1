"""`./dev bench NAME …`: chooses the benchmark."""

from __future__ import annotations

import sys

from dev.bench import (
    accuracy,
    losses,
    machines,
    memory,
    regret,
    scale,
    skew,
    slow,
    solver,
    suites,
    tpch,
    windows,
)

BENCHMARKS = {
    "tpch": tpch.main,
    "clickbench": suites.suite("clickbench", "ClickBench"),
    "tpcds": suites.suite("tpcds", "TPC-DS"),
    "windows": windows.main,
    "memory": memory.main,
    "machines": machines.main,
    "accuracy": accuracy.main,
    "regret": regret.main,
    "scale": scale.main,
    "skew": skew.main,
    "slow": slow.main,
    "losses": losses.main,
    "solver": solver.main,
}

words = sys.argv[1:]
if not words or words[0] not in BENCHMARKS:
    print(f"usage: ./dev bench {{{','.join(BENCHMARKS)}}} [--help]", file=sys.stderr)
    sys.exit(2)
sys.exit(BENCHMARKS[words[0]](words[1:]))
