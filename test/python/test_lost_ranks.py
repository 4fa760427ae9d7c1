"""hr.cluster after a loss: the ranks that are left give the same answers."""

from __future__ import annotations

import functools
import signal
import textwrap
import time
from pathlib import Path

import headrace as hr
import pyarrow as pa
import pyarrow.feather as feather
import pytest
from lasting_queries import lasting
from launched_ranks import Ranks, free_port, left_behind, started_program
from tpch_queries import QUERIES

pytestmark = pytest.mark.waits


def query_of(orders: int) -> str:
    return f"""
select a.l_linenumber as line, count(*) as n, sum(b.l_quantity) as quantity
from lineitem a join lineitem b on a.l_suppkey = b.l_suppkey
join lineitem c on a.l_suppkey = c.l_suppkey and a.l_orderkey + c.l_partkey < b.l_orderkey + c.l_tax
where c.l_orderkey < {orders}
group by a.l_linenumber order by line
"""


@functools.cache
def measured(tables: Path) -> tuple[str, pa.Table]:
    return lasting(query_of, tables, 500)


HEAD = """
import os, signal, sys, threading, time
import headrace as hr, headrace.array as ha, numpy as np, pyarrow as pa, pyarrow.feather as feather
tables = os.environ["TABLES"]
folder = os.environ["FOLDER"]
query = os.environ["QUERY"]
place = int(os.environ["HEADRACE_RANK"])

def in_a_run(group):
    "Called on rank 0 while a run is under way: tells of how many ranks it is."
    return lambda *_: open(f"{folder}/running.{group.size}", "w").close()

def signalled_in_a_run(size, how=signal.SIGKILL):
    "This process, when a run of so many ranks is under way."
    def watch():
        while not os.path.exists(f"{folder}/running.{size}"):
            time.sleep(0.01)
        os.kill(os.getpid(), how)
    threading.Thread(target=watch, daemon=True).start()

def write(name, table):
    if table is not None:
        feather.write_feather(table, f"{folder}/{name}.arrow")
"""


def started(body: str, folder: Path, tables: Path, size: int, meeting: str = "", **variables: str) -> Ranks:
    program, query = HEAD + textwrap.dedent(body), measured(tables)[0]
    return started_program(program, folder, size, meeting, TABLES=str(tables), QUERY=query, **variables)


def answer(folder: Path, name: str) -> pa.Table:
    return feather.read_table(folder / f"{name}.arrow", memory_map=False)


@pytest.fixture(scope="module")
def expected(tpch_small: Path) -> pa.Table:
    return measured(tpch_small)[1]


@pytest.mark.parametrize("size", [4, 8])
def test_the_ranks_that_are_left_give_the_same_answer(
    size: int, tpch_small: Path, tmp_path: Path, expected: pa.Table
) -> None:
    """Rank 2 is killed in the middle of a query; other queries follow."""
    names = ["03", "05", "13", "18"]
    texts = {name: (QUERIES / f"q{name}.sql").read_text() for name in names}
    with started(
        f"""
        with hr.cluster() as group:
            hr.sql("select 1 as x", {{}})
            if place == 2:
                signalled_in_a_run({size})
            write("query", hr.sql(query, tables, progress=in_a_run(group)))
            assert group.size == {size} - 1
            assert group.rank == place - (place > 2)
            for name, text in {texts!r}.items():
                write(name, hr.sql(text, tables))
                if group.rank == 0:
                    assert hr.last_profile().run["ranks"] == {size} - 1
            double = hr.jit(lambda x: x + x)(np.arange(1000.0))
            assert double is None if group.rank else double[999] == 1998
        """,
        tmp_path,
        tpch_small,
        size,
    ) as ranks:
        found = ranks.ended()
    assert [each.status for each in found] == [0, 0, -signal.SIGKILL] + [0] * (size - 3), found
    assert "is lost" in found[0].errors or "has ended: rank 2" in found[0].errors
    assert f"the cluster goes on with {size - 1} ranks" in found[0].errors
    assert answer(tmp_path, "query").equals(expected)
    for name, text in texts.items():
        alone = hr.sql(text, tpch_small)
        order = [(column, "ascending") for column in alone.column_names]
        assert answer(tmp_path, name).sort_by(order).equals(alone.sort_by(order)), name
    assert left_behind(tmp_path / "meeting") == []


