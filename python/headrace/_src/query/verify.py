"""Compares the statistics in Parquet files with their content, for whoever does not trust the writer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace._src.errors import HeadraceError
from headrace._src.query.store_files import opened, shown
from headrace._src.query.tables import FileTable, Table

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as parquet


def check_statistics(tables: Mapping[str, Table]) -> None:
    """Reads every column that has statistics. HeadraceError of kind corrupt at the first lie."""
    for table in tables.values():
        if isinstance(table, FileTable) and table.is_parquet:  # CSV has no statistics
            for path in table.paths:
                _verify_file(path)


def _verify_file(path: str) -> None:
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(opened(path)) as file:
        names = {file.metadata.schema.column(index).path: index for index in range(file.metadata.num_columns)}
        for group in range(file.num_row_groups):
            described = file.metadata.row_group(group)
            for field in file.schema_arrow:
                # A column of lists or structs has several in the file, and is not read.
                if field.name in names and (said := described.column(names[field.name]).statistics):
                    place = f"{shown(path)}, row group {group}, column {field.name}"
                    column = _column(file, group, field.name, place)
                    if len(column) != described.num_rows:
                        found = f"{described.num_rows} rows promised, found {len(column)}"
                        raise HeadraceError(f"{place}: {found}", "corrupt")
                    if lie := _lie(said, column):
                        raise HeadraceError(f"{place}: statistics that do not hold: {lie}", "corrupt")


def _column(file: parquet.ParquetFile, group: int, name: str, place: str) -> pa.ChunkedArray:
    import pyarrow as pa

    try:
        column = file.read_row_group(group, columns=[name]).column(0)
        return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    except (OSError, pa.ArrowException) as error:
        raise HeadraceError(f"{place}: cannot be read: {error}", "corrupt") from None


def _lie(said: parquet.Statistics, column: pa.ChunkedArray) -> str:
    """What the statistics say that is not so; empty: nothing."""
    import pyarrow as pa
    import pyarrow.compute as compute

    if said.has_null_count and said.null_count != column.null_count:
        return f"{said.null_count} NULLs, found {column.null_count}"
    if not said.has_min_max or column.null_count == len(column):
        return ""
    # Python has no nanoseconds.
    is_fine = str(column.type).startswith(("timestamp[ns", "time64[ns"))
    bounds = (said.min_raw, said.max_raw) if is_fine else (said.min, said.max)
    # Texts and decimals may be cut or stored as bytes: compared as pyarrow gives them.
    extremes: Any = compute.min_max(column.cast(pa.int64()) if is_fine else column).as_py()
    least, most = extremes["min"], extremes["max"]
    try:
        outside = least < bounds[0] or most > bounds[1]
    except TypeError:
        return ""
    return f"values in [{bounds[0]}, {bounds[1]}], found [{least}, {most}]" if outside else ""
