"""What the bytes of CSV files mean: DuckDB's sniffer says it, the runtime reads them by it."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from headrace._src.counted import counted
from headrace._src.errors import InputOutputError, UnsupportedError, UserError
from headrace._src.query.csv_encodings import Encoding, encoding_of, is_encoded
from headrace._src.query.csv_heads import HEAD_BYTES, begin_of, decompressed, line_end
from headrace._src.query.given_columns import OPTIONS as PLACE_OPTIONS
from headrace._src.query.store_files import Stamp, StorePath, is_store, place_of, read, shown
from headrace._src.sql.literals import literal
from headrace._src.sql.tables import logical_of

SUFFIXES = (".csv", ".tsv")
#: Of `read_csv`, as DuckDB calls them, with the other names that it has for them.
OPTIONS = (
    "delim",
    "sep",
    "delimiter",
    "header",
    "quote",
    "escape",
    "comment",
    "nullstr",
    "allow_quoted_nulls",
    "force_not_null",
    "null_padding",
    "ignore_errors",
    "skip",
    "columns",
    "names",
    "column_names",
    "normalize_names",
    "types",
    "dtypes",
    "column_types",
    "auto_type_candidates",
    "all_varchar",
    "auto_detect",
    "dateformat",
    "date_format",
    "timestampformat",
    "timestamp_format",
    "decimal_separator",
    "thousands",
    "compression",
    "encoding",
    "new_line",
    "sample_size",
    "files_to_sniff",
    "strict_mode",
    "parallel",
    "buffer_size",
    "max_line_size",
    "maximum_line_size",
)
_ALIASES = {
    "sep": "delim",
    "delimiter": "delim",
    "column_names": "names",
    "dtypes": "types",
    "column_types": "types",
    "date_format": "dateformat",
    "timestamp_format": "timestampformat",
}
#: How DuckDB's reader does its work, which changes no value.
_OF_DUCKDB = ("parallel", "buffer_size", "max_line_size", "maximum_line_size", "files_to_sniff")
#: By the end of a name.
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
#: What has rows that cannot be read in tables of their own.
_REJECTS = ("store_rejects", "rejects_table", "rejects_scan", "rejects_limit")
#: Types, or parts of them, that no cast of a text gives.
_UNKNOWN = re.compile(
    r"\b(?:BIT|BIGNUM|UNION|ENUM|VARIANT|GEOMETRY|TUPLE|TIME WITH TIME ZONE|TIMESTAMPTZ_NS)\b"
)
_DATES = "%Y-%m-%d"


def is_csv(path: str) -> bool:
    """Whether the name is that of a CSV file."""
    name = place_of(path).lower()
    for suffix in COMPRESSIONS:
        name = name.removesuffix(suffix)
    return name.endswith(SUFFIXES)


def readers_of(paths: Sequence[str], options: Mapping[str, Any], *, union_by_name: bool = False) -> list[str]:
    """What the runtime is told of each of the CSV files of a table, as JSON: format, columns and their types.

    Raises UserError for options that do not fit or files that differ, UnsupportedError for what cannot be
    read.
    """
    for name in options:
        if name in _REJECTS:
            advice = "ignore_errors=true leaves such rows out, all_varchar=true and TRY_CAST keep them"
            raise UnsupportedError(f"read_csv: no table of rows that cannot be read: {name}; {advice}")
        if name not in OPTIONS:
            known = ", ".join((*OPTIONS, *PLACE_OPTIONS))
            raise UnsupportedError(f"read_csv: no such option: {name}; there are {known}")
    named = {_ALIASES.get(name, name): value for name, value in options.items()}
    given = json.dumps(dict(sorted(named.items())))  # columns stay in their order
    readers = [json.loads(_sniffed_file(path, given)) for path in paths]
    first = readers[0]
    quotes = {reader["quote"] for reader in readers} - {""}
    for reader in readers if len(quotes) == 1 else ():  # a file may have no value that needs one
        reader["quote"] = next(iter(quotes))
    types: dict[str, Any] = {}
    for path, other in zip(paths, readers, strict=True):
        for what in ("delim", "quote", "header", "skip"):
            one, another = _dialect(first)[what], _dialect(other)[what]
            if one != another:
                raise UserError(
                    f"CSV files of one table differ in {what}, which can be set: "
                    f"{paths[0]}: {one!r}, {path}: {another!r}"
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


def _dialect(reader: dict[str, Any]) -> dict[str, Any]:
    return {**reader, **reader.get("dialect", {})}


def _common(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    if one == other:
        return one
    if {one["kind"], other["kind"]} == {"i64", "f64"}:
        return {"kind": "f64"}
    return {"kind": "string"}


def stamp(path: str) -> tuple[str, int, int]:
    """What changes when a file does. Raises InputOutputError if it is not there."""
    try:
        status = Path(path).stat()
    except OSError:
        raise InputOutputError(f"no such file: {path}") from None
    return path, status.st_size, status.st_mtime_ns


def _sniffed_file(path: str, given: str) -> str:
    if isinstance(path, StorePath):
        return _sniffed_head(str(path), path.stamp, given)
    _, size, modified = stamp(path)
    if is_encoded(json.loads(given).get("encoding")):
        return _sniffed_head(path, Stamp(size, modified, ""), given)
    return _sniffed(path, size, modified, given)


def _compression(path: str, given: Any) -> str:
    """Of a file: gzip, zstd, or empty. given: the option."""
    if given in (None, "auto", "auto_detect"):
        return COMPRESSIONS.get(Path(place_of(path).lower()).suffix, "")
    known = {"none": "", "uncompressed": "", "gzip": "gzip", "gz": "gzip", "zstd": "zstd"}
    if given not in known:
        raise UserError(f"compression of CSV is one of auto, none, gzip, zstd, got: {given}")
    return known[given]


@lru_cache(maxsize=1024)
def _sniffed_head(address: str, stamp: Stamp, given: str) -> str:
    options = json.loads(given)
    count = stamp.bytes if options.get("sample_size") == -1 else min(HEAD_BYTES, stamp.bytes)
    path = StorePath.of(address, stamp) if is_store(address) else address
    head = read(path, 0, count) if isinstance(path, StorePath) else begin_of(path, count)
    compression = _compression(path, options.get("compression"))
    if compression:
        head = decompressed(head, compression)
    encoding = encoding_of(options.get("encoding"), head, shown(path))
    if encoding:
        head = encoding.decoded(head, shown(path))
    if compression or count < stamp.bytes:
        head = head[: head.rfind(b"\n") + 1] or head
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        file.write(head)
        file.flush()
        return _found_out(file.name, "none", shown(path), given, compression, encoding)


@lru_cache(maxsize=1024)
def _sniffed(path: str, _size: int, _modified: int, given: str) -> str:
    compression = _compression(path, json.loads(given).get("compression"))
    return _found_out(path, compression or "none", path, given, compression)


def _found_out(
    place: str, packed: str, path: str, given: str, compression: str, encoding: Encoding | None = None
) -> str:
    """What the bytes of the file at `place` mean, which is compressed as `packed` says.

    path: its name in messages; compression, encoding: its own.
    """
    import duckdb

    options = {name: value for name, value in json.loads(given).items() if name not in _OF_DUCKDB}
    options["compression"] = packed
    options.pop("encoding", None)
    columns = options.pop("columns", None)
    types = options.pop("types", None) or {}
    with duckdb.connect() as connection:
        if not options.pop("auto_detect", True):
            row = _undetected(place, path, options, columns)
        else:
            row = _detected(connection, place, path, options, columns)
        named = [(column["name"], column["type"]) for column in row["Columns"]]
        named = _named(connection, path, named, columns, types)
    nulls = options.get("nullstr", "")
    reader = {
        "format": "csv",
        **_form(row, options, encoding),
        "header": row["HasHeader"],
        "skip": row["SkipRows"],
        "nullstr": nulls if isinstance(nulls, list) else [nulls],
        "columns": [{"name": name, **_stored(path, name, kind)} for name, kind in named],
        **_values(row, options, {kind for _, kind in named}),
    }
    if compression:
        reader["compression"] = compression
    return json.dumps(reader)


def _detected(
    connection: Any, place: str, path: str, options: dict[str, Any], columns: Any
) -> dict[str, Any]:
    """What DuckDB's sniffer finds out. columns: those of the caller, whose types it need not find."""
    import duckdb

    shown = {**options, "all_varchar": True} if columns is not None else options
    if isinstance(columns, dict) and (options.get("ignore_errors") or options.get("null_padding")):
        # How many values a line has cannot be seen then.
        shown = {**options, "columns": dict.fromkeys(columns, "VARCHAR")}
    arguments = "".join(f", {name} = {constant(value)}" for name, value in shown.items())
    try:
        found = connection.sql(f"from sniff_csv({literal(place)}{arguments})")
        return dict(zip(found.columns, found.fetchall()[0], strict=True))
    except duckdb.Error as error:
        said = first_line(error).replace(place, path)
        raise UserError(f"cannot read as CSV: {path}: {said}") from None


