"""Ranks in processes that the driver does not start itself: plain ones here, for what an engine does."""

from __future__ import annotations

import functools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import headrace as hr
import numpy as np
import pyarrow as pa
import pytest
from headrace._src.engines.channel import Channel
from headrace._src.engines.driver import Driver, RemoteRanks
from headrace._src.engines.member import Invitation
from headrace._src.engines.places import checked_ranks, rank_settings, reason
from headrace._src.programs import setting_texts
from lasting_queries import lasting
from rank_processes import Processes

pytestmark = pytest.mark.waits

COUNT = "select count(*) as n from lineitem"
LONG = "select count(*) from lineitem a join lineitem b on a.l_tax < b.l_quantity join lineitem c on true"


@functools.cache
def seconds_of_work(tables: Path) -> tuple[str, pa.Table]:
    """A query and its answer."""

    def text(orders: int) -> str:
        return f"""
select count(*) as n from lineitem a join lineitem b on a.l_suppkey = b.l_suppkey
join lineitem c on a.l_suppkey = c.l_suppkey and a.l_orderkey + c.l_partkey < b.l_orderkey + c.l_tax
where c.l_orderkey < {orders}
"""

    return lasting(text, tables, 1000)


def driver(engine: Processes, **settings: object) -> Driver:
    return Driver(RemoteRanks(engine, rank_settings(setting_texts(settings))), "shrink")


