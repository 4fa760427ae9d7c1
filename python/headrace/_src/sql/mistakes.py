"""DuckDB's errors, which come as documents, as headrace's."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from headrace._src.errors import HeadraceError, InternalError, SqlError, UnsupportedError
from headrace._src.sql.place import located
from headrace._src.sql.tables import TableSchema

# By DuckDB's `error_type`; every other is a mistake in the text.
_CLASSES: dict[str, type[HeadraceError]] = {
    "not implemented": UnsupportedError,
    "permission": UnsupportedError,
    "missing extension": UnsupportedError,
    "autoload": UnsupportedError,
    "internal": InternalError,
    "fatal": InternalError,
    "out of memory": InternalError,
}

# Settings of DuckDB are none of headrace's.
_ADVICE = re.compile(r""" Use "?SET .*""", re.DOTALL)


def error_of(document: Mapping[str, Any], text: str, schemas: Sequence[TableSchema]) -> HeadraceError:
    """The exception for an error document of `json_serialize_plan`, with its place in `text`."""
    kind = document["error_type"]
    error = _CLASSES.get(kind, SqlError)
    message = _message(document, schemas)
    if kind == "permission":
        message = (
            "SQL reads the tables that it is given, and files that are named right behind FROM or JOIN, "
            f"in read_csv or in read_parquet: {message}"
        )
    reasons = _unreadable(text, schemas)
    if reasons and error is SqlError:
        error, message = UnsupportedError, f"{message} ({'; '.join(reasons)})"
    position, length = _stretch(document)
    if position is None:
        return error(message)
    return located(error, message, text, position, length)


def _message(document: Mapping[str, Any], schemas: Sequence[TableSchema]) -> str:
    subtype, name = document.get("error_subtype"), document.get("name", "")
    if subtype == "COLUMN_NOT_FOUND":
        near = [candidate for candidate in document.get("candidates", "").split(",") if candidate][:3]
        return f"no such column: {name}" + (f"; did you mean {' or '.join(near)}?" if near else "")
    if subtype == "NO_MATCHING_FUNCTION":
        return f"no function takes these types, a cast may be needed: {document['call']}"
    if subtype == "MISSING_ENTRY" and document["type"] == "Table":
        # DuckDB also proposes its own tables.
        near = difflib.get_close_matches(name, [schema.name for schema in schemas], 3)
        return f"no such table: {name}" + (f"; did you mean {' or '.join(near)}?" if near else "")
    if subtype == "MISSING_ENTRY":
        return f"no such {document['type'].lower()}: {name}"
    return _ADVICE.sub("", document["error_message"].strip())


def _stretch(document: Mapping[str, Any]) -> tuple[int | None, int]:
    """The byte position of the mistake, if DuckDB knows it, and its length."""
    if match := re.fullmatch(r"\[(\d+),(\d+)\]", document.get("location", "")):
        return int(match[1]), int(match[2])
    return (int(document["position"]), 1) if "position" in document else (None, 0)


def _unreadable(text: str, schemas: Sequence[TableSchema]) -> list[str]:
    """The columns of stand-in types that the text may name: a mistake with types may be theirs."""
    return [
        f"table {schema.name}, column {column.name}: {column.unsupported}"
        for schema in schemas
        for column in schema.columns
        if column.unsupported
        and all(
            re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) for name in (schema.name, column.name)
        )
    ]
