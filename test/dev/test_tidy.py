"""What the formatters print becomes findings."""

from __future__ import annotations

from pathlib import Path

from dev import tidy


def test_findings_name_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(
        'import os\n\ndef f(connection: "duckdb.Connection", path: "pathlib.Path", '
        'text: str = "a: b: c: d", another: str = "e: f: g: h", last: int = 0) -> None:\n    ...\n'
    )
    findings = tidy.check_formats(tidy.Options([str(file)], fix=False))
    assert {finding.line for finding in findings} == {1, 3}
    assert [finding for finding in findings if "reformatted" in finding.message]
    assert {(finding.path, finding.rule) for finding in findings} == {(str(file), "ruff")}
