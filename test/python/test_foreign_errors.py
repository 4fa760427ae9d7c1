"""What libraries raise below headrace comes out of it as an error of headrace, with its kind."""

from __future__ import annotations

import functools
import json
import operator
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import headrace as hr
import pyarrow as pa
import pytest
from headrace._src.calibration import calibrate
from headrace._src.command_line import main
from headrace._src.query import json_files

TABLE = pa.table({"a": [1, 2, 3]})


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "lines.json"
    with path.open("w") as file:
        for number in range(300_000):
            file.write(json.dumps({"a": number, "b": "x" * 50}) + "\n")
    return path


def test_json_that_is_cut_short_while_it_is_read(lines: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(parts: Any) -> Iterator[Any]:
        yield next(parts)
        os.truncate(lines, 1_000_001)
        yield from parts

    monkeypatch.setattr(json_files, "larger", cut)
    with pytest.raises(hr.errors.InputOutputError, match=f"cannot read: {lines}: "):
        hr.sql(f"select sum(a), max(b) from '{lines}'")


@pytest.mark.parametrize(
    ("line", "message"),
    [('{"a": 1, "b": oops}', "Malformed JSON"), ('{"a": "text", "b": "x"}', "Failed to cast value")],
)
def test_json_that_is_wrong_far_behind(line: str, message: str, lines: Path) -> None:
    with lines.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(hr.errors.UserError, match=f"cannot read: {lines}: .*{message}"):
        hr.sql(f"select sum(a), max(b) from '{lines}'")


def _sum(count: int) -> hr.Expr:
    return functools.reduce(operator.add, [1] * count, hr.col("a"))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("select", lambda frame: frame.select(x=_sum(1000))),
        ("filter", lambda frame: frame.filter(_sum(1000) > 1)),
        ("sort", lambda frame: frame.sort(_sum(1000))),
        ("with_columns", lambda frame: frame.with_columns(x=_sum(1000))),
        ("agg", lambda frame: frame.group_by("a").agg(_sum(1000).sum())),
    ],
)
def test_an_expression_that_is_too_deep(name: str, call: Callable[[hr.LazyFrame], object]) -> None:
    message = rf"an expression is too deep: give parts of it a name by with_columns \(at {name}, "
    with pytest.raises(hr.errors.UnsupportedError, match=message):
        call(hr.from_arrow(TABLE))


def test_a_deep_expression_is_shown() -> None:
    assert "…" in repr(_sum(5000))
    assert "…" not in repr(_sum(50))


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    long = tmp_path / f"{'a' * 300}.csv"
    with pytest.raises(hr.errors.InputOutputError, match="File name too long"):
        hr.sql(f"copy (select 1 as a) to '{long}'")


def test_a_plan_that_is_there_already(tmp_path: Path) -> None:
    program = hr.jit(lambda x: x + 1).compile([1.0, 2.0])
    program.write(tmp_path / "p.plan")
    with pytest.raises(hr.errors.InputOutputError, match="cannot write the plan: "):
        program.write(tmp_path / "p.plan")


def test_figures_that_cannot_be_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate, "make_plans", lambda _: pytest.fail("it measures"))
    assert main(["calibrate", "--output", "/proc/none/figures.json"]) == 1
    assert "cannot write the figures: /proc/none/figures.json: " in capsys.readouterr().err
