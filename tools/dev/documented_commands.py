"""Code blocks of README and docs that say what to type, and how they are run as they stand.

    ```sh        commands; they exit with 0
    ```console   `$ COMMAND`, then what it prints; a line `…` stands for any lines
    ```python    a program; those of a page go on in one another

`<!-- slow -->` in the line above a block: it takes more than some seconds; `<!-- gpu -->`: it needs a GPU;
`<!-- engines -->`: a program of its own, with an engine that test/python/test_engines.py has.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dev import places

_FENCE = re.compile(r"^(?:<!-- (slow|gpu|engines) -->\n)?```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^(\$ |\./dev |headrace |headrace-\w+ |pip |python |ctest |cmake )", re.MULTILINE)
RUN = ("sh", "console", "python")


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int
    mark: str  # "", "slow", "gpu" or "engines"


def pages() -> list[Path]:
    """README, CONTRIBUTING and docs, but decisions, which tell of their day, and dialects, tested apart."""
    docs = sorted((places.ROOT / "docs").rglob("*.md"))
    told = [path for path in docs if path.parent.name not in ("decisions", "dialects")]
    return [places.ROOT / "README.md", places.ROOT / "CONTRIBUTING.md", *told]


def name(page: Path) -> str:
    return str(page.relative_to(places.ROOT))


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(match.group(2), match.group(3), text.count("\n", 0, match.start()) + 1, match.group(1) or "")
        for match in _FENCE.finditer(text)
    ]


def unmarked(page: Path) -> list[int]:
    """Lines of blocks that hold commands and are in no language that is run."""
    return [b.line for b in blocks(page) if b.language not in RUN and _COMMAND.search(b.text)]


def session(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with what it prints."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def agrees(printed: str, shown: str) -> bool:
    """Whether an output is the one that is shown, but for lines that are `…`."""
    lines = [".*(?:\n.*)*" if line.strip() == "…" else re.escape(line) for line in shown.splitlines()]
    return re.fullmatch("\n".join(lines) + "\n*", textwrap.dedent(printed).rstrip() + "\n") is not None
