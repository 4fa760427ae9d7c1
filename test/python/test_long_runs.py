"""Runs that take long: they say how far they are, and stop when asked to."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

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


def _texts(length: int, rows: int = 1) -> dict[str, pa.Table]:
    return {"t": pa.table({"s": pa.array(["ab" * (length // 2)] * rows)})}


def _numbers(rows: int) -> dict[str, pa.Table]:
    return {"t": pa.table({"x": pa.array([i * 7919 % 1000003 for i in range(rows)])})}


def _over_frames(function: str) -> str:
    frame = "order by x rows between 100000 preceding and current row exclude current row"
    return f"select count(m) as n from (select {function} over ({frame}) as m from t)"


#: Steps of minutes, each of them one call of a function, or one partition: a table for it, and the query.
LONG_STEPS = {
    "one distance": (_texts(1_000_000), "select levenshtein(s, reverse(s)) as n from t"),
    "one distance with swaps": (
        _texts(12_000, 60),
        "select sum(damerau_levenshtein(s, reverse(s))) as n from t",
    ),
    "one similarity": (_texts(1_500_000), "select jaro_similarity(s, repeat('c', 1500000)) as n from t"),
    "many distances": (_texts(20_000, 900), "select sum(levenshtein(s, reverse(s))) as n from t"),
    "many functions": (_texts(2_000_000, 900), "select sum(length(sha256(reverse(s)))) as n from t"),
    "lists of frames": (_numbers(400_000), _over_frames("mad(x)")),
    "values of frames": (_numbers(400_000), _over_frames("sum(distinct cast(x as double))")),
}


@pytest.mark.parametrize("name", LONG_STEPS)
def test_a_timeout_ends_a_long_step(name: str) -> None:
    tables, query = LONG_STEPS[name]
    hr.explain(query, tables)
    started = time.monotonic()
    with pytest.raises(
        hr.errors.QueryTimeoutError, match=r"^the query took longer than its timeout: 0\.3 s$"
    ):
        hr.sql(query, tables, threads=1, timeout=0.3)
    assert time.monotonic() - started < 3  # 0.4, if nothing else runs
    assert hr.sql(JOIN, _same_keys(10), threads=1).column("n").to_pylist() == [100]


#: Each window is an operator with a kernel of its own: seconds of compiling.
MANY_WINDOWS = ", ".join(f"sum(x) over (partition by x % {i + 2}) as s{i}" for i in range(400))


@pytest.fixture
def no_plans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled already."""
    hr.explain(JOIN, _same_keys(10))
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))


@pytest.mark.usefixtures("no_plans")
def test_a_timeout_ends_a_compilation() -> None:
    started = time.monotonic()
    with pytest.raises(
        hr.errors.QueryTimeoutError, match=r"^the query took longer than its timeout: 0\.4 s$"
    ):
        hr.sql(f"select {MANY_WINDOWS} from t", _numbers(10), timeout=0.4)
    assert time.monotonic() - started < 2
    assert hr.sql("select sum(x + 1) as n from t", _numbers(10)).num_rows == 1  # the compiler goes on


#: Constants that take seconds to compute: by DuckDB's binder, and by the compiler.
LONG_CONSTANTS = {
    "by the binder": "abs(levenshtein(repeat('ab', 25000), repeat('ba', 25000)))",
    "by the compiler": f"damerau_levenshtein('{'ab' * 15_000}', '{'ba' * 15_000}')",
}


@pytest.mark.usefixtures("no_plans")
@pytest.mark.parametrize("name", LONG_CONSTANTS)
def test_a_timeout_ends_a_constant(name: str) -> None:
    started = time.monotonic()
    with pytest.raises(
        hr.errors.QueryTimeoutError, match=r"^the query took longer than its timeout: 0\.3 s$"
    ):
        hr.sql(f"select {LONG_CONSTANTS[name]} as n from t", _numbers(10), timeout=0.3)
    assert time.monotonic() - started < 1.5  # 0.35, if nothing else runs
    # The next one waits for no binder that goes on.
    assert hr.sql(JOIN, _same_keys(10), threads=1).column("n").to_pylist() == [100]
    assert time.monotonic() - started < 2.5


@pytest.mark.parametrize("options", [{}, {"timeout": 100.0}])
def test_mistakes_are_told_with_and_without_a_timeout(options: dict[str, float]) -> None:
    with pytest.raises(hr.errors.SqlError, match="nothing") as caught:
        hr.sql("select nothing from t", _numbers(10), **options)
    assert caught.value.place


@pytest.mark.usefixtures("no_plans")
def test_a_handle_cancels_a_compilation() -> None:
    cancel = hr.Cancel()
    threading.Timer(0.4, cancel.cancel).start()
    started = time.monotonic()
    with pytest.raises(hr.errors.CancelledError, match="^the query was cancelled$"):
        hr.sql(f"select {MANY_WINDOWS} from t", _numbers(10), cancel=cancel)
    assert time.monotonic() - started < 2


def test_progress_that_raises_ends_a_run() -> None:
    def progress(*_: object) -> None:
        raise RuntimeError("seen enough")

    assert str(_ends_soon(RuntimeError, progress=progress)) == "seen enough"


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan"), float("inf")])
def test_a_timeout_is_a_positive_number(timeout: float) -> None:
    with pytest.raises(hr.errors.UserError, match="timeout must be a positive number of seconds"):
        hr.sql(JOIN, _same_keys(10), timeout=timeout)
