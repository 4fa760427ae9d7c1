"""Configures and builds a CMake preset."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from dev import places, python_environment
from dev.python_environment import exclusive
from dev.steps import Step, run, step

PRESETS = ("release", "debug", "asan", "ubsan", "tsan")
# A translation unit over MLIR headers takes about this much memory at worst.
_BYTES_PER_JOB = 2_000_000_000


def jobs() -> int:
    """Parallel compilations: the cores we may use, fewer on little memory, or HEADRACE_JOBS."""
    if given := os.environ.get("HEADRACE_JOBS"):
        return max(1, int(given))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(len(os.sched_getaffinity(0)), memory // _BYTES_PER_JOB))


def variables() -> dict[str, str]:
    """The environment of the build. ccache and precompiled headers need the sloppiness (docs/HACKING.md)."""
    return {
        **python_environment.variables(),
        "CCACHE_SLOPPINESS": "pch_defines,time_macros,include_file_mtime,include_file_ctime",
        "CCACHE_BASEDIR": str(places.ROOT),
        "NINJA_STATUS": "[%f/%t] ",
    }


def build(preset: str = "release", targets: Sequence[str] = ()) -> Path:
    """Brings targets (all of them when none are named) of a preset up to date; returns the build folder."""
    folder = places.build_folder(preset)
    with exclusive(places.ROOT / "build" / f"{preset}.lock"):
        _configure(preset, folder)
        with step(f"build {preset}{_named(targets)}") as current:
            command: list[str | Path] = ["cmake", "--build", folder, "-j", str(jobs())]
            if targets:
                command += ["--target", *targets]
            run(
                command,
                f"build-{preset}",
                environment=variables(),
                on_line=lambda line: _show(current, line),
            )
    return folder


def _named(targets: Sequence[str]) -> str:
    return f" {' '.join(targets)}" if targets else ""


def _configure(preset: str, folder: Path) -> None:
    """Runs cmake when the folder is new, or when the presets or the Python packages changed.

    Ninja itself runs cmake again when a CMakeLists.txt changed.
    """
    parts = [(places.ROOT / "CMakePresets.json").read_bytes()]
    parts += [python_environment.key().encode(), str(places.environment_python()).encode()]
    key = hashlib.sha256(b"\0".join(parts)).hexdigest()
    key_file = folder / "configure.sha256"
    if (folder / "build.ninja").exists() and key_file.exists() and key_file.read_text() == key:
        return
    with step(f"configure {preset}") as current:
        current.always = True
        run(
            [
                *("cmake", "--preset", preset),
                f"-DPython_EXECUTABLE={places.environment_python()}",
            ],
            f"configure-{preset}",
            environment=variables(),
        )
        key_file.write_text(key)


def _show(current: Step, line: str) -> None:
    if (match := re.match(r"\[(\d+/\d+)\]", line)) and "Re-checking globbed" not in line:
        current.always = True
        current.progress(match.group(1))
