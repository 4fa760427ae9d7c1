"""hr.explain: what was decided, and with analyze what it took."""

from __future__ import annotations

from pathlib import Path

import headrace as hr
import pytest
from headrace._src.command_line import main

JOIN = "select o_orderpriority, count(*) n from orders, lineitem where o_orderkey = l_orderkey group by 1"


def test_analyze_shows_rows_and_time_of_tasks(
    tpch_tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = hr.explain(JOIN, tpch_tiny, ranks=2)
    assert hr.explain(JOIN, tpch_tiny, ranks=2, analyze=True, threads=2).startswith(plain)
    assert main(["explain", JOIN, "--tables", str(tpch_tiny), "--analyze"]) == 0
    assert "6005" in capsys.readouterr().out  # rows of lineitem
