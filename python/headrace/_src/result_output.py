"""Where a result goes: text on standard output, or a file by its suffix, here or in a store."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._src.arguments import shown
from headrace._src.counted import counted
from headrace._src.errors import (
    HeadraceError,
    InputOutputError,
    UnsupportedError,
    UserError,
    reason,
    translated,
)
from headrace._src.query.store_files import StoreWriter, is_store, place_of
from headrace._src.query.store_files import shown as shown_path
from headrace._src.sql.literals import literal, value_text

if TYPE_CHECKING:
    import pyarrow as pa

#: Of a query's rows on standard output.
SHOWN_ROWS = 40


def print_rows(table: pa.Table, rows: int = SHOWN_ROWS) -> None:
    """The first rows as aligned text."""
    names = table.column_names
    columns = [[value_text(value) for value in column.to_pylist()] for column in table.slice(0, rows).columns]
    widths = [max(map(len, [name, *cells])) for name, cells in zip(names, columns, strict=True)]
    lines = [names, ["-" * width for width in widths], *zip(*columns, strict=True)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    if table.num_rows > rows:
        print(f"… {counted(table.num_rows - rows, 'more row')} (use --output FILE)")


class _CountedRows:
    """Batches as they come, and how many rows have come with them."""

    def __init__(self, batches: pa.RecordBatchReader) -> None:
        self._batches = batches
        self.count = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self._batches:
            self.count += batch.num_rows
            yield batch


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
        self._upload = translated(lambda: StoreWriter(path)) if is_store(path) else None
        self._shown = shown_path(path)
        self._partition_by = options.pop("partition_by", ())
        if isinstance(self._partition_by, str):
            self._partition_by = [self._partition_by]
        if not isinstance(self._partition_by, (list, tuple)):
            raise UserError(f"partition_by is a column or several, got {shown(self._partition_by)}")
        self._format = format or Path(place_of(path)).suffix
        if self._format not in _WRITERS:
            formats = ", ".join(_WRITERS)
            raise UserError(f"the output must end in one of {formats}, got {self._shown}")
        known = _OPTIONS[self._format]
        for name, value in options.items():
            if name not in known:
                names = ", ".join((*known, "partition_by"))
                raise UserError(f"no such option of {self._format} files: {name}; there are {names}")
            is_one, what = known[name]
            if not is_one(value):
                raise UserError(f"{name} is {what}, got {shown(value)}")
        self._options = options
        if self._upload:
            if self._partition_by:
                raise UnsupportedError(f"partition_by makes folders of this machine alone: {self._shown}")
            return
        if self._partition_by and self._path.exists():
            raise UserError(f"the folder of the output is there already, remove it first: {path}")
        if not os.access(self._path.parent, os.W_OK):
            raise InputOutputError(f"cannot write into the folder of the output: {path}")

    def write(self, batches: pa.RecordBatchReader) -> int:
        """Writes one batch after the other; the number of rows."""
        if self._upload:
            return self._uploaded(self._upload, batches)
        temporary = f"{self._path}.{os.getpid()}.tmp"
        rows = _CountedRows(batches)
        try:
            if self._partition_by:
                self._write_folder(temporary, batches.schema, iter(rows))
            else:
                _WRITERS[self._format](temporary, batches.schema, iter(rows), **self._options)
            os.replace(temporary, self._path)
        except OSError as error:
            raise InputOutputError(f"cannot write the result: {self._path}: {reason(error)}") from None
        finally:
            if os.path.isdir(temporary):
                shutil.rmtree(temporary)
            elif os.path.exists(temporary):
                os.remove(temporary)
        return rows.count

    def _uploaded(self, upload: StoreWriter, batches: pa.RecordBatchReader) -> int:
        """The same into a store, where the file is there when all of it has arrived."""
        rows = _CountedRows(batches)
        try:
            if self._format == ".csv":  # which is written by several threads, each at its place
                with tempfile.NamedTemporaryFile(suffix=".csv") as file:
                    _csv(file.name, batches.schema, iter(rows), **self._options)
                    shutil.copyfileobj(file, upload, 8 << 20)
            else:
                _WRITERS[self._format](upload, batches.schema, iter(rows), **self._options)
            translated(upload.finish)
        except OSError as error:
            raise InputOutputError(f"cannot write the result: {self._shown}: {reason(error)}") from None
        finally:
            upload.abort()
        return rows.count

    def _write_folder(self, folder: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        import pyarrow as pa
        import pyarrow.dataset as dataset

        for name in self._partition_by:
            if name not in schema.names:
                raise UserError(f"partition_by: the result has no column: {name}")
        if len(self._partition_by) == len(schema.names):
            raise UserError("partition_by: no column is left for the files")
        for field in schema:
            if _has_intervals(field.type):
                raise UnsupportedError(f"partition_by: unsupported type of a column: INTERVAL, {field.name}")
        if self._options:
            raise UserError(f"partition_by goes with no other option, got: {next(iter(self._options))}")
        keys = pa.schema([schema.field(name) for name in self._partition_by])
        os.mkdir(folder)
        dataset.write_dataset(
            map(self._with_names_of_folders, batches),
            folder,
            schema=schema,
            format=self._format[1:],
            partitioning=dataset.partitioning(keys, flavor="hive"),
        )

    def _with_names_of_folders(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch, if Arrow makes folders of all its keys: it cuts names at the character 0."""
        import pyarrow.compute as compute

        for name in self._partition_by:
            column = batch.column(name)
            if str(column.type) == "string" and compute.any(compute.match_substring(column, "\0")).as_py():
                raise UnsupportedError(f"partition_by: the character 0 is in a text of column {name}")
        return batch


