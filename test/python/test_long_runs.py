"""Runs that take long: they say how far they are, and stop when asked to."""

from __future__ import annotations

import os
import signal
import threading
import time

import headrace as hr
import pyarrow as pa
import pytest

pytestmark = pytest.mark.alone

JOIN = "select count(*) as n from t a, t b where a.k = b.k"


def _same_keys(rows: int) -> dict[str, pa.Table]:
    return {"t": pa.table({"k": pa.array([1] * rows)})}


def test_progress() -> None:
    told: list[tuple[int, int, int, str]] = []
    rows = 10_000
    while not told:  # however fast the machine is
        rows *= 2
        table = hr.sql(JOIN, _same_keys(rows), threads=1, progress=lambda *at: told.append(at))
        assert table.column("n").to_pylist() == [rows * rows]
    for ended, tasks, taken, running in told:
        assert 0 <= ended < tasks
        assert 0 <= taken <= 2 * rows
        assert running == "" or "scan_t" in running or "groups" in running
    assert [at[0] for at in told] == sorted(at[0] for at in told)


def test_an_interrupt_ends_a_run_within_a_morsel() -> None:
    hr.explain(JOIN, _same_keys(10))
    tables = _same_keys(200_000)  # 4e10 pairs: minutes
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell put us aside
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    started = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            hr.sql(JOIN, tables, threads=1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - started < 20
    assert hr.sql(JOIN, _same_keys(10), threads=1).column("n").to_pylist() == [100]


def _ends_soon(raised: type[BaseException], **options: object) -> BaseException:
    """A run of minutes that ends within seconds, and leaves the next one alone."""
    hr.explain(JOIN, _same_keys(10))
    started = time.monotonic()
    with pytest.raises(raised) as caught:
        hr.sql(JOIN, _same_keys(200_000), threads=1, **options)
    assert time.monotonic() - started < 20
    assert hr.sql(JOIN, _same_keys(10), threads=1).column("n").to_pylist() == [100]
    return caught.value


@pytest.mark.parametrize("options", [{}, {"ranks": 2}])
def test_a_timeout_ends_a_run(options: dict[str, int]) -> None:
    error = _ends_soon(hr.errors.QueryTimeoutError, timeout=1.5, **options)
    assert isinstance(error, TimeoutError) and error.kind == "cancelled"
    assert str(error) == "the query took longer than its timeout: 1.5 s"


def test_a_handle_cancels_a_run() -> None:
    cancel = hr.Cancel()
    threading.Timer(0.7, cancel.cancel).start()
    error = _ends_soon(hr.errors.CancelledError, cancel=cancel)
    assert str(error) == "the query was cancelled" and cancel.cancelled
    with pytest.raises(hr.errors.CancelledError):  # it stays so
        hr.sql(JOIN, _same_keys(10), cancel=cancel)


def test_progress_that_raises_ends_a_run() -> None:
    def progress(*_: object) -> None:
        raise RuntimeError("seen enough")

    assert str(_ends_soon(RuntimeError, progress=progress)) == "seen enough"


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan"), float("inf")])
def test_a_timeout_is_a_positive_number(timeout: float) -> None:
    with pytest.raises(hr.errors.UserError, match="timeout must be a positive number of seconds"):
        hr.sql(JOIN, _same_keys(10), timeout=timeout)
