"""`./dev demo`: three TPC-H queries and a network, with what was decided, what came out and what it took."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from dev import places, tpch_data

QUERIES = {
    "q01": "what was shipped, by status: one large aggregate, grouped by two dictionary columns",
    "q03": "the ten unshipped orders of most value: two joins, a large aggregate, top-k",
    "q06": "revenue of discounted small orders: a selective filter over one table",
}
_ROWS = 10
_WIDTH = 150


def heading(text: str) -> None:
    print(f"\n── {text} {'─' * max(4, 96 - len(text))}\n")


def indented(text: str, lines_max: int) -> str:
    lines = text.rstrip().splitlines()
    shown = lines[:lines_max]
    if len(lines) > lines_max:
        shown.append(f"… {len(lines) - lines_max} more lines")
    return "\n".join(f"    {line}" for line in shown)


def as_text(table: pa.Table, rows_max: int = _ROWS) -> str:
    """The first rows, in aligned columns; numbers to the right."""
    shown = table.slice(0, rows_max)
    columns = []
    for name, column in zip(table.column_names, shown.columns, strict=True):
        cells = ["NULL" if value is None else str(value) for value in column.to_pylist()]
        width = max([len(name), *map(len, cells)])
        numeric = not (pa.types.is_string(column.type) or pa.types.is_date(column.type))
        place = str.rjust if numeric else str.ljust
        columns.append([place(cell, width) for cell in [name, *cells]])
    lines = ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
    if table.num_rows > rows_max:
        lines.append(f"… {table.num_rows - rows_max} more")
    return "\n".join(lines)


def decision_and_tasks(explanation: str) -> tuple[list[str], list[str]]:
    """Of an explanation (headrace.explain): why each op has its layout, and the tasks of the plan."""
    why, _, plan = explanation.partition("\nplan ")
    tasks = plan.partition("\ntasks\n")[2]
    return why.rstrip().splitlines(), tasks.splitlines()


def task_line(line: str) -> str:
    """A task without its place in the program, which repeats what its name says."""
    return shortened(line.partition("  // ")[0])


def without_places(module: str) -> str:
    """MLIR without its locations, for reading."""
    return "\n".join(shortened(re.sub(r" loc\([^()]*\)", "", line)) for line in module.splitlines())


def shortened(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms"


def show_decisions(explanation: str, ranks: int) -> None:
    why, tasks = decision_and_tasks(explanation)
    print(f"\n  where it runs on {ranks} ranks, and why (rows, bytes and time as estimated):\n")
    print("\n".join(f"    {line}" for line in why))
    print("\n  what each rank does (`headrace explain --tasks` prints the whole plan):\n")
    print("\n".join(f"    {task_line(line)}" for line in tasks))


def show_query(headrace: Any, name: str, folder: Path, ranks: int, threads: int) -> None:
    heading(f"{name}: {QUERIES[name]}")
    text = (places.QUERIES / f"{name}.sql").read_text().strip()
    print(indented(text, 30))
    tables = str(folder)
    table = headrace.sql(text, tables=tables, ranks=ranks, threads=threads)
    first = headrace.last_profile()
    headrace.sql(text, tables=tables, ranks=ranks, threads=threads)
    again = headrace.last_profile()
    show_decisions(headrace.explain(text, tables=tables, ranks=ranks, runner_up=True, tasks=True), ranks)
    print(f"\n  the result ({table.num_rows} rows):\n")
    print(indented(as_text(table), _ROWS + 2))
    origin = "kept from an earlier run" if first.plan_cached else f"{first.kernels_compiled} kernels compiled"
    compiling = f"compile {milliseconds(first.compile_seconds)} ({origin})"
    print(f"\n  time: {compiling}, run {milliseconds(first.run_seconds)}")
    phases = ", ".join(f"{phase} {milliseconds(seconds)}" for phase, seconds in first.phases.items())
    if phases:
        print(f"    compiling, by phase: {phases}")
    print(
        f"  again: compile {milliseconds(again.compile_seconds)}, run {milliseconds(again.run_seconds)}"
        " (kernels and decompressed pages are kept)"
    )


def show_network(headrace: Any, ranks: int, threads: int) -> None:
    """A two-layer network, traced from Python and compared with NumPy."""
    heading("a network: relu(x @ w1 + b1) @ w2, traced from Python")
    import headrace.array as xp
    import numpy as np

    def network(x, w1, b1, w2):  # type: ignore[no-untyped-def]
        return xp.matmul(xp.maximum(xp.matmul(x, w1) + b1, 0.0), w2)

    random = np.random.default_rng(0)
    shapes = ((1000, 256), (256, 512), (512,), (512, 10))
    inputs = [random.standard_normal(shape, dtype=np.float32) for shape in shapes]
    print(indented(without_places(str(headrace.jit(network).trace(*inputs))), 16))
    compiled = headrace.jit(ranks=ranks, threads=threads)(network)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        result = compiled(*inputs)
        times.append(time.perf_counter() - start)
    show_decisions(compiled.explain(*inputs, runner_up=True, tasks=True), ranks)
    x, w1, b1, w2 = inputs
    expected = np.maximum(x @ w1 + b1, 0) @ w2
    error = float(np.max(np.abs(result - expected)) / np.max(np.abs(expected)))
    print(f"\n  the result ({' x '.join(map(str, result.shape))}):\n")
    print(indented(str(result), 8))
    print(f"\n  time: {milliseconds(times[0])} with compiling, then {milliseconds(min(times[1:]))}")
    print(f"  largest difference from NumPy: {error:.1e} of the largest value")


def show_files(folder: Path) -> None:
    heading("where files went")
    for what, path in (
        ("TPC-H data", folder),
        ("plans", places.home() / "plans"),
        ("kernels", places.home() / "kernels"),
        ("the build", places.build_folder("release")),
        ("logs", places.LOGS),
    ):
        files = [file for file in path.rglob("*") if file.is_file()] if path.exists() else []
        size = sum(file.stat().st_size for file in files)
        print(f"  {what:<12} {size / 1e6:8.1f} MB  {path}")
    print("\nnext: ./dev help; ./dev python -c 'import headrace'; docs/")


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev demo", description=__doc__)
    parser.add_argument("--scale", default="1", help="TPC-H scale factor (default 1)")
    parser.add_argument("--ranks", type=int, default=2, help="in-process ranks (default 2)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args(words)
    folder = tpch_data.ensure(options.scale)
    import headrace

    where = f"{options.ranks} ranks and {options.threads} threads of this process"
    print(f"headrace on {where}, TPC-H scale {options.scale}")
    for name in QUERIES:
        show_query(headrace, name, folder, options.ranks, options.threads)
    show_network(headrace, options.ranks, options.threads)
    show_files(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