def _undetected(place: str, path: str, options: dict[str, Any], columns: Any) -> dict[str, Any]:
    """The same by the options alone, but for the ends of lines, which the file shows."""
    quote = options.get("quote", '"')
    if not isinstance(columns, dict):
        raise UserError(f"auto_detect=false takes columns={{name: type}}: {path}")
    return {
        "Delimiter": options.get("delim", ","),
        "Quote": quote,
        "Escape": options.get("escape", ""),
        "Comment": options.get("comment", ""),
        "NewLineDelimiter": options.get("new_line") or line_end(place, options["compression"], quote),
        "HasHeader": options.get("header", False),
        "SkipRows": options.get("skip", 0),
        "Columns": [{"name": name, "type": "VARCHAR"} for name in columns],
        "DateFormat": None,
        "TimestampFormat": None,
    }


def _form(row: dict[str, Any], options: dict[str, Any], encoding: Encoding | None) -> dict[str, Any]:
    """Separator and quote, and where records are no plain ones, the dialect that the runtime undoes."""
    quote, escape = _character(row["Quote"]), _character(row["Escape"])
    dialect = {
        "delim": row["Delimiter"].replace("\\t", "\t"),
        "quote": quote,
        "escape": escape,
        "comment": _character(row["Comment"]),
        "returns": row["NewLineDelimiter"] == "\\r",
        "encoding": encoding and encoding.described,
        "pads": bool(options.get("null_padding")),
        "drops": bool(options.get("ignore_errors")),
    }
    others = ("comment", "returns", "encoding", "pads", "drops")
    is_plain = escape in ("", quote) and len(dialect["delim"].encode()) == 1
    if is_plain and not any(dialect[name] for name in others):
        return {"delim": dialect["delim"], "quote": quote}
    return {"delim": ",", "quote": '"', "dialect": dialect}


