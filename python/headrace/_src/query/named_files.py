"""Files that a query names itself: FROM 'x.csv', FROM read_csv('x.csv', delim = '|'), read_json(…).

Each becomes the name of a table, of as many characters, so that places in the text stay what they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any

from headrace._src.errors import SqlError, UnsupportedError
from headrace._src.query.csv_files import is_csv
from headrace._src.query.file_functions import FUNCTIONS, rows_of_function
from headrace._src.query.json_files import is_json, json_table
from headrace._src.query.store_files import place_of, without_secrets
from headrace._src.query.tables import ArrowTable, FileTable, files_of, parquet_files_of, paths_of
from headrace._src.sql.brackets import closing, split_at_commas
from headrace._src.sql.literals import NotConstantError, value_of
from headrace._src.sql.place import located

_MAY_NAME = re.compile(
    rf"read_(?:csv|parquet|json|ndjson)|parquet_scan|{'|'.join(FUNCTIONS)}"
    r"|(?:from|join|summarize|describe)\s*'",
    re.IGNORECASE,
)
_CALL = re.compile(
    r"\b(read_(?:csv(?:_auto)?|parquet|(?:nd)?json(?:_auto|_objects|_objects_auto)?)|parquet_scan"
    rf"|{'|'.join(FUNCTIONS)})\s*\(",
    re.IGNORECASE,
)
#: What is in memory, or mapped, once a text has named it.
_ROWS = re.compile(rf"json|{'|'.join(FUNCTIONS)}", re.IGNORECASE)
#: GLOB is an operator, too.
_IN_FROM = re.compile(r"(?:\b(?:from|join|lateral)|,)\s*$", re.IGNORECASE)
_LITERAL = re.compile(r"\b(?:from|join|summarize|describe)\s+('(?:[^']|'')+')", re.IGNORECASE)
_DISTINCT = re.compile(r"\bdistinct\s+$", re.IGNORECASE)
_OF_ARGUMENTS = re.compile(r"\b(?:trim|extract|substring|overlay)\s*$", re.IGNORECASE)
_TYPE = re.compile(r":\s*([A-Za-z]\w*)(?=\s*[,}])")
_NAMED = re.compile(r"\s*(\w+)\s*(?::=|=(?!=)|=>)(.*)", re.DOTALL)


def with_named_files(text: str, known: Collection[str]) -> tuple[str, dict[str, FileTable | ArrowTable]]:
    """The text with names instead of files, and what they name. `known`: tables, whose names come first."""
    if not _MAY_NAME.search(text):
        return text, {}
    found: dict[str, FileTable | ArrowTable] = {}
    starts = _starts(text)
    position = 0
    while call := _CALL.search(text, position):
        position = call.end()
        if not _is_call(call, text, starts):
            continue
        end = closing(text, call.end())
        # What stands behind it keeps its place, as errors show it: "csv('x.csv')" and blanks.
        whole = text[call.start() : end + 1]
        name = without_secrets(_name_of(whole))
        function, inside = call.group(1).lower(), text[call.end() : end]
        found[name] = _placed(text, call, lambda f=function, inside=inside: _called(f, inside))
        text = text[: call.start()] + f'"{name}"'.ljust(len(whole)) + text[end + 1 :]
    for literal in _LITERAL.finditer(text):
        path = _path(literal)
        if _is_file(literal, text, known, starts):
            if not (is_csv(path) or is_json(path) or place_of(path).lower().endswith(".parquet")):
                message = (
                    "files in FROM end in .csv, .tsv, .json, .ndjson, .jsonl or .parquet; for others use "
                    "read_csv, read_json or read_parquet"
                )
                raise located(UnsupportedError, message, text, _bytes(text, literal.start(1)), len(path))
            name = without_secrets(path).replace('"', "'")
            found[name] = _placed(text, literal, lambda path=path: _file(path))
            named = f'"{name}"'.ljust(len(literal.group(1)))
            text = f"{text[: literal.start(1)]}{named}{text[literal.end(1) :]}"
    return text, found


def names_files(text: str, known: Collection[str]) -> bool:
    """Whether a text names files. `known`: tables, whose names come first."""
    if not _MAY_NAME.search(text):
        return False
    starts = _starts(text)
    return any(_is_call(call, text, starts) for call in _CALL.finditer(text)) or any(
        _is_file(literal, text, known, starts) for literal in _LITERAL.finditer(text)
    )


def names_rows(text: str) -> bool:
    """Whether a text may name files that are read before the query runs; cheap."""
    return _ROWS.search(text) is not None


def _is_call(call: re.Match[str], text: str, starts: set[int]) -> bool:
    is_function = call.group(1).lower() != "glob" or _IN_FROM.search(text, 0, call.start())
    return call.start() in starts and bool(is_function)


def _name_of(call: str) -> str:
    """What a call is called that fits, with quotes, where it stood."""
    name = re.sub("^(read_|parquet_)", "", call, flags=re.IGNORECASE)
    return (name if name != call else call[:-1].replace("(", "", 1)).replace('"', "'")


def _starts(text: str) -> set[int]:
    """Where tokens begin, in characters; comments have none inside."""
    import duckdb

    data = text.encode()
    starts, characters, before = set(), 0, 0
    for position, _ in duckdb.tokenize(text):
        characters += len(data[before:position].decode(errors="ignore"))
        before = position
        starts.add(characters)
    return starts


def _is_file(literal: re.Match[str], text: str, known: Collection[str], starts: set[int]) -> bool:
    """Whether a FROM or JOIN names a file, not a table of this name."""
    named = literal.start(1) in starts and _path(literal) not in known
    return named and _is_clause(text, literal.start(), starts)


def _path(literal: re.Match[str]) -> str:
    return literal.group(1)[1:-1].replace("''", "'")


def _is_clause(text: str, start: int, starts: set[int]) -> bool:
    """Whether a FROM names tables: not that of IS DISTINCT FROM, or of TRIM(BOTH 'x' FROM …) and the like."""
    if _DISTINCT.search(text, 0, start):
        return False
    depth = 0
    for position in sorted((each for each in starts if each < start and text[each] in "()"), reverse=True):
        depth += 1 if text[position] == ")" else -1
        if depth < 0:
            return not _OF_ARGUMENTS.search(text, 0, position)
    return True


def _bytes(text: str, position: int) -> int:
    return len(text[:position].encode())


def _placed(
    text: str, match: re.Match[str], make: Callable[[], FileTable | ArrowTable]
) -> FileTable | ArrowTable:
    try:
        return make()
    except (_Mistake, NotConstantError) as error:
        raise located(SqlError, str(error), text, _bytes(text, match.start()), len(match.group())) from None


class _Mistake(Exception):
    pass


def _file(path: str) -> FileTable | ArrowTable:
    return ArrowTable(json_table("read_json", paths_of(path), {})) if is_json(path) else files_of(path)


def _called(function: str, inside: str) -> FileTable | ArrowTable:
    """The files of a call with these arguments."""
    first, *rest = split_at_commas(inside)
    paths = value_of(first)
    options: dict[str, Any] = {}
    others: list[Any] = []
    for argument in rest:
        named = _NAMED.fullmatch(argument)
        if not named and function in FUNCTIONS:
            others.append(value_of(argument))
            continue
        if not named:
            raise _Mistake(f"arguments behind the first are name = value, got: {argument.strip()}")
        name, value = named.group(1).lower(), named.group(2)
        options[name] = value_of(_TYPE.sub(r": '\1'", value) if name == "hive_types" else value)
    if function in FUNCTIONS:
        return ArrowTable(rows_of_function(function, [paths, *others], options))
    if "json" in function:
        return ArrowTable(json_table(function, paths_of(paths), options))
    if "parquet" in function:
        return parquet_files_of(paths, options)
    return files_of(paths, options)
