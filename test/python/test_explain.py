"""hr.explain: a tree of operators with estimates, and after a run with what it took.

Sources: passes/shard/operator_text.cpp
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import headrace as hr
import pytest
from headrace._src.command_line import main
from headrace._src.phases import PHASES
from tpch_queries import QUERIES, plan_of, views

JOIN = "select o_orderpriority, count(*) n from orders, lineitem where o_orderkey = l_orderkey group by 1"


def operators(text: str) -> list[str]:
    """The first columns of the tree."""
    lines = text.partition("\n\n")[2].splitlines()[1:]
    return [re.split(r"  +", line)[0] for line in lines]


def test_rows_flow_upwards(tpch_tiny: Path) -> None:
    found = operators(hr.explain(JOIN, tpch_tiny, ranks=1))
    kinds = [re.match(r"[├─│ ]*(\w+)", line).group(1) for line in found]  # type: ignore[union-attr]
    assert kinds.index("aggregate") < kinds.index("join") < kinds.index("scan")
    assert sum("scan lineitem" in line for line in found) == 1
    assert any(line.startswith("├─ scan") for line in found), found


@pytest.mark.parametrize("number", range(1, 23))
def test_lines_fit_and_numbers_are_right(number: int, tpch_tiny: Path) -> None:
    """Rows that are certain without a run of our own: of every scan without bounds, and of the result."""
    text = (QUERIES / f"q{number:02}.sql").read_text()
    oracle = views(tpch_tiny)
    expected = len(oracle.sql(text).fetchall())
    for ranks, seed in ((1, None), (3, 4)):
        options: dict[str, Any] = {"ranks": ranks, "layout_seed": seed}
        told = hr.explain(text, tpch_tiny, analyze=True, runner_up=True, threads=2, **options)
        everything = told + hr.explain(text, tpch_tiny, tasks=True, **options)
        assert all(len(line) <= 120 for line in everything.splitlines()), everything
        assert len(hr.sql(text, tpch_tiny, threads=2, **options)) == expected
        measured = hr.last_profile().operators()
        plan = plan_of(text, tpch_tiny, **options)
        bounded = {slot["name"] for slot in plan["slots"] if slot.get("bounds")}
        scans = 0
        for operator in measured:
            table = operator.name.removeprefix("scan ")
            if operator.name.startswith("scan ") and table not in bounded:
                ((there,),) = oracle.sql(f"select count(*) from {table}").fetchall()
                assert operator.rows == there, (operator, told)
                scans += 1
        assert scans or len(bounded) == len(plan["slots"])
        counted = [operator.rows for operator in measured if operator.rows is not None]
        assert counted[-1] == expected, told


def test_analyze_shows_what_was_measured(tpch_tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = hr.explain(JOIN, tpch_tiny, ranks=2, analyze=True, threads=2)
    assert re.search(
        r"^measured [\d.]+ (µs|ms|s) on 2 ranks with 2 workers; a rank held ", told, re.MULTILINE
    )
    assert main(["explain", JOIN, "--tables", str(tpch_tiny), "--analyze", "--threads", "1"]) == 0
    shown = capsys.readouterr().out
    assert "on 1 rank with 1 worker;" in shown
    assert re.search(r"scan lineitem .* 6,005 ", shown)


def test_what_is_sent_is_estimated_as_it_is_measured(tpch_small: Path) -> None:
    """Exchanges of many rows, whose number is estimated well. The mean length of a text is less certain."""
    sent = []
    for seed in (5, 7):
        told = hr.explain(
            (QUERIES / "q03.sql").read_text(), tpch_small, ranks=3, layout_seed=seed, analyze=True, threads=2
        )
        sent += re.findall(r"exchange .* ([\d.]+) KiB +([\d.]+) KiB$", told, re.MULTILINE)
    large = [(float(measured), float(estimated)) for measured, estimated in sent if float(estimated) > 60]
    assert len(large) >= 2, sent
    for measured, estimated in large:
        assert measured == pytest.approx(estimated, rel=0.25), sent


def test_workers_come_from_the_call_or_the_environment(
    tpch_tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADRACE_THREADS", "3")
    assert "with 3 workers;" in hr.explain(JOIN, tpch_tiny, analyze=True)
    assert "with 2 workers;" in hr.explain(JOIN, tpch_tiny, analyze=True, threads=2)


def test_more_is_told_on_demand(tpch_tiny: Path) -> None:
    options: dict[str, Any] = {"ranks": 2}
    plain = hr.explain(JOIN, tpch_tiny, **options)
    assert "next best" not in plain and "\ntasks\n" not in plain
    assert "next best: " in hr.explain(JOIN, tpch_tiny, runner_up=True, **options)
    assert "\ntasks\n" in hr.explain(JOIN, tpch_tiny, tasks=True, **options)


def test_what_moves_is_told(tpch_small: Path) -> None:
    """Estimated and measured bytes of an exchange are of one size."""
    options: dict[str, Any] = {"ranks": 3, "layout_seed": 5}
    plan = plan_of(JOIN, tpch_small, **options)
    moves = [each for each in plan["explanation"]["operators"] if each["name"].startswith("exchange")]
    assert moves and all(each["movedBytes"] > 0 for each in moves)
    told = hr.explain(JOIN, tpch_small, analyze=True, **options)
    assert re.search(r"exchange \w+ .*[\d.]+ [KM]?i?B +[\d.]+ [KM]?i?B$", told, re.MULTILINE), told


def test_networks_are_explained() -> None:
    import numpy as np
    from headrace import array as xp

    network = hr.jit(ranks=2, threads=2)(lambda x, w: xp.exp(x @ w))
    x, w = np.ones((64, 32), dtype=np.float32), np.ones((32, 16), dtype=np.float32)
    program = network.compile(x, w)
    with pytest.raises(hr.HeadraceError, match="call the program first"):
        program.explain(analyze=True)
    program(x, w)
    told = program.explain(analyze=True)
    assert "matmul" in told and "measured " in told
    assert network.explain(x, w) == program.explain()


@pytest.mark.parametrize(
    ("phase", "words"),
    [
        ("import", "frame.scan"),
        ("optimize", "frame.aggregate"),
        ("shard", "topo.mesh"),
        ("form", "pipe.pipeline"),
        ("lower", "llvm.func"),
        ("schedule", "sched.program"),
    ],
)
def test_a_query_at_every_level(
    phase: str, words: str, tpch_tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = hr.lower(JOIN, tpch_tiny, phase, ranks=2)
    assert words in text
    assert main(["lower", JOIN, "--tables", str(tpch_tiny), "--stop-after", phase, "--ranks", "2"]) == 0
    assert words in capsys.readouterr().out


def test_no_such_level(tpch_tiny: Path) -> None:
    with pytest.raises(hr.HeadraceError, match=rf"no such phase \({', '.join(PHASES)}\): sharding"):
        hr.lower(JOIN, tpch_tiny, "sharding")


def test_a_lowered_query_runs_over_tables(tpch_tiny: Path) -> None:
    text = hr.lower(JOIN, tpch_tiny, "import")
    program = hr.mlir(text, tables=tpch_tiny, ranks=2, threads=2)
    expected = sorted(hr.sql(JOIN, tpch_tiny).to_pylist(), key=str)
    assert sorted(program().to_pylist(), key=str) == expected


def test_mlir_without_statistics_runs_over_tables() -> None:
    import pyarrow as pa

    text = """
