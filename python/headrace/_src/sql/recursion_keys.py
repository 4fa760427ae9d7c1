"""WITH RECURSIVE … USING KEY: DuckDB writes no plan of it, but one of the same query without keys, which then
get into it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from headrace._src.sql.plan_json import plan_text
from headrace._src.sql.tables import unquoted

_NAME = r'(?:\w+|"(?:[^"]|"")+")'
_NAMES = rf"\s*{_NAME}\s*(?:,\s*{_NAME}\s*)*"
_CLAUSE = re.compile(r"\busing\s+key\b", re.IGNORECASE)  # which is quickly said of long texts
_HEAD = rf"(?<!\w)(?P<name>{_NAME})\s*(?:\((?P<columns>{_NAMES})\)\s*)?"
_KEYED = re.compile(rf"{_HEAD}(?P<clause>\busing\s+key\s*\((?P<keys>{_NAMES})\))", re.IGNORECASE)
_DEFINED = re.compile(rf"{_HEAD}\bas\s*\(", re.IGNORECASE)


class RecursionKeys:
    """The keys of recursions in a text, by the names of these."""

    def __init__(self, text: str) -> None:
        self._matches = list(_clauses(text))
        self._text = text

    def __bool__(self) -> bool:
        return bool(self._matches)

    def without(self, part: str) -> str:
        """A part of the text without keys, in which all else stands where it stood."""
        for match in _clauses(part) if self else ():
            blank = " " * len(match["clause"])
            part = part[: match.start("clause")] + blank + part[match.end("clause") :]
        return part

    def put_into(self, plan: str) -> str | None:
        """The plan of a part without keys with them; None if it is not clear which they are."""
        defined = [unquoted(match["name"]).lower() for match in _DEFINED.finditer(self.without(self._text))]
        try:
            document = json.loads(plan)
        except RecursionError:
            return None
        for match in self._matches:
            name = unquoted(match["name"]).lower()
            if defined.count(name) != 1:
                return None
            for node in (node for root in document["plans"] for node in _recursions(root, name)):
                columns, given = _columns(node["children"][0]), _split(match["columns"] or "")
                columns[: len(given)] = given
                keys = _split(match["keys"])
                if any(columns.count(key) != 1 for key in keys):
                    return None
                node["key_targets"] = [_target(node, columns.index(key)) for key in keys]
        return plan_text(document)


def _clauses(text: str) -> Iterator[re.Match[str]]:
    """Those of the text, outside of strings and comments."""
    if not _CLAUSE.search(text):
        return
    import duckdb

    words = {at for at, kind in duckdb.tokenize(text) if kind != duckdb.token_type.comment}
    for match in _KEYED.finditer(text):
        if len(text[: match.start("clause")].encode()) in words:
            yield match


def _target(node: dict[str, Any], place: int) -> dict[str, Any]:
    return {"type": "BOUND_REF", "index": place, "return_type": node["internal_types"][place]}


def _split(names: str) -> list[str]:
    return [unquoted(name).lower() for name in re.findall(_NAME, names)]


def _recursions(node: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    if node["type"] == "LOGICAL_RECURSIVE_CTE" and node["ctename"].lower() == name:
        yield node
    for child in node["children"]:
        yield from _recursions(child, name)


def _columns(start: dict[str, Any]) -> list[str]:
    """The names that columns of a recursion's start have."""
    while start["type"] != "LOGICAL_PROJECTION" and start["children"]:
        start = start["children"][0]
    return [expression["alias"].lower() for expression in start.get("expressions", [])]
