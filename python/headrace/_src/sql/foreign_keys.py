"""FOREIGN KEY of a table: what it says, and the queries that find rows which break it.

The binder has tables without theirs, as it would try them on rows that it has not; only who asks about tables
sees them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headrace._src.sql.spelling import WORD
from headrace._src.sql.tables import Column, named_in, quoted, unquoted

_NAMES = rf"\(((?:{WORD})(?:, (?:{WORD}))*)\)"
#: As the binder writes it behind the columns of a table; texts and names in quotes are passed over.
_WRITTEN = re.compile(
    rf"'(?:[^']|'')*'|(?:{WORD})|, FOREIGN KEY {_NAMES} REFERENCES ((?:{WORD})(?:\.(?:{WORD}))?){_NAMES}"
)


@dataclass(frozen=True)
class ForeignKey:
    """The queries are over tables `new` and `parents`, or `gone` and `children`."""

    #: As the binder writes it.
    text: str
    columns: tuple[str, ...]
    #: What it refers to, as a session calls it in small letters, and its columns.
    table: str
    referenced: tuple[str, ...]
    #: The columns that are texts.
    texts: frozenset[str]

    def without_parent(self) -> str:
        """Of `new` rows those whose key no row of `parents` has."""
        has_key = " and ".join(f"n.{quoted(each)} is not null" for each in self.columns)
        shown = ", ".join(
            f"n.{quoted(own)} as {quoted(other)}"
            for own, other in zip(self.columns, self.referenced, strict=True)
        )
        same = self._same("n.", "p.")
        return (
            f"select {shown} from new as n where {has_key} "
            f"and not exists (select 1 from parents as p where {same}) limit 1"
        )

    def with_child(self) -> str:
        """Of `children` those whose key one of the rows has that are `gone`."""
        shown = ", ".join(f"c.{quoted(each)}" for each in self.columns)
        same = self._same("c.", "g.")
        return (
            f"select {shown} from children as c where exists (select 1 from gone as g where {same}) limit 1"
        )

    def _same(self, child: str, parent: str) -> str:
        return " and ".join(
            self._value(child, own, own) + " = " + self._value(parent, other, own)
            for own, other in zip(self.columns, self.referenced, strict=True)
        )

    def _value(self, table: str, column: str, own: str) -> str:
        return f"{table}{quoted(column)}{' collate c' if own in self.texts else ''}"


def without_foreign_keys(
    definition: str, schema: str, columns: Sequence[Column]
) -> tuple[str, tuple[ForeignKey, ...]]:
    """A statement of the binder's without them, and what they say. schema: of the table; empty: main."""
    found: list[ForeignKey] = []
    texts = frozenset(column.name for column in columns if column.type == "VARCHAR")

    def left_out(written: re.Match[str]) -> str:
        own, table, referenced = written[1], written[2], written[3]
        if not own:
            return written[0]
        path = re.findall(WORD, table)
        names = [tuple(map(unquoted, re.findall(WORD, each))) for each in (own, referenced)]
        parent = named_in(schema, unquoted(path[-1])).lower()
        found.append(ForeignKey(written[0].removeprefix(", "), names[0], parent, names[1], texts))
        return ""

    keep: Callable[[re.Match[str]], str] = left_out
    return _WRITTEN.sub(keep, definition), tuple(found)


def with_foreign_keys(definition: str, keys: Sequence[ForeignKey]) -> str:
    """The statement with them."""
    place = definition.rindex(")")
    return definition[:place] + "".join(f", {each.text}" for each in keys) + definition[place:]