def test_three_losses_in_one_query(tpch_small: Path, tmp_path: Path, expected: pa.Table) -> None:
    """As many as a call is run again for; one of them falls into the run that begins again."""
    with started(
        """
        with hr.cluster() as group:
            hr.sql("select 1 as x", {})
            if place in (1, 3, 4):
                signalled_in_a_run({1: 3, 3: 4, 4: 5}[place])
            for number in range(3):
                write(f"query{number}", hr.sql(query, tables, progress=in_a_run(group)))
            if group.rank == 0:
                print(group.size)
        """,
        tmp_path,
        tpch_small,
        5,
    ) as ranks:
        found = ranks.ended()
    killed = -signal.SIGKILL
    assert [each.status for each in found] == [0, killed, 0, killed, killed], found
    assert found[0].output == "2\n"
    for number in range(3):
        assert answer(tmp_path, f"query{number}").equals(expected)


def test_a_query_that_ends_its_ranks_does_not_end_them_all(tpch_small: Path, tmp_path: Path) -> None:
    with started(
        """
        with hr.cluster() as group:
            hr.sql("select 1 as x", {})
            if place > 1:
                signalled_in_a_run(place + 1)
            try:
                hr.sql(query, tables, progress=in_a_run(group))
            except hr.errors.InputOutputError as error:
                print(error)
            write("after", hr.sql("select count(*) as n from lineitem", tables))
        """,
        tmp_path,
        tpch_small,
        6,
    ) as ranks:
        found = ranks.ended()
    assert [each.status for each in found] == [0, 0] + [-signal.SIGKILL] * 4, found
    for each in found[:2]:
        assert "the process of a rank has ended: rank 2" in each.output
    assert answer(tmp_path, "after")["n"].to_pylist() == [60175]


def test_a_rank_that_was_stopped_and_wakes_ends(tpch_small: Path, tmp_path: Path, expected: pa.Table) -> None:
    """The others go on without it after `peerTimeout`; it is told so."""
    with started(
        """
        with hr.cluster(settings={"peerTimeout": 2}) as group:
            hr.sql("select 1 as x", {})
            if place == 1:
                signalled_in_a_run(4, signal.SIGSTOP)
            write("query", hr.sql(query, tables, progress=in_a_run(group)))
            write("after", hr.sql(query, tables, progress=in_a_run(group)))
        """,
        tmp_path,
        tpch_small,
        4,
    ) as ranks:
        others = [ranks.processes[rank] for rank in (0, 2, 3)]
        assert [process.wait(timeout=60) for process in others] == [0] * 3, [p.communicate() for p in others]
        ranks.processes[1].send_signal(signal.SIGCONT)
        output, errors = ranks.processes[1].communicate(timeout=10)
    assert ranks.processes[1].returncode == 1
    assert "the others go on without this rank: no sign of life for 2" in errors
    assert answer(tmp_path, "query").equals(expected)
    assert answer(tmp_path, "after").equals(expected)


def test_a_loss_while_a_rank_is_busy_with_something_else(
    tpch_small: Path, tmp_path: Path, expected: pa.Table
) -> None:
    """The others wait for it, as they do without a loss."""
    with started(
        """
        with hr.cluster() as group:
            hr.sql("select 1 as x", {})
            if place == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            if place == 2:
                time.sleep(2)
            write("query", hr.sql(query, tables, progress=in_a_run(group)))
            assert group.size == 2
        """,
        tmp_path,
        tpch_small,
        3,
    ) as ranks:
        found = ranks.ended()
    assert [each.status for each in found] == [0, -signal.SIGKILL, 0], found
    assert answer(tmp_path, "query").equals(expected)


