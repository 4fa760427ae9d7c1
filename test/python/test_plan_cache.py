"""The cache of compiled programs: bounded, keyed by the machine, and never in the way of a query."""

from __future__ import annotations

import os
from pathlib import Path

import headrace as hr
import pyarrow as pa
import pytest
from headrace._src.programs import Target
from headrace._src.query import plan_cache

TABLES = {"t": pa.table({"a": [1, 2, 3]})}


def _entry(folder: Path, name: str, size: int, age: int) -> Path:
    entry = folder / name
    entry.mkdir(parents=True)
    (entry / "plan.json").write_bytes(b"x" * size)
    os.utime(entry, (1_000_000 - age, 1_000_000 - age))
    return entry


def test_oldest_entries_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [_entry(tmp_path, f"e{age}", 10_000, age) for age in range(10)]
    monkeypatch.setenv("HEADRACE_CACHE_BYTES", "80000")
    plan_cache.trim(tmp_path)
    assert [entry.exists() for entry in entries] == [age < 6 for age in range(10)]
    plan_cache.trim(tmp_path)
    assert sum(entry.exists() for entry in entries) == 6


def test_limit_must_be_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_CACHE_BYTES", "much")
    words = "HEADRACE_CACHE_BYTES: expected bytes such as 512MiB or 4GB, got: much"
    with pytest.raises(hr.HeadraceError, match=words):
        hr.sql("select 2 as limited", {})
    monkeypatch.delenv("HEADRACE_CACHE_BYTES")
    assert hr.sql("select 2 as limited", {}).to_pydict() == {"limited": [2]}
    monkeypatch.setenv("HEADRACE_CACHE_BYTES", "much")
    with pytest.raises(hr.HeadraceError, match=words):  # though the plan is there
        hr.sql("select 2 as limited", {})


def test_plans_are_found_again_and_kept_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    monkeypatch.setattr(plan_cache, "PUTS_PER_TRIM", 1)
    file = tmp_path / "t.parquet"
    import pyarrow.parquet as parquet

    parquet.write_table(TABLES["t"], file)
    for number in range(4):
        hr.sql(f"select a + {number} as b from t", tables={"t": file}, threads=1)
    assert len(list((tmp_path / "plans").iterdir())) == 4
    monkeypatch.setenv("HEADRACE_CACHE_BYTES", "1")
    hr.sql("select a + 4 as b from t", tables={"t": file}, threads=1)
    assert not list((tmp_path / "plans").iterdir())
    assert not list((tmp_path / "kernels").iterdir())


def test_another_instruction_set_or_effort_is_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    best = Target.of(1, None, None).key()
    monkeypatch.setenv("HEADRACE_ISA", "x86-64")
    assert Target.of(1, None, None).key() != best
    monkeypatch.delenv("HEADRACE_ISA")
    monkeypatch.setenv("HEADRACE_QUICK_ROWS", "0")
    assert Target.of(1, None, None).key() != best
    monkeypatch.setenv("HEADRACE_QUICK_ROWS", "few")
    with pytest.raises(hr.HeadraceError, match="HEADRACE_QUICK_ROWS must be a number of rows, got: few"):
        Target.of(1, None, None).key()
    monkeypatch.setenv("HEADRACE_ISA", "sse9")
    with pytest.raises(hr.HeadraceError, match="HEADRACE_ISA must be x86-64, .*, got: sse9"):
        Target.of(1, None, None)
