"""Compiles programs to plan directories in one folder, and keeps what each of them is."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class PlanEntry:
    """A plan directory: its program, how it was laid out, and what it is about."""

    name: str
    program: str
    kind: str
    ranks: int
    seed: int | None


@dataclass
class PlanFolder:
    """Plans that were asked for; a program that does not compile is left out and counted."""

    folder: Path
    entries: list[PlanEntry] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    topology: str | None = None

    def add_query(
        self, program: str, kind: str, text: str, tables: Path, ranks: int, seed: int | None = None
    ) -> None:
        from headrace._src.errors import HeadraceError
        from headrace._src.query.sql import compile_to

        entry = self._entry(program, kind, ranks, seed)
        try:
            compile_to(
                self.folder / f"{entry.name}.plan",
                text,
                str(tables),
                ranks=ranks,
                layout_seed=seed,
                topology=self.topology,
            )
        except HeadraceError as error:
            self.refused.append(f"{entry.name}: {error}")
            return
        self._added(entry)

    def add_tensors(
        self, program: str, function: object, types: Sequence[object], ranks: int, seed: int | None = None
    ) -> None:
        import headrace
        from headrace._src.errors import HeadraceError

        entry = self._entry(program, "tensor", ranks, seed)
        try:
            made = headrace.jit(ranks=ranks, layout_seed=seed, topology=self.topology)(function)  # type: ignore[operator]
            made.compile(*types).write(self.folder / f"{entry.name}.plan")
        except HeadraceError as error:
            self.refused.append(f"{entry.name}: {error}")
            return
        self._added(entry)

    @staticmethod
    def _entry(program: str, kind: str, ranks: int, seed: int | None) -> PlanEntry:
        name = f"{program}-r{ranks}" + ("" if seed is None else f"-s{seed}")
        return PlanEntry(name, program, kind, ranks, seed)

    def _added(self, entry: PlanEntry) -> None:
        self.entries.append(entry)
        if sys.stderr.isatty():
            print(f"\r\033[K  {len(self.entries)} plans: {entry.name}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Clears the line that tells how far it is."""
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
