"""headrace-run: plans from directories, formats, errors, and files that appear whole or not at all."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import headrace as hr
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from headrace._src.array import program as tensors
from headrace._src.programs import Target
from headrace._src.query import plan_cache
from headrace._src.query.sql import compile_to
from perfetto_trace import imported

QUERY = """
select l_returnflag, l_shipdate, sum(l_extendedprice * l_discount) as total, count(*) as n
from lineitem where l_quantity < 3 group by l_returnflag, l_shipdate order by l_shipdate, l_returnflag
"""


@pytest.fixture(scope="module")
def plan(tpch_small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plans") / "query.plan"
    compile_to(folder, QUERY, tpch_small)
    return folder


@pytest.fixture(scope="module")
def expected(tpch_small: Path) -> pa.Table:
    return hr.sql(QUERY, tpch_small)


def run(*arguments: object, status: int = 0) -> subprocess.CompletedProcess[str]:
    tool = shutil.which("headrace-run")
    assert tool, "headrace-run is not on PATH"
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done


def test_csv_has_every_row(plan: Path, tpch_small: Path, expected: pa.Table) -> None:
    done = run(plan, "--tables", tpch_small, "--format", "csv", "--threads", 2)
    lines = list(csv.reader(io.StringIO(done.stdout)))
    assert lines[0] == expected.column_names
    assert lines[1:] == [[str(value) for value in row.values()] for row in expected.to_pylist()]


def test_arrow_file(plan: Path, tpch_small: Path, expected: pa.Table, tmp_path: Path) -> None:
    output = tmp_path / "result.arrow"
    run(
        plan,
        "--tables",
        f"lineitem={tpch_small / 'lineitem.parquet'}",
        "--format",
        "arrow",
        "--output",
        output,
    )
    assert feather.read_table(output).equals(expected)
    assert os.listdir(tmp_path) == ["result.arrow"]


def test_the_files_it_was_compiled_for_are_the_default(
    plan: Path, expected: pa.Table, tmp_path: Path
) -> None:
    shown = run(plan).stdout.splitlines()
    assert shown[0].split() == expected.column_names
    assert shown[2].split() == [str(value) for value in expected.slice(0, 1).to_pylist()[0].values()]
    assert shown[-1] == f"... {expected.num_rows - 100} more rows"
    run(plan, "--output", tmp_path / "all.txt")
    assert len((tmp_path / "all.txt").read_text().splitlines()) == expected.num_rows + 2
    run(plan, "--output", tmp_path / "all.csv")
    assert (tmp_path / "all.csv").read_text() == run(plan, "--format", "csv").stdout
    run(plan, "--output", tmp_path / "all.arrow")
    assert feather.read_table(tmp_path / "all.arrow").equals(expected)
    run(plan, "--format", "csv", "--output", tmp_path / "all.json")
    assert (tmp_path / "all.json").read_bytes() == (tmp_path / "all.csv").read_bytes()


def test_explain_shows_the_query_and_what_became_of_it(plan: Path, tpch_small: Path) -> None:
    told = run(plan, "--tables", tpch_small, "--explain").stderr
    assert told.startswith(QUERY + "\n\n") and "scan lineitem" in told


def test_profile_and_trace(plan: Path, tmp_path: Path) -> None:
    profile = json.loads(run(plan, "--profile", "--trace", tmp_path / "trace.json").stderr)
    assert {"load", "run", "result"} <= {task["kind"] for task in profile["tasks"]}
    assert imported(tmp_path / "trace.json")


def test_repeated_runs_say_their_seconds(plan: Path, tpch_small: Path, expected: pa.Table) -> None:
    done = run(plan, "--tables", tpch_small, "--format", "csv", "--repeat", 3)
    assert re.fullmatch(r"(run [123]: [\d.e-]+ s\n){3}", done.stderr)
    assert len(done.stdout.splitlines()) == expected.num_rows + 1  # once
    refused = run(plan, "--repeat", 2, "--processes", status=2).stderr
    assert "--repeat is for ranks that share this process: leave out --processes and launchers" in refused


def test_nulls_and_texts_in_csv(tmp_path: Path) -> None:
    table = pa.table({"t": ['a "b", c', "", None, "plain", "two\nlines"], "x": [1.5, -0.0, None, 1e300, 0.1]})
    parquet.write_table(table, tmp_path / "t.parquet")
    compile_to(tmp_path / "t.plan", "select t, x from t", tmp_path)
    done = run(tmp_path / "t.plan", "--format", "csv")
    assert done.stdout == 't,x\n"a ""b"", c",1.5\n"",-0\n,\nplain,1e+300\n"two\nlines",0.1\n'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "needs the directory of a plan\nsee headrace-run --help"),
        (["PLAN", "--frobnicate"], "unknown option: --frobnicate\nsee headrace-run --help"),
        (["PLAN", "--memry", "1GiB"], "unknown option, did you mean --memory? got --memry"),
        (["PLAN", "--ranks"], "needs a value: --ranks"),
        (["PLAN", "--log"], "needs a value: --log"),
        (["PLAN", "--ranks", "0"], "--ranks must be within 1 to 1024"),
        (["PLAN", "--format", "xml"], "--format must be table, csv or arrow, got xml"),
        (["PLAN", "--format", "arrow"], "--format arrow needs --output"),
        (
            ["no.plan", "--output", "x.json"],  # before anything is read
            "the output must end in one of .arrow, .csv, .txt, got x.json "
            "(--format says what to write whatever the name)",
        ),
        (["no.plan", "--output", "x"], "the output must end in one of .arrow, .csv, .txt, got x "),
        (["PLAN", "PLAN"], "unexpected argument: "),
    ],
)
def test_mistakes_on_the_line(arguments: list[str], message: str, plan: Path) -> None:
    done = run(*(str(plan) if argument == "PLAN" else argument for argument in arguments), status=2)
    assert message in done.stderr
    assert "user error" in done.stderr


def test_files_that_cannot_be_read(plan: Path, tmp_path: Path) -> None:
    assert "cannot read: " + str(tmp_path / "no.plan/plan.json") in run(tmp_path / "no.plan", status=1).stderr
    assert "no Parquet files in" in run(plan, "--tables", tmp_path, status=1).stderr
    broken = tmp_path / "broken.plan"
    shutil.copytree(plan, broken)
    for text, error in (('{"schemaMajor": 99}', "mismatch error"), ("{", "corrupt error")):
        (broken / "plan.json").write_text(text)
        assert "not what meta.json says" in run(broken, status=1).stderr
        meta = json.loads((broken / "meta.json").read_text())
        meta["files"]["plan.json"] = [len(text), hashlib.sha256(text.encode()).hexdigest()]
        (broken / "meta.json").write_text(json.dumps(meta))
        assert error in run(broken, status=1).stderr
    for text in ("", (plan / "meta.json").read_text()[:40], "[]"):
        (broken / "meta.json").write_text(text)
        told = run(broken, status=1).stderr
        assert f"{broken / 'meta.json'}: damaged: not a JSON object; recompile" in told
        assert "corrupt error" in told and "plan.json" not in told


def test_a_plan_for_another_topology(plan: Path) -> None:
    """As compiled: this machine with as many ranks as the plan has."""
    run(plan, "--topology", "machine")
    refused = run(plan, "--topology", "gb200-100k", status=1).stderr
    assert "mismatch error" in refused
    assert "the plan was compiled for another topology, 'machine'" in refused
    assert "compile it again for the one that it is to run on" in refused


def test_what_a_plan_runs_on_is_compared_unasked(plan: Path, tpch_small: Path, tmp_path: Path) -> None:
    refused = run(plan, "--ranks", 2, status=1).stderr
    assert "mismatch error: the plan was compiled for another number of ranks, 1: " in refused
    assert "start as many, compile it again with --ranks 2, or run it as it is with --topology any" in refused
    assert "another number of ranks" in run(plan, "--ranks", 2, "--topology", "machine", status=1).stderr
    run(plan, "--ranks", 2, "--topology", "any")
    compile_to(tmp_path / "x.plan", QUERY, tpch_small, ranks=2, topology="ethernet-slow")
    for flags in ([], ["--processes"]):
        refused = run(tmp_path / "x.plan", *flags, status=1).stderr
        assert "the plan was compiled for another topology, 'ethernet-slow'" in refused
        assert "or run it as it is with --topology any" in refused
    for topology in ("ethernet-slow", "any"):
        run(tmp_path / "x.plan", "--topology", topology)


def test_a_plan_with_another_manifest(plan: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.plan"
    shutil.copytree(plan, broken)
    (broken / "manifest.json").write_text("[]")
    meta = json.loads((broken / "meta.json").read_text())
    meta["files"]["manifest.json"] = [2, hashlib.sha256(b"[]").hexdigest()]
    (broken / "meta.json").write_text(json.dumps(meta))
    assert "manifest.json: not a JSON object of tables" in run(broken, status=1).stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_plan_of_another_user(plan: Path, tmp_path: Path) -> None:
    shutil.copytree(plan, tmp_path / "q.plan")
    os.chown(tmp_path / "q.plan" / "plan.json", 12345, -1)
    done = run(tmp_path / "q.plan", status=2)
    assert "a plan is code, and this one belongs to another user (copy it if you trust it): " in done.stderr


def test_tensors_are_not_printed(tmp_path: Path) -> None:
    source = """func.func @main() -> tensor<2xf32> {
      %one = arith.constant 1.0 : f32
      %e = tensor.empty() : tensor<2xf32>
      %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          outs(%e : tensor<2xf32>) {
      ^bb0(%out: f32):
        linalg.yield %one : f32
      } -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }"""
    plan_cache.write(tmp_path / "t.plan", tensors.compiled(source, (), Target.of(1, None, None)))
    assert "only tables are printed, this plan gives tensors" in run(tmp_path / "t.plan", status=2).stderr


def test_a_table_that_is_not_bound(plan: Path, tpch_small: Path) -> None:
    done = run(plan, "--tables", f"orders={tpch_small / 'orders.parquet'}", status=2)
    assert "lineitem" in done.stderr


def test_other_data_is_refused(plan: Path, tpch_small: Path, tmp_path: Path) -> None:
    lineitem = tpch_small / "lineitem.parquet"
    shutil.copy2(lineitem, tmp_path)
    run(plan, "--tables", tmp_path, "--format", "csv")  # the same file elsewhere
    parquet.write_table(parquet.read_table(lineitem).slice(0, 1000), tmp_path / "lineitem.parquet")
    done = run(plan, "--tables", tmp_path, status=1)
    assert "recompile" in done.stderr


def test_no_output_is_left_by_a_run_that_fails(tpch_small: Path, tmp_path: Path) -> None:
    compile_to(
        tmp_path / "x.plan", "select l_orderkey, 1 // (l_linenumber - 3) as x from lineitem", tpch_small
    )
    output = tmp_path / "out"
    output.mkdir()
    (output / "kept.csv").write_text("as it was")
    done = run(tmp_path / "x.plan", "--format", "csv", "--output", output / "kept.csv", status=1)
    assert "data error" in done.stderr
    assert "division by zero" in done.stderr
    assert "(at " in done.stderr  # the place
    assert os.listdir(output) == ["kept.csv"]
    assert (output / "kept.csv").read_text() == "as it was"


def test_output_that_cannot_be_written(plan: Path, tmp_path: Path) -> None:
    for form in ("csv", "arrow"):
        done = run(plan, "--format", form, "--output", tmp_path / "no" / "x", status=1)
        assert "io error: cannot write" in done.stderr
    (tmp_path / "folder").mkdir()
    run(plan, "--format", "csv", "--output", tmp_path / "folder", status=1)
    assert os.listdir(tmp_path) == ["folder"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [shutil.which("headrace-run"), plan], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert "cannot write to standard output" in done.stderr


def test_memory_limit(tpch_small: Path, tmp_path: Path) -> None:
    text = "select l_orderkey, l_partkey, sum(l_quantity) as q from lineitem group by l_orderkey, l_partkey"
    compile_to(tmp_path / "x.plan", text, tpch_small)
    done = run(tmp_path / "x.plan", "--memory", "3MiB", "--threads", 2, status=1)
    for word in ("memory error", "aggregate", "host", "MiB", "--memory"):
        assert word in done.stderr


@pytest.mark.parametrize("name", ["01", "03", "05", "13", "18"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_as_processes_give_what_threads_give(
    name: str, ranks: int, tpch_small: Path, tmp_path: Path
) -> None:
    text = (Path(__file__).parents[1] / "data" / "tpch" / "queries" / f"q{name}.sql").read_text()
    compile_to(tmp_path / "x.plan", text, tpch_small, ranks=ranks)
    common = [tmp_path / "x.plan", "--format", "csv", "--threads", 2, "--ranks", ranks]
    threads = run(*common).stdout
    processes = run(*common, "--processes").stdout
    assert threads.count("\n") > 1
    assert sorted(processes.splitlines()) == sorted(threads.splitlines())


def test_a_failure_in_another_process_is_told_once(tpch_small: Path, tmp_path: Path) -> None:
    # Only the last rank's rows divide by zero.
    text = "select max(1 // (l_orderkey - 60000)) as x from lineitem"
    compile_to(tmp_path / "x.plan", text, tpch_small, ranks=3)
    done = run(tmp_path / "x.plan", "--ranks", 3, "--processes", "--output", tmp_path / "x.txt", status=1)
    assert done.stderr.count("division by zero") == 1
    assert "data error" in done.stderr
    assert not (tmp_path / "x.txt").exists()


@pytest.mark.parametrize("name", ["03", "13"])
def test_one_plan_runs_on_any_number_of_ranks(name: str, tpch_small: Path, tmp_path: Path) -> None:
    text = (Path(__file__).parents[1] / "data" / "tpch" / "queries" / f"q{name}.sql").read_text()
    compile_to(tmp_path / "x.plan", text, tpch_small, ranks=3)
    made_for = run(tmp_path / "x.plan", "--format", "csv", "--profile")
    assert json.loads(made_for.stderr)["ranks"] == 3
    for ranks in (1, 2, 4):
        done = run(tmp_path / "x.plan", "--format", "csv", "--topology", "any", "--ranks", ranks)
        assert sorted(done.stdout.splitlines()) == sorted(made_for.stdout.splitlines())


PAIRS = "select count(*) as n from lineitem a join lineitem b on a.l_linenumber = b.l_linenumber"


@pytest.fixture(scope="module")
def long_plan(tpch_small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some seconds of work: 60,000 rows, each with a seventh of them."""
    folder = tmp_path_factory.mktemp("plans") / "pairs.plan"
    compile_to(folder, PAIRS + " and a.l_extendedprice < b.l_extendedprice + b.l_tax", tpch_small, ranks=3)
    return folder


