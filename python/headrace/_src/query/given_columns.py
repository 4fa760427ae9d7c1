"""Columns that files have by their place: of folders year=2024, and the files' names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_plus

from headrace._src.errors import UnsupportedError, UserError
from headrace._src.query.store_files import place_of, shown
from headrace._src.sql.literals import literal
from headrace._src.sql.tables import logical_of

#: Of `read_parquet` and `read_csv`, as DuckDB calls them.
OPTIONS = ("hive_partitioning", "hive_types", "hive_types_autocast", "union_by_name", "filename")
#: What folders are called for NULL.
_NULL = "__HIVE_DEFAULT_PARTITION__"
#: What keys are found to be, and how their texts look then.
_DETECTED = {"DATE": "[^:]*", "TIMESTAMP": ".*:.*", "BIGINT": "-?(0|[1-9][0-9]*)"}
#: A value as statistics have it: days, microseconds, integers.
_STORED = {
    "DATE": "datediff('day', date '1970-01-01', {0})",
    "TIMESTAMP": "epoch_us({0})",
    "VARCHAR": "{0}",
    **dict.fromkeys(("BIGINT", "INTEGER", "SMALLINT", "TINYINT"), "{0}::bigint"),
}


@dataclass(frozen=True)
class PlaceOptions:
    """What a table takes from the places of its files."""

    #: None: if all files lie in folders of the same keys.
    hive_partitioning: bool | None = None
    hive_types: Mapping[str, str] = field(default_factory=dict)
    hive_types_autocast: bool = True
    #: The table has the columns of all files; a file that lacks one has NULL there.
    union_by_name: bool = False
    #: Of a column with the files' names; empty: none.
    filename: str = ""
    #: A column with the number of each row in its file.
    file_row_number: bool = False

    @staticmethod
    def taken_from(options: dict[str, Any], known: Sequence[str] = OPTIONS) -> PlaceOptions:
        """Those among the options of a call, which are taken out of them."""
        found = {name: options.pop(name) for name in known if name in options}
        if isinstance(found.get("filename"), bool):
            found["filename"] = "filename" if found["filename"] else ""
        for name in ("hive_partitioning", "hive_types_autocast", "union_by_name", "file_row_number"):
            if name in found and not isinstance(found[name], int):
                raise UserError(f"{name} is true or false, got {found[name]!r}")
            if name in found:
                found[name] = bool(found[name])
        if not isinstance(found.get("hive_types", {}), Mapping):
            raise UserError(f"hive_types is {{name: type}}, got {found['hive_types']!r}")
        return PlaceOptions(**found)


def given_columns(paths: Sequence[str], options: PlaceOptions) -> list[list[dict[str, Any]]]:
    """By file the columns that it is given, as addresses have them: name, type, value."""
    given: list[list[dict[str, Any]]] = [[] for _ in paths]
    if options.file_row_number:
        for columns in given:
            columns.append({"name": "file_row_number", "type": {"kind": "i64"}, "value": 0, "counts": True})
    if options.filename:
        for columns, path in zip(given, paths, strict=True):
            columns.append({"name": options.filename, "type": {"kind": "string"}, "value": shown(path)})
    if options.hive_partitioning is False:
        return given
    partitions = [_partitions(path) for path in paths]
    keys = sorted(partitions[0])  # as DuckDB orders them
    different = next(
        (path for path, each in zip(paths, partitions, strict=True) if sorted(each) != keys), None
    )
    if different and not options.hive_partitioning:
        return given
    if different:
        raise UserError(f"the folders of a table must have the same keys: {different} has not: {paths[0]}")
    for name in options.hive_types:
        if name not in keys:
            raise UserError(f"hive_types: no folder has the key: {name}")
    for name in keys:
        kind, values = _typed(name, [each[name] for each in partitions], paths, options)
        for columns, value in zip(given, values, strict=True):
            columns.append({"name": name, "type": logical_of(kind), "value": value})
    return given


def _partitions(path: str) -> dict[str, str | None]:
    """Keys and values of the folders of a path; NULL as None."""
    found: dict[str, str | None] = {}
    for folder in place_of(path).split("/")[:-1]:
        key, equals, value = folder.partition("=")
        if equals and key and "=" not in value:
            value = unquote_plus(value.replace("+", "%2B"))
            found[unquote_plus(key.replace("+", "%2B"))] = None if value == _NULL else value
    return found


def _typed(
    name: str, values: list[str | None], paths: Sequence[str], options: PlaceOptions
) -> tuple[str, list[Any]]:
    """The type of a key, and its values."""
    import duckdb

    given = values
    values = [None if value and value.upper() == "NULL" else value for value in values]
    distinct = sorted({value for value in values if value is not None})
    with duckdb.connect() as connection:

        def stored(kind: str) -> dict[str, Any]:
            """By text; None for what is not of the type."""
            if not distinct:
                return {}
            shown = _STORED[kind].format("x")
            finite = " where isfinite(x)" if kind in ("DATE", "TIMESTAMP") else ""
            texts = ", ".join(map(literal, distinct))
            cast = f"select t, try_cast(t as {kind}) as x from unnest([{texts}]) u(t)"
            return dict(connection.sql(f"select t, {shown} from ({cast}){finite}").fetchall())

        if name in options.hive_types:
            kind = _spelled(connection, name, options.hive_types[name])
            if kind == "VARCHAR":
                return kind, given
            found = stored(kind)
            for path, value in zip(paths, values, strict=True):
                if value is not None and found.get(value) is None:
                    raise UserError(f"hive_types: {path}: {name} cannot be read as {kind}: {value!r}")
            return kind, [found.get(value) if value is not None else None for value in values]
        for kind in _DETECTED if options.hive_types_autocast and distinct else ():
            found = stored(kind)
            if all(
                found.get(value) is not None and re.fullmatch(_DETECTED[kind], value) for value in distinct
            ):
                return kind, [found.get(value) if value is not None else None for value in values]
    return "VARCHAR", given  # where the text NULL is one


def _spelled(connection: Any, name: str, kind: str) -> str:
    import duckdb

    try:
        spelled = str(connection.sql(f"select null::{kind}").types[0])
    except duckdb.Error:
        raise UserError(f"hive_types: no such type: {kind}") from None
    if spelled not in _STORED:
        raise UnsupportedError(f"hive_types: {name} is one of {', '.join(_STORED)}, got {spelled}")
    return spelled


def with_given(reader: str, given: list[dict[str, Any]], options: PlaceOptions) -> str:
    """What is behind the path in the address of a file. `reader`: what its bytes mean; empty: Parquet."""
    if not given and not options.union_by_name:
        return reader
    described: dict[str, Any] = json.loads(reader) if reader else {"format": "parquet"}
    if given:
        described["given"] = given
    if options.union_by_name:
        described["union_by_name"] = True
    return json.dumps(described, separators=(",", ":"), ensure_ascii=False)
