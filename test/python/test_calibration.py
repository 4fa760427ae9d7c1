"""What calibration found of this machine is used by later compilations, and can be switched off."""

from __future__ import annotations

import json
import os
from pathlib import Path

import headrace as hr
import pyarrow as pa
import pytest
from headrace import _runtime
from headrace._src.calibration import programs
from headrace._src.command_line import main
from headrace._src.programs import Target

_QUERY = "select k, sum(v) from t group by k"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    monkeypatch.delenv("HEADRACE_CALIBRATION", raising=False)
    return tmp_path


@pytest.fixture
def tables() -> dict[str, pa.Table]:
    return {
        "t": pa.table({"k": pa.array([row % 100 for row in range(10_000)]), "v": pa.array(range(10_000))})
    }


def _calibrated(home: Path, cores: int, seconds: float) -> Path:
    """A file as `headrace-tune calibrate` writes it: one slot for each core."""
    slot = {
        "class": "cpu",
        "compute": {"f32": 6e10, "f64": 3e10, "scalar": 1.5e9},
        "launch": {"kernel": 5e-6},
        "mem": {"space": "host", "capacity": 4e9, "bw": 8e9},
        "work": {"row": seconds},
    }
    node = {
        "devices": {"cpu": ["slot", cores]},
        "resources": {"dram": {"bw": 8e9, "alpha": 1e-5}},
        "routes": [{"from": "cpu[i].host", "to": "cpu[j].host", "via": ["dram"]}],
    }
    document = {
        "schema": "topology/1",
        "name": "machine",
        "units": "SI (bytes, seconds, bytes/s, flop/s)",
        "device_types": {"slot": slot},
        "node_types": {"host": node},
        "instances": [{"type": "host", "name": "machine", "count": 1}],
    }
    file = home / "machine.json"
    file.write_text(json.dumps(document))
    return file


def _seconds(tables: dict[str, pa.Table]) -> float:
    return hr.cost(_QUERY, tables).seconds


def test_later_costs_are_those_of_the_calibration(home: Path, tables: dict[str, pa.Table]) -> None:
    assumed = _seconds(tables)
    key = Target.of(2, None, None).key()
    _calibrated(home, os.cpu_count() or 1, 1e-3)  # a millisecond a row
    assert _seconds(tables) > 100 * assumed
    assert "machine, calibrated" in hr.explain(_QUERY, tables, ranks=2)
    assert Target.of(2, None, None).key() != key


def test_a_file_of_another_machine_is_left_alone(home: Path, tables: dict[str, pa.Table]) -> None:
    assumed = _seconds(tables)
    _calibrated(home, 1 + (os.cpu_count() or 1), 1e-3)
    assert _seconds(tables) == assumed


def test_it_can_be_switched_off(
    home: Path, tables: dict[str, pa.Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    assumed = _seconds(tables)
    _calibrated(home, os.cpu_count() or 1, 1e-3)
    monkeypatch.setenv("HEADRACE_CALIBRATION", "off")
    assert _seconds(tables) == assumed
    assert _runtime.calibration_file() == ""


def test_a_broken_file_is_an_error_that_says_what_to_do(home: Path, tables: dict[str, pa.Table]) -> None:
    (home / "machine.json").write_text("{")
    with pytest.raises(
        hr.HeadraceError, match=r"machine\.json.*headrace calibrate.*HEADRACE_CALIBRATION=off"
    ):
        _seconds(tables)


def test_the_command_writes_what_compilations_read(
    home: Path, tables: dict[str, pa.Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {"count-few", "by-k10", "join-d1k"}
    monkeypatch.setattr(programs, "ROWS", 20_000)
    monkeypatch.setattr(programs, "LARGE_ROWS", 20_000)
    chosen = [query for query in programs.queries() if query[0] in few]
    monkeypatch.setattr(programs, "queries", lambda: iter(chosen))
    monkeypatch.setattr(programs, "large_queries", lambda: iter(()))
    monkeypatch.setattr(programs, "tensor_programs", lambda: iter(()))
    assert len(chosen) == len(few)
    (home / "machine.json").write_text("{")  # what was there before does not matter
    assert main(["calibrate", "--rounds", "1"]) == 0
    assert [file.name for file in home.glob("*machine.json*")] == ["machine.json"]
    assert "machine, calibrated" in hr.explain(_QUERY, tables, ranks=2)
    assert main(["calibrate", "--rounds", "0"]) == 2
