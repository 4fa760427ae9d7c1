"""What README and docs say to type is run as it stands, in a folder with the files that the pages name.

HEADRACE_SLOW_COMMANDS=1 runs those that take minutes too.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from dev import documented_commands, places, tpch_data
from dev.documented_commands import Block

SLOW = "HEADRACE_SLOW_COMMANDS"
DATA = places.ROOT / "test" / "data"
NETWORK = """func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<64x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x16xf32>) -> tensor<64x16xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x32xf32>, tensor<32x16xf32>)
                     outs(%start : tensor<64x16xf32>) -> tensor<64x16xf32>
  return %y : tensor<64x16xf32>
}
"""
COLUMNS = """func.func @main(%x: tensor<?x2xf64>, %w: tensor<2x5xf64>) -> tensor<?x5xf64> {
  %zero = arith.constant 0.0 : f64
  %first = arith.constant 0 : index
  %rows = tensor.dim %x, %first : tensor<?x2xf64>
  %empty = tensor.empty(%rows) : tensor<?x5xf64>
  %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x5xf64>) -> tensor<?x5xf64>
  %y = linalg.matmul ins(%x, %w : tensor<?x2xf64>, tensor<2x5xf64>)
                     outs(%start : tensor<?x5xf64>) -> tensor<?x5xf64>
  return %y : tensor<?x5xf64>
}
"""
INSTANCE = """{"problem": {"name": "small", "usage_limit": 6,
  "nodes": {"intervals": [[0, 3], [1, 4]], "costs": [[10, 20], [5, 6]], "usages": [[4, 1], [3, 3]]},
  "edges": {"nodes": [[0, 1]], "costs": [[3, 1, 0, 2]]}}}
"""


def topology_without_a_route() -> str:
    document = json.loads((DATA / "topology" / "every-key.json").read_text())
    routes = document["node_types"]["box"]["routes"]
    routes[:] = [route for route in routes if route["to"] != "net"]
    return json.dumps(document)


def measurements() -> str:
    """The example of the page."""
    text = (places.ROOT / "docs" / "reference" / "tuning.md").read_text()
    match = re.search(r"```json\n(.*?)```", text, re.DOTALL)
    assert match is not None
    return match.group(1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """As if in the checkout, with TPC-H in tables/, a query, its plan, and files of other programs."""
    tables = tpch_data.ensure("0.01")
    for name in ("test", "build", "docs", "pytest.ini"):
        (tmp_path / name).symlink_to(places.ROOT / name)
    # ./dev is the checkout's, with its environment; what the package keeps is the test's.
    ours = f"HOME={Path.home()} HEADRACE_HOME={places.home()}"
    (tmp_path / "dev").write_text(f'#!/bin/sh\nexec env {ours} {places.ROOT}/dev "$@"\n')
    (tmp_path / "dev").chmod(0o755)
    (tmp_path / "tables").symlink_to(tables)
    sf1 = tmp_path / ".cache" / "headrace" / "data" / "tpch" / "sf1"
    sf1.parent.mkdir(parents=True)
    sf1.symlink_to(tables)
    shutil.copy(places.QUERIES / "q06.sql", tmp_path / "query.sql")
    texts = {"network.mlir": NETWORK, "columns.mlir": COLUMNS, "instance.json": INSTANCE}
    texts |= {"mine.json": topology_without_a_route(), "rack7.json": measurements()}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    for theirs, ours in (("nccl-h100", "dump.xml"), ("server", "server.xml")):
        shutil.copy(DATA / "topology" / f"{theirs}.xml", tmp_path / ours)
    shutil.copy(DATA / "topology" / "slurm-tree.conf", tmp_path / "topology.conf")
    return tmp_path


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HOME": str(folder)}
    environment.pop("HEADRACE_HOME", None)
    # Of mpirun, on a small machine where all is root's.
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment.pop(SLOW, None)  # ./dev test among the commands must not start this again
    shell = ["bash", "-euo", "pipefail", "-c", command]
    return subprocess.run(shell, cwd=folder, env=environment, capture_output=True, text=True)


def check(block: Block, folder: Path, before: list[str]) -> None:
    if block.language == "sh":
        done = run(block.text, folder)
        assert done.returncode == 0, done.stdout + done.stderr
    elif block.language == "console":
        for command, shown in documented_commands.session(block.text):
            done = run(command, folder)
            assert documented_commands.agrees(done.stdout + done.stderr, shown), done.stdout + done.stderr
    else:
        before.append(block.text)
        (folder / "program.py").write_text("\n".join(before))
        done = run("python program.py", folder)
        assert done.returncode == 0, done.stdout + done.stderr


def can_run(mark: str) -> bool:
    can = {"": True, "slow": bool(os.environ.get(SLOW)), "gpu": Path("/dev/nvidiactl").exists()}
    return can.get(mark, False)  # those of engines are run elsewhere


@pytest.mark.parametrize("page", documented_commands.pages(), ids=documented_commands.name)
def test_a_page(page: Path, folder: Path) -> None:
    programs: list[str] = []
    for block in documented_commands.blocks(page):
        if block.language in documented_commands.RUN and can_run(block.mark):
            try:
                check(block, folder, programs)
            except AssertionError as failed:
                raise AssertionError(f"{documented_commands.name(page)}:{block.line}: {failed}") from None


@pytest.mark.parametrize("page", documented_commands.pages(), ids=documented_commands.name)
def test_commands_are_in_blocks_that_are_run(page: Path) -> None:
    assert documented_commands.unmarked(page) == []


def test_outputs_are_compared() -> None:
    assert documented_commands.agrees("a\nb\nc\n", "a\n…\nc\n")
    assert not documented_commands.agrees("a\nb\n", "a\n")
    assert not documented_commands.agrees("a\nb\n", "a\n…\nc\n")
    assert list(documented_commands.session("$ one\nx\n$ two\n")) == [("one", "x\n"), ("two", "")]
