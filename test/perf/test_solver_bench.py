"""`./dev bench solver`: which files it takes, what it compares with, how it shows it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from dev.bench import solver
from dev.bench.solver import Result
from dev.steps import StepFailed


def result(instance: str, cost: float, best: float | None, fits: bool = True) -> Result:
    first = 0.5 if fits else None
    return Result(instance, 816, 1023, 172, cost, 0.8 * cost, fits, first, 2.0, 7, best)


def test_each_instance_is_taken_once(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match="no instance"):
        solver.instances(tmp_path)
    for name in ("b.json", "b.json.gz", "a.json.gz"):
        (tmp_path / name).write_bytes(gzip.compress(b"{}"))
    assert [path.name.split(".")[0] for path in solver.instances(tmp_path)] == ["a", "b"]


def test_the_best_known_costs_are_those_of_25_instances() -> None:
    best = solver.best_known()
    assert len(best) == 25
    assert best["asplos-2025-iopddl-G"] == 217039


def test_ratios_are_of_what_fits_and_is_known() -> None:
    assert result("x", 150.0, 100.0).ratio == 1.5
    assert result("x", 150.0, None).ratio is None
    assert result("x", 50.0, 100.0, fits=False).ratio is None
    text = solver.table(
        [
            result("asplos-2025-iopddl-C", 200.0, 100.0),
            result("x", 800.0, 100.0),
            result("y", 1.0, 100.0, fits=False),
        ]
    )
    lines = text.splitlines()
    assert lines[2].split()[:6] == ["C", "816", "1,023", "172", "0.50", "200"]
    assert "none fits" in lines[4]
    assert lines[-1] == "geometric mean of the ratios: 4.000"


def test_figures_come_from_the_tool() -> None:
    solution = {
        "problem": "asplos-2025-iopddl-B",
        "nodes": 816,
        "edges": 1023,
        "nodes_after_reductions": 172,
        "objective": 532843,
        "bound": 500000,
        "fits": True,
        "first_seconds": 0.03,
        "seconds": 1.0,
        "rounds": 12,
    }
    read = solver.as_result(solution, solver.best_known())
    assert read.ratio == 1.0
    assert round(100 * read.gap, 1) == 6.2
