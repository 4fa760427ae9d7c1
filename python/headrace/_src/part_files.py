"""A folder of files for a result: all ranks write at once, each its own rows; it is whole or not there."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from headrace._src.arguments import shown
from headrace._src.errors import CancelledError, InputOutputError, UnsupportedError, UserError, reason
from headrace._src.partitions import Partitions
from headrace._src.query.store_files import is_store
from headrace._src.result_output import (
    CountedRows,
    Form,
    ResultFile,
    write_file,
)
from headrace._src.store_parts import StoreFolder, address_in, uploaded

if TYPE_CHECKING:
    import pyarrow as pa

#: A rank's threads write a file each where it has so many rows for each of them.
_ROWS_OF_A_THREAD = 1 << 17

Made = TypeVar("Made")
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
    """What each rank is told."""

    #: The folder, by its name in the end: a path or an address.
    path: str
    #: For messages.
    shown: str
    format: str
    options: dict[str, Any] = field(default_factory=dict)
    partition_by: Sequence[str] = ()
    #: Of one attempt to write it, digits that no other has.
    attempt: str = ""

    @property
    def folder(self) -> str:
        """What all ranks write into before it has its name."""
        return f"{self.path}.{self.attempt}.tmp"


class ResultFolder:
    """Files part-00000-00000 and so on, by rank and thread: their names have the order of the rows.

    With `partition_by` files of these names in folders by the values of columns.
    """

    def __init__(self, path: str, form: Form, partition_by: Sequence[str], overwrite: bool) -> None:
        if partition_by and form.format == ".json":
            raise UnsupportedError("partition_by is for Parquet, CSV and Arrow files, got json")
        self._place = StoreFolder(path, overwrite) if is_store(path) else LocalFolder(path, overwrite)
        whole = path if is_store(path) else str(_whole(path))
        self._form = form
        self._sink = _Sink(whole, form.shown, form.format, form.options, partition_by)
        self._stop: Stop = None

    def within(self, memory: int | str | None, threads: int | None) -> None:
        """Says before the rest what the query may use on all ranks of a process: options of its run."""
        self._form.within(memory, threads or len(os.sched_getaffinity(0)))

    def begin(self, stop: Stop = None) -> str:
        """Of whoever leads the ranks, before a run: what they are told. Of the run before nothing stays.

        stop: raises once writing has to stop.
        """
        self.abandon()
        self._stop = stop
        self._sink = replace(self._sink, attempt=secrets.token_hex(8))
        with _told(self._sink):
            self._place.begin(self._sink)
        return json.dumps(asdict(self._sink))

    def abandon(self) -> None:
        """Nothing stays of what has not got its name."""
        self._place.abandon(self._sink)

    @property
    def format(self) -> str:
        return self._sink.format

    @property
    def partition_by(self) -> Sequence[str]:
        """The columns by whose values there are folders."""
        return self._sink.partition_by

    def finish(self, result: Any) -> int:
        """Once all parts are written, by ranks elsewhere or now by those of this process: their rows."""
        reports = [json.loads(told) for told in result.written or self._written_here(result.rows)]
        counts = [report["rows"] for report in reports]
        for_types = counts[0] == 0 < sum(counts)
        with _told(self._sink):
            self._place.complete(
                self._sink,
                [upload for report in reports for upload in report["uploads"]],
                f"{_name(0, 0)}{self._sink.format}" if for_types else "",  # which others have
            )
        return sum(counts)

    def _written_here(self, parts: Sequence[Any]) -> list[str]:
        told = json.dumps(asdict(self._sink))
        return _all_of(lambda rank, halt: write_part(told, rank, parts[rank], halt), len(parts), self._stop)


class LocalFolder:
    """Of whoever leads the ranks: a folder of paths, which has another name until all of it is there."""

    def __init__(self, path: str, overwrite: bool) -> None:
        self._path, self._overwrite = _whole(path), overwrite
        if self._path.exists() and not (overwrite and self._path.is_dir()):
            raise UserError(
                f"the folder of the output is there already, remove it first, or say overwrite: {path}"
            )
        if not os.access(self._path.parent, os.W_OK):
            raise InputOutputError(f"cannot write into the folder of the output: {path}")

    def begin(self, sink: _Sink) -> None:
        os.mkdir(sink.folder)

    def abandon(self, sink: _Sink) -> None:
        if sink.attempt:
            shutil.rmtree(sink.folder, ignore_errors=True)

    def complete(self, sink: _Sink, _uploads: Sequence[Sequence[str]], unneeded: str) -> None:
        """unneeded: a file that is left out; or empty."""
        old = f"{sink.folder}.old"
        if unneeded:
            Path(sink.folder, unneeded).unlink(missing_ok=True)
        if self._overwrite and self._path.exists():
            os.rename(self._path, old)
        try:
            os.rename(sink.folder, self._path)
        except OSError:
            if os.path.exists(old):
                os.rename(old, self._path)
            raise
        shutil.rmtree(old, ignore_errors=True)


def _whole(path: str) -> Path:
    return Path(path).expanduser().absolute()


def _name(rank: int, file: int) -> str:
    return f"part-{rank:05}-{file:05}"


@contextmanager
def _told(sink: _Sink) -> Iterator[None]:
    """What the system refuses is an error about the folder."""
    try:
        yield
    except OSError as error:
        raise InputOutputError(f"cannot write the result: {sink.shown}: {reason(error)}") from None


def write_part(sink: str, rank: int, rows: Any, stop: Stop) -> str:
    """Writes what a rank has of a result, as its `ResultFolder` said; a report, which that understands.

    rows: as the runtime's Rows. The runtime calls it in the process of each rank.
    """
    told = _Sink(**json.loads(sink))
    if not is_store(told.path) and not os.path.isdir(told.folder):
        raise InputOutputError(f"rank {rank} does not see the folder that all ranks write into: {told.shown}")
    if rows.count == 0 and rank > 0:  # rank 0 has a file, for the types if nobody has rows
        return json.dumps({"rows": 0, "uploads": []})
    files = max(1, min(rows.threads, rows.count // _ROWS_OF_A_THREAD, rows.chunks))
    bounds = [rows.chunks * each // files for each in range(files + 1)]
    uploads: list[tuple[str, str]] = []

    def write(file: int, halt: Callable[[], None]) -> int:
        import pyarrow as pa

        batches = pa.RecordBatchReader.from_stream(rows.slice(bounds[file], bounds[file + 1]))
        counted = CountedRows(_until(batches, halt))
        with _told(told):
            if is_store(told.path):
                uploads.extend(_uploaded(told, _name(rank, file), batches.schema, iter(counted)))
            else:
                _write_files(told, told.folder, _name(rank, file), batches.schema, iter(counted))
        return counted.count

    counts = _all_of(write, files, stop)
    return json.dumps({"rows": sum(counts), "uploads": uploads})


def _write_files(
    sink: _Sink, folder: str, name: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch]
) -> None:
    if sink.partition_by:
        _write_partitions(sink, folder, name, schema, batches)
    else:
        _write_file(sink, os.path.join(folder, name), schema, batches)


def _write_file(sink: _Sink, path: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    """path: without its suffix."""
    options = {**sink.options, **({"threads": 1} if sink.format in (".csv", ".parquet") else {})}
    write_file(path + sink.format, sink.shown, sink.format, schema, batches, options)


def _uploaded(
    sink: _Sink, name: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch]
) -> list[tuple[str, str]]:
    """The same into a store, by way of files of this machine."""
    with tempfile.TemporaryDirectory() as folder:
        _write_files(sink, folder, name, schema, batches)
        made = sorted(each for each in Path(folder).rglob("*") if each.is_file())
        return [
            uploaded(sink.attempt, address_in(sink.path, each.relative_to(folder).as_posix()), each)
            for each in made
        ]


def _all_of(write: Callable[[int, Callable[[], None]], Made], count: int, stop: Stop) -> list[Made]:
    """What `write` gives for each number, on as many threads; once one has failed the others stop."""
    failures: list[BaseException] = []  # the first is the reason

    def halt() -> None:
        if failures:
            raise CancelledError("another part of the result was not written")
        if stop:
            stop()

    def one(number: int) -> Made:
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


def _write_partitions(
    sink: _Sink, folder: str, name: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch]
) -> None:
    """Rows come with equal keys one after another, as a rule: a folder has one file of a thread."""
    partitions = Partitions(schema, sink.partition_by)
    files: Counter[str] = Counter()
    for place, parts in groupby(partitions.of(batches), lambda part: part[0]):
        os.makedirs(os.path.join(folder, place), exist_ok=True)
        file = f"{place}/{name}-{files[place]}"
        files[place] += 1
        _write_file(sink, os.path.join(folder, file), partitions.schema, (rows for _, rows in parts))
