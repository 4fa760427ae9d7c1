"""Children by `fork` of a process that has run queries: they run their own, as multiprocessing needs it."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable

import headrace as hr
import numpy as np
import pyarrow as pa

TABLE = pa.table({"k": [1, 2, 3] * 1000, "x": np.arange(3000.0)})


def total(factor: int) -> float:
    """A query that the parent has run, and one that is new to it."""
    (known,) = hr.sql("select sum(x) as s from t", {"t": TABLE}, ranks=2, threads=2).to_pylist()
    (new,) = hr.sql(f"select sum(x) * {factor} as s from t where k <> {factor}", {"t": TABLE}).to_pylist()
    doubled = hr.jit(ranks=2, threads=2)(lambda x: x + x)(np.full(4, float(factor)))
    return known["s"] + 0 * new["s"] + doubled[0]


def ended(process: int, seconds: float = 60) -> int:
    """The exit code of a child; it is killed if it does not end."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pid, status = os.waitpid(process, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return -signal.SIGKILL


def in_child(body: Callable[[], None]) -> int:
    process = os.fork()
    if process == 0:
        try:
            body()
        except BaseException as error:  # noqa: BLE001 - whatever it is, the child ends here
            print(error, file=sys.stderr, flush=True)
            os._exit(3)
        os._exit(0)
    return ended(process)


def test_children_run_queries_of_their_own() -> None:
    assert total(2) == TABLE["x"].to_numpy().sum() + 4
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = pool.map_async(total, [2, 3, 5]).get(timeout=120)
    assert results == [TABLE["x"].to_numpy().sum() + 2 * factor for factor in (2, 3, 5)]
    assert total(2) == TABLE["x"].to_numpy().sum() + 4  # the parent goes on


def test_a_child_of_a_child() -> None:
    total(2)

    def body() -> None:
        total(3)
        assert in_child(lambda: total(2) and None) == 0

    assert in_child(body) == 0


def test_a_child_that_exits_as_programs_do() -> None:
    """Through the interpreter's end, with all that is destroyed there."""
    total(2)
    process = os.fork()
    if process == 0:
        total(3)
        ctypes.CDLL(None).exit(0)
    assert ended(process) == 0
