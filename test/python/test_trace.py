"""Traces, logs and profiles: from Python, from the commands, of ranks in one process and in several."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import headrace as hr
import pyarrow as pa
import pytest
from headrace._src.command_line import main
from headrace._src.query.sql import compile_to
from perfetto_trace import dropped, imported

SHUFFLE = (
    "select o_orderpriority, sum(l_quantity) q from orders, lineitem "
    "where o_orderkey = l_orderkey group by 1 order by 1"
)
RUN = Path(hr.__path__[-1]).parents[1] / "bin" / "headrace-run"


def test_what_an_importer_drops_is_found() -> None:
    def event(start: float, duration: float) -> dict[str, Any]:
        return {"pid": 0, "tid": 0, "ts": start, "dur": duration}

    outer, inner, beside = event(1, 4), event(1, 2), event(3, 1)
    assert dropped([outer, inner, beside]) == []
    assert dropped([inner, outer]) == [outer]  # both begin at once: the first one is the outer one
    assert dropped([event(1, 2), event(2, 2)]) == [event(2, 2)]


def check_complete(path: Path, ranks: int, rows: int) -> None:
    """Loads with rows and bytes, tasks and waits of every rank, and exchanges if there are several."""
    events = imported(path)
    assert {event["pid"] for event in events} == set(range(ranks))
    exchanges = {"link"} if ranks > 1 else set()
    for rank in range(ranks):
        here = [event for event in events if event["pid"] == rank]
        assert {event["cat"] for event in here} == {"phase", "task", "io", "wait"} | exchanges, rank
        assert all({"rows", "bytes"} <= set(event["args"]) for event in here)
        assert any(event["cat"] == "phase" and event["args"]["bytes"] > 0 for event in here)
    loads = [event for event in events if event["cat"] == "io" and event["name"] == "load_lineitem"]
    assert sum(event["args"]["rows"] for event in loads) == rows
    sent = sum(event["args"]["bytes"] for event in events if event["name"] == "send")
    received = sum(event["args"]["bytes"] for event in events if event["name"] == "receive")
    assert sent == received
    assert (sent > 0) == (ranks > 1)


@pytest.fixture()
def shuffling(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Options under which the query's ranks exchange rows."""
    return {"ranks": 3, "topology": "ethernet-fast", "layout_seed": 5}


def test_a_trace_from_python(
    tpch_small: Path, tmp_path: Path, shuffling: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    by_setting, by_variable = tmp_path / "a.json", tmp_path / "b.json"
    expected = hr.sql(SHUFFLE, tpch_small, threads=2, settings={"trace": by_setting}, **shuffling)
    monkeypatch.setenv("HEADRACE_TRACE", str(by_variable))
    assert hr.sql(SHUFFLE, tpch_small, threads=2, **shuffling).equals(expected)
    rows = hr.sql("select count(*) n from lineitem", tpch_small, settings={"trace": ""})["n"][0].as_py()
    for trace in (by_setting, by_variable):
        check_complete(trace, 3, rows)


def test_a_trace_of_one_rank(tpch_small: Path, tmp_path: Path) -> None:
    trace = tmp_path / "t.json"
    hr.sql(SHUFFLE, tpch_small, threads=2, settings={"trace": trace})
    check_complete(trace, 1, 60175)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    "command", ["headrace sql", "headrace explain", "headrace-run", "headrace-run --processes"]
)
def test_every_tool_that_runs_a_program_traces_it(
    command: str, ranks: int, tpch_small: Path, tmp_path: Path, shuffling: dict[str, Any]
) -> None:
    trace, plan = tmp_path / "t.json", tmp_path / "q.plan"
    options = {**shuffling, "ranks": ranks}
    tool, *rest = command.split()
    if tool == "headrace":
        of_query = [SHUFFLE, "--tables", tpch_small, "--topology", options["topology"], "--layout-seed", "5"]
        analyze = ["--analyze"] if rest == ["explain"] else []
        words = [*rest, *of_query, "--ranks", str(ranks), "--threads", "2", *analyze]
    else:
        compile_to(plan, SHUFFLE, tpch_small, **options)
        words = [plan, *rest, "--topology", "any", "--ranks", str(ranks), "--threads", str(max(2, ranks))]
    environment = {**os.environ, "HEADRACE_TRACE": str(trace)}
    subprocess.run([RUN.with_name(tool), *words], env=environment, capture_output=True, check=True)
    check_complete(trace, ranks, 60175)


