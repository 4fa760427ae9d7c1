"""The phases of the compiler, as its messages and `headrace-opt --help` list them."""

from __future__ import annotations

#: In order, with what their programs are of.
PHASES = {
    "import": "frame",
    "optimize": "frame",
    "shard": "dist",
    "form": "pipe",
    "lower": "kernels, in llvm",
    "schedule": "sched",
}
