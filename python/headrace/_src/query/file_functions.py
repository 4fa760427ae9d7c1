"""Functions of DuckDB that say something of files (`glob`, `parquet_metadata` …), which it runs itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headrace._src.errors import UnsupportedError, UserError
from headrace._src.query.csv_files import constant, first_line
from headrace._src.query.json_files import WITHOUT_BAR, kept_rows
from headrace._src.query.store_files import is_store, shown

if TYPE_CHECKING:
    import pyarrow as pa

FUNCTIONS = (
    "glob",
    "parquet_bloom_probe",
    "parquet_file_metadata",
    "parquet_full_metadata",
    "parquet_kv_metadata",
    "parquet_metadata",
    "parquet_schema",
    "read_blob",
    "read_text",
    "sniff_csv",
)


def rows_of_function(function: str, arguments: Sequence[Any], options: Mapping[str, Any]) -> pa.Table:
    """The rows of a call, whose first argument is a path, a pattern or a list of these.

    Raises UserError for what DuckDB cannot read.
    """
    import duckdb

    paths = [arguments[0]] if isinstance(arguments[0], str) else arguments[0]
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise UserError(f"{function} takes a path, a pattern or a list of these")
    for path in paths:
        if is_store(path):
            raise UnsupportedError(f"{function} of files in a store: {shown(path)}")
    given = [constant(value) for value in arguments]
    given += [f"{name} = {constant(value)}" for name, value in options.items()]
    with duckdb.connect() as connection:
        connection.execute(WITHOUT_BAR)
        try:
            rows = connection.sql(f"from {function}({', '.join(given)})")
            return kept_rows(rows, paths[0] if paths else function)
        except duckdb.Error as error:
            raise UserError(f"{function}: {first_line(error)}") from None