def with_stopped_rank(plan: Path, tables: Path, *arguments: object) -> subprocess.Popen[str]:
    """headrace-run, whose last child is stopped as by SIGSTOP."""
    tool = shutil.which("headrace-run")
    command = [tool, plan, "--tables", tables, "--ranks", 3, "--processes", *arguments]
    process = subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None and len(children := listed.read_text().split()) < 2:
        time.sleep(0.005)
    assert process.poll() is None, process.stderr.read()
    os.kill(int(children[-1]), signal.SIGSTOP)
    return process


def test_a_stopped_rank_ends_the_run(long_plan: Path, tpch_small: Path) -> None:
    process = with_stopped_rank(long_plan, tpch_small, "--peer-timeout", 2)
    _, text = process.communicate(timeout=120)
    assert process.returncode == 1
    assert re.search("no sign of life for .* rank 2", text), text
    assert "(its process is stopped, or its machine hangs; --peer-timeout sets for how long to wait)" in text


def test_sigterm_ends_a_run_with_a_stopped_rank(long_plan: Path, tpch_small: Path) -> None:
    process = with_stopped_rank(long_plan, tpch_small, "--peer-timeout", 3600)
    process.send_signal(signal.SIGTERM)
    _, text = process.communicate(timeout=120)
    assert process.returncode == 143
    assert "no sign of life" in text or "stopped by the user" in text, text


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_run(number: int, status: int, tmp_path: Path, tpch_small: Path) -> None:
    compile_to(tmp_path / "pairs.plan", PAIRS + " and a.l_extendedprice < b.l_orderkey - b.l_tax", tpch_small)
    command = [shutil.which("headrace-run"), tmp_path / "pairs.plan", "--log", "info"]
    with subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr and process.stderr.readline()  # it runs
        process.send_signal(number)
        output, text = process.communicate(timeout=60)
    assert (process.returncode, output) == (status, "")
    assert text.splitlines()[-1] == "headrace-run: cancelled error: stopped by the user"


def test_files_are_those_of_the_call_whatever_read_them_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their statistics are read once, here by a path that means nothing in the next working directory."""
    parquet.write_table(pa.table({"x": [1, 2, 3]}), tmp_path / "numbers.parquet")
    monkeypatch.chdir(tmp_path)
    hr.sql("select max(x) from numbers", "numbers.parquet")
    monkeypatch.chdir("/")
    compile_to(tmp_path / "x.plan", "select sum(x) as s from numbers", tmp_path / "numbers.parquet")
    assert run(tmp_path / "x.plan", "--format", "csv").stdout.split() == ["s", "6"]
