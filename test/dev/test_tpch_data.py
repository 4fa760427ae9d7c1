"""TPC-H data: whole tables under their names, or none."""

from __future__ import annotations

from pathlib import Path

import pytest
from dev import tpch_data
from dev.steps import StepFailed


@pytest.mark.parametrize("scale", ["0", "-1", "1e3", "one", "../x"])
def test_refuses_what_is_no_scale(scale: str) -> None:
    with pytest.raises(StepFailed, match="scale must be a positive decimal number"):
        tpch_data.ensure(scale)


def test_a_folder_with_all_tables_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    folder = tmp_path / "data" / "tpch" / "sf3"
    folder.mkdir(parents=True)
    for table in tpch_data.TABLES:
        (folder / f"{table}.parquet").touch()
    assert tpch_data.ensure("3") == folder


def test_a_stopped_run_leaves_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))  # there is no tpchgen-cli in this home
    with pytest.raises(OSError):
        tpch_data.ensure("3")
    assert not (tmp_path / "data" / "tpch" / "sf3").exists()
