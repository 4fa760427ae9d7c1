"""A folder of files for a result: all ranks write at once, each its own rows; it is whole or not there."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._src.arguments import shown
from headrace._src.errors import CancelledError, InputOutputError, UnsupportedError, UserError, reason
from headrace._src.query.store_files import is_store
from headrace._src.result_output import CountedRows, Form, ResultFile, write_file

if TYPE_CHECKING:
    import pyarrow as pa

#: A rank's threads write a file each where it has so many rows for each of them.
_ROWS_OF_A_THREAD = 1 << 17

Stop = Callable[[], None] | None


def output_of(path: str, format: str = "", **options: Any) -> ResultFile | ResultFolder:
    """Where a result goes. Made before the query runs: raises at once for what cannot be written.

    format: a suffix; default: that of the path.
    options: `per_thread_output`, for a folder of a file for each thread, or `partition_by`, a column or
        several, for a folder a=1/b=x/…; of a folder `overwrite`; those of the files, see `Form`.
    """
    keys = options.pop("partition_by", ())
    keys = [keys] if isinstance(keys, str) else keys
    if not isinstance(keys, (list, tuple)):
        raise UserError(f"partition_by is a column or several, got {shown(keys)}")
    truths = {name: options.pop(name, False) for name in ("per_thread_output", "overwrite")}
    for name, value in truths.items():
        if not isinstance(value, bool):
            raise UserError(f"{name} is true or false, got {shown(value)}")
    form = Form.of(path, format, options)
    if keys or truths["per_thread_output"]:
        return ResultFolder(path, form, keys, truths["overwrite"])
    if truths["overwrite"]:
        raise UserError("overwrite is for folders: add per_thread_output or partition_by")
    return ResultFile(path, form)


@dataclass(frozen=True)
class _Sink:
    """What each rank is told: the folder that all of them write into before it has its name."""

    folder: str
    #: The folder's name in the end, for messages.
    path: str
    format: str
    options: dict[str, Any] = field(default_factory=dict)
    partition_by: Sequence[str] = ()


class ResultFolder:
    """Files part-00000-00000 and so on, by rank and thread: their names have the order of the rows.

    With `partition_by` files of these names in folders by the values of columns.
    """

    def __init__(self, path: str, form: Form, partition_by: Sequence[str], overwrite: bool) -> None:
        if is_store(path):
            raise UnsupportedError(f"a folder of files is written to a path, not to a store: {form.shown}")
        if partition_by and form.options:
            raise UserError(f"partition_by goes with no other option, got: {next(iter(form.options))}")
        self._path = Path(path).expanduser().absolute()
        self._overwrite = overwrite
        self._sink = _Sink("", str(self._path), form.format, form.options, partition_by)
        if self._path.exists() and not (overwrite and self._path.is_dir()):
            raise UserError(
                f"the folder of the output is there already, remove it first, or say overwrite: {path}"
            )
        if not os.access(self._path.parent, os.W_OK):
            raise InputOutputError(f"cannot write into the folder of the output: {path}")

    def begin(self) -> str:
        """Of whoever leads the ranks, before a run: what they are told. Of the run before nothing stays."""
        self.abandon()
        self._sink = _Sink(**{**asdict(self._sink), "folder": f"{self._path}.{secrets.token_hex(8)}.tmp"})
        try:
            os.mkdir(self._sink.folder)
        except OSError as error:
            raise _failure(self._sink, error) from None
        return json.dumps(asdict(self._sink))

    def abandon(self) -> None:
        """Nothing stays of what has not got its name."""
        if self._sink.folder:
            shutil.rmtree(self._sink.folder, ignore_errors=True)

    def finish(self, result: Any, stop: Stop = None) -> int:
        """Once all parts are written, by ranks elsewhere or now by those of this process: their rows."""
        counts = [int(count) for count in result.written] or self._written_here(result.rows, stop)
        old = f"{self._sink.folder}.old"
        try:
            if counts[0] == 0 < sum(counts):  # the file for the types, which others have
                Path(self._sink.folder, f"{_name(0, 0)}{self._sink.format}").unlink(missing_ok=True)
            if self._overwrite and self._path.exists():
                os.rename(self._path, old)
            try:
                os.rename(self._sink.folder, self._path)
            except OSError:
                if os.path.exists(old):
                    os.rename(old, self._path)
                raise
        except OSError as error:
            raise _failure(self._sink, error) from None
        shutil.rmtree(old, ignore_errors=True)
        return sum(counts)

    def _written_here(self, parts: Sequence[Any], stop: Stop) -> list[int]:
        def write(rank: int, halt: Callable[[], None]) -> int:
            return int(write_part(json.dumps(asdict(self._sink)), rank, parts[rank], halt))

        return _all_of(write, len(parts), stop)


def _name(rank: int, file: int) -> str:
    return f"part-{rank:05}-{file:05}"


def write_part(sink: str, rank: int, rows: Any, stop: Stop) -> str:
    """Writes what a rank has of a result, as its `ResultFolder` said; the number of rows.

    rows: as the runtime's Rows. The runtime calls it in the process of each rank.
    """
    told = _Sink(**json.loads(sink))
    if not os.path.isdir(told.folder):
        raise InputOutputError(f"rank {rank} does not see the folder that all ranks write into: {told.path}")
    if rows.count == 0 and rank > 0:  # rank 0 has a file, for the types if nobody has rows
        return "0"
    files = max(1, min(rows.threads, rows.count // _ROWS_OF_A_THREAD, rows.chunks))
    bounds = [rows.chunks * each // files for each in range(files + 1)]

    def write(file: int, halt: Callable[[], None]) -> int:
        import pyarrow as pa

        batches = pa.RecordBatchReader.from_stream(rows.slice(bounds[file], bounds[file + 1]))
        counted = CountedRows(_until(batches, halt))
        name = _name(rank, file)
        try:
            if told.partition_by:
                _write_partitions(told, name, batches.schema, iter(counted))
            else:
                options = {**told.options, **({"threads": 1} if told.format == ".csv" else {})}
                path = os.path.join(told.folder, name + told.format)
                write_file(path, told.format, batches.schema, iter(counted), options)
        except OSError as error:
            raise _failure(told, error) from None
        return counted.count

    return str(sum(_all_of(write, files, stop)))


def _all_of(write: Callable[[int, Callable[[], None]], int], count: int, stop: Stop) -> list[int]:
    """What `write` gives for each number, on as many threads; once one has failed the others stop."""
    failures: list[BaseException] = []  # the first is the reason

    def halt() -> None:
        if failures:
            raise CancelledError("another part of the result was not written")
        if stop:
            stop()

    def one(number: int) -> int:
        try:
            return write(number, halt)
        except BaseException as error:
            failures.append(_reason(error, stop))
            raise

    with ThreadPoolExecutor(count) as pool:
        asked = [pool.submit(one, number) for number in range(count)]
        try:
            wait(asked)
        except BaseException as error:  # Ctrl-C
            failures.append(error)
    if failures:
        raise failures[0]
    return [each.result() for each in asked]


def _reason(error: BaseException, stop: Stop) -> BaseException:
    """Why writing ended with an error, which may have come through libraries that make it another one."""
    try:
        if stop:
            stop()
    except BaseException as asked:
        return asked
    return error


def _until(batches: pa.RecordBatchReader, halt: Callable[[], None]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        halt()
        yield batch


def _write_partitions(sink: _Sink, name: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    import pyarrow as pa
    import pyarrow.dataset as dataset

    for key in sink.partition_by:
        if key not in schema.names:
            raise UserError(f"partition_by: the result has no column: {key}")
    if len(sink.partition_by) == len(schema.names):
        raise UserError("partition_by: no column is left for the files")
    keys = pa.schema([schema.field(key) for key in sink.partition_by])
    dataset.write_dataset(
        (_with_names_of_folders(batch, sink.partition_by) for batch in batches),
        sink.folder,
        basename_template=f"{name}-{{i}}{sink.format}",
        schema=schema,
        format=sink.format[1:],
        partitioning=dataset.partitioning(keys, flavor="hive"),
        existing_data_behavior="overwrite_or_ignore",  # of other names: those of other parts
    )


def _with_names_of_folders(batch: pa.RecordBatch, keys: Sequence[str]) -> pa.RecordBatch:
    """The batch, if Arrow makes folders of all its keys: it cuts names at the character 0."""
    import pyarrow.compute as compute

    for key in keys:
        column = batch.column(key)
        if str(column.type) == "string" and compute.any(compute.match_substring(column, "\0")).as_py():
            raise UnsupportedError(f"partition_by: the character 0 is in a text of column {key}")
    return batch


def _failure(sink: _Sink, error: OSError) -> InputOutputError:
    return InputOutputError(f"cannot write the result: {sink.path}: {reason(error)}")
