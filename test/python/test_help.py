"""--help is complete: every option that a tool takes is explained, with its default and unit."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import headrace as hr
import pytest
from headrace._src.command_line import _parser
from headrace._src.phases import PHASES

BIN = Path(hr.__path__[-1]).parents[1] / "bin"
TOOLS = Path(__file__).parents[2] / "tools"
_OPTION = re.compile(r"\.(?:text|path|number|count|choice|flag|value|optionalValue)\(\s*\"(--[a-z-]+)\"")
_CAPTURED: Any = {"capture_output": True, "text": True}
_WITH_VALUE = re.compile(r"(--?[a-z][a-z-]*)(?:[= ][A-Z0-9<{]| [a-z]+\|)")
_DECLARED = re.compile(r"cl::(?:opt|list)<\w[\w:]*> \w+[{(]\s*\"([a-z-]+)\"")
#: What MLIR's own mains take and explain.
_OF_MLIR = ("-o", "--pass-pipeline", "--verify-diagnostics", "--output-split-marker", "--split-input-file")
_COMMANDS = {
    "headrace": ["sql", "explain", "cost", "compile", "lower", "tune", "calibrate", "doctor"],
    "headrace-run": [""],
    "headrace-opt": [""],
    "headrace-translate": [""],
    "headrace-interpret": [""],
    "headrace-tune": ["search", "cost", "simulate", "solve", "compare", "calibrate", "fit"],
    "headrace-topo": ["detect", "import", "show", "list", "diff", "check"],
}


def help_of(*words: str | Path, option: str = "--help") -> str:
    done = subprocess.run([*words, option], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def entries(told: str) -> dict[str, str]:
    """The options of a help text that take a value, each with what is said of it."""
    parts = [" ".join(part.split()) for part in re.split(r"^(?= {2,3}--?[a-z])", told, flags=re.MULTILINE)]
    return {match[1]: part for part in parts if (match := _WITH_VALUE.match(part))}


@pytest.mark.parametrize(("tool", "command"), [(t, c) for t in _COMMANDS for c in _COMMANDS[t]])
def test_every_option_tells_its_default(tool: str, command: str) -> None:
    told = help_of(BIN / tool, *command.split())
    usage = re.sub(r"\[[^]]*]", "", " ".join(told.split("\n\n")[0].split()))  # what is needed
    own = {option: text for option, text in entries(told).items() if option not in _OF_MLIR}
    assert {
        option: text
        for option, text in own.items()
        if "default" not in text and "needed" not in text and f"{option} " not in usage
    } == {}


@pytest.mark.parametrize("tool", ["headrace-opt", "headrace-translate", "headrace-interpret"])
def test_tools_of_the_compiler_show_their_own_flags(tool: str) -> None:
    told, hidden = help_of(BIN / tool), help_of(BIN / tool, option="--help-hidden")
    assert len(told.splitlines()) < 200 < len(hidden.splitlines())
    for llvm in ("--x86-", "--amdgpu-", "--polly", "--mlir-timing"):
        assert llvm not in told and llvm in hidden
    declared = {f for s in (TOOLS / tool).glob("*.cpp") for f in _DECLARED.findall(s.read_text())}
    assert {flag for flag in declared if f"--{flag}" not in told} == set()
    assert "--help-hidden" in told


def test_phases_that_are_told_are_taken(tmp_path: Path) -> None:
    program = tmp_path / "empty.mlir"
    program.write_text("module {}\n")
    told = re.search(r"phases, in order: ([a-z, ]+);", help_of(BIN / "headrace-opt"))
    assert told is not None
    assert told[1].split(", ") == list(PHASES)[1:]
    for phase in told[1].split(", "):
        words = [BIN / "headrace-opt", program, f"--start-from={phase}", f"--stop-after={phase}"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert "expected a phase" not in done.stderr
    wrong = [BIN / "headrace-opt", program, "--stop-after=sharding"]
    done = subprocess.run(wrong, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"headrace-opt: expected a phase ({told[1]}), got: sharding\n"


@pytest.mark.parametrize("tool", ["headrace-opt", "headrace-translate", "headrace-interpret"])
def test_tools_of_the_compiler_take_a_level_of_the_log(tool: str, tmp_path: Path) -> None:
    program = tmp_path / "empty.mlir"
    program.write_text("func.func @main() {\n  return\n}\n")
    words = {"headrace-opt": ["--shard"], "headrace-translate": ["--sched-to-plan"]}.get(tool, ["--check"])

    def told(*level: str, variable: str = "off") -> str:
        environment = {**os.environ, "HEADRACE_LOG": variable}
        command = [BIN / tool, program, *words, *level]
        return subprocess.run(command, env=environment, check=False, **_CAPTURED).stderr

    wrong = "user error: --log must be one of off|error|warning|info|debug, got: loud"
    assert f"{tool}: {wrong}\n" == told("--log", "loud")
    assert "got: loud (at environment variable HEADRACE_LOG)" in told(variable="loud")
    if tool != "headrace-translate":  # which makes nothing that takes long
        assert "layouts chosen in" in told("--log=info")
        assert "layouts chosen in" in told(variable="info") and "layouts" not in told("--log=off")


@pytest.mark.parametrize("tool", ["headrace-run", "headrace-tune", "headrace-topo"])
def test_every_option_is_explained(tool: str) -> None:
    taken = {
        option for source in (TOOLS / tool).glob("*.cpp") for option in _OPTION.findall(source.read_text())
    }
    assert taken
    told = "".join(help_of(BIN / tool, *command.split()) for command in _COMMANDS[tool])
    assert {option for option in taken if f"{option} " not in told and f"{option}\n" not in told} == set()


def test_settings_have_defaults_units_and_variables() -> None:
    from headrace import _runtime

    told = help_of(BIN / "headrace-run")
    assert "HEADRACE_" in told
    for setting in _runtime.settings():
        explained = re.search(rf"^  {setting['flag']} (.+)\n      (.+)$", told, re.MULTILINE)
        assert explained, setting["flag"]
        assert explained.group(1) == setting["range"]
        assert setting["doc"] in explained.group(2)
        assert explained.group(2).endswith(f" (default: {setting['default']})")


@pytest.mark.parametrize("command", ["sql", "explain", "cost", "compile", "lower", "tune", "calibrate"])
def test_commands_tell_their_defaults(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        _parser().parse_args([command, "--help"])
    assert ended.value.code == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "--log off|error|warning|info|debug" in told
    if command in ("sql", "explain"):
        assert "--exchange-buffer 4 KiB..1 GiB" in told and "(default: 4)" in told
    if command == "lower":
        assert "in order: import (frame), optimize (frame), shard (dist), form (pipe), lower (" in told
        assert told.count("schedule (sched) (default: optimize)") == 1
    assert "default" in told


def test_a_wrong_line_is_answered_in_two() -> None:
    done = subprocess.run([BIN / "headrace", "sql", "select 1", "--tables", "t", "--rnks", "2"], **_CAPTURED)
    told = [
        "headrace sql: user error: unknown option, did you mean --ranks? got --rnks",
        "see headrace sql --help",
    ]
    assert (done.returncode, done.stderr.splitlines()) == (2, told)
    done = subprocess.run([BIN / "headrace", "sql"], **_CAPTURED)
    assert done.returncode == 2 and done.stderr.startswith("headrace sql: user error: ")
    assert len(done.stderr.splitlines()) == 2
