"""`./dev bench NAME …`: chooses the benchmark."""

from __future__ import annotations

import sys

from dev.bench import accuracy, regret, solver, tpch

BENCHMARKS = {"tpch": tpch.main, "accuracy": accuracy.main, "solver": solver.main, "regret": regret.main}

words = sys.argv[1:]
if not words or words[0] not in BENCHMARKS:
    print(f"usage: ./dev bench {{{','.join(BENCHMARKS)}}} [--help]", file=sys.stderr)
    sys.exit(2)
sys.exit(BENCHMARKS[words[0]](words[1:]))
