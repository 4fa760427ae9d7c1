"""Kernels shaped for threads assemble for sm_90, without spills."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from emulated_device import NO_CODE

PROGRAMS = {
    "q01": {"scan_lineitem_0", "merge_aggregate0", "groups0", "ordered0"},
    "q06": {"scan_lineitem_0", "merge_aggregate0", "groups0"},
    "passes/lower/gpu/join.mlir": {
        "build",
        "link_build0",
        "probe",
        "probe_left",
        "probe_anti",
        "group_by_customer",
    },
    "passes/lower/gpu/network.mlir": set(),
    "passes/lower/gpu/strings.mlir": {"texts"},
}
#: Not promised: skipped where the levels above use what threads have no code for yet.
OTHER_QUERIES = ["q03", "q04", "q05", "q09", "q12", "q13", "q14", "q18", "q19"]
REGISTERS_MAX = 128  # two blocks of 256 threads fit a multiprocessor


@pytest.fixture(scope="session")
def ptxas() -> str:
    package = importlib.util.find_spec("nvidia.cu13") if importlib.util.find_spec("nvidia") else None
    for folder in (package and package.submodule_search_locations) or []:
        if (tool := Path(folder) / "bin" / "ptxas").exists():
            return str(tool)
    found = shutil.which("ptxas")
    assert found, "no ptxas: install nvidia-cuda-nvcc (requirements.txt)"
    return found


def resources(report: str) -> dict[str, dict[str, int]]:
    """Registers and spilled bytes by kernel, from ptxas -v."""
    out: dict[str, dict[str, int]] = {}
    for part in report.split("Compiling entry function '")[1:]:
        name = part.split("'")[0]
        stores, loads = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", part).groups()
        out[name] = {
            "registers": int(re.search(r"Used (\d+) registers", part).group(1)),
            "spilled": int(stores) + int(loads),
        }
    return out


@pytest.mark.parametrize("name", [*PROGRAMS, *OTHER_QUERIES])
def test_assembles(name: str, formed, translate: str, ptxas: str, tmp_path: Path) -> None:
    ptx = tmp_path / "kernels.ptx"
    command = [translate, "--kernel-to-ptx", "-o", str(ptx)]
    done = subprocess.run(command, input=formed(name), check=False, capture_output=True, text=True)
    if name in OTHER_QUERIES and NO_CODE in done.stderr:
        pytest.skip(done.stderr.splitlines()[0])
    assert done.returncode == 0, done.stderr
    command = [ptxas, "-arch=sm_90", "-v", str(ptx), "-o", str(tmp_path / "kernels.cubin")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = resources(done.stderr + done.stdout)
    assert found
    assert PROGRAMS.get(name, set()) <= set(found)
    for kernel, used in found.items():
        print(f"{name} {kernel}: {used['registers']} registers, {used['spilled']} bytes spilled")
        assert used["spilled"] == 0, kernel
        assert used["registers"] <= REGISTERS_MAX, kernel
    assert (tmp_path / "kernels.cubin").stat().st_size > 0


@pytest.mark.parametrize("name", ["decode_kernels", "figure_kernels"])
def test_kernels_written_by_hand(name: str, translate: str, ptxas: str, tmp_path: Path) -> None:
    ptx = Path(translate).resolve().parents[1] / "gpu_kernels" / f"{name}.ptx"
    assert ".target sm_80" in ptx.read_text()
    command = [ptxas, "-arch=sm_90", "-v", str(ptx), "-o", str(tmp_path / "kernels.cubin")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = resources(done.stderr + done.stdout)
    assert found
    for kernel, used in found.items():
        assert used["spilled"] == 0, kernel
        assert used["registers"] <= REGISTERS_MAX // 2, kernel
