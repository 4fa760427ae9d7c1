"""Steps: output goes to a log, and a failure shows the part of it that tells why."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from dev import places, steps


@pytest.fixture(autouse=True)
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(places, "LOGS", tmp_path)
    return tmp_path


def test_output_goes_to_the_log(logs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lines: list[str] = []
    assert steps.run([sys.executable, "-c", "print('one'); print('two')"], "x", on_line=lines.append) == 0
    assert lines == ["one", "two"]
    assert (logs / "x.log").read_text().endswith("one\ntwo\n")
    assert capfd.readouterr().out == ""


def test_a_failure_shows_the_end_of_the_log() -> None:
    program = "import sys; [print('line', i) for i in range(100)]; sys.exit(3)"
    with pytest.raises(steps.StepFailed) as failed:
        steps.run([sys.executable, "-c", program], "x")
    message = str(failed.value)
    assert "line 99" in message
    assert "line 10\n" not in message
    assert "exit code 3" in message
    assert "x.log" in message


def test_a_failed_build_shows_its_first_error(logs: Path) -> None:
    log = logs / "build.log"
    log.write_text("$ ninja\n[1/2] a\nFAILED: b.o\nb.cpp:1: error: no\n" + "[2/2] warning\n" * 100)
    message = steps.failure(["cmake"], 1, log)
    assert "b.cpp:1: error: no" in message
    assert "[1/2] a" not in message


def test_a_step_that_did_nothing_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    with steps.step("nothing"):
        pass
    assert capsys.readouterr().err == ""
    with pytest.raises(ValueError), steps.step("something"):
        raise ValueError
    assert "FAILED" in capsys.readouterr().err
