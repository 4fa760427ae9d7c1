"""The runtime has no LLVM in it: neither as a linked library, directly or through others, nor statically."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from dev import places

BUILD = Path(os.environ.get("HEADRACE_BUILD") or places.build_folder("release"))
COMPILER = re.compile(r"lib(LLVM|MLIR|clang|lld)[\w.+-]*")


def artefact(pattern: str) -> Path:
    found = sorted(BUILD.glob(pattern))
    if not found:
        pytest.skip(f"not built: {pattern}")
    return found[0]


def output(*command: str | Path) -> str:
    return subprocess.run(list(command), capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("pattern", ["python/headrace/_runtime*.so", "bin/headrace-run"])
def test_the_runtime_links_no_compiler(pattern: str) -> None:
    loaded = output("ldd", artefact(pattern))
    assert "libc.so" in loaded
    assert COMPILER.findall(loaded) == []


@pytest.mark.parametrize("pattern", ["python/headrace/_runtime*.so", "bin/headrace-run"])
def test_the_runtime_contains_no_compiler(pattern: str) -> None:
    symbols = output("nm", "-C", artefact(pattern))
    assert "headrace::" in symbols
    assert [line for line in symbols.splitlines() if re.search(r" (llvm|mlir)::", line)] == []


@pytest.mark.parametrize("pattern", ["python/headrace/_runtime*.so", "bin/headrace-run"])
def test_the_runtime_links_nothing_of_headrace_topo(pattern: str) -> None:
    assert re.findall(r"lib(?:hwloc|expat)[\w.+-]*", output("ldd", artefact(pattern))) == []


def test_the_check_sees_llvm_where_it_is() -> None:
    assert COMPILER.findall(output("ldd", artefact("bin/headrace-opt"))) != []
