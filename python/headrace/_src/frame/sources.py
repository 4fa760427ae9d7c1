"""Where frames begin: files and tables in memory."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from headrace._src.errors import UserError
from headrace._src.frame.lazy_frame import LazyFrame
from headrace._src.frame.nodes import Source, owned, user_line
from headrace._src.frame.scope import Column, Key
from headrace._src.query.statistics import statistics_of
from headrace._src.query.tables import files_of, resolve
from headrace._src.sql.arrow_types import arrow_type
from headrace._src.sql.tables import quoted, schema_of


def scan_parquet(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> LazyFrame:
    """A frame over Parquet files of the same columns: a path, a pattern or a list of these.

    Columns of types that cannot be read are left out. Raises InputOutputError if there is no such file.
    """
    first = source if isinstance(source, (str, os.PathLike)) else next(iter(source), "")
    return owned("scan_parquet", lambda: _frame(Path(first).stem, source, "scan_parquet"))


def scan_csv(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], **options: Any) -> LazyFrame:
    """A frame over CSV files of the same columns: a path, a pattern or a list of these.

    options: those of DuckDB's `read_csv`: delim, header, quote, nullstr, skip, all_varchar, columns, types,
    sample_size. What is not given is found out from the first rows, as DuckDB does.
    Raises InputOutputError if there is no such file.
    """
    first = source if isinstance(source, (str, os.PathLike)) else next(iter(source), "")
    return owned("scan_csv", lambda: _frame(Path(first).stem, files_of(source, options), "scan_csv"))


def from_arrow(data: Any) -> LazyFrame:
    """A frame over an Arrow table, or what gives one, such as a data frame of Polars or pandas."""
    import pyarrow as pa

    if not hasattr(data, "__arrow_c_stream__"):
        raise UserError(f"from_arrow takes an Arrow table, got {type(data).__name__}")
    # What cannot change is read once, however often the frame is collected.
    table = data if isinstance(data, (pa.Table, pa.RecordBatch)) else pa.table(data)
    return owned("from_arrow", lambda: _frame("table", table, "from_arrow"))


def _place(columns: Mapping[str, Column]) -> list[Key]:
    """Where a row stands in its table: a hidden column; nothing if a column is called as SQL calls it."""
    name = "~row"
    while name in columns:
        name += "~"
    return [] if "rowid" in map(str.lower, columns) else [Key(quoted(name))]


def _frame(name: str, data: Any, operation: str) -> LazyFrame:
    (table,) = resolve({name: data}).values()
    schema = schema_of(name, json.loads(statistics_of(table)))
    columns = {
        each.name: Column(quoted(each.name), arrow_type(each.type))
        for each in schema.columns
        if not each.unsupported
    }
    order = _place(columns)
    shown = ", ".join([*(each.sql for each in columns.values()), *(f"rowid as {key.sql}" for key in order)])
    owner = f"{operation}, {user_line()}"
    node = Source(lambda table: f"select {shown} from {table}", (), owner, name or "table", data)
    return LazyFrame(node, columns, order)
