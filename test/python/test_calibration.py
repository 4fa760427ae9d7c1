"""What calibration found of this machine is used by later compilations, and can be switched off."""

from __future__ import annotations

import os
from pathlib import Path

import headrace as hr
import pyarrow as pa
import pytest
from headrace import _runtime
from headrace._src.calibration import calibrate, programs
from headrace._src.command_line import main
from headrace._src.programs import Target
from headrace._src.tuning import database, use
from headrace._src.tuning.choice import Choice
from machine_file import write_machine

SHIPPED = Path(__file__).parents[2] / "model" / "topology" / "files"
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
    return write_machine(home / "machine.json", cores, row=seconds)


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


def test_a_file_that_was_named_is_used_or_refused(
    home: Path, tables: dict[str, pa.Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    named = home / "named.json"
    monkeypatch.setenv("HEADRACE_CALIBRATION", str(named))
    with pytest.raises(hr.HeadraceError, match=r"cannot open .*named\.json.*headrace calibrate"):
        _seconds(tables)
    write_machine(named, 1 + (os.cpu_count() or 1))
    with pytest.raises(
        hr.HeadraceError, match=r"named\.json: it is of a machine of \d+ cores, this one has \d+"
    ):
        _seconds(tables)
    named.write_text(Path(SHIPPED / "dgx-h100.json").read_text())
    with pytest.raises(hr.HeadraceError, match=r"named\.json: it is not of one machine with CPUs alone"):
        _seconds(tables)
    write_machine(named, os.cpu_count() or 1)
    assert "machine, calibrated" in hr.explain(_QUERY, tables, ranks=2)


def test_what_was_measured_holds_when_the_machine_is_calibrated(
    home: Path, tables: dict[str, pa.Table]
) -> None:
    for ranks, choice in ((2, Choice(0, 4096)), (3, Choice(5))):
        target = Target.of(ranks, None, None)
        keys = use.sql_program(_QUERY), use.key_of(target)
        database.put(database.Record(*keys, choice, date="2026-11-21", build=use.build_of(target)))
        assert "tuned by a record" in hr.explain(_QUERY, tables, ranks=ranks)
    write_machine(home / "machine.json", os.cpu_count() or 1, row=1e-6)
    assert "tuned by a record" in hr.explain(_QUERY, tables, ranks=2)
    # A layout has its number only among those of the same figures.
    explained = hr.explain(_QUERY, tables, ranks=3)
    assert explained.startswith(
        "a tuning record of 2026-11-21 is of another build of the compiler or calibration"
    )


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


def test_plans_that_do_not_run(tmp_path: Path) -> None:
    with pytest.raises(hr.HeadraceError, match="the plans of the calibration did not run"):
        calibrate.fit(tmp_path, tmp_path / "out.json", threads=1, rounds=1)
