"""Reading the reports of ctest, lit and pytest."""

from __future__ import annotations

from pathlib import Path

from dev.testing import read_junit


def test_counts_passes_failures_and_skips(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuites><testsuite name="x">'
        '<testcase classname="a" name="good"/>'
        '<testcase classname="a" name="bad"><failure message="m">why</failure></testcase>'
        '<testcase classname="a" name="broken"><error message="no module"/></testcase>'
        '<testcase classname="a" name="later"><skipped message="no"/></testcase>'
        '<testcase name="off" status="disabled"/>'
        "</testsuite></testsuites>"
    )
    results = read_junit(report)
    assert results.passed == 1
    assert results.skipped == 2
    assert results.failures == [("a.bad", "why"), ("a.broken", "no module")]


def test_ctest_keeps_the_output_of_a_failure(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuite><testcase name="Unit.Fails" classname="Unit.Fails" status="fail">'
        '<failure message=""/><system-out>expected 1, got 2</system-out></testcase></testsuite>'
    )
    assert read_junit(report).failures == [("Unit.Fails.Unit.Fails", "expected 1, got 2")]
