"""The operations behind a frame: each is one common table expression of the text that the binder gets."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace._src.errors import HeadraceError, UnsupportedError
from headrace._src.sql.composed import Composed, Part
from headrace._src.sql.tables import quoted


@dataclass(frozen=True, eq=False)
class Node:
    """An operation over the tables of its inputs, of which it is given the names."""

    render: Callable[..., str]
    inputs: tuple[Node, ...]
    #: The operation and the user's line: "filter, prices.py:12".
    owner: str


@dataclass(frozen=True, eq=False)
class Source(Node):
    """A table."""

    name: str = ""
    #: What `tables=` of `headrace.sql` takes.
    data: Any = None


def user_line() -> str:
    """The file and line outside of this package that are being run."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("headrace."):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def owned(operation: str, call: Callable[[], Any]) -> Any:
    """What `call` gives; its errors name the operation and the user's line."""
    try:
        return call()
    except HeadraceError as error:
        if error.place:
            raise
        raise type(error)(str(error), place=f"{operation}, {user_line()}") from None
    except RecursionError:
        message = "an expression is too deep: give parts of it a name by with_columns"
        raise UnsupportedError(message, place=f"{operation}, {user_line()}") from None


def composed(root: Node, query: Callable[[str], str]) -> tuple[Composed, dict[str, Any]]:
    """The text of a frame with its tables; query: the text about the last operation, by its name."""
    names: dict[Node, str] = {}
    tables: dict[str, Any] = {}
    parts: list[Part] = []
    for node in _inputs_first(root):
        if isinstance(node, Source):
            name = node.name
            while name.lower() in map(str.lower, tables):
                name += "_"
            tables[name] = node.data
            sql = node.render(quoted(name))
        else:
            sql = node.render(*(names[each] for each in node.inputs))
        names[node] = quoted(f"~f{len(names)}")
        parts.append(Part(f"{'with' if not parts else ','} {names[node]} as ({sql})", node.owner))
    parts.append(Part(query(names[root]), root.owner))
    return Composed(parts), tables


def _inputs_first(root: Node) -> Iterator[Node]:
    """All nodes, each once; without recursion, as chains may be long."""
    done: set[Node] = set()
    waiting = [root]
    while waiting:
        node = waiting[-1]
        missing = [each for each in node.inputs if each not in done]
        if node in done:
            waiting.pop()
        elif missing:
            waiting += reversed(missing)
        else:
            done.add(node)
            yield node
            waiting.pop()
