"""What is given to the commands and cannot be used: one line that says why, and the status of its kind."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from headrace._src import command_line, result_output, tools
from headrace._src.tuning.choice import Choice

QUERY = "select count(*) as n from nation"


def _refused(capsys: pytest.CaptureFixture[str], words: list[str], message: str, status: int = 2) -> None:
    assert command_line.main(words) == status
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message", "status"),
    [
        (["sql", "@/nowhere.sql", "--tables", "."], "cannot read the query: ", 1),
        (
            ["sql", "select 1 as a", "--tables", ".", "--topology", "/no.json"],
            "cannot read the topology file: ",
            1,
        ),
        (["tune", "select 1 as a"], "a query is tuned over tables: give --tables", 2),
        (["tune", "/nowhere.mlir"], "cannot read the program: ", 1),
        (
            ["tune", "select 1 as a", "--tables", ".", "--query", "0=x: select 1 as x"],
            "--query is for arguments of a FILE.mlir",
            2,
        ),
        (
            ["tune", "select 1 as a", "--tables", ".", "--ranks", "two"],
            "expected numbers of ranks such as 1,2,4, got two",
            2,
        ),
        (
            ["tune", "select 1 as a", "--tables", ".", "--measured", "0"],
            "--measured and --seconds must be positive, and --alternatives not negative",
            2,
        ),
        (["calibrate", "--rounds", "0"], "--rounds and --threads must be positive", 2),
    ],
)
def test_mistakes(
    words: list[str],
    message: str,
    status: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    _refused(capsys, words, message, status)


def test_a_tuned_query_needs_tables() -> None:
    with pytest.raises(hr.HeadraceError, match="a query is tuned over tables: give tables="):
        hr.tune("select 1 as a")


def test_open_extents_are_not_made_up() -> None:
    rows = hr.query("select a from t", {"t": pa.table({"a": [1.0]})}).to_tensor("a")
    program = hr.jit(lambda x: x + x).compile(rows)
    with pytest.raises(hr.HeadraceError, match="the program takes 0 arrays, got 1"):
        hr.tune(program, arrays=[1.0])


def test_a_calibration_without_a_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEADRACE_CALIBRATION", "off")
    _refused(capsys, ["calibrate"], "HEADRACE_CALIBRATION is off: give --output")


def test_a_plan_that_cannot_be_written(
    tmp_path: Path, tpch_small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    words = ["compile", QUERY, "--tables", str(tpch_small), "--output", str(tmp_path / "file" / "q.plan")]
    _refused(capsys, words, "cannot write the plan: ", 1)


def test_a_result_that_cannot_be_written(tmp_path: Path) -> None:
    output = result_output.ResultFile(str(tmp_path / "r.csv"))
    (tmp_path / "r.csv").mkdir()
    with pytest.raises(hr.HeadraceError, match="cannot write the result: "):
        output.write(pa.table({"a": [1]}).to_reader())


def test_a_tool_that_is_not_there() -> None:
    with pytest.raises(hr.HeadraceError, match="cannot find headrace-nothing: put it on the path"):
        tools.path("headrace-nothing")


def test_a_query_that_is_no_text() -> None:
    with pytest.raises(hr.HeadraceError, match="the query is not Unicode: "):
        hr.sql("select '\ud800' as a", {})


def test_statements_that_only_sql_answers() -> None:
    with pytest.raises(hr.HeadraceError, match="answered by hr.sql and by headrace sql alone"):
        hr.explain("explain select 1 as a", {})


def test_a_choice_of_the_record_is_made_of_counts() -> None:
    with pytest.raises(ValueError, match="not a count: -1"):
        Choice.of({**Choice().document(), "alternative": -1})


def test_a_level_of_the_log_is_refused_as_it_was_given(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEADRACE_LOG", raising=False)
    said = "must be one of off|error|warning|info|debug, got: nope"
    _refused(capsys, ["sql", "select 1 as a", "--log", "nope"], f"user error: --log {said}\n")
    _refused(capsys, ["lower", "select 1 as a", "--log", "nope"], f"user error: --log {said}\n")
    topo = tools.path("headrace-topo")
    done = subprocess.run([topo, "list", "--log", "nope"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"headrace-topo: user error: --log {said}\n")
    monkeypatch.setenv("HEADRACE_LOG", "nope")
    where = " (at environment variable HEADRACE_LOG)"
    _refused(capsys, ["sql", "select 1 as a"], f"log {said}{where}")


def test_a_log_of_the_settings_is_that_of_the_environment(capfd: pytest.CaptureFixture[str]) -> None:
    table = {"t": pa.table({"logged": [1]})}
    hr.sql("select logged + 41 as a from t", table, settings={"log": "info"})
    assert re.search(r"info: the plan \w+ is (compiled|in the cache)", capfd.readouterr().err)
    hr.jit(lambda x: x * 41.5, settings={"log": "info"})([1.0])
    assert re.search(r"info: the plan \w+ is (compiled|in the cache)", capfd.readouterr().err)
    hr.sql("select logged + 42 as a from t", table)
    assert capfd.readouterr().err == ""
