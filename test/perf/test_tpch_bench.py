"""The benchmark itself, on the peers at scale 0.01: records are complete, wrong answers have no time."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from dev import python_environment
from dev.bench import suites, tpch
from dev.bench.answers import difference
from dev.bench.records import FIRST, FIRST_CACHED, REPEATED, Record, geometric_mean, ratios, table
from dev.steps import StepFailed


def record(engine: str, query: str, seconds: float | None, kind: str = REPEATED) -> Record:
    return Record(engine, "1", "0.01", 2, query, kind, seconds, peak_memory_bytes=1_000_000)


def test_writes_a_record_per_engine_query_and_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bench.json"
    words = ["--scale", "0.01", "--queries", "q06", "--engines", "duckdb,polars", "--json", str(file)]
    assert tpch.main(words) == 0
    records = json.loads(file.read_text())["records"]
    assert [(r["engine"], r["kind"]) for r in records] == [
        ("duckdb", FIRST),
        ("duckdb", REPEATED),
        ("duckdb", FIRST_CACHED),
        ("polars", FIRST),
        ("polars", REPEATED),
        ("polars", FIRST_CACHED),
    ]
    for r in records:
        assert r["seconds"] > 0
        assert r["peak_memory_bytes"] > 1_000_000
        assert r["rows"] == 1
    assert "geometric mean" in capsys.readouterr().out


def test_a_suite_of_others_is_compared_on_all_engines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, tables, file = tmp_path / "texts", tmp_path / "tables", tmp_path / "bench.json"
    texts.mkdir()
    tables.mkdir()
    (texts / "create.sql").write_text("create table t (k bigint);")
    (texts / "q1.sql").write_text("select k, sum(v) as s from t group by k;\nselect count(*) as n from t;")
    (texts / "q2.sql").write_text("select no_such_function(k) from t")
    parquet.write_table(pa.table({"k": [1, 2, 1], "v": [1.5, 2.0, 4.0]}), tables / "t.parquet")
    words = ["--texts", str(texts), "--tables", str(tables), "--json", str(file)]
    engines = ("headrace", "duckdb", "polars")
    assert suites.suite("tpcds", "TPC-DS")([*words, "--engines", ",".join(engines)]) == 0
    records = json.loads(file.read_text())["records"]
    assert {(r["engine"], r["query"]) for r in records if r["seconds"]} == {
        (engine, query) for engine in engines for query in ("q1", "q1.2")
    }
    assert {(r["engine"], r["query"]) for r in records if r["note"]} == {(engine, "q2") for engine in engines}
    assert "TPC-DS" in capsys.readouterr().out


def test_an_engine_of_benchmarks_alone_is_installed_when_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def installed() -> None:
        raise StepFailed("no network")

    monkeypatch.setattr(python_environment, "ensure_peers", installed)
    words = ["--scale", "0.01", "--queries", "q06", "--engines"]
    with pytest.raises(StepFailed, match="no network"):
        tpch.main([*words, "duckdb,datafusion"])
    assert tpch.main([*words, "duckdb"]) == 0


def test_ratios_leave_out_what_failed() -> None:
    records = [
        record("a", "q1", 2.0),
        record("b", "q1", 1.0),
        record("a", "q2", None),
        record("b", "q2", 1.0),
        record("a", "q1", 9.0, FIRST),
    ]
    assert ratios(records, "a", "b", REPEATED) == {"q1": 2.0}
    assert "failed" in table(records, ["a", "b"], REPEATED)


def test_first_runs_stand_there_with_and_without_compiling() -> None:
    own = Record("a", "1", "1", 2, "q1", FIRST, 0.030, compile_seconds=0.020)
    lines = table([own, record("b", "q1", 0.010, FIRST)], ["a", "b"], FIRST).splitlines()
    assert lines[0].split() == [
        "query",
        "a",
        "ms",
        "b",
        "ms",
        "compile",
        "ms",
        "run",
        "ms",
        "a/b",
        "run/b",
        "MB",
        "a",
        "MB",
        "b",
    ]
    assert lines[2].split() == ["q1", "30.0", "10.0", "20.0", "10.0", "3.00", "1.00", "-", "1"]
    assert lines[3].split() == ["geometric", "mean", "3.00", "1.00"]
    again = Record("a", "1", "1", 2, "q1", REPEATED, 0.011, compile_seconds=0.001)
    assert "run" not in table([again, record("b", "q1", 0.010)], ["a", "b"], REPEATED)


def test_geometric_mean() -> None:
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2.0)
    assert geometric_mean([]) is None


def test_answers_are_multisets_of_rows() -> None:
    ours = pa.table({"k": ["b", "a"], "v": [Decimal("2.50"), Decimal("1.00")]})
    theirs = pa.table({"key": ["a", "b"], "value": [1.0, 2.5]})
    assert difference(ours, theirs) == ""


@pytest.mark.parametrize(
    ("values", "fragment"),
    [([1.0, 2.6], "differs in column 1"), ([1.0], "rows"), ([1.0, None], "differs in column 1")],
)
def test_wrong_answers_are_named(values: list[float], fragment: str) -> None:
    assert fragment in difference(pa.table({"v": values}), pa.table({"v": [1.0, 2.5]}))
