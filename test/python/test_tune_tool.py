"""headrace-tune as a program: its options, messages and exit codes, and what its commands do."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import headrace as hr
import pytest
from headrace._src.query import sql as query
from machine_file import write_machine
from perfetto_trace import imported
from tuned_programs import JOIN


def _run(*arguments: object, status: int = 0) -> subprocess.CompletedProcess[str]:
    tool = shutil.which("headrace-tune")
    assert tool, "headrace-tune is not on PATH"
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done


def _tool(*arguments: object, status: int = 0) -> str:
    """What it prints, or what is wrong."""
    done = _run(*arguments, status=status)
    return done.stdout if status == 0 else done.stderr


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache directory."""
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def plans(home: Path, tpch_small: Path, tmp_path: Path) -> Path:
    """A folder with a join on one and on two ranks."""
    (tmp_path / "plans").mkdir()
    for ranks in (1, 2):
        query.compile_to(tmp_path / "plans" / f"join-r{ranks}.plan", JOIN, tpch_small, ranks=ranks)
    return tmp_path / "plans"


@pytest.mark.parametrize("command", ["cost", "simulate", "calibrate", "compare", "fit", "solve"])
def test_every_command_has_help(command: str) -> None:
    text = _tool(command, "--help")
    assert text.startswith(f"usage: headrace-tune {command} ") and text.count("usage: ") == 1
    assert command in _tool("--help")


def test_a_search_is_one_of_the_package() -> None:
    text = " ".join(_tool("search", "--help").split())
    assert text.startswith("usage: headrace tune ") and "also headrace-tune search" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["cost", "x.plan", "--topolgy", "machine"],
            "unknown option, did you mean --topology? got --topolgy",
        ),
        (["cost", "x.plan", "--colour", "red"], "unknown option: --colour\nusage: headrace-tune cost PLAN"),
        (["cost", "x.plan"], "needs --topology\nusage: headrace-tune cost PLAN"),
        (["cost", "--topology", "machine"], "needs a plan\nusage: headrace-tune cost"),
        (["cost", "x.plan", "y.plan"], "unexpected argument: y.plan"),
        (["cost", "x.plan", "--ranks", "no"], "--ranks needs a number from 1 to 1e+18, got no"),
        (["cost", "x.plan", "--ranks", "2.5"], "--ranks needs a whole number, got 2.5"),
        (["cost", "x.plan", "--memory", "0"], "--memory needs bytes such as 512MiB or 4GB, got 0"),
        (["simulate", "/nowhere", "--topology", "machine"], "cannot open plan: /nowhere"),
        (["cost", "x.plan", "--rows", "t"], "expected rows such as lineitem=1e9, got t"),
        (["cost", "x.plan", "--format", "xml"], "--format must be text or json, got xml"),
        (["simulate", "x.plan", "--trace"], "needs a value: --trace"),
        (["fit", "--system"], "needs a value: --system"),
        (["fit", "--sistem=A"], "unknown option, did you mean --system? got --sistem"),
        (["fit", "/nowhere"], "cannot open measurements: /nowhere"),
        (["solve"], "needs a problem\nusage: headrace-tune solve"),
        (["solve", "-", "--seconds", "-1"], "--seconds needs a number from 0 to 1e+06, got -1"),
        (["tidy"], "unknown command: tidy"),
    ],
)
def test_wrong_use_of_the_tool(arguments: list[str], message: str) -> None:
    assert _tool(*arguments, status=2).startswith(f"headrace-tune: user error: {message}")


def test_calibrate_reads_its_options(tmp_path: Path) -> None:
    assert "takes no value: --quiet" in _tool("compare", tmp_path, "--quiet=1", status=2)
    assert "--threads needs a number from 1 to 65536, got 0" in _tool(
        "compare", tmp_path, "--threads=0", status=2
    )
    assert "compare needs --topology" in _tool("compare", tmp_path, status=2)
    assert "calibrate needs --output" in _tool("calibrate", tmp_path, status=2)


