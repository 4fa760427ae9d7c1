"""Where frames begin: files and tables in memory."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from headrace._src.arguments import checked
from headrace._src.errors import UnsupportedError, UserError
from headrace._src.frame.lazy_frame import LazyFrame
from headrace._src.frame.nodes import Source, owned, user_line
from headrace._src.frame.scope import Column, Key
from headrace._src.frame.types import is_array, is_integer, is_list, sql_type
from headrace._src.query.dataset import Dataset
from headrace._src.query.library_files import read_ipc, read_ndjson
from headrace._src.query.statistics import statistics_of
from headrace._src.query.store_files import opened, place_of
from headrace._src.query.tables import (
    ArrowTable,
    FileTable,
    Table,
    files_of,
    parquet_files_of,
    paths_of,
    resolve,
)
from headrace._src.sql.arrow_types import arrow_type
from headrace._src.sql.tables import quoted, schema_of

if TYPE_CHECKING:
    import pyarrow as pa

#: DuckDB's type of UUIDs, or of lists of them.
_UUIDS = re.compile(r"UUID(\[\d*\])*")


@checked
def scan_parquet(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    hive_partitioning: bool | None = None,
    missing_columns: Literal["raise", "insert"] = "raise",
    include_file_paths: str | None = None,
) -> LazyFrame:
    """A frame over Parquet files: a path, a folder, a pattern ("data/**/*.parquet") or a list of these.

    A path may be an address: s3://bucket/key, or http(s)://host/path.

    hive_partitioning: whether folders year=2024 are a column; default: if all files lie in folders of the
        same keys. Values are dates, timestamps or i64 if all of a key are, else strings. Files whose folders
        a filter rules out are not opened.
    missing_columns: "insert" makes a frame of the columns of all files, with NULL where a file lacks one;
        with "raise" the columns are those of the first file, which all must have.
    include_file_paths: name of a column with the path of each row's file.

    Columns of types that cannot be read are left out. Raises InputOutputError if there is no such file.
    """
    if missing_columns not in ("raise", "insert"):
        raise UserError(f'missing_columns is "raise" or "insert", got {missing_columns!r}')
    options: dict[str, Any] = {"union_by_name": missing_columns == "insert"}
    options["filename"] = include_file_paths or False
    if hive_partitioning is not None:
        options["hive_partitioning"] = hive_partitioning
    first = source if isinstance(source, (str, os.PathLike)) else next(iter(source), "")

    def made() -> LazyFrame:
        return _frame(_name(first), parquet_files_of(source, options), "scan_parquet")

    return owned("scan_parquet", made)


@checked
def scan_csv(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], **options: Any) -> LazyFrame:
    """A frame over CSV files of the same columns: a path, a pattern or a list of these.

    options: those of DuckDB's `read_csv`: delim, header, quote, nullstr, skip, all_varchar, columns, types,
    compression, dateformat, ignore_errors, null_padding, sample_size and so on. What is not given is found
    out from the first rows, as DuckDB does.
    Raises InputOutputError if there is no such file.
    """
    first = source if isinstance(source, (str, os.PathLike)) else next(iter(source), "")
    return owned("scan_csv", lambda: _frame(_name(first), files_of(source, options), "scan_csv"))


@checked
def scan_ipc(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> LazyFrame:
    """A frame over Arrow files (IPC, Feather version 2) of the same columns: a path, a pattern or a list.

    The files are mapped, so their bytes are the system's and count for no limit; compressed ones are
    decompressed into memory. Raises InputOutputError if there is no such file.
    """
    return owned("scan_ipc", lambda: _frame("table", _read(source, read_ipc), "scan_ipc"))


@checked
def scan_ndjson(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> LazyFrame:
    """A frame over files of JSON lines, of the same fields: a path, a pattern or a list of these.

    Arrow's reader finds the types, and reads the files into memory, which counts for no limit. Fields of
    types that cannot be read are left out. Raises InputOutputError if there is no such file.
    """
    return owned("scan_ndjson", lambda: _frame("table", _read(source, read_ndjson), "scan_ndjson"))


def _read(source: Any, read: Callable[[str], pa.Table]) -> pa.Table:
    import pyarrow as pa

    tables = [(path, read(path)) for path in paths_of(source)]
    first, schema = tables[0][0], tables[0][1].schema
    for path, table in tables:
        if table.schema.names != schema.names:
            raise UserError(f"files of one table differ in their columns: {first}, {path}")
    try:
        return pa.concat_tables([table for _, table in tables], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise UserError(f"files of one table differ in their types: {first}: {error}") from None


@checked
def from_arrow(data: Any) -> LazyFrame:
    """A frame over an Arrow table, or what gives one, such as a data frame of Polars or pandas."""
    import pyarrow as pa

    if not hasattr(data, "__arrow_c_stream__"):
        raise UserError(f"from_arrow takes an Arrow table, got {type(data).__name__}")
    # What cannot change is read once, however often the frame is collected.
    table = data if isinstance(data, (pa.Table, pa.RecordBatch)) else pa.table(data)
    return owned("from_arrow", lambda: _frame("table", table, "from_arrow"))


def from_dataset(data: Dataset) -> LazyFrame:
    """A frame over rows that lie on the ranks."""
    return owned("lazy", lambda: _frame("dataset", data, "lazy"))


def _name(source: str | os.PathLike[str]) -> str:
    return Path(place_of(os.fspath(source))).stem


def _place(columns: Mapping[str, Column]) -> list[Key]:
    """Where a row stands in its table: a hidden column; nothing if a column is called as SQL calls it."""
    name = "~row"
    while name in columns:
        name += "~"
    return [] if "rowid" in map(str.lower, columns) else [Key(quoted(name))]


def _narrow(table: Table) -> dict[str, pa.DataType]:
    """The columns of integers that SQL's tables hold as other ones."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([])
    if isinstance(table, ArrowTable) and isinstance(table.data, (pa.Table, pa.RecordBatch)):
        schema = table.data.schema
    elif isinstance(table, FileTable) and table.is_parquet:
        schema = parquet.read_schema(opened(table.paths[0]))
    return {each.name: _declared(each.type) for each in schema if _is_narrow(each.type)}