def test_a_trace_of_processes(tpch_small: Path, tmp_path: Path, shuffling: dict[str, Any]) -> None:
    plan, trace = tmp_path / "q.plan", tmp_path / "t.json"
    compile_to(plan, SHUFFLE, tpch_small, **shuffling)
    done = subprocess.run(
        [RUN, plan, "--topology", "any", "--processes", "--threads", "3", "--trace", trace, "--profile"],
        capture_output=True,
        text=True,
        check=True,
    )
    profile = json.loads(done.stderr)
    assert {task["rank"] for task in profile["tasks"]} == {0, 1, 2}
    assert len(profile["peak_bytes"]) == 3 and profile["threads"] == 3
    check_complete(trace, 3, 60175)


def test_the_command_traces_logs_and_profiles(
    tpch_tiny: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADRACE_LOG", "off")  # put back when the test ends: --log changes it
    trace = tmp_path / "t.json"
    words = ["sql", "select count(*) from region", "--tables", str(tpch_tiny)]
    assert main([*words, "--trace", str(trace), "--log", "info", "--profile"]) == 0
    assert imported(trace)
    said = capfd.readouterr().err
    assert (
        " info: run of " in said and " starts on 1 rank, with " in said and " on 1 rank ended after " in said
    )
    assert any("peak_bytes" in json.loads(line) for line in said.splitlines() if line.startswith("{"))
    assert main([*words, "--exchange-window", "0"]) == 2
    assert "--exchange-window must be within 1 to 1024 messages, got: 0" in capfd.readouterr().err


def test_a_trace_that_cannot_be_written(tpch_tiny: Path) -> None:
    message = r"cannot write the trace: /no/such/folder/t.json: No such file .* \(at setting trace\)"
    with pytest.raises(hr.HeadraceError, match=message) as caught:
        hr.sql("select 1 a from region", tpch_tiny, settings={"trace": "/no/such/folder/t.json"})
    assert caught.value.kind == "io"


def test_the_log_tells_of_compilation_and_run(tpch_tiny: Path, tmp_path: Path) -> None:
    script = f"import headrace as hr; hr.sql('select count(*) from region', {str(tpch_tiny)!r})"
    environment = {**os.environ, "HEADRACE_LOG": "debug", "HEADRACE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    for words in ("is compiled", "compiled, phase shard: ", "run of ", "starts task 0 load_region"):
        assert words in done.stderr, done.stderr


def test_a_jitted_function_is_traced(tmp_path: Path) -> None:
    import numpy as np

    trace = tmp_path / "t.json"
    double = hr.jit(ranks=2, threads=2, settings={"trace": trace})(lambda x: x + x)
    double(np.ones((64, 8), dtype=np.float32))
    assert {event["pid"] for event in imported(trace)} == {0, 1}


@pytest.mark.parametrize("path", ["/no/such/folder/t.json", "/proc/t.json", "/tmp"])
def test_a_trace_that_cannot_be_written_is_refused_before_the_run(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queries fail when they run: they do not."""
    (tmp_path / "t.csv").write_text("a\n1\n")
    query = f"select a // (a - 1) as q from '{tmp_path / 't.csv'}'"
    assert main(["sql", query, "--trace", path]) == 1
    assert re.search(rf"io error: cannot write the trace: {path}: .* \(at --trace\)", capsys.readouterr().err)
    compile_to(tmp_path / "q.plan", query, {})
    for words in (["--trace", path], ["--output", path, "--format", "csv"]):
        done = subprocess.run([RUN, tmp_path / "q.plan", *words], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert re.search(rf"io error: cannot write .*: {path}: .* \(at {words[0]}\)", done.stderr)
    monkeypatch.setenv("HEADRACE_TRACE", path)
    assert main(["sql", query]) == 1
    assert "(at environment variable HEADRACE_TRACE)" in capsys.readouterr().err


def test_a_result_is_not_lost_for_its_trace(tmp_path: Path) -> None:
    query, tables = "select sum(a) as s from t", {"t": pa.table({"a": [1, 2]})}
    hr.sql(query, tables)  # compiled by now
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, limits[1]))  # as if the disk were full
    try:
        with pytest.warns(RuntimeWarning, match="cannot write the trace: .*/t.json: File too large"):
            found = hr.sql(query, tables, settings={"trace": str(tmp_path / "t.json")})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert found.to_pydict() == {"s": [3]}
    assert not list(tmp_path.iterdir())