def _values(row: dict[str, Any], options: dict[str, Any], kinds: set[str]) -> dict[str, Any]:
    """How values are read, where that is not as casts read texts."""
    found: dict[str, Any] = {}
    dates, timestamps = options.get("dateformat"), options.get("timestampformat")
    if "DATE" in kinds and dates is None and row["DateFormat"] not in (None, _DATES):
        dates = row["DateFormat"]
    if timestamps is None and not (row["TimestampFormat"] or _DATES).startswith(_DATES):
        timestamps = row["TimestampFormat"]
    if dates:
        found["dates"] = dates
    if timestamps:
        found["timestamps"] = timestamps
    point, thousands = options.get("decimal_separator", "."), options.get("thousands", "")
    if point == thousands:
        raise UserError(f"decimal_separator and thousands of CSV cannot be the same: {point}")
    if point != ".":
        found["point"] = point
    if thousands:
        found["thousands"] = thousands
    if not options.get("allow_quoted_nulls", True):
        found["quoted_nulls"] = False
    if never := options.get("force_not_null"):
        found["never_null"] = [never] if isinstance(never, str) else never
    return found


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


def _stored(path: str, name: str, kind: str) -> dict[str, Any]:
    """The type that the runtime reads, and where that is a text for a cast, what to."""
    logical = logical_of(kind)
    if logical is not None and logical["kind"] not in ("binary", "interval", "ui128"):
        return {"type": logical}
    if _UNKNOWN.search(kind):
        raise UnsupportedError(f"CSV columns of this type cannot be read: {path}, column {name}: {kind}")
    return {"type": {"kind": "string"}, "cast": kind}


def _character(shown: str | None) -> str:
    return "" if shown in (None, "(empty)", "\\0", "\0") else shown


def constant(value: Any) -> str:
    """A value as SQL has it."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(constant, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal(name)}: {constant(each)}' for name, each in value.items())}}}"
    return literal(value)


def first_line(error: Exception) -> str:
    """What an error of DuckDB says, without its kind."""
    return str(error).partition(": ")[2].strip().splitlines()[0] if str(error) else ""
