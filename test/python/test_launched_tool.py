"""headrace-run as one of the processes that a launcher has started."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from headrace._src.query.sql import compile_to
from launched_ranks import Ended, Ranks, free_port, left_behind
from tpch_queries import QUERIES

pytestmark = pytest.mark.waits

HOST = socket.gethostname()


def tool() -> str:
    found = shutil.which("headrace-run")
    assert found, "headrace-run is not on PATH"
    return found


@pytest.fixture(scope="module")
def plan(tpch_small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plans") / "q03.plan"
    compile_to(folder, (QUERIES / "q03.sql").read_text(), tpch_small, ranks=3)
    return folder


def run(plan: Path, *arguments: object, size: int = 3, meeting: object, **variables: str) -> list[Ended]:
    with Ranks([tool(), plan, *arguments], size, meeting, **variables) as ranks:
        return ranks.ended()


def test_rank_0_alone_writes_the_result_of_all(plan: Path, tmp_path: Path) -> None:
    alone = subprocess.run(
        [tool(), plan, "--format", "csv"], capture_output=True, text=True, check=True
    ).stdout
    for size in (1, 2, 4):
        flags = ["--format", "csv", "--profile", "--topology", "any"]
        ended = run(plan, *flags, size=size, meeting=tmp_path / str(size))
        assert [each.status for each in ended] == [0] * size, ended
        assert sorted(ended[0].output.splitlines()) == sorted(alone.splitlines())
        assert all(each.output == "" and each.errors == "" for each in ended[1:])
        profile = json.loads(ended[0].errors)
        assert profile["ranks"] == size
        assert {task["rank"] for task in profile["tasks"]} == set(range(size))
    assert left_behind(tmp_path) == []


def test_ranks_meet_at_an_address_with_a_secret(plan: Path) -> None:
    meeting = f"127.0.0.1:{free_port()}"
    ended = run(plan, meeting=meeting, HEADRACE_SECRET="known to the ranks alone")
    assert [each.status for each in ended] == [0] * 3, ended
    assert "o_orderdate" in ended[0].output


def test_an_error_names_the_rank_on_all(tpch_small: Path, tmp_path: Path) -> None:
    # The rows of one rank alone divide by zero.
    text = "select max(1 // (l_orderkey - 60000)) as x from lineitem"
    compile_to(tmp_path / "x.plan", text, tpch_small, ranks=3)
    ended = run(tmp_path / "x.plan", meeting=tmp_path / "meeting")
    found = set()
    for rank, each in enumerate(ended):
        assert each.status == 1
        own = f"headrace-run: rank {rank} on host {HOST}: "
        assert each.errors.startswith(own) and each.errors.count("\n") == 1
        found.add(each.errors.removeprefix(own))
    [error] = found
    assert re.match(f"data error: rank [012] on host {HOST}: division by zero", error), error


def test_a_rank_without_memory_is_named(plan: Path, tmp_path: Path) -> None:
    with Ranks([tool(), plan], 3, tmp_path / "meeting", {1: {"HEADRACE_MEMORY": "300KB"}}) as ranks:
        for each in ranks.ended():
            assert each.status == 1
            assert f"memory error: rank 1 on host {HOST}: out of host memory" in each.errors


def test_ranks_run_one_plan(plan: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.plan"
    shutil.copytree(plan, other)
    script = f'exec {tool()} $([ "$HEADRACE_RANK" = 1 ] && echo {other} || echo {plan}) --topology any'
    with Ranks(["bash", "-c", script], 2, tmp_path / "meeting") as ranks:
        for each in ranks.ended():
            assert each.status == 1
            assert f"mismatch error: rank 1 on host {HOST}: all ranks make the same calls" in each.errors
            assert f"rank 0 makes 'headrace-run {plan}', this rank 'headrace-run {other}'" in each.errors


def test_only_rank_0_needs_the_plan(plan: Path, tmp_path: Path) -> None:
    """Kernels come from rank 0 alone."""
    script = f'[ "$HEADRACE_RANK" = 0 ] && cp -r {plan} x.plan; exec {tool()} x.plan --topology any'
    for rank in range(2):
        (tmp_path / str(rank)).mkdir()
    with Ranks(["bash", "-c", f"cd {tmp_path}/$HEADRACE_RANK; {script}"], 2, tmp_path / "meeting") as ranks:
        assert [each.status for each in ranks.ended()] == [0, 0]
    assert not (tmp_path / "1" / "x.plan").exists()


def test_as_many_ranks_as_were_started(plan: Path, tmp_path: Path) -> None:
    for arguments in (["--ranks", 3], ["--processes"]):
        for each in run(plan, *arguments, size=2, meeting=tmp_path / "meeting"):
            assert each.status == 2
            assert "the launcher has started 2 ranks: leave out --processes" in each.errors
    alone = run(plan, "--launcher", "none", "--format", "csv", size=2, meeting=tmp_path / "meeting")
    assert alone[0] == alone[1]
    assert alone[0].output


def test_a_topology_is_checked_by_rank_0(plan: Path, tmp_path: Path) -> None:
    for each in run(plan, "--topology", "ethernet-slow", size=3, meeting=tmp_path / "meeting"):
        assert each.status != 0
        assert "the plan was compiled for another topology" in each.errors, each.errors


def test_the_number_of_ranks_is_checked_by_rank_0(plan: Path, tmp_path: Path) -> None:
    for each in run(plan, size=2, meeting=tmp_path / "meeting"):
        assert each.status != 0
        assert "the plan was compiled for another number of ranks, 3" in each.errors, each.errors


def test_a_launcher_that_is_not_there_is_said(plan: Path) -> None:
    done = subprocess.run([tool(), plan, "--launcher", "mpi"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "started by mpi? a variable is not in the environment: OMPI_COMM_WORLD_RANK" in done.stderr


def test_a_rank_that_does_not_come_is_said(plan: Path, tmp_path: Path) -> None:
    with Ranks([tool(), plan, "--join-timeout", 1], 1, tmp_path / "meeting", HEADRACE_SIZE="2") as ranks:
        [ended] = ranks.ended()
    assert ended.status == 1
    assert "headrace-run: rank 0: io error: the others waited for 1 s" in ended.errors


@pytest.fixture(scope="module")
def long_plan(tpch_small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hours of work."""
    folder = tmp_path_factory.mktemp("plans") / "pairs.plan"
    compile_to(
        folder,
        "select count(*) as n from lineitem a join lineitem b on a.l_linenumber = b.l_linenumber "
        "join lineitem c on a.l_linenumber = c.l_linenumber "
        "and a.l_extendedprice + c.l_tax < b.l_extendedprice + c.l_extendedprice",
        tpch_small,
        ranks=3,
    )
    return folder


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_a_lost_rank_is_named_on_all_others(how: signal.Signals, long_plan: Path, tmp_path: Path) -> None:
    with Ranks([tool(), long_plan, "--peer-timeout", 3], 3, tmp_path / "meeting") as ranks:
        time.sleep(2)
        started = time.monotonic()
        ranks.processes[1].send_signal(how)
        for rank in (0, 2):
            _, errors = ranks.processes[rank].communicate(timeout=60)
            assert ranks.processes[rank].returncode == 1
            assert re.search(f"rank {rank} on host {HOST}: io error: .* rank 1 on host {HOST}$", errors), (
                errors
            )
        assert time.monotonic() - started < 6
    assert left_behind(tmp_path / "meeting") == []


def test_sigterm_at_one_rank_ends_all(long_plan: Path, tmp_path: Path) -> None:
    with Ranks([tool(), long_plan], 3, tmp_path / "meeting") as ranks:
        time.sleep(2)
        ranks.processes[2].send_signal(signal.SIGTERM)
        for rank, each in enumerate(ranks.ended(timeout=20)):
            assert each.status == (143 if rank == 2 else 1)
            where = "" if rank == 2 else f"rank 2 on host {HOST}: "
            assert f"cancelled error: {where}stopped by the user" in each.errors


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_dies_while_the_others_come_is_missed(rank: int, plan: Path, tmp_path: Path) -> None:
    with Ranks([tool(), plan, "--join-timeout", 2], 2, tmp_path / "meeting", HEADRACE_SIZE="3") as ranks:
        time.sleep(0.5)
        ranks.processes[rank].kill()
        _, errors = ranks.processes[1 - rank].communicate(timeout=30)
        assert "io error: the others waited for 2 s" in errors