func.func @main() -> !frame.table<"k": i64, "n": i64> {
  %0 = frame.scan "t" ["k", "v"] : <"k": i64, "v": i64>
  %1 = frame.aggregate %0 keys ["k"] measures [#frame.measure<count_star -> "n">]
      : <"k": i64, "v": i64> -> <"k": i64, "n": i64>
  return %1 : !frame.table<"k": i64, "n": i64>
}
"""
    type_ = pa.schema([pa.field("k", pa.int64(), nullable=False), pa.field("v", pa.int64(), nullable=False)])
    table = pa.table({"k": [1, 2, 1, 3, 1], "v": [1, 2, 3, 4, 5]}, schema=type_)
    program = hr.mlir(text, tables={"t": table}, threads=2)
    assert {row["k"]: row["n"] for row in program().to_pylist()} == {1: 3, 2: 1, 3: 1}


def test_runs_for_explain_are_stopped(tpch_tiny: Path) -> None:
    """By timeout, by another thread and by what is told of the progress, as those of queries are."""
    pairs = (
        "select count(*) from lineitem a, lineitem b, region, nation where a.l_orderkey * b.l_orderkey < 17"
    )
    analyzed = f"EXPLAIN ANALYZE {pairs}"
    cancel = hr.Cancel()
    cancel.cancel()

    def failing(*_: object) -> None:
        raise RuntimeError("seen enough")

    stops: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"timeout": 0.3}, hr.errors.QueryTimeoutError, "the query took longer than its timeout: 0.3 s"),
        ({"cancel": cancel}, hr.errors.CancelledError, "the query was cancelled"),
        ({"progress": failing}, RuntimeError, "seen enough"),
    ]
    for options, error, words in stops:
        with pytest.raises(error, match=re.escape(words)):
            hr.sql(analyzed, tpch_tiny, threads=1, **options)
        with pytest.raises(error, match=re.escape(words)):
            hr.explain(pairs, tpch_tiny, threads=1, analyze=True, **options)
    assert "scan lineitem" in hr.explain(pairs, tpch_tiny, cancel=cancel)  # which runs nothing


def test_the_operators_of_the_last_run_are_those_of_analyze(tpch_tiny: Path) -> None:
    query = "select n_regionkey, count(*) n from nation group by 1"
    program = (
        "import headrace as hr\n"
        "try: hr.last_profile().operators()\n"
        "except hr.errors.UserError as error: print(error)\n"
        f"hr.explain({query!r}, {str(tpch_tiny)!r}, analyze=True)\n"
        "print([(each.name, each.rows) for each in hr.last_profile().operators()])\n"
        "print(hr.last_profile().run['ranks'], hr.last_profile().run_seconds > 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0] == "nothing has run in this process: the operators are those of the last query"
    assert "('aggregate', 5)" in lines[1]
    assert lines[2] == "1 True"


def test_the_command_has_a_timeout(tpch_tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["explain", JOIN, "--tables", str(tpch_tiny), "--analyze", "--timeout", "1e-9"]
    assert main(words) == 1
    assert "cancelled error: the query took longer than its timeout: 1e-09 s" in capsys.readouterr().err
    assert main([*words[:-1], "60"]) == 0
