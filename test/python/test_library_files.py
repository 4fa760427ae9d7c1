"""Arrow files and JSON lines as frames, and paths that are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import headrace as hr
import pyarrow as pa
import pyarrow.feather as feather
import pytest
from duckdb_oracle import same

TABLE = pa.table({"k": [1, None, 3], "t": ["a", "é", None]})


@pytest.mark.parametrize("compression", ["uncompressed", "zstd", "lz4"])
def test_arrow_files(tmp_path: Path, compression: str) -> None:
    feather.write_feather(TABLE, str(tmp_path / "a.arrow"), compression=compression)
    hr.scan_ipc(tmp_path / "a.arrow").sink_ipc(tmp_path / "b.arrow")
    same(hr.scan_ipc(tmp_path / "a.arrow").collect(ranks=2), TABLE)
    same(hr.scan_ipc(tmp_path / "*.arrow").collect(), pa.concat_tables([TABLE, TABLE]))


def test_json_lines(tmp_path: Path) -> None:
    lines = ['{"k": 1, "t": "a"}', '{"k": null, "t": "é"}', '{"k": 3}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    (tmp_path / "b.jsonl").write_text('{"k": 1.5, "t": "a"}\n')
    same(hr.scan_ndjson(tmp_path / "a.jsonl").collect(ranks=3), TABLE)
    both = hr.scan_ndjson([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    assert both.select(hr.col("k").sum()).collect().to_pylist() == [{"k": 5.5}]


def test_json_lines_as_long_as_they_are(tmp_path: Path) -> None:
    long = "x" * 3_000_000
    (tmp_path / "a.jsonl").write_text(f'{{"t": "{long}"}}\n{{"t": "y"}}\n')
    assert hr.scan_ndjson(tmp_path / "a.jsonl").collect()["t"].to_pylist() == [long, "y"]


@pytest.mark.parametrize("lists", [[[[None, 1]], [[2], [3]]], [[None, {"x": 1}], [{"x": 2}]], [[None, [1]]]])
def test_json_lines_with_nulls_in_lists_of_lists(tmp_path: Path, lists: list[Any]) -> None:
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps({'l': each})}\n" for each in lists))
    assert hr.scan_ndjson(tmp_path / "a.jsonl").collect()["l"].to_pylist() == lists


REFUSED: list[tuple[Callable[[Path], Any], str]] = [
    (lambda folder: hr.scan_ipc(folder / "none.arrow"), "no such file"),
    (lambda folder: hr.scan_ipc(folder / "a.jsonl"), "not an Arrow file"),
    (lambda folder: hr.scan_ndjson(folder / "wrong.jsonl"), "not a file of JSON lines"),
    (
        lambda folder: hr.scan_ndjson([folder / "a.jsonl", folder / "b.jsonl"]),
        "files of one table differ in their columns",
    ),
    (
        lambda folder: hr.scan_ndjson([folder / "a.jsonl", folder / "c.jsonl"]),
        "files of one table differ in their types",
    ),
    (lambda folder: hr.scan_ndjson([]), "a list of no files"),
    (lambda folder: hr.scan_ndjson(7), "not a path, or a list of paths: int"),
    (lambda folder: hr.scan_csv("ftp://host/x.csv"), "files of ftp:// cannot be read"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_refused(tmp_path: Path, call: Callable[[Path], Any], message: str) -> None:
    for name, text in {"a": '{"k": 1}', "b": '{"z": 1}', "c": '{"k": "x"}', "wrong": "{k"}.items():
        (tmp_path / f"{name}.jsonl").write_text(text + "\n")
    with pytest.raises(hr.HeadraceError) as caught:
        call(tmp_path)
    assert message in str(caught.value)
