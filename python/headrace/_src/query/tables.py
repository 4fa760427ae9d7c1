"""What a query's table names mean: Parquet or CSV files, here or in stores, or Arrow tables."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._src.errors import HeadraceError, UnsupportedError, UserError, translated
from headrace._src.query import arrow_tables
from headrace._src.query.csv_files import is_csv, readers_of
from headrace._src.query.dataset import Dataset
from headrace._src.query.given_columns import OPTIONS as PLACE_OPTIONS
from headrace._src.query.given_columns import PlaceOptions, given_columns, with_given
from headrace._src.query.store_files import StorePath, found, is_store, shown, with_stamps
from headrace._src.sql.tables import TableSchema

if TYPE_CHECKING:
    import pyarrow as pa

#: Of `read_parquet`, how DuckDB's reader does its work, which changes no value.
_OF_DUCKDB = ("can_have_nan", "explicit_cardinality", "compression")
#: What a file of Parquet is told with `binary_as_string`.
_AS_STRINGS = '{"format":"parquet","binary_as_string":true}'
#: What `tables=` takes: a directory of Parquet files, a file, a pattern or several of these; or names with
#: path(s) or Arrow tables. "~" is the home directory.
TablesArgument = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Mapping[str, Any]

#: The same on a command line.
TABLES_METAVAR = "DIR|FILE|NAME=PATH"
TABLES_HELP = (
    "folder of Parquet files, a file, a pattern, or one table by its name; may be repeated, and "
    "NAME=PATH with the same name adds files to a table"
)


@dataclass(frozen=True)
class FileTable:
    """A table in files that share a schema."""

    paths: tuple[str, ...]
    #: By file what its bytes mean and which columns it is given, as JSON; empty: Parquet, and nothing else.
    readers: tuple[str, ...]

    @property
    def addresses(self) -> list[str]:
        """The files as the runtime is told them."""
        files = zip(self.paths, self.readers, strict=True)
        return [f"{path}?{told}" if (told := _told(path, reader)) else path for path, reader in files]

    @property
    def is_parquet(self) -> bool:
        return not self.readers[0] or json.loads(self.readers[0])["format"] == "parquet"

    @cached_property
    def given(self) -> list[list[dict[str, Any]]]:
        """By file the columns that it is given."""
        return [json.loads(reader or "{}").get("given", []) for reader in self.readers]

    @property
    def is_partitioned(self) -> bool:
        """Whether files can be told apart by what they are given, and one says which columns all have."""
        reader = json.loads(self.readers[0] or "{}")
        return len(self.paths) > 1 and bool(reader.get("given")) and not reader.get("union_by_name")

    def casts(self, columns: Mapping[str, Any]) -> dict[str, str]:
        """The types that columns are cast to when they are read, by name. columns: those of a document."""
        casts: dict[str, str] = {}
        for reader in map(json.loads, filter(None, self.readers)):
            if reader.get("binary_as_string"):
                _refuse_nested_bytes(columns)
            casts |= {each["name"]: each["cast"] for each in reader.get("columns", ()) if "cast" in each}
        return casts

    def only(self, kept: Sequence[int]) -> FileTable:
        """The table of these of its files."""
        return FileTable(tuple(self.paths[i] for i in kept), tuple(self.readers[i] for i in kept))

    @property
    def first(self) -> FileTable:
        return self.only([0])

    @property
    def bytes(self) -> int:
        """Of all files. Raises OSError if one is not there."""
        return sum(
            path.stamp.bytes if isinstance(path, StorePath) else Path(path).stat().st_size
            for path in self.paths
        )

    def current(self) -> FileTable:
        """The table with the versions that stores have now: one query reads no other."""
        if not any(map(is_store, self.paths)):
            return self
        return FileTable(tuple(with_stamps(self.paths, anew=True)), self.readers)

    def identity(self) -> list[tuple[str, int, int]]:
        """Path, size and modification time of every file, and its reader: what a cached plan was made for."""
        out = [(reader, 0, 0) for reader in self.readers if reader]
        for path in self.paths:
            if isinstance(path, StorePath):
                stamp = path.stamp
                out.append((f"{shown(path)} {stamp.tag}", stamp.bytes, stamp.modified_nanoseconds))
                continue
            try:
                status = Path(path).stat()
            except FileNotFoundError:
                raise HeadraceError(f"no such file: {path}", "io") from None
            out.append((str(Path(path).resolve()), status.st_size, status.st_mtime_ns))
        return out


@dataclass(frozen=True)
class ArrowTable:
    """A table in memory that speaks the Arrow C stream interface."""

    data: Any
    #: Of a table of a session: the types that it declares.
    schema: TableSchema | None = None
    #: Its record batches by tables that they are of, and their numbers there: those are read only once.
    batches: tuple[tuple[pa.Table, int], ...] = ()

    @cached_property
    def imported(self) -> Any:
        """What the runtime reads; the same in all uses of one query."""
        return arrow_tables.joined(self.batches) if self.batches else arrow_tables.read(self.data)

    @cached_property
    def statistics(self) -> str:
        from headrace import _runtime

        document = _runtime.statistics(self.imported)
        if self.schema is None:
            return document
        return json.dumps({**json.loads(document), "declared": self.schema.declaration()})


@dataclass(frozen=True)
class ResidentTable:
    """A dataset: each rank has rows of its own."""

    data: Dataset

    @property
    def imported(self) -> Any:
        return self.data.parts.table

    @property
    def statistics(self) -> str:
        return self.data.parts.document


Table = FileTable | ArrowTable | ResidentTable


def is_in_memory(value: Any) -> bool:
    """Whether `tables=` is given a table, not paths of one."""
    return hasattr(value, "__arrow_c_stream__") or isinstance(value, Dataset | ArrowTable)


def resolve(tables: TablesArgument) -> dict[str, Table]:
    """Names to tables. A directory gives one table per Parquet file, and one per folder of Parquet files."""
    from headrace import _runtime

    if isinstance(tables, Mapping):
        return {name: _table(checked_name(name), value) for name, value in tables.items()}
    texts = [tables] if isinstance(tables, (str, os.PathLike)) else tables
    if not _are_paths(texts):
        raise UserError(f"tables: neither a path, a list of paths nor a dict of names: {_kind(tables)}")
    found = translated(lambda: _runtime.tables([os.fspath(text) for text in texts]))
    return {name: _files(paths) for name, paths in found.items()}


def checked_name(name: Any) -> str:
    """Raises UserError for what cannot name a table."""
    if not isinstance(name, str) or not name:
        raise UserError(f"the name of a table is a text that is not empty, got {name!r}")
    return name


def _are_paths(value: Any) -> bool:
    return isinstance(value, Sequence) and all(isinstance(each, (str, os.PathLike)) for each in value)


def _kind(value: Any) -> str:
    return type(value).__name__


def files_of(value: Any, options: Mapping[str, Any] | None = None) -> FileTable:
    """The table of a path, a pattern or a list of these.

    options: those of `read_csv`, for CSV of any name.
    """
    return _files(paths_of(value), options)


def parquet_files_of(value: Any, options: Mapping[str, Any]) -> FileTable:
    """The table of Parquet files of any name. options: those of `read_parquet`."""
    options = {name: value for name, value in options.items() if name not in _OF_DUCKDB}
    known = (*PLACE_OPTIONS, "file_row_number")
    places = PlaceOptions.taken_from(options, known)
    reader = _AS_STRINGS if options.pop("binary_as_string", False) else ""
    for name in options:
        names = ", ".join((*known, "binary_as_string"))
        raise UserError(f"read_parquet: no such option: {name}; there are {names}")
    paths = paths_of(value)
    return _placed(paths, [reader] * len(paths), places)


def _refuse_nested_bytes(columns: Mapping[str, Any]) -> None:
    for name, each in columns.items():
        if '"binary"' in json.dumps(each["type"]) and each["type"]["kind"] != "binary":
            raise UnsupportedError(f"binary_as_string of bytes in a list, struct or map: {name}")


def _told(path: str, reader: str) -> str:
    """What stands behind a path: what the bytes mean, and in a store which version of them is meant."""
    if not isinstance(path, StorePath):
        return reader
    described = {**json.loads(reader or '{"format": "parquet"}'), "version": path.stamp.version()}
    return json.dumps(described, separators=(",", ":"), ensure_ascii=False)


def located(path: str) -> str:
    """The path by which a file is told from all others; an address without what may be a secret."""
    return shown(path) if is_store(path) else os.path.realpath(path)


def absolute(address: str) -> str:
    """The same file, wherever the process is; what its bytes mean stays as it is."""
    if is_store(address):
        return address
    path, mark, reader = address.partition("?{")
    return os.path.abspath(path) + mark + reader


def paths_of(value: Any) -> list[str]:
    """The files of a path, a pattern or a list of these."""
    texts = [value] if isinstance(value, (str, os.PathLike)) else value
    if not _are_paths(texts):
        raise UserError(f"not a path, or a list of paths: {_kind(value)}")
    if not texts:
        raise UserError("a list of no files")
    return [path for text in map(_text, texts) for path in _found(text)]


def _text(path: str | os.PathLike[str]) -> str:
    return path if isinstance(path, str) else os.fspath(path)


def _found(text: str) -> list[str]:
    from headrace import _runtime

    if isinstance(text, StorePath):
        return with_stamps([text], anew=True)
    return found(text) if is_store(text) else translated(lambda: _runtime.table_files(text))


def _files(paths: Sequence[str], options: Mapping[str, Any] | None = None) -> FileTable:
    paths = with_stamps(paths)
    if options is None and not any(is_csv(path) for path in paths):
        return _placed(paths, [""] * len(paths), PlaceOptions())
    if options is None and not all(is_csv(path) for path in paths):
        raise UserError(f"a table of CSV files and others: {paths[0]}, {paths[-1]}")
    options = dict(options or {})
    places = PlaceOptions.taken_from(options)
    return _placed(paths, readers_of(paths, options, union_by_name=places.union_by_name), places)


def _placed(paths: Sequence[str], readers: Sequence[str], places: PlaceOptions) -> FileTable:
    given = given_columns(paths, places)
    told = (with_given(*each, places) for each in zip(readers, given, strict=True))
    return FileTable(tuple(paths), tuple(told))


def _table(name: str, value: Any) -> Table:
    if isinstance(value, FileTable):
        return value.current()
    if isinstance(value, ArrowTable):
        return value
    if isinstance(value, Dataset):
        return ResidentTable(value)
    if hasattr(value, "__arrow_c_stream__"):
        return ArrowTable(value)
    texts = [value] if isinstance(value, (str, os.PathLike)) else value
    if not _are_paths(texts):
        raise UserError(f"table {name}: not a path, a list of paths or an Arrow table: {_kind(value)}")
    return files_of(texts)
