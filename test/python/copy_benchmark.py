"""COPY of a Parquet file to files and folders, beside DuckDB: seconds of the wall and of processors, MB."""

from __future__ import annotations

import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb
import headrace as hr

THREADS = 2
ROUNDS = 5


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measured(name: str, copy: Callable[[str], object], folder: str) -> None:
    """Prints the best round."""
    output = Path(folder, "output")
    best = (float("inf"), 0.0)
    for _ in range(ROUNDS):
        shutil.rmtree(output) if output.is_dir() else output.unlink(missing_ok=True)
        wall, used = time.perf_counter(), processor_seconds()
        copy(str(output))
        best = min(best, (time.perf_counter() - wall, processor_seconds() - used))
    written = output.rglob("*") if output.is_dir() else [output]
    size = sum(os.path.getsize(each) for each in written) / 1e6
    print(f"{name:40} wall {best[0]:.2f} s, processors {best[1]:.2f} s, {size:.0f} MB", flush=True)


def main(source: str, parent: str) -> None:
    with duckdb.connect() as connection, tempfile.TemporaryDirectory(dir=parent) as folder:
        connection.execute(f"set threads = {THREADS}")
        for format in ("parquet", "csv"):
            for shape, options in (("file", ""), ("folder", ", per_thread_output")):
                text = f"copy (from '{source}') to '{{}}' (format {format}{options})"

                def by_duckdb(path: str, text: str = text) -> None:
                    connection.execute(text.format(path))

                def by_headrace(ranks: int, path: str, text: str = text) -> None:
                    hr.sql(text.format(path), ranks=ranks, threads=THREADS)

                measured(f"{format} {shape} duckdb", by_duckdb, folder)
                for ranks in (1, 2):
                    measured(f"{format} {shape} ranks={ranks}", partial(by_headrace, ranks), folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
