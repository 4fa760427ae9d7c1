"""A text that is made of parts, and where in them an error lies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from headrace._src.errors import HeadraceError
from headrace._src.sql.place import PLACE


@dataclass(frozen=True)
class Part:
    """Whole lines of a text."""

    text: str
    #: Whose they are, as errors name it; empty: the user's own, whose lines count from 1.
    owner: str = ""


@dataclass(frozen=True)
class Composed:
    """Parts, one below the other."""

    parts: Sequence[Part]

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts)

    def retold(self, error: HeadraceError) -> HeadraceError:
        """The same error with its place in the part where it lies."""
        match = PLACE.search(error.place)
        if match is None:
            return error
        line = int(match[1])
        for part in self.parts:
            lines = part.text.count("\n") + 1
            if line <= lines:
                break
            line -= lines
        else:
            return error
        here = f"{line}:{match[2]}"
        place = error.place[: match.start()] + (part.owner or here)
        head, found, rest = str(error).rpartition(f" (at {error.place})")
        if not found:
            return error
        # The line that is shown is the user's own only in a text of the user's.
        shown = re.sub(r"(?s)^\n  .*", "", rest) if part.owner and not part.owner.startswith("view") else rest
        out = type(error)(f"{head} (at {place}){shown}")
        out.place = place
        if error.line is not None and not part.owner:
            out.line, out.column = line, error.column
        return out