def _has_intervals(kind: pa.DataType) -> bool:
    parts = [kind.field(part).type for part in range(kind.num_fields)]
    return str(kind) == "month_day_nano_interval" or any(map(_has_intervals, parts))


def _parquet(
    path: Any,
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    compression: str = "snappy",
    row_group_size: int = 1 << 20,
) -> None:
    import pyarrow.parquet as parquet

    codec = _CODECS[compression.lower()]
    if any(_has_intervals(field.type) for field in schema):  # which Arrow does not write
        _parquet_of_intervals(path, schema, batches, codec, row_group_size)
        return
    with parquet.ParquetWriter(path, schema, compression=codec) as writer:
        for batch in batches:
            writer.write_batch(batch, row_group_size=row_group_size)


def _parquet_of_intervals(
    path: Any, schema: pa.Schema, batches: Iterator[pa.RecordBatch], codec: str, row_group_size: int
) -> None:
    import duckdb
    import pyarrow as pa

    with tempfile.TemporaryDirectory(dir=Path(path).parent if isinstance(path, str) else None) as folder:
        file = Path(folder) / "rows.parquet"
        compression = "uncompressed" if codec == "none" else codec
        options = f"format parquet, compression {compression}, row_group_size {row_group_size}"
        with duckdb.connect() as connection:
            connection.register("rows", pa.RecordBatchReader.from_batches(schema, batches))
            try:
                connection.execute(f"copy (from rows) to {literal(str(file))} ({options})")
            except duckdb.Error as error:
                raise HeadraceError(f"cannot write Parquet: {reason(error)}", "data") from None
        if isinstance(path, str):
            os.replace(file, path)
            return
        with file.open("rb") as rows:
            shutil.copyfileobj(rows, path, 8 << 20)


def _arrow(path: Any, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    import pyarrow as pa

    with pa.ipc.new_file(path, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _csv(
    path: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch], header: bool = True, delim: str = ","
) -> None:
    import pyarrow as pa

    from headrace import _runtime

    reader = pa.RecordBatchReader.from_batches(schema, batches)
    threads = len(os.sched_getaffinity(0))
    translated(lambda: _runtime.write_csv(reader, path, delim, header, threads))


#: Compressions of Parquet by their name in Arrow.
_CODECS = {**{name: name for name in ("snappy", "zstd", "lz4", "gzip", "none")}, "uncompressed": "none"}


def _is_codec(value: Any) -> bool:
    return isinstance(value, str) and value.lower() in _CODECS


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def _is_ascii(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 1 and (" " <= value <= "~" or value == "\t")


# suffix -> what writes batches, and its options: whether a value is one, and how a message says what is.
_WRITERS: dict[str, Callable[..., None]] = {".parquet": _parquet, ".arrow": _arrow, ".csv": _csv}
_OPTIONS: dict[str, dict[str, tuple[Callable[[Any], bool], str]]] = {
    ".parquet": {
        "compression": (_is_codec, f"one of {', '.join(_CODECS)}"),
        "row_group_size": (_is_count, "a number of rows"),
    },
    ".arrow": {},
    ".csv": {"header": (_is_truth, "true or false"), "delim": (_is_ascii, "one character of ASCII")},
}
