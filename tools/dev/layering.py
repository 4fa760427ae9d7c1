"""Who may include whom, checked over #include lines (docs/HACKING.md has the rules in prose).

A file's place is its folder: a part of the model, a layer of the runtime, a dialect, a phase of the passes,
a tool. Includes of the project are written from the root of the checkout ("runtime/base/status.h"); a bare
"x.h" is in the same folder.
"""

from __future__ import annotations

import re
from pathlib import Path

from dev import places
from dev.findings import Finding, source_files

RUNTIME_LAYERS = (
    "abi",
    "base",
    "telemetry",
    "primitives",
    "memory",
    "device",
    "storage",
    "bootstrap",
    "transport",
    "communication",
    "exec",
    "session",
)
# The layers below those that execute plans.
_GROUND = ("abi", "base", "telemetry", "primitives")
DIALECTS = ("interfaces", "topo", "frame", "dist", "pipe", "sched")
PHASES = ("import", "optimize", "shard", "form", "schedule", "lower")

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
_LLVM = ("llvm/", "llvm-c/", "mlir/", "mlir-c/", "clang/", "lld/")
_ARROW = ("arrow/", "parquet/")
_SUFFIXES = (".h", ".cpp", ".def", ".c", ".cu")


def check(root: Path = places.ROOT) -> list[Finding]:
    """Every include of the project's sources that goes against the layers."""
    return [finding for name, text in sources(root).items() for finding in check_file(name, text)]


def sources(root: Path) -> dict[str, str]:
    """The texts of what includes, by their paths; tests are no part of it."""
    return {
        name: (root / name).read_text(errors="replace")
        for name in source_files(root)
        if name.endswith(_SUFFIXES) and not name.startswith("test/")
    }


def check_file(name: str, text: str) -> list[Finding]:
    """The forbidden includes of one file, given its path from the root of the checkout."""
    findings = []
    for number, line in enumerate(text.splitlines(), start=1):
        if match := INCLUDE.match(line):
            why = refusal(name, match.group(1))
            if why:
                findings.append(Finding(name, number, "layering", f"{why}: {match.group(1)}"))
    return findings


def refusal(name: str, included: str) -> str:
    """Why a file may not include a header, or an empty text when it may."""
    area = name.split("/")[0]
    judge = {
        "model": _model,
        "runtime": _runtime,
        "dialects": _dialect,
        "passes": _pass,
        "tools": _front,
        "python": _front,
    }
    return judge[area](name, included) if area in judge else ""


def _model(_name: str, included: str) -> str:
    if included.startswith(_LLVM):
        return "the model has no LLVM in it"
    if included.startswith(_ARROW):
        return "only storage includes Arrow's C++ headers"
    if included.startswith(("dialects/", "passes/", "tools/", "python/")):
        return "the model includes nothing of the compiler"
    if included.startswith("runtime/") and included.split("/")[1] not in _GROUND:
        return "the model includes of the runtime only abi, base, telemetry and primitives"
    return ""


def _runtime(name: str, included: str) -> str:
    layer = name.split("/")[1]
    if included.startswith(_LLVM):
        return "the runtime has no LLVM in it"
    if included.startswith(_ARROW) and layer != "storage":
        return "only storage includes Arrow's C++ headers"
    if included.startswith(("dialects/", "passes/", "tools/", "python/")):
        return "the runtime includes nothing of the compiler"
    if included.startswith("model/") and (layer in _GROUND or not included.startswith("model/plan/")):
        return "the runtime shares with the compiler only plans"
    if included.startswith("runtime/"):
        other = included.split("/")[1]
        if layer in RUNTIME_LAYERS and other in RUNTIME_LAYERS and _above(RUNTIME_LAYERS, layer, other):
            return f"layer {layer} is below {other}, so it may not include"
    return ""


def _above(order: tuple[str, ...], place: str, other: str) -> bool:
    return order.index(other) > order.index(place)


def _dialect(name: str, included: str) -> str:
    dialect = name.split("/")[1]
    if included.startswith(("passes/", "tools/", "python/")):
        return "a dialect includes only interfaces and earlier dialects"
    if included.startswith(("runtime/", "model/")) and not included.startswith("runtime/base/"):
        return "a dialect includes of runtime and model only base"
    if included.startswith("dialects/"):
        other = included.split("/")[1]
        if dialect in DIALECTS and other in DIALECTS and _above(DIALECTS, dialect, other):
            return f"dialect {dialect} comes before {other}, so it may not include"
    return ""


def _pass(name: str, included: str) -> str:
    phase = name.split("/")[1]
    if included.startswith("passes/"):
        other = included.split("/")[1]
        if phase != "driver" and other in (*PHASES, "driver", "interpreter") and other != phase:
            return "only driver includes another phase"
    if included.startswith(("tools/", "python/")):
        return "passes do not include tools"
    if included.startswith(_ARROW):
        return "only storage includes Arrow's C++ headers"
    if included.startswith(("runtime/", "model/")):
        return _pass_on_runtime(phase, included)
    return ""


# Single headers that a phase needs beyond its layers, each with a reason in docs/decisions.
_GRANTED = {
    ("analysis", "runtime/abi/type_bytes.h"),
    ("lower", "runtime/primitives/hash/hash.h"),
    ("optimize", "model/cost/row_work.h"),
}


def _pass_on_runtime(phase: str, included: str) -> str:
    if (phase, included) in _GRANTED:
        return ""
    area, layer = included.split("/")[:2]
    if area == "runtime" and layer not in ("abi", "base"):
        return "passes include of the runtime only abi and base"
    if layer == "abi" and phase != "lower":
        return "lower alone includes the kernel ABI"
    planning = ("model/cost", "model/solve", "model/simulate")
    if included.startswith(planning) and phase not in ("shard", "schedule"):
        return "shard and schedule alone include cost, solve and simulate"
    return ""


def _front(name: str, included: str) -> str:
    stem = Path(name).name
    if stem.lower().startswith("runtime") and included.startswith((*_LLVM, "passes/", "dialects/")):
        return "the runtime's Python module has no LLVM in it"
    own = ("command_line", "compiler", name.split("/")[1]) if name.startswith("tools/") else ()
    if included.startswith("tools/") and included.split("/")[1] not in own:
        return "a tool includes of the others only command_line and compiler"
    if included.startswith("runtime/primitives/"):
        return "tools and bindings use primitives through exec"
    return ""
