"""Records of the tuner, applied to what is compiled."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from headrace._src import programs
from headrace._src.programs import Target
from headrace._src.tuning import database


def enabled() -> bool:
    """HEADRACE_TUNING=off ignores all records."""
    return os.environ.get("HEADRACE_TUNING", "on").lower() not in ("off", "0", "no", "false")


@lru_cache(maxsize=64)
def _topology_hash(topology: str, ranks: int, calibration: str) -> str:
    """calibration: what tells it from the same machine calibrated anew."""
    from headrace import _runtime

    return programs.translated(lambda: _runtime.topology_hash(topology, ranks))


def applied(target: Target, program: str, sizes: Callable[[], Mapping[str, int]]) -> Target:
    """The target with the choice of its record, if there is one that fits. A forced layout stays as it is.

    sizes: bytes of the tables by name, asked for only if there is a record.
    """
    if target.layout_seed is not None or target.choice is not None or not enabled():
        return target
    if not database.folder().is_dir():
        return target
    record = database.find(program, key_of(target))
    if record is None or not record.fits(sizes()):
        return target
    return replace(target, choice=record.choice, note=record.note())


def key_of(target: Target) -> str:
    """What a record is kept under beside the program: the topology's hash, and how many of its ranks."""
    calibration = "" if target.topology else programs.calibration()
    return f"{_topology_hash(target.topology, target.ranks, calibration)} {target.ranks}"


def sql_program(text: str) -> str:
    return database.program_hash(["sql", text.strip()])


def size_of_files(paths: tuple[str, ...]) -> int:
    total = 0
    for path in paths:
        try:
            total += Path(path).stat().st_size
        except OSError:
            return 0
    return total
