"""WITH RECURSIVE … USING KEY: DuckDB writes no plan of it, but one of the same query without keys, which then
get into it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_NAME = r'(?:\w+|"(?:[^"]|"")+")'
_NAMES = rf"\s*{_NAME}\s*(?:,\s*{_NAME}\s*)*"
_KEYED = re.compile(
    rf"(?P<name>{_NAME})\s*(?:\((?P<columns>{_NAMES})\)\s*)?(?P<clause>\busing\s+key\s*\((?P<keys>{_NAMES})\))",
    re.IGNORECASE,
)


class RecursionKeys:
    """The keys of recursions in a text, by the names of these."""

    def __init__(self, text: str) -> None:
        self._found = {_plain(match["name"]): match for match in _KEYED.finditer(text)}
        #: The text without the keys, in which all else stands where it stood.
        self.rest = _KEYED.sub(
            lambda match: match[0][: -len(match["clause"])] + " " * len(match["clause"]), text
        )

    def __bool__(self) -> bool:
        return bool(self._found)

    def put_into(self, plan: str) -> str | None:
        """The plan of `rest` with the keys; None if it is not clear which they are."""
        try:
            document = json.loads(plan)
        except RecursionError:
            return None
        for name, match in self._found.items():
            nodes = [node for root in document["plans"] for node in _recursions(root, name)]
            if len(nodes) != 1:
                return None
            (node,) = nodes
            columns = _columns(node["children"][0])
            given = _split(match["columns"] or "")
            columns[: len(given)] = given
            keys = _split(match["keys"])
            if any(columns.count(key) != 1 for key in keys):
                return None
            places = [columns.index(key) for key in keys]
            node["key_targets"] = [
                {"type": "BOUND_REF", "index": place, "return_type": node["internal_types"][place]}
                for place in places
            ]
        return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _plain(name: str) -> str:
    return (name[1:-1].replace('""', '"') if name.startswith('"') else name).lower()


def _split(names: str) -> list[str]:
    return [_plain(name) for name in re.findall(_NAME, names)]


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
