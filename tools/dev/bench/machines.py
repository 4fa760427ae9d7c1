"""`./dev bench machines`: TPC-H on processes that are ranks beside one process with as many threads.

Both hold the queries ready and take turns, so that they meet the same load of the machine; a time is the best
of the rounds. Also says which part of a core a rank uses while it waits for a query.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from dev import places, tpch_data
from dev.bench.tpch import DEFAULT_QUERIES

# Reads names of queries, answers with the seconds that each took; "idle SECONDS": with the part of a core
# that was used while rank 0 did something else.
WORKER = """
import contextlib, json, sys, time
import headrace as hr
tables, queries, ranks, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
group = hr.cluster(**json.loads(sys.argv[5])) if ranks > 1 else contextlib.nullcontext()
topology = json.loads(sys.argv[6])
with group:
    rank = group.rank if ranks > 1 else 0
    for name in map(str.strip, sys.stdin):
        start, used = time.perf_counter(), time.process_time()
        if name.startswith("idle"):
            if rank == 0:
                time.sleep(float(name.split()[1]))
            hr.sql("select 1 as x", {})
            answer = (time.process_time() - used) / (time.perf_counter() - start)
        else:
            hr.sql(open(f"{queries}/{name}.sql").read(), tables, threads=threads, topology=topology)
            answer = time.perf_counter() - start
        print(answer, flush=True)
"""


class Workers:
    """Processes that run the same queries at the same time."""

    def __init__(
        self,
        folder: Path,
        tables: Path,
        ranks: int,
        threads: int,
        queries: Path = places.QUERIES,
        topology: str | None = None,
        **options: object,
    ) -> None:
        """topology: that plans are made for. options: of `headrace.cluster`."""
        self.processes: list[subprocess.Popen[str]] = []
        for rank in range(ranks):
            own = {"HEADRACE_RANK": str(rank), "HEADRACE_SIZE": str(ranks)}
            own["HEADRACE_MEETING"] = str(folder / "meeting")
            words = [sys.executable, "-c", WORKER, tables, queries, ranks, threads]
            words += [json.dumps(options), json.dumps(topology)]
            self.processes.append(
                subprocess.Popen(
                    list(map(str, words)),
                    env={**os.environ, **(own if ranks > 1 else {})},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )

    def ask(self, name: str) -> list[float]:
        """What each answers, by rank."""
        self.send(name)
        return [self.answer(rank) for rank in range(len(self.processes))]

    def send(self, name: str) -> None:
        for process in self.processes:
            _pipe(process.stdin).write(name + "\n")
            _pipe(process.stdin).flush()

    def answer(self, rank: int) -> float:
        return float(_pipe(self.processes[rank].stdout).readline())

    def close(self) -> None:
        for process in self.processes:
            with suppress(BrokenPipeError):
                _pipe(process.stdin).close()
        for process in self.processes:
            process.wait(timeout=60)


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench machines", description=__doc__)
    parser.add_argument("--scale", default="1", help="scale factor (default 1)")
    parser.add_argument("--ranks", type=int, default=2, help="processes of one thread (default 2)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--idle", type=float, default=10, help="seconds that a rank waits")
    parser.add_argument("--queries", default=",".join(DEFAULT_QUERIES), help="q01,q06")
    options = parser.parse_args(words)
    tables = tpch_data.ensure(options.scale)
    with tempfile.TemporaryDirectory() as folder:
        alone = Workers(Path(folder), tables, 1, options.ranks)
        cluster = Workers(Path(folder), tables, options.ranks, 1)
        print(f"TPC-H scale {options.scale}: one process of {options.ranks} threads, {options.ranks} of one")
        ratios = []
        for name in options.queries.split(","):
            times = [(alone.ask(name)[0], cluster.ask(name)[0]) for _ in range(options.rounds + 1)]
            one, many = (min(each) for each in zip(*times[1:], strict=True))  # the first compiles
            ratios.append(many / one)
            print(f"{name}  {one * 1000:8.1f} ms  {many * 1000:8.1f} ms  {ratios[-1]:.2f}", flush=True)
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"geometric mean of the ratios: {mean:.2f}")
        waiting = cluster.ask(f"idle {options.idle}")[1:]
        print(f"a rank that waits uses at most {max(waiting):.2%} of a core")
        cluster.close()
        alone.close()
    return 0
