"""--help is complete: every option that a tool takes is explained, with its default and unit."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import headrace as hr
import pytest
from headrace._src.command_line import _parser

BIN = Path(hr.__path__[-1]).parents[1] / "bin"
TOOLS = Path(__file__).parents[2] / "tools"
_OPTION = re.compile(r"\.(?:text|path|number|count|choice|flag|value|optionalValue)\(\s*\"(--[a-z-]+)\"")
_COMMANDS = {
    "headrace-run": [""],
    "headrace-tune": ["cost", "simulate", "solve", "compare", "calibrate", "fit"],
    "headrace-topo": ["detect", "import", "show", "list", "diff", "check"],
}


def help_of(*words: str | Path) -> str:
    done = subprocess.run([*words, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("tool", _COMMANDS)
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
        assert explained.group(1) == (setting["range"] or "TEXT")
        assert setting["doc"] in explained.group(2)
        assert ("(default: " in explained.group(2)) == bool(setting["default"])


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
        for phase in ("import", "optimize", "shard", "form", "lower", "schedule"):
            assert phase in told
    assert "default" in told


def test_whole_phases_are_explained() -> None:
    told = help_of(BIN / "headrace-opt")
    assert "--stop-after=<phase>" in told and "--start-from=<phase>" in told
    assert "optimize, shard, form, schedule, lower" in told
