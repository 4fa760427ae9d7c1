"""COPY (query) TO 'file' (options): the query, and where its rows go."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from headrace._src.errors import SqlError, UnsupportedError
from headrace._src.sql.brackets import split_at_commas
from headrace._src.sql.place import located
from headrace._src.sql.script import script_of

_MAY_COPY = re.compile(r"(?:^|;|\*/|\n)\s*copy\b", re.IGNORECASE)
_BEHIND = re.compile(
    r"\s*to\s+'((?:[^']|'')*)'\s*(?:(?:with\s*)?\((.*)\)\s*)?;?\s*", re.IGNORECASE | re.DOTALL
)
_OPTION = re.compile(r"(\w+)(?:\s+(.+))?", re.DOTALL)


@dataclass(frozen=True)
class Copy:
    """Rows of a query to be written. The query's places are those of the text."""

    query: str
    path: str
    options: dict[str, Any]

    def named(self) -> dict[str, Any]:
        """The options by the names that Python has for them."""
        return {_NAMES.get(name, name): value for name, value in self.options.items()}


_NAMES = {"delimiter": "delim", "sep": "delim", "codec": "compression"}


def copy_of(text: str) -> Copy | None:
    """What a text with COPY … TO as its last statement asks for; None for any other text."""
    if not _MAY_COPY.search(text):
        return None
    import duckdb

    statement = script_of(text).query
    data = statement.encode()
    tokens = [position for position, _ in duckdb.tokenize(statement)]
    if not tokens or data[tokens[0] : tokens[0] + 4].lower() != b"copy" or len(tokens) == 1:
        return None
    start = len(text.encode()) - len(data) + tokens[0]
    depth = 0
    for position in tokens[1:]:
        character = data[position : position + 1]
        depth += (character == b"(") - (character == b")")
        if depth == 0 and data[position : position + 2].lower() == b"to":
            break
    else:
        message = "COPY (query) TO 'file' is supported, and no other COPY"
        raise located(UnsupportedError, message, text, start, len("copy"))
    behind = _BEHIND.fullmatch(data[position:].decode())
    if not behind:
        message = (
            "behind TO stands a file in quotes, and options in parentheses: TO 'x.parquet' (compression zstd)"
        )
        raise located(SqlError, message, text, position, len("to"))
    what = data[tokens[1] : position].decode()
    word = "    " if what.startswith("(") else "from"  # as long as what it replaces
    before = text.encode()[: tokens[0]].decode()
    query = before + word + data[tokens[0] + 4 : position].decode()
    try:
        options = _options(behind.group(2) or "")
    except ValueError as error:
        raise located(SqlError, str(error), text, position, len("to")) from None
    return Copy(query, behind.group(1).replace("''", "'"), options)


def _options(text: str) -> dict[str, Any]:
    """Names in small letters, with their values; ValueError for what is none."""
    options: dict[str, Any] = {}
    for part in split_at_commas(text) if text.strip() else []:
        option = _OPTION.fullmatch(part.strip())
        if not option:
            raise ValueError(f"options of COPY are a name and a value, got: {part.strip()}")
        options[option.group(1).lower()] = _value(option.group(2))
    return options


def _value(text: str | None) -> Any:
    if text is None:
        return True
    text = text.strip()
    if text.startswith("("):
        return [_value(part) for part in split_at_commas(text[1:-1])]
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if text.isdecimal() else text.strip('"')