def test_rows_are_of_what_the_plan_has(plans: Path) -> None:
    cost = ("cost", plans / "join-r1.plan", "--topology", "machine", "--format", "json")
    assert json.loads(_tool(*cost, "--rows", "lineitem=1e9"))["seconds"] > json.loads(_tool(*cost))["seconds"]
    message = _tool(*cost, "--rows", "foo=5", status=2)
    assert "rows are of the plan's slots and streams (" in message and message.endswith("), got foo\n")
    assert "lineitem, " in message


def test_assumed_figures_are_said_to_be(plans: Path, tmp_path: Path, tpch_small: Path) -> None:
    for command in ("cost", "simulate"):
        words = (command, plans / "join-r1.plan", "--topology")
        assert "headrace calibrate measures it" in _tool(*words, "machine")
        calibrated = write_machine(tmp_path / "here.json", os.cpu_count() or 1, row=1e-9)
        for name in ("ethernet-fast", calibrated):
            assert "headrace calibrate" not in _tool(*words, name)
    assert "headrace calibrate measures it" in str(hr.cost(JOIN, tpch_small))
    assert "headrace calibrate" not in str(hr.cost(JOIN, tpch_small, topology="ethernet-fast"))


@pytest.mark.parametrize("command", ["calibrate", "compare"])
def test_only_this_machine_is_measured(plans: Path, tmp_path: Path, command: str) -> None:
    output = tmp_path / "out.json"
    for name in ("p5-2node", "ethernet-fast"):
        message = _tool(command, plans, "--topology", name, "--output", output, status=2)
        assert "says nothing of ranks that are not CPUs of one machine; give the topology of this" in message
    larger = write_machine(tmp_path / "larger.json", 4 * (os.cpu_count() or 1))
    message = _tool(command, plans, "--topology", larger, "--output", output, status=2)
    assert "cores of this machine says nothing of one of" in message
    assert not output.exists()


