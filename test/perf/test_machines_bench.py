"""The benchmark of ranks as processes."""

from __future__ import annotations

import re

import pytest
from dev.bench import machines


def test_it_says_what_it_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert machines.main(["--scale", "0.01", "--rounds", "1", "--idle", "2", "--queries", "q06,q13"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "TPC-H scale 0.01: one process of 2 threads, 2 of one"
    assert [line.split()[0] for line in lines[1:3]] == ["q06", "q13"]
    mean = re.fullmatch(r"geometric mean of the ratios: ([0-9.]+)", lines[3])
    assert mean and float(mean.group(1)) > 0
    used = re.fullmatch(r"a rank that waits uses at most ([0-9.]+)% of a core", lines[4])
    assert used and float(used.group(1)) < 5
