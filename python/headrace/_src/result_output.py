"""Where the command line puts a result: text on standard output, or a file by its suffix."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._src.counted import counted
from headrace._src.errors import InputOutputError, UserError, reason

if TYPE_CHECKING:
    import pyarrow as pa

#: Of a query's rows on standard output.
SHOWN_ROWS = 40


def print_rows(table: pa.Table, rows: int = SHOWN_ROWS) -> None:
    """The first rows as aligned text."""
    names = table.column_names
    columns = [[_cell(value) for value in column.to_pylist()] for column in table.slice(0, rows).columns]
    widths = [max(map(len, [name, *cells])) for name, cells in zip(names, columns, strict=True)]
    lines = [names, ["-" * width for width in widths], *zip(*columns, strict=True)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    if table.num_rows > rows:
        print(f"… {counted(table.num_rows - rows, 'more row')} (use --output FILE)")


def _cell(value: object) -> str:
    return "NULL" if value is None else str(value)


class ResultFile:
    """A file for a result, or a folder of files by the values of columns.

    Nothing is left behind if writing fails.

    Made before the query runs: raises at once for a format, an option or a folder that cannot be written.
    """

    def __init__(self, path: str, format: str = "", **options: Any) -> None:
        """format: a suffix; default: that of the path.

        options: `partition_by`, a column or several, for a folder a=1/b=x/…; of Parquet `compression` and
            `row_group_size`, of CSV `header` and `delim`.
        """
        self._path = Path(path).expanduser()
        self._partition_by = options.pop("partition_by", ())
        if isinstance(self._partition_by, str):
            self._partition_by = [self._partition_by]
        self._format = format or self._path.suffix
        if self._format not in _WRITERS:
            formats = ", ".join(_WRITERS)
            raise UserError(f"the output must end in one of {formats}, got {path}")
        known = _OPTIONS[self._format]
        for name in options:
            if name not in known:
                names = ", ".join((*known, "partition_by"))
                raise UserError(f"no such option of {self._format} files: {name}; there are {names}")
        self._options = options
        if self._partition_by and self._path.exists():
            raise UserError(f"the folder of the output is there already, remove it first: {path}")
        if not os.access(self._path.parent, os.W_OK):
            raise InputOutputError(f"cannot write into the folder of the output: {path}")

    def write(self, batches: pa.RecordBatchReader) -> int:
        """Writes one batch after the other; the number of rows."""
        temporary = f"{self._path}.{os.getpid()}.tmp"
        rows = 0

        def counted_rows() -> Iterator[pa.RecordBatch]:
            nonlocal rows
            for batch in batches:
                rows += batch.num_rows
                yield batch

        try:
            if self._partition_by:
                self._write_folder(temporary, batches.schema, counted_rows())
            else:
                with _WRITERS[self._format](temporary, batches.schema, **self._options) as writer:
                    for batch in counted_rows():
                        writer.write_batch(batch)
            os.replace(temporary, self._path)
        except OSError as error:
            raise InputOutputError(f"cannot write the result: {self._path}: {reason(error)}") from None
        finally:
            if os.path.isdir(temporary):
                shutil.rmtree(temporary)
            elif os.path.exists(temporary):
                os.remove(temporary)
        return rows

    def _write_folder(self, folder: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        import pyarrow as pa
        import pyarrow.dataset as dataset

        for name in self._partition_by:
            if name not in schema.names:
                raise UserError(f"partition_by: the result has no column: {name}")
        if len(self._partition_by) == len(schema.names):
            raise UserError("partition_by: no column is left for the files")
        if self._options:
            raise UserError(f"partition_by goes with no other option, got: {next(iter(self._options))}")
        keys = pa.schema([schema.field(name) for name in self._partition_by])
        os.mkdir(folder)
        dataset.write_dataset(
            batches,
            folder,
            schema=schema,
            format=self._format[1:],
            partitioning=dataset.partitioning(keys, flavor="hive"),
        )


def _parquet(path: str, schema: pa.Schema, compression: str = "snappy", row_group_size: int = 1 << 20) -> Any:
    import pyarrow.parquet as parquet

    if compression not in _COMPRESSIONS:
        raise UserError(f"compression is one of {', '.join(_COMPRESSIONS)}, got {compression}")
    return _ParquetWriter(parquet.ParquetWriter(path, schema, compression=compression), int(row_group_size))


_COMPRESSIONS = ("snappy", "zstd", "lz4", "gzip", "none")


class _ParquetWriter:
    """Row groups of so many rows."""

    def __init__(self, writer: Any, rows: int) -> None:
        self._writer, self._rows = writer, rows

    def __enter__(self) -> _ParquetWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def write_batch(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch, row_group_size=self._rows)


def _arrow(path: str, schema: pa.Schema) -> Any:
    import pyarrow as pa

    return pa.ipc.new_file(path, schema)


def _csv(path: str, schema: pa.Schema, header: bool = True, delim: str = ",") -> Any:
    import pyarrow.csv as csv

    if len(str(delim)) != 1:
        raise UserError(f"delim is one character, got {delim!r}")
    options = csv.WriteOptions(include_header=bool(header), delimiter=delim)
    return csv.CSVWriter(path, schema, write_options=options)


# suffix -> what makes a writer of batches, and its options
_WRITERS: dict[str, Callable[..., Any]] = {".parquet": _parquet, ".arrow": _arrow, ".csv": _csv}
_OPTIONS = {".parquet": ("compression", "row_group_size"), ".arrow": (), ".csv": ("header", "delim")}