def test_without_rank_0_all_end(tpch_small: Path, tmp_path: Path) -> None:
    """What the program has is on rank 0."""
    with started(
        """
        with hr.cluster() as group:
            hr.sql("select 1 as x", {})
            if place == 0:
                signalled_in_a_run(3)
            while True:
                hr.sql(query, tables, progress=in_a_run(group))
        """,
        tmp_path,
        tpch_small,
        3,
    ) as ranks:
        begun = time.monotonic()
        found = ranks.ended()
        assert time.monotonic() - begun < 30
    assert [each.status for each in found] == [-signal.SIGKILL, 1, 1]
    for each in found[1:]:
        assert "InputOutputError: the process of a rank has ended: rank 0" in each.errors
    assert left_behind(tmp_path / "meeting") == []


@pytest.mark.parametrize("meeting", ["folder", "store"])
def test_a_rank_that_is_started_again_comes_back(
    meeting: str, tpch_small: Path, tmp_path: Path, expected: pa.Table
) -> None:
    """At the next call; those before return nothing at once. It may be lost again, and come again."""
    with started(
        """
        with hr.cluster() as group:
            for number in range(3):
                size = group.size
                if place == 2 and not os.path.exists(f"{folder}/lost.1"):
                    signalled_in_a_run(4)
                write(f"query{number}", hr.sql(query, tables, progress=in_a_run(group)))
                if group.rank == 0:
                    print(size, group.size)
                if group.rank == 0 and number < 2:
                    os.remove(f"{folder}/running.4")
                    open(f"{folder}/lost.{number}", "w").close()
                    while not group._handle.awaited:
                        time.sleep(0.01)
            if group.rank == 2:
                print(group.name)
        """,
        tmp_path,
        tpch_small,
        4,
        "" if meeting == "folder" else f"127.0.0.1:{free_port()}",
        HEADRACE_SECRET="that nobody else knows",
    ) as ranks:
        for number in range(2):
            end = time.monotonic() + 120
            while not (tmp_path / f"lost.{number}").exists():
                assert time.monotonic() < end and ranks.processes[0].poll() is None
                time.sleep(0.01)
            assert ranks.start_again(2).status == -signal.SIGKILL
        found = ranks.ended()
    assert [each.status for each in found] == [0] * 4, found
    assert found[0].output == "4 3\n3 3\n3 4\n"
    assert found[2].output.startswith("rank 2 on host ")
    for number in range(3):
        assert answer(tmp_path, f"query{number}").equals(expected)
    assert left_behind(tmp_path / "meeting") == []


def test_a_rank_that_comes_back_too_late(tpch_small: Path, tmp_path: Path) -> None:
    with started(
        """
        with hr.cluster() as group:
            hr.sql("select 1 as x", {})
            if place == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            hr.sql("select 1 as x", {})
            while group.rank == 0 and not group._handle.awaited:
                time.sleep(0.01)
        """,
        tmp_path,
        tpch_small,
        3,
    ) as ranks:
        assert ranks.start_again(1).status == -signal.SIGKILL
        found = ranks.ended()
    assert [each.status for each in found] == [0, 1, 0], found
    assert "InputOutputError: the job ended before this rank came in" in found[1].errors


@pytest.mark.parametrize("rank", ["0", "1"])
@pytest.mark.parametrize("meeting", ["folder", "store"])
def test_who_waits_for_the_others_to_come_can_be_interrupted(
    meeting: str, rank: str, tpch_small: Path, tmp_path: Path
) -> None:
    place = str(tmp_path / "meeting") if meeting == "folder" else f"127.0.0.1:{free_port()}"
    body = """
        open(f"{folder}/begun", "w").close()
        try:
            hr.cluster()
        except KeyboardInterrupt:
            print("interrupted")
    """
    variables = {"HEADRACE_RANK": rank, "HEADRACE_SIZE": "2", "HEADRACE_SECRET": "that nobody else knows"}
    with started(body, tmp_path, tpch_small, 1, place, **variables) as ranks:
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)
        time.sleep(1)
        ranks.processes[0].send_signal(signal.SIGINT)
        found = ranks.ended(timeout=10)
    assert found[0].output == "interrupted\n", found


def test_on_loss_says_what_it_may_be() -> None:
    with pytest.raises(hr.errors.UserError, match="on_loss must be shrink or fail, got grow"):
        hr.cluster(on_loss="grow")