def until(said: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not said():
        assert time.monotonic() < end
        time.sleep(0.05)


def process_of(group: Driver, rank: int) -> int:
    return group._handle._ranks[rank].process


def test_queries_and_arrays(engine: Processes, tpch_small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by a path that is relative to the driver's folder."""
    monkeypatch.chdir(tpch_small)
    with driver(engine) as group:
        assert (group.rank, group.size) == (0, 3)
        for _ in range(2):
            assert hr.sql(COUNT, ".")["n"].to_pylist() == [60175]
        assert hr.last_profile().run["ranks"] == 3
        assert hr.batches(COUNT, ".").read_all()["n"].to_pylist() == [60175]
        assert "lineitem" in str(hr.sql(f"EXPLAIN ANALYZE {COUNT}", "."))
        assert hr.sql("show tables", ".").num_rows == 8
        double = hr.jit(lambda x, y: x + y)
        assert np.array_equal(double(np.arange(100.0), np.ones(100)), np.arange(100.0) + 1)
        rows = pa.table({"k": range(100)})
        assert hr.sql("select sum(k) as s from t", {"t": rows})["s"].to_pylist() == [4950]
        session = hr.connect({"t": rows})
        session.sql("create table a as select k from t where k > 50; insert into a select k * 2 from a")
        session.sql("insert into a values (1); delete from a where k = 102")
        assert session.sql("select count(*) as n, sum(k) as s from a").arrow().to_pylist() == [
            {"n": 98, "s": 10924}
        ]
        stream = pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches())
        with pytest.raises(hr.errors.UserError, match="a stream can be read only once.*, table: t"):
            hr.sql("select sum(k) as s from t", {"t": stream})
        tensor = hr.query("select k from t", {"t": rows}).to_tensor("k")
        with pytest.raises(hr.errors.UserError, match="does not send the tables .*: t"):
            hr.jit(lambda x: x + x)(tensor)
    assert hr.sql("select 1 as x", {}).num_rows == 1  # on its own again
    for thread in threading.enumerate():
        if thread.name.startswith("headrace "):
            thread.join(timeout=10)
            assert not thread.is_alive(), thread.name


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_a_rank_is_lost_in_a_run(engine: Processes, tpch_small: Path, rank: int, how: signal.Signals) -> None:
    """The same answer from the others; a process that is started in its place is a rank."""
    query, expected = seconds_of_work(tpch_small)
    with driver(engine, peerTimeout=2) as group:
        struck = []

        def strike(*_: object) -> None:
            if not struck:
                struck.append(process_of(group, rank))
                os.kill(struck[0], how)

        alone = hr.sql(COUNT, tpch_small)
        with pytest.warns(RuntimeWarning, match="the cluster goes on with 2 ranks"):
            assert hr.sql(query, tpch_small, progress=strike).equals(expected)
        assert hr.sql(COUNT, tpch_small).equals(alone)
        engine.more(1)
        end = time.monotonic() + 30
        while group.size < 3:
            assert time.monotonic() < end
            time.sleep(0.1)
            assert hr.sql(COUNT, tpch_small).equals(alone)
        os.kill(struck[0], signal.SIGCONT if how == signal.SIGSTOP else 0)


def test_a_loss_that_is_noticed_late(engine: Processes, tpch_small: Path) -> None:
    """Between the questions who is lost and who has come: it is a loss, not a change of plans."""

    class Late(RemoteRanks):
        strikes = False

        @property
        def lost(self) -> str:
            found = super().lost
            if self.strikes:
                self.strikes = False
                os.kill(self._ranks[1].process, signal.SIGKILL)
                until(lambda: self._ranks[1].gone)
            return found

    with Driver(Late(engine, {}), "shrink") as group:
        group._handle.strikes = True
        with pytest.warns(RuntimeWarning, match="the cluster goes on with 2 ranks"):
            assert hr.sql(COUNT, tpch_small)["n"].to_pylist() == [60175]


def test_a_process_that_was_stopped_comes_again(engine: Processes, tpch_small: Path) -> None:
    with driver(engine, peerTimeout=2) as group:
        process = process_of(group, 1)
        os.kill(process, signal.SIGSTOP)
        with pytest.warns(RuntimeWarning, match="the cluster goes on with 2 ranks"):
            assert hr.sql(COUNT, tpch_small)["n"].to_pylist() == [60175]
        os.kill(process, signal.SIGCONT)
        until(lambda: len(group._handle._lobby.members) == 3)
        assert hr.sql(COUNT, tpch_small)["n"].to_pylist() == [60175]
        assert process in [process_of(group, rank) for rank in range(3)]


def test_a_process_that_comes_while_the_driver_goes(engine: Processes) -> None:
    """It is sent away, and ends."""
    with driver(engine) as group:
        lobby = group._handle._lobby
        with socket.create_server(("127.0.0.1", 0)) as place:
            there = socket.create_connection(place.getsockname())
            here, _ = place.accept()
        coming = threading.Thread(target=lobby._meet, args=(here,))
        coming.start()
        channel = Channel.proved(there, lobby.secret, listening=False)
    channel.send(("here", "host", 1))
    with pytest.raises(hr.errors.InputOutputError, match="the other end is gone"):
        channel.receive()
    coming.join(timeout=10)
    assert not coming.is_alive()
    assert lobby.members == []


def test_processes_that_start_and_end_together(tpch_small: Path) -> None:
    """As the tasks of a barrier stage: the engine starts new ones for all after a loss, and to be more."""

    class Together(Processes):
        together = True

        def start(self, invitation: Invitation) -> None:
            self._to_start = self.ranks
            super().start(invitation)

        def stop(self) -> None:
            for each in self.processes:
                self.kill(each.pid)
            self.processes = []

        def resize(self, ranks: int) -> bool:
            self.ranks = ranks
            return True

    query, expected = seconds_of_work(tpch_small)
    engine = Together(2)
    with driver(engine) as group:
        first = {process_of(group, rank) for rank in range(2)}
        os.kill(process_of(group, 0), signal.SIGKILL)
        with pytest.warns(RuntimeWarning, match="the cluster goes on with 2 ranks"):
            assert hr.sql(COUNT, tpch_small)["n"].to_pylist() == [60175]
        assert first.isdisjoint(process_of(group, rank) for rank in range(2))
        for ranks in (3, 1):
            group.resize(ranks)
            assert hr.sql(COUNT, tpch_small)["n"].to_pylist() == [60175]
            assert group.size == ranks
        struck = []

        def strike(*_: object) -> None:
            if not struck:
                struck.append(process_of(group, 0))
                os.kill(struck[0], signal.SIGKILL)

        with pytest.warns(RuntimeWarning, match="the cluster goes on with 1 rank$"):
            assert hr.sql(query, tpch_small, progress=strike).equals(expected)
    assert engine.processes == []


def test_a_process_of_an_earlier_start_is_none_of_the_new(tpch_small: Path) -> None:
    """It comes again once it is dropped, for its engine ends it only later."""

    class Lingering(Processes):
        together = True

        def start(self, invitation: Invitation) -> None:
            self.earlier = list(self.processes)
            super().start(invitation)

    engine = Lingering(2)
    with driver(engine) as group:
        group._handle.regroup(None)
        assert hr.sql(COUNT, tpch_small)["n"].to_pylist() == [60175]
        earlier = {each.pid for each in engine.earlier}
        assert earlier.isdisjoint(process_of(group, rank) for rank in range(2))
        for each in engine.earlier:
            each.kill()
        assert hr.sql(COUNT, tpch_small)["n"].to_pylist() == [60175]
    engine.end()


def test_an_engine_says_why(tpch_small: Path) -> None:
    class Troubled(Processes):
        def trouble(self) -> str:
            return "the engine is full"

    few = Troubled(2, started=1)
    with pytest.raises(hr.errors.InputOutputError, match="^the engine is full$"):
        driver(few)
    few.end()


def test_more_than_there_is_room_for(engine: Processes, tpch_small: Path) -> None:
    """The ranks stay as they are, and the engine is told to have as many again."""

    class Owner(Processes):
        asked: list[int] = []

        def resize(self, ranks: int) -> bool:
            self.asked.append(ranks)
            return True

    owner = Owner(2)
    with driver(owner, joinTimeout=4) as group:
        with pytest.raises(
            hr.errors.InputOutputError, match="the engine has no room for 3 ranks.*of 3 came 2"
        ):
            group.resize(3)
        assert owner.asked == [3, 2]
        assert hr.sql(COUNT, tpch_small)["n"].to_pylist() == [60175]
        assert group.size == 2
    owner.end()


def test_settings_of_ranks(engine: Processes) -> None:
    with driver(engine, threads=1, memory="200 MB") as group:
        assert group.memory == 200_000_000
    for settings, why in (
        ({"threads": "many"}, "the setting threads must be a positive number, got many"),
        ({"peerTimeout": 0}, "the setting peerTimeout must be a positive number, got 0"),
        ({"memory": "much"}, "the setting memory: .*much"),
    ):
        with pytest.raises(hr.errors.UserError, match=why):
            driver(engine, **settings)


def test_reasons() -> None:
    """What of another process's trace is said in one line."""
    trace = Exception(
        'Job aborted\n  at Worker.scala:5\nTraceback (most recent call last):\n  File "x.py"\n'
        "ModuleNotFoundError: No module named 'headrace'\n\tat java.lang.Thread"
    )
    assert reason(trace) == "ModuleNotFoundError: No module named 'headrace'"
    assert reason(Exception("Job aborted\n more")) == "Job aborted"
    assert reason(KeyError()) == "KeyError"


def test_no_process_is_left(engine: Processes, tpch_small: Path) -> None:
    with driver(engine) as group:
        for rank in range(3):
            os.kill(process_of(group, rank), signal.SIGKILL)
        for _ in range(2):
            with pytest.raises(hr.errors.InputOutputError, match="no process of the engine is left"):
                hr.sql(COUNT, tpch_small)
        engine.more(2)
        end = time.monotonic() + 30
        while len(group._handle._lobby.members) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        with pytest.warns(RuntimeWarning, match="goes on with 2 ranks"):
            assert hr.sql(COUNT, tpch_small)["n"].to_pylist() == [60175]


def test_a_query_is_stopped(engine: Processes, tpch_small: Path) -> None:
    with driver(engine):
        began = time.monotonic()
        with pytest.raises(hr.errors.QueryTimeoutError):
            hr.sql(LONG, tpch_small, timeout=0.5)
        assert time.monotonic() - began < 10
        assert hr.sql(COUNT, tpch_small)["n"].to_pylist() == [60175]


def test_the_driver_is_killed(tpch_small: Path, tmp_path: Path) -> None:
    """Its ranks end by themselves, in a run."""
    program = tmp_path / "driver.py"
    program.write_text(f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_driver import LONG, Processes, driver, hr
engine = Processes(2)
with driver(engine):
    print(*[each.pid for each in engine.processes], flush=True)
    hr.sql(LONG, {str(tpch_small)!r}, progress=lambda *_: print("running", flush=True))
""")
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout
        ranks = [int(word) for word in started.stdout.readline().split()]
        assert started.stdout.readline() == "running\n"
        started.kill()
    end = time.monotonic() + 20
    while any(Path(f"/proc/{each}/stat").exists() for each in ranks):
        assert time.monotonic() < end
        time.sleep(0.1)


def test_strangers_are_kept_out(engine: Processes, tpch_small: Path) -> None:
    """Wrong secret, garbage and silence; none of them keeps the ranks from working."""
    with driver(engine) as group:
        lobby = group._handle._lobby
        place = ("127.0.0.1", lobby.port)
        with socket.create_connection(place) as garbage, socket.create_connection(place) as silent:
            garbage.sendall(b"GET / HTTP/1.1\r\n" * 100)
            with pytest.raises(
                hr.errors.InputOutputError, match="does not know the session: wrong secret|closed"
            ):
                Channel.proved(socket.create_connection(place), b"x" * 32, listening=False)
            assert hr.sql(COUNT, tpch_small)["n"].to_pylist() == [60175]
            silent.settimeout(10)
            while silent.recv(4096):  # the number that it would have to sign; then it is turned away
                pass
        assert len(lobby.members) == 3


def test_processes_that_do_not_come(tpch_small: Path) -> None:
    few = Processes(2, started=1)
    with pytest.raises(hr.errors.InputOutputError, match="of this machine, or lack headrace: of 2 came 1"):
        driver(few, joinTimeout=3)
    few.end()


def test_ranks_need_processes() -> None:
    class Threads(Processes):
        def start(self, invitation: Invitation) -> None:
            from headrace._src.engines.member import serve_on_a_thread

            for _ in range(2):
                serve_on_a_thread(invitation)

    with pytest.raises(hr.errors.UserError, match="each rank needs a process of its own"):
        driver(Threads(2))


def test_a_rank_that_is_gone(engine: Processes) -> None:
    with driver(engine) as group:
        lobby = group._handle._lobby
        first, second, _ = lobby.members
        with pytest.raises(hr.errors.InputOutputError, match="a rank does not answer: process"):
            lobby.answer(first, first.asked + 1, seconds=0.01)
        with pytest.raises(hr.errors.InputOutputError, match="a rank has ended: process"):
            lobby.answer(first, first.asked + 1)
        with pytest.raises(hr.errors.InputOutputError, match="a message did not go out"):
            first.channel.send("anything")
        with pytest.raises(hr.errors.InputOutputError, match="the other end is gone"):
            first.channel.receive()
        assert not second.gone


def test_more_ranks_than_workers() -> None:
    assert [checked_ranks(None, 4, "Dask"), checked_ranks(2, 4, "Dask")] == [4, 2]
    with pytest.raises(hr.errors.UserError, match="Dask has room for 4 at most, got ranks=5"):
        checked_ranks(5, 4, "Dask")
