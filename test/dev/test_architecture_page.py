"""The IR in docs/ARCHITECTURE.md is IR, and has the ops that the compiler makes now."""

from __future__ import annotations

import subprocess

import pytest
from dev import architecture_page, places


def block(phase: str) -> str:
    text = architecture_page.shown(architecture_page.PAGE.read_text())[phase]
    return text.removeprefix("```mlir\n").removesuffix("```\n")


def test_statistics_are_left_out() -> None:
    module = 'module {\n  %0 = frame.scan "t" {statistics = {a = {b = 1}}, x} : i1\n}'
    assert architecture_page.readable(module, "optimize") == '%0 = frame.scan "t" {x} : i1'
    module = 'module {\n  %0 = frame.scan "t" {statistics = {a = {b = 1}}} : i1\n}'
    assert architecture_page.readable(module, "optimize") == '%0 = frame.scan "t" : i1'


@pytest.mark.parametrize("phase", ["optimize", "shard", "form"])
def test_the_page_parses(phase: str) -> None:
    tool = places.build_folder("release") / "bin" / "headrace-opt"
    done = subprocess.run([tool, "-"], input=block(phase), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_page_shows_what_the_compiler_makes() -> None:
    made = architecture_page.levels(architecture_page.PAGE.read_text())
    for phase, ir in made.items():
        assert architecture_page.ops(block(phase)) == architecture_page.ops(ir), f"{phase}: run ./dev docs"
