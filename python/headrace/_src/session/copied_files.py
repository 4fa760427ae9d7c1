"""COPY table FROM 'file' (options): the INSERT that says the same."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from headrace._src.errors import UnsupportedError, UserError
from headrace._src.query.copy_to import python_names, written_options
from headrace._src.session.kept_table import KeptTable
from headrace._src.session.names import Names
from headrace._src.sql.literals import literal
from headrace._src.sql.spelling import NOTHING, QUALIFIED, WORD
from headrace._src.sql.tables import Column, qualified, quoted, unquoted

_NAMES = re.compile(WORD)
_COPY_FROM = re.compile(
    rf"{NOTHING}copy\b{NOTHING}(?P<table>{QUALIFIED}){NOTHING}"
    rf"(?P<columns>\((?:{NOTHING}(?:{WORD}){NOTHING},?)+\))?{NOTHING}"
    rf"from\s+'(?P<path>(?:[^']|'')*)'\s*(?:(?:with\s*)?\((?P<options>.*)\)\s*)?;?{NOTHING}",
    re.IGNORECASE | re.DOTALL,
)
_READERS = {"csv": "read_csv", "parquet": "read_parquet", "json": "read_json"}
_ENDINGS = {".parquet": "parquet", ".json": "json", ".jsonl": "json", ".ndjson": "json"}
#: Types that a file's reader does not know, or knows by other rules: such values are read as texts, and cast.
_CAST = re.compile(r"ENUM\b.*|STRUCT\b.*|MAP\b.*|UNION\b.*|.*\]|UUID|BIT|INTERVAL", re.IGNORECASE | re.DOTALL)


def copied_from(text: str) -> re.Match[str] | None:
    """The parts of a COPY … FROM; None for any other statement."""
    return _COPY_FROM.fullmatch(text)


def insertion(copies: re.Match[str], names: Names) -> str:
    """The INSERT of a file's rows: of CSV and JSON as values of the table's types.

    Raises UserError for a table or column that there is not, UnsupportedError for formats that are not read.
    """
    name = names.known(*qualified(copies, 2))
    path = copies["path"].replace("''", "'")
    try:
        options = python_names(written_options(copies["options"] or ""))
    except ValueError as error:
        raise UserError(str(error)) from None
    ending = PurePosixPath(path.removesuffix(".gz").removesuffix(".zst")).suffix
    format = str(options.pop("format", _ENDINGS.get(ending.lower(), "csv"))).lower()
    if format not in _READERS:
        raise UnsupportedError(f"COPY FROM reads csv, json and parquet, not: {format}")
    if name.lower() not in names.tables:
        raise UserError(f"no such table: {name}")
    table = names.tables[name.lower()][1]
    asked = [unquoted(each) for each in _NAMES.findall(copies["columns"] or "")]
    if isinstance(table, KeptTable) and format != "parquet":
        columns = _columns(table.schema.columns, asked, name)
        types = (f"{literal(each.name)}: {literal(_read_as(each, format))}" for each in columns)
        options["columns"] = f"{{{', '.join(types)}}}"
    given = "".join(
        f", {option} = {value if option == 'columns' else literal(value)}"
        for option, value in options.items()
    )
    into = f"({', '.join(map(quoted, asked))})" if asked else ""
    return f"insert into {copies['table']} {into} select * from {_READERS[format]}({literal(path)}{given})"


def _columns(columns: tuple[Column, ...], asked: list[str], table: str) -> list[Column]:
    known = {column.name.lower(): column for column in columns}
    if missing := [each for each in asked if each.lower() not in known]:
        raise UserError(f"no column {missing[0]} in table {table}")
    return [known[each.lower()] for each in asked] or list(columns)


def _read_as(column: Column, format: str) -> str:
    return "VARCHAR" if format == "csv" and _CAST.fullmatch(column.type) else column.type