def test_folders_without_plans_and_plans_without_files(plans: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    output = tmp_path / "out.json"
    message = _tool("calibrate", tmp_path / "empty", "--output", output, status=2)
    assert f"no plan, and no folder with plans: {tmp_path / 'empty'}" in message
    plan = plans / "join-r1.plan"
    (plan / "manifest.json").write_text("{}")
    meta = json.loads((plan / "meta.json").read_text())
    meta["files"]["manifest.json"] = [2, hashlib.sha256(b"{}").hexdigest()]
    (plan / "meta.json").write_text(json.dumps(meta))
    message = _tool("calibrate", plan, "--output", output, status=2)
    assert ": the manifest has no files of table: " in message


def test_only_what_was_seen_is_fitted(plans: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    done = _run("calibrate", plans, "--output", output, "--runs", 2, "--rounds", 1)
    device = json.loads(output.read_text())["device_types"]["slot"]
    work = set(device["work"]) - {"relative_error"}
    # A query multiplies no matrices.
    assert "row" in work
    assert not work & {"product_f32", "collective", "element_math"}
    assert all(
        isinstance(rate, float) for rate in device["compute"].values()
    )  # assumed, as the file's default
    heading, parts, whole, parts_held_out, plans_held_out = done.stdout.splitlines()
    fitted = re.fullmatch(
        r"2 plans, (\d+) parts of tasks: (\d+) of \d+ kinds of work fitted, the others stay as they were",
        heading,
    )
    assert fitted and int(fitted[2]) == len(work)
    assert parts_held_out.startswith("parts of tasks held out ") and plans_held_out.startswith(
        "plans held out "
    )
    assert parts.split(" held out")[0] != parts_held_out.split(" held out")[0]
    warned = "do not tell" in done.stderr and "give more plans" in done.stderr
    assert warned == (int(fitted[1]) < int(fitted[2]))
    one = _run("calibrate", plans / "join-r1.plan", "--output", output, "--runs", 2, "--rounds", 1)
    assert "held out" not in one.stdout and "do not tell" in one.stderr
    # What a calibration says, another one with other plans keeps.
    document = json.loads(output.read_text())
    document["device_types"]["slot"]["work"]["product_f32"] = 1e-9
    output.write_text(json.dumps(document))
    _run("calibrate", plans, "--topology", output, "--output", output, "--runs", 1, "--rounds", 1)
    assert json.loads(output.read_text())["device_types"]["slot"]["work"]["product_f32"] == 1e-9


def test_plans_are_compared_with_a_calibration_in_turns(plans: Path, tmp_path: Path) -> None:
    output = tmp_path / "compared.json"
    short = ("--runs", 2, "--rounds", 2, "--output", output)
    done = _run("compare", plans / "join-r1.plan", "--calibration", plans, *short)
    listed = [line.split()[0] for line in done.stdout.splitlines()]
    assert listed == ["plan", "join-r1", "1"]  # the calibration's are in the file only
    records = json.loads(output.read_text())
    names = [(record["plan"], record.get("calibration", False)) for record in records]
    assert names[0] == ("join-r1", False) and ("join-r1", True) in names[1:]
    assert all(record["predicted_seconds"] > 0 and len(record["all_seconds"]) == 4 for record in records)
    assert "needs --topology or --calibration" in _tool("compare", plans, status=2)


def test_measurements_are_kept_for_another_comparison(plans: Path, tmp_path: Path) -> None:
    kept, first, again = tmp_path / "kept.json", tmp_path / "first.json", tmp_path / "again.json"
    measured = ("--runs", 2, "--rounds", 1, "--measured", kept)
    _run("compare", plans, "--calibration", plans, *measured, "--output", first)
    before = kept.read_text()
    # Nothing runs any more: the same figures to the last digit.
    _run("compare", plans, "--calibration", plans, *measured, "--output", again)
    assert again.read_text() == first.read_text()
    assert kept.read_text() == before
    other = _tool("compare", plans / "join-r1.plan", "--calibration", plans, *measured, status=2)
    assert "measurements of other plans than: join-r1" in other
    damaged = json.loads(before)
    del damaged[0]["seconds"]
    kept.write_text(json.dumps(damaged))
    assert ": no measurements of plans: " in _tool(
        "compare", plans, "--calibration", plans, *measured, status=2
    )
    nowhere = tmp_path / "nowhere" / "kept.json"
    message = _tool(
        "calibrate", plans, "--output", first, "--runs", 1, "--rounds", 1, "--measured", nowhere, status=1
    )
    assert "cannot write: " in message


def _problem(costs: list[list[float]], limit: int) -> dict[str, object]:
    """Nodes that are alive together, with as many bytes as a choice's number."""
    usages = [list(range(len(choices))) for choices in costs]
    nodes = {"intervals": [[0, 1]] * len(costs), "costs": costs, "usages": usages}
    edges: dict[str, list[object]] = {"nodes": [], "costs": []}
    return {"problem": {"name": "p", "nodes": nodes, "edges": edges, "usage_limit": limit}}


def test_solve_says_how_it_ended(tmp_path: Path) -> None:
    file, output = tmp_path / "problem.json", tmp_path / "solution.json"
    file.write_text(json.dumps(_problem([[3, 1], [5, 2]], 1)))
    assert "fits" in _tool("solve", file, "--output", output, "--seconds", 1)
    assert json.loads(output.read_text())["objective"] == 5
    file.write_text(json.dumps(_problem([], 1)))
    assert "0 nodes, 0 edges; 0 nodes after exact reductions" in _tool("solve", file)
    nothing = _problem([[3, 1]], 1)
    nothing["problem"]["nodes"]["usages"] = [[2, 3]]  # type: ignore[index]
    file.write_text(json.dumps(nothing))
    assert "does not fit" in _run("solve", file, status=3).stdout
    file.write_text("{}")
    assert "problem" in _tool("solve", file, status=2)


def _table_of_the_page() -> str:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "tuning.md").read_text()
    (table,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    return table


def test_the_pages_table_of_measurements_is_fitted(tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    table.write_text(_table_of_the_page())
    rows = [line.split(" | ") for line in _tool("fit", table).splitlines()[2:]]
    assert all(int(row[2]) > 0 for row in rows)  # nothing about systems that are not in it
    assert {"| fitted", "| every other size held out"} <= {row[0] for row in rows}
    done = _run("fit", table, "--system", "rack7")
    assert "| every other size held out | us, all sizes | 6 |" in done.stderr
    assert "| groups of at most 4 predict 8 and more | rack7 all_reduce | 4 |" in done.stderr
    fitted = json.loads(done.stdout)
    assert fitted["sources"] == {"us": {"ref": "nccl-tests on rack 7", "date": "2026-11-21"}}
    assert {(fit["kind"], fit["src"]) for fit in fitted["collectives"]} == {("fitted", "us")}
    assert {fit["level"] for fit in fitted["collectives"]} == {"node", "net"}
    # It is a part of a topology.
    topology = json.loads(write_machine(tmp_path / "here.json", 8).read_text())
    (tmp_path / "here.json").write_text(json.dumps({**topology, **fitted}))
    assert hr.cost("select 1 as a", {}, topology=tmp_path / "here.json").seconds > 0
    assert _tool("fit", table, "--system", "rack8", status=2) == (
        "headrace-tune: user error: the file has measurements or the link of rack7, got --system rack8\n"
    )


def test_systems_without_a_link_are_left_out(tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    document = json.loads(_table_of_the_page())
    for curve in document["curves"]:
        curve["system"] = "A100-SXM 2.27.3"  # one of those that predict each other
    del document["systems"], document["sources"]
    table.write_text(json.dumps(document))
    assert "datasheet" not in _tool("fit", table)


def test_the_tool_prices_plans_and_hands_searches_over(home: Path, tpch_small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "join.plan"
    # A layout that moves rows: the cheapest one on the slow network moves none of such small tables.
    query.compile_to(folder, JOIN, tpch_small, ranks=4, topology="ethernet-slow", layout_seed=1)
    slow = json.loads(_tool("cost", folder, "--topology", "ethernet-slow", "--format", "json"))
    assert sum(term["seconds"] for term in slow["terms"]) == pytest.approx(slow["seconds"])
    assert slow["seconds"] == pytest.approx(
        hr.cost(JOIN, tpch_small, ranks=4, topology="ethernet-slow", layout_seed=1).seconds
    )
    fast = json.loads(_tool("cost", folder / "plan.json", "--topology", "ethernet-fast", "--format", "json"))
    assert fast["seconds"] < slow["seconds"]
    skewed = ("--skew", "1:1:speed=0.01", "--format", "json")
    assert (
        json.loads(_tool("cost", folder, "--topology", "ethernet-fast", *skewed))["seconds"] > fast["seconds"]
    )
    assert "total, from" in _tool("cost", folder, "--topology", "machine", "--threads", 2)
    assert "a skew has speed, rows and keys" in _tool(
        "cost", folder, "--topology", "machine", "--skew", "1:1:x=2", status=2
    )
    trace = tmp_path / "trace.json"
    assert "critical path" in _tool("simulate", folder, "--topology", "ethernet-slow", "--trace", trace)
    assert imported(trace)
    found = _tool(
        "search",
        JOIN,
        "--tables",
        tpch_small,
        "--topology",
        "ethernet-slow",
        "--ranks",
        2,
        "--alternatives",
        3,
    )
    assert "simulated" in hr.explain(JOIN, tpch_small, ranks=2, topology="ethernet-slow")
    assert "record: " in found
