"""Who may include whom: the rules one by one, and the repository as it is."""

from __future__ import annotations

import pytest
from dev import layering


def test_the_repository_keeps_its_layers() -> None:
    assert [str(finding) for finding in layering.check()] == []


@pytest.mark.parametrize(
    ("name", "included", "fragment"),
    [
        ("runtime/base/status.h", "runtime/telemetry/trace.h", "layer base is below telemetry"),
        ("runtime/transport/loopback.cpp", "runtime/exec/rank.h", "layer transport is below exec"),
        ("runtime/exec/rank.cpp", "mlir/IR/BuiltinOps.h", "no LLVM"),
        ("runtime/exec/rank.cpp", "llvm/ADT/SmallVector.h", "no LLVM"),
        ("runtime/exec/rank.cpp", "arrow/array.h", "only storage"),
        ("runtime/exec/rank.cpp", "passes/driver/Driver.h", "nothing of the compiler"),
        ("dialects/frame/FrameOps.cpp", "dialects/dist/DistOps.h", "frame comes before dist"),
        ("dialects/pipe/PipeOps.cpp", "passes/form/Fuse.h", "only interfaces and earlier"),
        ("dialects/sched/SchedOps.cpp", "model/plan/plan.h", "only base"),
        ("model/plan/plan.h", "runtime/exec/rank.h", "only abi, base"),
        ("model/cost/cost.cpp", "mlir/IR/BuiltinOps.h", "no LLVM"),
        ("model/cost/cost.cpp", "passes/shard/Solve.h", "nothing of the compiler"),
        ("model/plan/text.cpp", "arrow/array.h", "only storage"),
        ("runtime/exec/rank.cpp", "model/cost/cost.h", "only plans"),
        ("runtime/base/status.h", "model/plan/plan.h", "only plans"),
        ("passes/shard/Solve.cpp", "passes/form/Fuse.h", "only driver"),
        ("passes/form/Fuse.cpp", "runtime/exec/rank.h", "only abi and base"),
        ("passes/form/Fuse.cpp", "runtime/abi/kernel.h", "lower alone"),
        ("passes/lower/Emit.cpp", "model/solve/solver.h", "shard and schedule alone"),
        ("python/bindings/runtime.cpp", "mlir/IR/MLIRContext.h", "no LLVM"),
        ("python/bindings/runtime.cpp", "tools/command_line/options.h", "a tool includes"),
        ("tools/headrace-topo/draw.h", "tools/headrace-tune/plan_request.h", "only command_line"),
        ("tools/command_line/options.h", "tools/headrace-topo/draw.h", "only command_line"),
    ],
)
def test_refused(name: str, included: str, fragment: str) -> None:
    assert fragment in layering.refusal(name, included)


@pytest.mark.parametrize(
    ("name", "included"),
    [
        ("runtime/exec/rank.cpp", "runtime/abi/kernel.h"),
        ("runtime/exec/rank.cpp", "model/plan/plan.h"),
        ("model/simulate/simulate.cpp", "runtime/base/status.h"),
        ("runtime/storage/parquet.cpp", "parquet/file_reader.h"),
        ("dialects/sched/SchedOps.cpp", "dialects/topo/TopoAttrs.h"),
        ("passes/shard/Solve.cpp", "model/solve/solver.h"),
        ("passes/lower/Emit.cpp", "runtime/abi/kernel.h"),
        ("passes/form/Fuse.cpp", "passes/analysis/Ranges.h"),
        ("passes/driver/Driver.cpp", "passes/lower/Passes.h"),
        ("python/bindings/compiler.cpp", "mlir/IR/MLIRContext.h"),
        ("tools/headrace-topo/draw.cpp", "tools/headrace-topo/draw.h"),
        ("tools/headrace-topo/main.cpp", "tools/command_line/options.h"),
    ],
)
def test_allowed(name: str, included: str) -> None:
    assert layering.refusal(name, included) == ""


def test_a_finding_names_file_line_and_header() -> None:
    text = '// A file.\n#include <vector>\n#  include "llvm/ADT/StringRef.h"\n'
    (finding,) = layering.check_file("runtime/base/log.cpp", text)
    assert str(finding).startswith("runtime/base/log.cpp:3: ")
    assert "llvm/ADT/StringRef.h" in str(finding)


def test_single_headers_are_granted_to_a_phase_not_to_all() -> None:
    assert layering.refusal("passes/lower/Probe.cpp", "runtime/primitives/hash/hash.h") == ""
    assert layering.refusal("passes/form/Probe.cpp", "runtime/primitives/hash/hash.h") != ""
    assert layering.refusal("passes/lower/Probe.cpp", "runtime/primitives/select/select.h") != ""
