"""`headrace doctor`: each thing that it finds, on records and on ranks that are wrong."""

from __future__ import annotations

import re
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from headrace._src.command_line import main
from headrace._src.doctor import own_facts, problems
from launched_ranks import Ranks, left_behind

HOST = socket.gethostname()


def facts(**changed: Any) -> dict[str, Any]:
    return {
        "host": "a",
        "version": "1",
        "isa": "x86-64-v4",
        "cores": 8,
        "machine_cores": 8,
        "machine_memory": 64_000_000_000,
        "memory": 20_000_000_000,
        "files": 1024,
        "clock": 1000.0,
        "variables": {},
        "wrong": [],
        "tables": {"t": [1, 100]},
        **changed,
    }


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ({}, {}, ""),
        ({}, {"host": "b", "version": "2"}, "rank 1 on host b: all ranks need the same headrace.*: 2"),
        ({}, {"isa": "x86-64-v3"}, "lacks x86-64-v4.*set HEADRACE_ISA on all ranks to: x86-64-v3"),
        ({"isa": "x86-64-v3"}, {}, ""),
        ({}, {"clock": 1010.0}, "its clock is ahead by 10.0 s"),
        ({}, {"clock": 1001.5}, ""),
        ({}, {"files": 256}, r"opens up to 264 files \(ulimit -n\), the limit is 256"),
        ({}, {"wrong": ["no room"]}, "rank 1 on host a: no room"),
        (
            {"variables": {"HEADRACE_PEER_TIMEOUT": "1"}},
            {},
            "HEADRACE_PEER_TIMEOUT is to be the same on all ranks: '', on rank 0: '1'",
        ),
        ({}, {"tables": {"t": [1, 99]}}, "sees other files than rank 0 of the table: t"),
        ({}, {"tables": None}, "sees other files than rank 0 of the table: t"),
    ],
)
def test_what_two_ranks_may_have_wrong(first: dict[str, Any], second: dict[str, Any], found: str) -> None:
    told = problems([facts(**first), facts(**second)], exchange_seconds=1)
    assert len(told) == bool(found), told
    if found:
        assert re.search(found, told[0]), told


def test_machines_that_are_asked_for_more_than_they_have() -> None:
    threads = {"variables": {"HEADRACE_THREADS": "5"}}
    assert problems([facts(**threads), facts(host="b", **threads)]) == []
    assert problems([facts(**threads)] * 2) == [
        "host a: 2 ranks with HEADRACE_THREADS=5 are more workers than it has cores: 8"
    ]
    memory = {"variables": {"HEADRACE_MEMORY": "40GB"}, "memory": 40_000_000_000}
    assert problems([facts(**memory)] * 2) == [
        "host a: 2 ranks with HEADRACE_MEMORY=40GB may take more than its memory: 64.0 GB"
    ]


def test_one_process(
    tpch_small: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HEADRACE_RANK", raising=False)
    assert main(["doctor", "--tables", str(tpch_small)]) == 0
    told = capsys.readouterr().out
    assert "one process, which no launcher has started" in told and "nothing is wrong" in told
    monkeypatch.setenv("HEADRACE_SPILL_DIRECTORY", str(tmp_path / "none"))
    monkeypatch.setenv("HEADRACE_MEMORY", "much")
    assert main(["doctor", "--tables", "/no/such"]) == 1
    told = capsys.readouterr().out
    for each in ("HEADRACE_SPILL_DIRECTORY: ", "much", "/no/such"):
        assert f"wrong: rank 0 on host {HOST}: " in told and each in told, told
    assert own_facts(["/no/such"])["tables"] is None


def test_three_ranks(tpch_small: Path, tmp_path: Path) -> None:
    shutil.copytree(tpch_small, tmp_path / "own")
    (tmp_path / "own" / "region.parquet").unlink()
    command = "import sys; from headrace._src.command_line import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", command, "doctor", "--tables", "tables"]
    places = [tpch_small, tpch_small, tmp_path / "own"]
    for rank, place in enumerate(places):
        (tmp_path / str(rank)).mkdir()
        (tmp_path / str(rank) / "tables").symlink_to(place)
    script = tmp_path / "in_its_folder.sh"
    script.write_text(f'cd "{tmp_path}/$HEADRACE_RANK" && exec "$@"\n')
    own = {1: {"HEADRACE_PEER_TIMEOUT": "9"}}
    with Ranks(["sh", script, *words], 3, tmp_path / "meeting", own) as ranks:
        found = ranks.ended()
    assert [each.status for each in found] == [1, 0, 0], found
    assert found[1].output == found[2].output == ""
    lines = found[0].output.splitlines()
    assert lines[0] == "3 ranks on 1 host, started by environment; each reaches each other"
    assert [line for line in lines if line.startswith("wrong") and "cores" not in line] == [
        f"wrong: rank 1 on host {HOST}: HEADRACE_PEER_TIMEOUT is to be the same on all ranks: '9', "
        "on rank 0: ''",
        f"wrong: rank 2 on host {HOST}: sees other files than rank 0 of the table: region",
    ]
    assert left_behind(tmp_path / "meeting") == []
