"""Scripts of sqllogictest: what they say, and that each kind of outcome is told apart."""

from __future__ import annotations

import decimal
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from dev import places
from dev.logictest import runner
from dev.logictest.answers import difference
from dev.logictest.scripts import NotRunnable, steps_of

LOOPS = """# a comment
statement ok
CREATE TABLE t (x INT)

foreach type <unsigned> !utinyint double

loop i 1 3

query I nosort
SELECT ${i}::{type}
FROM t
----
1

endloop

endloop

skipif duckdb
statement ok
never

onlyif duckdb
statement ok
always

mode skip

statement ok
never

mode unskip

foreach a,b 1,2 3,4

query I
SELECT ${a}, ${b}

endloop

halt

statement ok
never
"""


def test_loops_are_unrolled_and_conditions_followed() -> None:
    steps = list(steps_of(LOOPS))
    assert [step.text for step in steps if not step.is_query] == ["CREATE TABLE t (x INT)", "always"]
    texts = [step.text for step in steps if step.is_query]
    types = ["usmallint", "uinteger", "ubigint", "uhugeint", "double"]
    assert texts[:10] == [f"SELECT {i}::{name}\nFROM t" for name in types for i in (1, 2)]
    assert texts[10:] == ["SELECT 1, 2", "SELECT 3, 4"]
    assert {step.line for step in steps[1:11]} == {9}


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("require spatial", "requires spatial"),
        ("restart", "restart is not understood"),
        ("loop i 0 2\n\nstatement ok\nx", "a loop has no end"),
        ("concurrentloop i 0 2\n\nendloop", "loops of several connections are not understood"),
    ],
)
def test_what_cannot_be_run_is_said(script: str, why: str) -> None:
    with pytest.raises(NotRunnable, match=why):
        list(steps_of(script))


def test_answers_are_multisets_of_rows() -> None:
    ours = pa.table({"a": [1, 2, None], "b": [0.1, float("nan"), 3.0]})
    theirs = pa.table({"x": [None, 1, 2], "y": [decimal.Decimal("3"), decimal.Decimal("0.10"), None]})
    assert difference(ours, ours.take([2, 0, 1])) == ""
    assert difference(ours.slice(2), theirs.slice(0, 1)) == ""
    assert "nan" in difference(ours, theirs)
    assert difference(ours, ours.slice(1)) == "3 rows, DuckDB 2"
    assert difference(ours, ours.select(["a"])) == "2 columns, DuckDB 1"
    large = pa.table({"a": [2**60]})
    assert difference(large, pa.table({"a": [2**60 + 1]})) != ""


def logictest(*words: str | Path) -> subprocess.CompletedProcess[str]:
    tools = os.environ.get("PYTHONPATH", "") + os.pathsep + str(places.ROOT / "tools")
    return subprocess.run(
        [sys.executable, "-m", "dev.logictest", *map(str, words)],
        env={**os.environ, "PYTHONPATH": tools},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_outcomes_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "all.test").write_text(
        "statement ok\nCREATE TABLE t AS SELECT range AS x FROM range(5)\n\n"
        "statement ok\nCREATE MACRO twice(a) AS 2 * a\n\n"
        "query I\nSELECT sum(twice(x)) FROM t\n----\n20\n\n"
        "query I\nSELECT x::BIT FROM t\n----\n0\n\n"
        "query I\nSELECT nextval('none')\n----\n0\n\n"
        "query I\nPRAGMA table_info('t')\n----\n0\n\n"
        "require spatial\n\nquery I\nSELECT 1\n----\n1\n\n"
    )
    out = tmp_path / "all.json"
    run = logictest(tmp_path, "--root", tmp_path, "--json", out)
    assert run.returncode == 0, run.stderr
    assert [(o["outcome"], o.get("line")) for o in json.loads(out.read_text())] == [
        ("right", 7),
        ("refused", 12),
        ("passed over", 17),
        ("passed over", 22),
        ("left", None),
    ]
    assert "2 queries compared, 2 passed over; scripts not run to their end: 1" in run.stdout
    assert "1  requires spatial" in run.stdout
    assert "right           1   50.0 %" in run.stdout


@pytest.mark.parametrize(
    ("ending", "note"), [("exit 3", "the process ended with 3"), ("exec sleep 60", "no end in 1 s")]
)
def test_a_process_that_dies_or_hangs_is_an_error(
    ending: str, note: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program"
    program.write_text(
        f"""#!/bin/sh\necho '{{"begin": "SELECT 1", "line": 7}}' >/proc/self/fd/$3\n{ending}\n"""
    )
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(runner, "SECONDS", 1)
    outcome = {"outcome": "error", "note": note, "line": 7, "text": "SELECT 1", "script": "a.test"}
    assert runner.run_all([tmp_path / "a.test"], tmp_path, 1) == [outcome]


def test_no_script_is_an_error(tmp_path: Path) -> None:
    run = logictest(tmp_path)
    assert run.returncode == 2
    assert "no .test file in these paths" in run.stderr