def _is_narrow(dtype: pa.DataType) -> bool:
    if is_list(dtype):
        return _is_narrow(dtype.value_type)
    return is_integer(dtype) and str(dtype) not in ("int32", "int64")


def _declared(dtype: pa.DataType) -> pa.DataType:
    """A type of integers, or lists or arrays, as frames have it."""
    import pyarrow as pa

    return pa.list_(_declared(dtype.value_type)) if is_list(dtype) or is_array(dtype) else dtype


def _frame(name: str, data: Any, operation: str) -> LazyFrame:
    (table,) = resolve({name: data}).values()
    one = table.first if isinstance(table, FileTable) and table.is_partitioned else table
    schema = schema_of(name, json.loads(statistics_of(one)))
    for column in schema.columns:
        if column.stored:
            raise UnsupportedError(
                f"frames read no column by a cast to {column.type}, SQL does: {column.name} in {operation}"
            )
    columns = {
        each.name: Column(quoted(each.name), arrow_type(each.type))
        for each in schema.columns
        if not each.unsupported
    }
    # Narrow integers and those without sign are read as wider ones.
    declared = {name: dtype for name, dtype in _narrow(table).items() if name in columns}
    # Arrays are lists, as all functions of frames take them.
    declared |= {name: _declared(each.type) for name, each in columns.items() if is_array(each.type)}
    # UUIDs are texts, as in results.
    declared |= {each.name: columns[each.name].type for each in schema.columns if _UUIDS.fullmatch(each.type)}
    texts = [
        f"cast({each.sql} as {sql_type(declared[name])}) as {each.sql}" if name in declared else each.sql
        for name, each in columns.items()
    ]
    columns |= {name: Column(columns[name].sql, dtype) for name, dtype in declared.items()}
    order = _place(columns)
    shown = ", ".join([*texts, *(f"rowid as {key.sql}" for key in order)])
    owner = f"{operation}, {user_line()}"
    node = Source(lambda table: f"select {shown} from {table}", (), owner, name or "table", data)
    return LazyFrame(node, columns, order)
