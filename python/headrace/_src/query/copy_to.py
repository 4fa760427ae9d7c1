"""COPY (query) TO 'file' (options): the query, and where its rows go."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headrace._src.errors import SqlError, UnsupportedError
from headrace._src.sql.brackets import closing, split_at_commas
from headrace._src.sql.literals import literal, value_of
from headrace._src.sql.place import located
from headrace._src.sql.script import query_alone, script_of
from headrace._src.sql.tables import quoted

_MAY_COPY = re.compile(r"(?:^|;|\*/|\n)\s*copy\b", re.IGNORECASE)
_BEHIND = re.compile(
    r"\s*to\s+'((?:[^']|'')*)'\s*(?:(?:with\s*)?\((.*)\)\s*)?;?\s*", re.IGNORECASE | re.DOTALL
)
_MOMENT = re.compile(r"DATE|TIMESTAMP[\w ]*")
_OPTION = re.compile(r"(\w+)(?:\s*(.+))?", re.DOTALL)


@dataclass(frozen=True)
class Copy:
    """Rows of a query to be written. The query's places are those of the text."""

    query: str
    path: str
    options: dict[str, Any]

    def named(self) -> dict[str, Any]:
        """The options by the names that Python has for them."""
        return python_names(self.options)


_NAMES = {
    "delimiter": "delim",
    "sep": "delim",
    "null": "nullstr",
    "date_format": "dateformat",
    "timestamp_format": "timestampformat",
    "codec": "compression",
}


def python_names(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options by the names that Python, and readers of files, have for them."""
    return {_NAMES.get(name, name): value for name, value in options.items()}


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
        message = "COPY (query) TO 'file' is supported, in a session also COPY table FROM 'file'"
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
        options = written_options(behind.group(2) or "")
    except ValueError as error:
        raise located(SqlError, str(error), text, position, len("to")) from None
    return Copy(query, behind.group(1).replace("''", "'"), options)


def selected(text: str, what: str) -> str:
    """What SELECT gives of the rows of a text's query, which are called `rows` there.

    Places in the text stay what they are where there is room for the word in front of it, as in COPY.
    """
    query = query_alone(script_of(text).query)
    start = len(query) - len(query.lstrip())
    body = query[start:].rstrip()
    is_enclosed = body.startswith("(") and closing(body, 1) == len(body) - 1
    if is_enclosed and text[:start].endswith("    "):
        return f"{text[: start - 4]}from{body} as rows select {what}"
    return f"{text[:start]}from ({body}\n) as rows select {what}"


def rows_for(format: str, text: str) -> str:
    """The text whose rows are written as such files: of JSON a column of objects."""
    return selected(text, "to_json(rows) as json") if format == ".json" else text


def with_formats(text: str, columns: Mapping[str, str], dates: str, timestamps: str, *, nested: bool) -> str:
    """The text with its dates and timestamps as texts of these formats; empty: as they are.

    columns: those of its rows, with their types; nested: whether the formats are also for dates in lists,
    structs and maps. Raises UnsupportedError if there are some then.
    """
    for name, kind in columns.items() if nested else ():
        if not _MOMENT.fullmatch(kind) and (dates and "DATE" in kind or timestamps and "TIMESTAMP" in kind):
            raise UnsupportedError(f"a format of dates for those in a column of type {kind}: {name}")
    formats = {name: timestamps if kind.startswith("TIMESTAMP") else dates for name, kind in columns.items()}
    texts = ", ".join(
        f"strftime({quoted(name)}, {literal(formats[name])}) as {quoted(name)}"
        for name, kind in columns.items()
        if formats[name] and _MOMENT.fullmatch(kind)
    )
    return selected(text, f"* replace ({texts})") if texts else text


def written_options(text: str) -> dict[str, Any]:
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
    if text.startswith("{"):
        return value_of(text)
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if text.isdecimal() else text.strip('"')
