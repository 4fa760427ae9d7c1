"""Records of the tuner, applied to what is compiled."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from headrace._src import programs
from headrace._src.programs import Target
from headrace._src.query import plan_cache
from headrace._src.tuning import database


def enabled() -> bool:
    """HEADRACE_TUNING=off ignores all records."""
    return os.environ.get("HEADRACE_TUNING", "on").lower() not in ("off", "0", "no", "false")


def applied(target: Target, program: str, sizes: Callable[[], Mapping[str, int]]) -> Target:
    """The target with the choice of its record, if there is one that fits; else a note if others are there.

    A forced layout stays as it is.

    sizes: bytes of the tables by name, asked for only if there is a record.
    """
    if target.layout_seed is not None or target.choice is not None or not enabled():
        return target
    if not database.folder().is_dir():
        return target
    records = database.records(program, key_of(target))
    if not records:
        return target
    now = sizes()
    known = [record for record in records if record.is_of_sizes(now)]
    if not known:
        return replace(target, note=records[0].passed_over("tables of other sizes"))
    if not known[0].is_of_build(build_of(target)):
        return replace(target, note=known[0].passed_over("another build of the compiler or calibration"))
    return replace(target, choice=known[0].choice, note=known[0].note())


def key_of(target: Target) -> str:
    """What records are kept under beside the program: the topology, and how many of its ranks.

    This machine is the same one however it is calibrated: what was measured on it holds.
    """
    if not target.topology:
        return f"{programs.machine()} {target.ranks}"
    return f"{programs.topology_hash(target.topology, target.ranks)} {target.ranks}"


def build_of(target: Target) -> tuple[str, ...]:
    """The compiler, and the figures of this machine that its layouts come from."""
    return (*plan_cache.build_identity(), "" if target.topology else programs.calibration())


#: Texts in quotes, which are kept; comments and white space, which are one space.
_SQL_PARTS = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*")|(?:--[^\n]*|/\*.*?\*/|\s)+""", re.DOTALL)


def sql_program(text: str) -> str:
    """The hash of a query, however it is spaced."""
    return database.program_hash(["sql", plain_sql(text)])


def plain_sql(text: str) -> str:
    """A query without comments and with single spaces."""
    return _SQL_PARTS.sub(lambda part: part.group(1) or " ", text).strip()
