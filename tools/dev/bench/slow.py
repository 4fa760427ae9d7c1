"""`./dev bench slow`: ranks of which one is stopped in turns, so that it works a third of the time.

Processes that are ranks hold the queries ready, twice: as they are, and with ranks that take no work from
each other (HEADRACE_SHARE_MORSELS=off). In each round both run a query undisturbed and with one rank
stopped, one after the other, so that they meet the same load of the machine; a time is the median of the
rounds. What a cluster has learned of its ranks in a run counts from the next one on: of the runs with a
rank stopped the first is told apart from the last. With one of N ranks at a third of its speed, lost speed
explains N / (N - 2/3). What is stopped leaves its core to others: with fewer cores than ranks, or on a busy
machine, less is lost than that.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from dev import tpch_data
from dev.bench.machines import Workers

REST = 2 / 3


@contextmanager
def stopped_in_turns(process: int, turn: float) -> Iterator[None]:
    """Of each turn, a process works a third and stands still for the rest."""
    ended = threading.Event()

    def turns() -> None:
        while not ended.wait(turn * (1 - REST)):
            os.kill(process, signal.SIGSTOP)
            ended.wait(turn * REST)
            os.kill(process, signal.SIGCONT)

    thread = threading.Thread(target=turns)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


RUNS = 4


def _times(workers: Workers, name: str, slow: int, turn: float) -> tuple[float, float, float]:
    """Undisturbed, and the first and last of some runs with a rank stopped in turns: seconds of rank 0."""
    plain = [workers.ask(name)[0] for _ in range(RUNS)]
    with stopped_in_turns(workers.processes[slow].pid, turn):
        slowed = [workers.ask(name)[0] for _ in range(RUNS)]
    return plain[-1], slowed[0], slowed[-1]


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench slow", description=__doc__)
    parser.add_argument("--scale", default="1", help="scale factor of TPC-H (default 1)")
    parser.add_argument("--ranks", type=int, default=2, help="processes of one thread (default 2)")
    parser.add_argument("--slow", type=int, default=1, help="the rank that is stopped (default 1)")
    parser.add_argument("--turn", type=float, default=0.03, help="seconds of a turn (default 0.03)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--queries", default="q01,q06,q09,q18", help="q01,q06")
    parser.add_argument("--topology", help="that plans are made for, not this machine: ethernet-fast")
    options = parser.parse_args(words)
    tables = tpch_data.ensure(options.scale)
    explained = options.ranks / (options.ranks - REST)
    print(
        f"TPC-H scale {options.scale}, {options.ranks} ranks, rank {options.slow} stopped {REST:.0%} of each"
        f" {options.turn * 1000:.0f} ms; lost speed explains {explained:.2f}"
    )
    print(f"query  undisturbed, apart  over what is explained: first run, apart; run {RUNS}, apart")
    with tempfile.TemporaryDirectory() as folder:
        groups = []
        for sharing in ("on", "off"):
            (Path(folder) / sharing).mkdir()
            os.environ["HEADRACE_SHARE_MORSELS"] = sharing
            group = Workers(Path(folder) / sharing, tables, options.ranks, 1, topology=options.topology)
            groups.append(group)
        for name in options.queries.split(","):
            for workers in groups:
                workers.ask(name)  # compiles
            rounds = [
                [_times(workers, name, options.slow, options.turn) for workers in groups]
                for _ in range(options.rounds)
            ]
            plain, first, last = (
                [median(each[group][kind] for each in rounds) for group in (0, 1)] for kind in range(3)
            )
            over = [slow[group] / plain[group] / explained for slow in (first, last) for group in (0, 1)]
            print(
                f"{name}  {plain[0] * 1000:7.1f} ms {plain[1] * 1000:7.1f} ms"
                f"  {over[0]:.2f} {over[1]:.2f}; {over[2]:.2f} {over[3]:.2f}",
                flush=True,
            )
        for workers in groups:
            workers.close()
    return 0
