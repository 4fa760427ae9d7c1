"""Tables of the driver on the ranks: each has the rows that the plan has it read.

What a rank has been sent stays there for the next plan that reads it alike, for as long as the driver keeps
the table.
"""

from __future__ import annotations

import itertools
import json
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any


@dataclass(frozen=True)
class Part:
    """Which rows of a table a rank has: one of `size` parts, in the order of the rows."""

    index: int = 0
    size: int = 1

    def slice_of(self, table: Any) -> tuple[int, Any]:
        """The number of the first row, and the rows."""
        first, end = (table.num_rows * step // self.size for step in (self.index, self.index + 1))
        return first, table.slice(first, end - first)


@dataclass(frozen=True)
class Sent:
    """A part of a table as it goes to a rank."""

    identity: str
    part: Part
    first_row: int
    rows: bytes  # as an Arrow stream

    @staticmethod
    def of(identity: str, table: Any, part: Part) -> Sent:
        import pyarrow as pa

        first, rows = part.slice_of(table)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as stream:
            stream.write_table(rows)
        return Sent(identity, part, first, sink.getvalue().to_pybytes())

    def table(self) -> Any:
        """What the runtime reads on a rank."""
        import pyarrow as pa

        from headrace import _runtime

        table = _runtime.ArrowTable(pa.ipc.open_stream(self.rows).read_all())
        if self.part == Part():
            return table
        return table.part(self.part.index, self.part.size, self.first_row, self.identity)


def parts_of(plan: str, ranks: int) -> dict[str, list[Part]]:
    """By table that a plan reads, what each rank reads of it; all of it if its scans differ. Of arrays that
    lie on the ranks, each its part.
    """
    document = json.loads(plan)
    mesh = document["mesh"]
    sizes = [axis.get("size", 1) for axis in mesh] if len(mesh) > 1 else [ranks]
    found: dict[str, list[Part]] = {}
    for task in document["tasks"]:
        if task["kind"] != "load":
            continue
        slot = document["slots"][task["slot"]]["name"]
        split = task.get("split", [])
        parts = [_along(rank, split, sizes) for rank in range(ranks)]
        found[slot] = parts if found.get(slot, parts) == parts else [Part()] * ranks
    resident = (slot["name"] for slot in document["slots"] if slot.get("resident"))
    return {**found, **{name: own_parts(ranks) for name in resident}}


def own_parts(ranks: int) -> list[Part]:
    """Of what is divided among all ranks, however, by rank."""
    return [Part(rank, ranks) for rank in range(ranks)]


def _along(rank: int, axes: Sequence[int], sizes: Sequence[int]) -> Part:
    """A rank's place among those that differ along these axes, of which the first is the slowest."""
    index = 0
    for axis in axes:
        place = rank // prod(sizes[axis + 1 :]) % sizes[axis]
        index = index * sizes[axis] + place
    return Part(index, prod(sizes[axis] for axis in axes))


@dataclass(eq=False)
class RemoteArray:
    """As the runtime's KeptTensor, where no part of it is in this process."""

    dtype: str
    shape: tuple[int, ...]
    identity: str = ""


class Tables:
    """What each table of the driver, and each array that lies on the ranks, is called among them."""

    def __init__(self, dropped: Callable[[str], None]) -> None:
        self._dropped = dropped
        self._numbers = itertools.count()
        self._known: dict[int, tuple[weakref.ref[Any], str]] = {}

    def identity(self, table: Any) -> str:
        """The same for as long as it lives; `dropped` is told when it does not."""
        known = self._known.get(id(table))
        if known and known[0]() is table:
            return known[1]
        name, key = f"table {next(self._numbers)}", id(table)

        def gone(_: object) -> None:
            self._known.pop(key, None)
            self._dropped(name)

        self._known[key] = (weakref.ref(table, gone), name)
        return name


class Held:
    """On a rank: what it has of the driver's tables."""

    def __init__(self) -> None:
        self._parts: dict[tuple[str, Part], Any] = {}

    def take(self, sent: Sequence[Sent]) -> None:
        for each in sent:
            self._parts[each.identity, each.part] = each.table()

    def keep(self, key: tuple[str, Part], table: Any) -> None:
        """A part that was made on this rank."""
        self._parts[key] = table

    def drop(self, keys: Iterable[tuple[str, Part]]) -> None:
        for key in keys:
            self._parts.pop(key, None)

    def bound(self, names: Mapping[str, tuple[str, Part]]) -> dict[str, Any]:
        """By the name that a program has for it."""
        return {name: self._parts[key] for name, key in names.items()}
