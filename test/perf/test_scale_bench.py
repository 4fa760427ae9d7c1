"""`./dev bench scale`: one rank of many is counted, and so is a meeting; the table says so."""

from __future__ import annotations

import json

import pytest
from dev.bench import scale
from headrace import _runtime


@pytest.mark.parametrize("ranks", [8, 1000, 100_800])
def test_a_server_for_each_rank(ranks: int) -> None:
    assert len(_runtime.ranks_of_nodes(scale.ethernet(ranks), ranks)) == ranks


@pytest.mark.parametrize("name", ["q03", scale.NETWORK])
def test_what_a_rank_does(name: str) -> None:
    compiler = scale.Compiler()
    found = {}
    for ranks in (8, 64):
        program = compiler.program(name, scale.GB200, ranks, 1.0, one_axis=False)
        first, last = scale.mirrored(program, 0), scale.mirrored(program, ranks - 1)
        assert first.of_run == last.of_run == ranks - 1
        found[ranks] = last
        cells = [cell.strip() for cell in scale.row(program, first, last).strip("|").split("|")]
        assert len(cells) == scale.HEAD.splitlines()[0].count("|") - 1
        assert cells[:3] == ["gb200", name, str(ranks)]
    if name == scale.NETWORK:
        assert found[64].peers <= 12
    else:
        assert found[64].peers == 63
        tasks = [task for task in json.loads(program.plan)["tasks"] if task["kind"] == "exchange"]
        between_all = sum(task["exchange"] != "gather" for task in tasks)
        # Room for messages and the end, to each, in those that run; of a gather to the receiver alone.
        assert 2 * 63 <= found[64].control < 2 * between_all * 63 + 63


@pytest.mark.parametrize("rank", [0, 2, 71, 72, 100, 287])
def test_a_rank_of_a_mesh_talks_along_its_axes(rank: int) -> None:
    """Four racks of 72: in exchanges a rank has 71 and 3 others."""
    compiler = scale.Compiler()
    program = compiler.program("q18", scale.GB200, 288, 10.0, one_axis=False)
    flat = compiler.program("q18", scale.GB200, 288, 10.0, one_axis=True)
    tasks = [task for task in json.loads(program.plan)["tasks"] if task["kind"] == "exchange"]
    assert {(0,), (1,)} <= {tuple(task["axes"]) for task in tasks if task["exchange"] == "hash"}
    assert scale.mirrored(program, rank).control < scale.mirrored(flat, rank).control / 2
    assert program.simulated_seconds < 1.01 * flat.simulated_seconds


@pytest.mark.parametrize(("ranks", "connects"), [(2, True), (8, True), (8, False), (64, False)])
def test_a_meeting(ranks: int, connects: bool) -> None:
    found = json.loads(_runtime.rehearsed_meeting(ranks, connects))
    assert found["received_bytes"] == ranks * found["record_bytes"] or connects
    assert ranks - 1 <= found["received_bytes"] / found["record_bytes"] <= ranks + 1
    assert found["connections"] == (2 * (ranks - 1) if connects else 0)
    assert found["exchanges"] == (6 if connects else 2)


def test_amounts_have_units() -> None:
    assert [scale.amount(count) for count in (7, 999, 1234, 45_600_000, 7e11)] == [
        "7 B",
        "999 B",
        "1.2 KB",
        "45.6 MB",
        "700 GB",
    ]
