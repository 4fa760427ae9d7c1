"""Ranks of an engine become more and fewer between calls, over a table that the script keeps.

Sources: runtime/session/regroup.cpp
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import duckdb
import headrace as hr
import pyarrow as pa
import pytest
from headrace._src.engines import driver
from lasting_queries import lasting
from rank_processes import Processes

QUERY = "select k, count(*) as n, sum(v) as v from t group by k order by k"
SETTINGS = {"threads": "1", "memory": str(200 << 20), "joinTimeout": "20"}


def table(rows: int = 400_000) -> pa.Table:
    return pa.table({"k": [i % 5 for i in range(rows)], "v": range(rows)})


def answers(rows: pa.Table, ranks: int) -> None:
    found = hr.sql(QUERY, {"t": rows}, topology="ethernet-fast")
    total = rows.num_rows
    sums = [sum(range(k, total, 5)) for k in range(5)]
    assert [int(v) for v in found["v"].to_pylist()] == sums
    assert found["n"].to_pylist() == [total // 5] * 5
    assert hr.last_profile().run["ranks"] == ranks


def parts(group: driver.Driver) -> list[tuple[int, int]]:
    """Which parts of tables each rank has, by what the driver keeps of it."""
    return [(key[1].index, key[1].size) for member in group._handle._ranks for key in member.holds]


@pytest.fixture
def engine() -> Iterator[Processes]:
    made = Processes(2, follows=True)
    yield made
    made.end()


@pytest.fixture
def group(engine: Processes) -> Iterator[driver.Driver]:
    with driver.Driver(driver.RemoteRanks(engine, SETTINGS), "fail") as ranks, warnings.catch_warnings():
        warnings.simplefilter("error")
        yield ranks


def processes(group: driver.Driver) -> list[int]:
    return [member.process for member in group._handle._ranks]


def until(said: Any) -> None:
    end = time.monotonic() + 30
    while not said():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_two_then_six_then_three(group: driver.Driver, engine: Processes) -> None:
    rows = table()
    answers(rows, 2)
    assert parts(group) == [(0, 2), (1, 2)]
    engine.more(4)
    group.resize(6)
    assert group.size == 6
    answers(rows, 6)
    assert parts(group) == [(rank, 6) for rank in range(6)]
    group.resize(3)
    assert group.size == 3
    answers(rows, 3)
    assert parts(group) == [(rank, 3) for rank in range(3)]
    group.resize(6)  # the others have kept what they had, which is of use again
    answers(rows, 6)
    assert parts(group) == [(rank, 6) for rank in range(6)]


def test_ranks_follow_the_engine(group: driver.Driver, engine: Processes) -> None:
    """Whom it gives up in good order is not lost: no warning, and no error, though losses are errors here."""
    rows = table()
    answers(rows, 2)
    engine.more(1)
    until(lambda: group._handle.awaited)
    answers(rows, 3)
    for left in (2, 1):
        engine.give_up(processes(group)[0])
        until(lambda: group._handle.retired)
        answers(rows, left)
    assert group.size == 1


def test_a_rank_that_is_killed_is_lost(group: driver.Driver, engine: Processes) -> None:
    answers(table(), 2)
    engine.kill(processes(group)[1])
    with pytest.raises(hr.errors.InputOutputError, match="the process of a rank has ended: rank 1"):
        answers(table(), 1)


def test_one_that_goes_in_a_call() -> None:
    """The call runs again on those that are left."""
    text, _ = lasting(
        lambda size: (
            f"select count(*) as n from range({size}) a(x) join range(30000) b(y) on x * 7 % 1000 < y % 3"
        ),
        {},
        20000,
    )
    engine = Processes(3, follows=True)
    given_up: list[int] = []

    with driver.Driver(driver.RemoteRanks(engine, SETTINGS), "shrink") as group, warnings.catch_warnings():
        warnings.simplefilter("error")

        def progress(*_: object) -> None:
            if not given_up:
                given_up.append(processes(group)[1])
                engine.give_up(given_up[0])

        found = hr.sql(text, progress=progress)
        assert found["n"].to_pylist() == [duckdb.sql(text).fetchall()[0][0]]
        assert given_up
        assert group.size == 2
    engine.end()


def test_more_than_there_are(group: driver.Driver) -> None:
    group._handle._join_seconds = 0.2
    with pytest.raises(hr.errors.InputOutputError, match="of 3 came 2"):
        group.resize(3)
    with pytest.raises(hr.errors.UserError, match="at least one rank, got ranks=0"):
        group.resize(0)
    answers(table(), 2)
