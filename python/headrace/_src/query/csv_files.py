"""What the bytes of CSV files mean: DuckDB's sniffer says it, the runtime reads them by it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from headrace._src.counted import counted
from headrace._src.errors import InputOutputError, UnsupportedError, UserError
from headrace._src.query.given_columns import OPTIONS as PLACE_OPTIONS
from headrace._src.query.store_files import Stamp, StorePath, place_of, read, shown
from headrace._src.sql.literals import literal
from headrace._src.sql.tables import logical_of

SUFFIXES = (".csv", ".tsv")
#: Of `read_csv`, as DuckDB calls them.
OPTIONS = (
    "delim",
    "sep",
    "header",
    "quote",
    "escape",
    "nullstr",
    "skip",
    "all_varchar",
    "columns",
    "types",
    "dtypes",
    "sample_size",
)
_COMPRESSED = (".gz", ".zst", ".bz2")
_DATES = "%Y-%m-%d"


def is_csv(path: str) -> bool:
    """Whether the name is that of a CSV file."""
    name = place_of(path).lower()
    for suffix in _COMPRESSED:
        name = name.removesuffix(suffix)
    return name.endswith(SUFFIXES)


def readers_of(paths: Sequence[str], options: Mapping[str, Any], *, union_by_name: bool = False) -> list[str]:
    """What the runtime is told of each of the CSV files of a table, as JSON: format, columns and their types.

    Raises UserError for options that do not fit or files that differ, UnsupportedError for what cannot be
    read.
    """
    for name in options:
        if name not in OPTIONS:
            known = ", ".join((*OPTIONS, *PLACE_OPTIONS))
            raise UnsupportedError(f"read_csv: no such option: {name}; there are {known}")
    given = json.dumps(dict(sorted(options.items())))  # columns stay in their order
    readers = [json.loads(_sniffed_file(path, given)) for path in paths]
    first = readers[0]
    types: dict[str, Any] = {}
    for path, other in zip(paths, readers, strict=True):
        for what in ("delim", "quote", "header", "skip"):
            if other[what] != first[what]:
                raise UserError(
                    f"CSV files of one table differ in {what}, which can be set: "
                    f"{paths[0]}: {first[what]!r}, {path}: {other[what]!r}"
                )
        own = {column["name"] for column in other["columns"]}
        for column in first["columns"]:
            if column["name"] not in own and not union_by_name:
                raise UserError(
                    f"CSV files of one table differ in their columns: {paths[0]} has one that {path} lacks, "
                    f"for which union_by_name=true reads NULL: {column['name']}"
                )
        for column in other["columns"]:
            known = types.setdefault(column["name"], column["type"])
            types[column["name"]] = _common(known, column["type"])
    for reader in readers:
        for column in reader["columns"]:
            column["type"] = types[column["name"]]
    return [json.dumps(reader, separators=(",", ":")) for reader in readers]


def _common(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    if one == other:
        return one
    if {one["kind"], other["kind"]} == {"i64", "f64"}:
        return {"kind": "f64"}
    return {"kind": "string"}


def _stamp(path: str) -> tuple[str, int, int]:
    try:
        status = Path(path).stat()
    except OSError:
        raise InputOutputError(f"no such file: {path}") from None
    return path, status.st_size, status.st_mtime_ns


def _sniffed_file(path: str, given: str) -> str:
    if place_of(path).lower().endswith(_COMPRESSED):
        raise UnsupportedError(f"compressed CSV cannot be read, decompress it first: {shown(path)}")
    if not isinstance(path, StorePath):
        return _sniffed(*_stamp(path), given)
    return _sniffed_head(str(path), path.stamp, given)


#: Of a file in a store its begin is copied for DuckDB's sniffer, which reads files alone.
_HEAD_BYTES = 4 << 20


@lru_cache(maxsize=1024)
def _sniffed_head(address: str, stamp: Stamp, given: str) -> str:
    whole = json.loads(given).get("sample_size") == -1
    path = StorePath.of(address, stamp)
    head = read(path, 0, stamp.bytes if whole else min(_HEAD_BYTES, stamp.bytes))
    if len(head) < stamp.bytes:
        head = head[: head.rfind(b"\n") + 1]
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        file.write(head)
        file.flush()
        return _found_out(file.name, shown(path), given)


@lru_cache(maxsize=1024)
def _sniffed(path: str, _size: int, _modified: int, given: str) -> str:
    return _found_out(path, path, given)


def _found_out(place: str, path: str, given: str) -> str:
    """What the bytes of the file at `place` mean; `path`: its name in messages."""
    import duckdb

    options = json.loads(given)
    columns = options.pop("columns", None)
    types = options.pop("types", options.pop("dtypes", None)) or {}
    if columns is not None:
        options["all_varchar"] = True
    arguments = "".join(f", {name} = {_constant(value)}" for name, value in options.items())
    with duckdb.connect() as connection:
        try:
            found = connection.sql(f"from sniff_csv({literal(place)}{arguments})")
            row = dict(zip(found.columns, found.fetchall()[0], strict=True))
        except duckdb.Error as error:
            said = _first_line(error).replace(place, path)
            raise UserError(f"cannot read as CSV: {path}: {said}") from None
        named = [(column["name"], column["type"]) for column in row["Columns"]]
        named = _named(connection, path, named, columns, types)
    kinds = {kind for _, kind in named}
    if "DATE" in kinds and row["DateFormat"] not in (None, _DATES):
        raise _format(path, "dates", row["DateFormat"], named, "DATE")  # no test: the words are below
    if "TIMESTAMP" in kinds and not (row["TimestampFormat"] or _DATES).startswith(_DATES):
        # no test: the words are below
        raise _format(path, "timestamps", row["TimestampFormat"], named, "TIMESTAMP")
    quote, escape = _character(row["Quote"]), _character(row["Escape"])
    if escape not in ("", quote):
        raise UnsupportedError(f"CSV with another escape than the quote cannot be read: {path}: {escape}")
    separator = row["Delimiter"].replace("\\t", "\t")
    if len(separator.encode()) != 1:
        raise UnsupportedError(f"CSV with a separator of several bytes cannot be read: {path}: {separator}")
    if row["NewLineDelimiter"] == "\\r":
        raise UnsupportedError(f"CSV with line ends of CR alone cannot be read: {path}")
    if _character(row["Comment"]):
        raise UnsupportedError(f"CSV with comments cannot be read: {path}: {row['Comment']}")
    nulls = options.get("nullstr", "")
    return json.dumps(
        {
            "format": "csv",
            "delim": separator,
            "quote": quote,
            "header": row["HasHeader"],
            "skip": row["SkipRows"],
            "nullstr": nulls if isinstance(nulls, list) else [nulls],
            "columns": [{"name": name, "type": _logical(path, name, kind)} for name, kind in named],
        }
    )


def _named(
    connection: Any, path: str, sniffed: list[tuple[str, str]], columns: Any, types: Any
) -> list[tuple[str, str]]:
    """Names and types, with those of the caller over the sniffer's."""
    if columns is not None:
        if not isinstance(columns, dict) or len(columns) != len(sniffed):
            raise UserError(f"columns must name the {len(sniffed)} columns of {path}, got {len(columns)}")
        return [(name, _spelled(connection, kind)) for name, kind in columns.items()]
    if isinstance(types, list):
        if len(types) > len(sniffed):
            raise UserError(f"types: {path} has {counted(len(sniffed), 'column')}, got {len(types)} types")
        types = dict(zip((name for name, _ in sniffed), types, strict=False))
    for name in types:
        if name not in dict(sniffed):
            raise UserError(f"types: {path} has no column: {name}")
    return [(name, _spelled(connection, types[name]) if name in types else kind) for name, kind in sniffed]


def _spelled(connection: Any, kind: str) -> str:
    """A type as DuckDB writes it: BIGINT for int8."""
    import duckdb

    try:
        return str(connection.sql(f"select null::{kind}").types[0])
    except duckdb.Error:
        raise UserError(f"no such type of a column: {kind}") from None


def _logical(path: str, name: str, kind: str) -> dict[str, Any]:
    logical = logical_of(kind)
    if logical is None or logical["kind"] in ("binary", "interval", "ui128"):
        raise UnsupportedError(f"CSV columns of this type cannot be read: {path}, column {name}: {kind}")
    return logical


def _format(path: str, what: str, shown: str, named: list[tuple[str, str]], kind: str) -> UnsupportedError:
    names = ", ".join(f"'{name}': 'VARCHAR'" for name, each in named if each == kind)
    return UnsupportedError(
        f"CSV with {what} of another format than ISO cannot be read, "
        f"types={{{names}}} reads texts: {path}: {shown}"
    )


def _character(shown: str | None) -> str:
    return "" if shown in (None, "(empty)", "\\0", "\0") else shown


def _constant(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(literal, value))}]"
    return literal(value)


def _first_line(error: Exception) -> str:
    return str(error).partition(": ")[2].strip().splitlines()[0] if str(error) else ""
