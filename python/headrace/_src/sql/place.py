"""Places in the text of a query: byte positions, as DuckDB gives them, to lines, columns and a caret."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeVar

from headrace._src.errors import HeadraceError

Error = TypeVar("Error", bound=HeadraceError)

#: Line and column at the end of an error's place.
PLACE = re.compile(r"(\d+):(\d+)$")


@dataclass(frozen=True)
class Place:
    """A stretch of a line; `line` and `column` count from 1, in characters."""

    line: int
    column: int
    #: The line itself, and below it carets under the stretch.
    shown: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


#: Of a long line, the characters that are shown around the place.
_BEFORE, _AFTER = 60, 40


def place_of(text: str, position: int, length: int = 1) -> Place:
    """The place of `length` bytes at the byte `position` of `text`; at least one caret."""
    data = text.encode()
    position = min(position, len(data))
    start = data.rfind(b"\n", 0, position) + 1
    end = data.find(b"\n", position)
    end = len(data) if end < 0 else end
    before = data[start:position].decode(errors="replace")
    marked = data[position : min(position + max(length, 1), end)].decode(errors="replace")
    behind = data[position + len(marked.encode()) : end].decode(errors="replace")
    shown_before = before if len(before) <= _BEFORE else "…" + before[-_BEFORE:]
    shown_marked = marked[:_AFTER]
    rest = marked[_AFTER:] + behind
    shown_behind = rest if len(rest) <= _AFTER else rest[:_AFTER] + "…"
    shown = f"{shown_before}{shown_marked}{shown_behind}".replace("\t", " ").rstrip("\r")
    caret = " " * len(shown_before) + "^" * max(len(shown_marked), 1)
    return Place(data.count(b"\n", 0, start) + 1, len(before) + 1, f"  {shown}\n  {caret}")


def located(error: type[Error], message: str, text: str, position: int, length: int = 1) -> Error:
    """An error with its place in `text` and the line in question below the message."""
    place = place_of(text, position, length)
    out = error(f"{message} (at {place})\n{place.shown}")
    out.place, out.line, out.column = str(place), place.line, place.column
    return out
