"""The IR in docs/ARCHITECTURE.md, made by the compiler itself: part of `./dev docs`.

In the page, what is between `<!-- level: PHASE -->` and `<!-- end -->` is the page's query after that phase,
without statistics and explanation, which are long. A test holds its ops to what the compiler makes now.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

from dev import places, tpch_data

PAGE = places.ROOT / "docs" / "ARCHITECTURE.md"
RANKS = 2
_BLOCK = re.compile(r"<!-- level: (\w+) -->\n(.*?)<!-- end -->", re.DOTALL)
_QUERY = re.compile(r"```sql\n(.*?)```", re.DOTALL)
_OP = re.compile(r"(?:^|= )\s*\"?((?:frame|dist|pipe|sched|arith)\.\w+)", re.MULTILINE)


def shown(text: str) -> dict[str, str]:
    """What the page shows, by phase, in its order."""
    return {match.group(1): match.group(2) for match in _BLOCK.finditer(text)}


def ops(ir: str) -> set[str]:
    """The ops that occur in a program's text."""
    return set(_OP.findall(ir))


def filled(text: str, levels: dict[str, str]) -> str:
    """The page with its blocks replaced by the program after each phase."""

    def block(match: re.Match[str]) -> str:
        phase = match.group(1)
        return f"<!-- level: {phase} -->\n```mlir\n{levels[phase]}\n```\n<!-- end -->"

    return _BLOCK.sub(block, text)


def readable(ir: str, phase: str) -> str:
    """A module's text for the page: without the module itself, statistics and explanation."""
    lines = [_without_statistics(line) for line in ir.splitlines()[1:-1] if line.strip()]
    while lines and lines[-1].strip() in ("}", "") and _depth(lines) < 0:
        lines.pop()
    if phase == "schedule":  # the pipelines are those of the phase form
        lines = lines[next(i for i, line in enumerate(lines) if "sched.program" in line) :]
    return textwrap.dedent("\n".join(lines)).rstrip()


def _depth(lines: list[str]) -> int:
    text = "".join(lines)
    return text.count("{") - text.count("}")


def _without_statistics(line: str) -> str:
    start = line.find("statistics = {")
    if start < 0:
        return line
    depth, end = 0, start
    while end == start or depth > 0:
        end = min(place for place in (line.find("{", end + 1), line.find("}", end + 1)) if place > 0)
        depth += 1 if line[end] == "{" else -1
    line = line[:start] + line[end + 1 :]
    return line.replace(", }", "}").replace("{, ", "{").replace(" {}", "")


def levels(text: str) -> dict[str, str]:
    """The query of the page after each of the phases that the page shows."""
    from headrace._src.query import sql

    compiler: Any = sql
    query = _QUERY.search(text)
    assert query is not None
    tables = str(tpch_data.ensure("0.1"))
    return {
        phase: readable(compiler.lower(query.group(1), tables, phase, ranks=RANKS), phase)
        for phase in shown(text)
    }


def remake() -> None:
    """Writes the page anew."""
    text = PAGE.read_text()
    PAGE.write_text(filled(text, levels(text)))
