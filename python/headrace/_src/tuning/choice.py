"""What the tuner may choose about a program."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Choice:
    """One point of the search. The default is what the compiler does on its own."""

    #: 0: the solver's layouts; else the number of a near-optimal alternative.
    alternative: int = 0
    #: Rows of the chunks that kernels make; 0: the compiler's.
    chunk_rows: int = 0
    #: Settings of the run, by name.
    settings: tuple[tuple[str, str], ...] = ()
    #: The ranks along several axes, such as "node:2,rank:8"; empty: along one.
    mesh: str = ""

    def with_setting(self, name: str, value: str) -> Choice:
        return replace(self, settings=tuple(sorted({**dict(self.settings), name: value}.items())))

    def with_chunk_rows(self, rows: int) -> Choice:
        return replace(self, chunk_rows=rows)

    @property
    def of_one_build(self) -> bool:
        """Whether it means something only to the compiler that it was found with."""
        return bool(self.alternative or self.mesh)

    def document(self) -> dict[str, Any]:
        return {
            "alternative": self.alternative,
            "chunk_rows": self.chunk_rows,
            "settings": dict(self.settings),
            "mesh": self.mesh,
        }

    @staticmethod
    def of(document: dict[str, Any]) -> Choice:
        """Raises ValueError or the like for anything but a choice."""
        settings = document["settings"].items()
        return Choice(
            _count(document["alternative"]),
            _count(document["chunk_rows"]),
            tuple(sorted((str(name), str(value)) for name, value in settings)),
            str(document.get("mesh", "")),  # records of before have none
        )

    def __str__(self) -> str:
        parts = [f"mesh {self.mesh}"] if self.mesh else []
        parts.append(f"layout {self.alternative}" if self.alternative else "layout of the solver")
        if self.chunk_rows:
            parts.append(f"chunks of {self.chunk_rows} rows")
        parts += [f"{name} {value}" for name, value in self.settings]
        return ", ".join(parts)


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**32:
        raise ValueError(f"not a count: {value!r}")
    return value
