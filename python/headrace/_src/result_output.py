"""Where a result goes: text on standard output, or a file by its suffix, here or in a store."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._src.arguments import shown
from headrace._src.counted import counted
from headrace._src.errors import (
    InputOutputError,
    UserError,
    reason,
    translated,
)
from headrace._src.query.field_ids import are_field_ids, with_field_ids
from headrace._src.query.store_files import StoreWriter, is_store, place_of
from headrace._src.query.store_files import shown as shown_path
from headrace._src.sql.literals import value_text

if TYPE_CHECKING:
    import pyarrow as pa

#: Of a query's rows on standard output.
SHOWN_ROWS = 40

#: What the pages of a row group of Parquet take at most; its writer keeps them until the group ends.
ROW_GROUP_BYTES = 64 << 20
#: And of the memory a sixteenth.
_SHARE_OF_ROW_GROUPS = 16


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


class CountedRows:
    """Batches as they come, and how many rows have come with them."""

    def __init__(self, batches: Iterable[pa.RecordBatch]) -> None:
        self._batches = batches
        self.count = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self._batches:
            self.count += batch.num_rows
            yield batch


@dataclass(frozen=True)
class Form:
    """How files are written: a format, by its suffix, and its options.

    Of Parquet `compression`, `compression_level`, `row_group_size`, `row_group_size_bytes` and
    `field_ids`, of CSV `header`, `delim`,
    `quote`, `escape`, `nullstr`, `force_quote` and `compression`, of JSON `array` and `compression`.
    """

    format: str
    options: dict[str, Any]
    #: The path, for messages.
    shown: str

    @staticmethod
    def of(path: str, format: str = "", options: Mapping[str, Any] | None = None) -> Form:
        """format: default: the suffix of the path. Raises UserError for what is none."""
        if format and format not in _WRITERS:
            names = ", ".join(each[1:] for each in _WRITERS)
            raise UserError(f"a format of files is one of {names}, got {format[1:]}")
        options = dict(options or {})
        place = Path(place_of(path))
        if packed := _PACKED.get(place.suffix.lower()):
            options.setdefault("compression", packed)
            place = place.with_suffix("")
        format = format or place.suffix
        format = _LINES.get(format, format)
        if format not in _WRITERS:
            formats = ", ".join(_WRITERS)
            raise UserError(f"the output must end in one of {formats}, got {shown_path(path)}")
        known = _OPTIONS[format]
        for name, value in list(options.items()):
            if name not in known:
                names = ", ".join((*known, *_OF_FOLDERS))
                raise UserError(f"no such option of {format} files: {name}; there are {names}")
            is_one, what = known[name]
            if is_one is _is_truth:
                value = options[name] = _TRUTHS.get(str(value).lower(), value)
            if not is_one(value):
                raise UserError(f"{name} is {what}, got {shown(value)}")
        if options.get("delim") == "\\t":
            options["delim"] = "\t"
        return Form(format, options, shown_path(path))

    def within(self, memory: int | str | None, writers: int) -> None:
        """Makes the row groups of Parquet, whose pages wait for their ends, small beside the memory."""
        from headrace._src.programs import memory_of

        if self.format == ".parquet":
            share = memory_of(memory) // (_SHARE_OF_ROW_GROUPS * writers)
            self.options.setdefault("row_group_size_bytes", min(max(share, 1 << 20), ROW_GROUP_BYTES))


class ResultFile:
    """A file for a result. Nothing is left behind if writing fails.

    Made before the query runs: raises at once for a folder that cannot be written.
    """

    def __init__(self, path: str, form: Form | None = None) -> None:
        self._form = form or Form.of(path)
        # What a link leads to is written, and the link stays.
        self._path = Path(os.path.realpath(Path(path).expanduser()))
        self._upload = translated(lambda: StoreWriter(path)) if is_store(path) else None
        self._shown = self._form.shown if self._upload else str(self._path)
        self._is_device = os.path.exists(self._path) and not self._path.is_file() and not self._path.is_dir()
        self._temporary = f"{self._path}.{os.getpid()}.tmp"
        if not self._upload and not self._is_device:
            self._check_writable()

    @property
    def format(self) -> str:
        return self._form.format

    def within(self, memory: int | str | None, _threads: int | None) -> None:
        """Says before the rest how much the query may use: the option `memory` of its run."""
        self._form.within(memory, 1)

    def write(self, batches: pa.RecordBatchReader) -> int:
        """Writes one batch after the other; the number of rows."""
        if self._upload:
            return self._uploaded(self._upload, batches)
        if self._is_device:
            return self._copied(batches)
        rows = CountedRows(batches)
        try:
            self._write(self._temporary, batches.schema, rows)
            os.replace(self._temporary, self._path)
        except OSError as error:
            raise InputOutputError(f"cannot write the result: {self._shown}: {reason(error)}") from None
        finally:
            if os.path.exists(self._temporary):
                os.remove(self._temporary)
        return rows.count

    def _check_writable(self) -> None:
        if os.path.isdir(self._path):
            raise InputOutputError(f"the output is a folder: {self._shown}")
        try:
            open(self._temporary, "wb").close()
            os.remove(self._temporary)
        except OSError as error:
            message = f"cannot write into the folder of the output: {self._shown}: {reason(error)}"
            raise InputOutputError(message) from None

    def _copied(self, batches: pa.RecordBatchReader) -> int:
        """Into a pipe or a device, such as /dev/stdout, which stays what it is."""
        rows = CountedRows(batches)
        try:
            with tempfile.NamedTemporaryFile() as file, open(self._path, "wb") as target:
                self._write(file.name, batches.schema, rows)
                shutil.copyfileobj(file, target, 8 << 20)
        except OSError as error:
            raise InputOutputError(f"cannot write the result: {self._shown}: {reason(error)}") from None
        return rows.count

    def _uploaded(self, upload: StoreWriter, batches: pa.RecordBatchReader) -> int:
        """The same into a store, where the file is there when all of it has arrived."""
        rows = CountedRows(batches)
        try:
            if self._form.format == ".csv":  # whose writer takes a path
                with tempfile.NamedTemporaryFile(suffix=".csv") as file:
                    self._write(file.name, batches.schema, rows)
                    shutil.copyfileobj(file, upload, 8 << 20)
            else:
                self._write(upload, batches.schema, rows)
            upload.finish()
        except OSError as error:
            raise InputOutputError(f"cannot write the result: {self._shown}: {reason(error)}") from None
        finally:
            upload.abort()
        return rows.count

    def _write(self, target: Any, schema: pa.Schema, rows: CountedRows) -> None:
        write_file(target, self._shown, self._form.format, schema, iter(rows), self._form.options)


def write_file(
    target: Any,
    shown: str,
    format: str,
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    options: Mapping[str, Any],
) -> None:
    """One file. target: a path, or what is written to, but for CSV; shown: the path that messages have.

    options: as `Form` has them. `threads`, of CSV and Parquet: how many make its bytes; default: as many as
    there are processors.
    """
    _WRITERS[format](target, shown, schema, batches, **options)


def _parquet(
    target: Any,
    shown: str,
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    compression: str = "snappy",
    row_group_size: int = 1 << 20,
    row_group_size_bytes: int | str = ROW_GROUP_BYTES,
    compression_level: int | None = None,
    field_ids: str | Mapping[str, Any] | None = None,
    threads: int = 0,
) -> None:
    import pyarrow as pa

    from headrace import _runtime

    codec = _CODECS[compression.lower()]
    if compression_level is not None and codec != "zstd":
        raise UserError(f"compression_level is for the compression zstd, got {codec}")
    numbered = schema if field_ids is None else with_field_ids(schema, field_ids)
    # A schema of the same types: only what is said of the fields differs.
    named = (pa.RecordBatch.from_arrays(batch.columns, schema=numbered) for batch in batches)
    reader = pa.RecordBatchReader.from_batches(numbered, batches if field_ids is None else named)
    path = target if not isinstance(target, Path) else str(target)
    threads = threads or len(os.sched_getaffinity(0))
    size = translated(lambda: _runtime.parse_bytes(str(row_group_size_bytes)))
    written = (reader, path, _named(shown), codec, compression_level or 0, row_group_size, size, threads)
    translated(lambda: _runtime.write_parquet(*written))


def _arrow(path: Any, _shown: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    import pyarrow as pa

    with pa.ipc.new_file(path, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _csv(
    path: str,
    shown: str,
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    header: bool = True,
    delim: str = ",",
    quote: str = '"',
    escape: str = '"',
    nullstr: str = "",
    force_quote: str | Sequence[str] = (),
    compression: str = "none",
    threads: int = 0,
) -> None:
    import pyarrow as pa

    from headrace import _runtime

    for name, mark in (("quote", quote), ("delim", delim)):
        if mark and mark in nullstr:
            raise UserError(f"{name} of CSV stands in nullstr: {nullstr}")
    if quote and quote in delim:
        raise UserError(f"quote of CSV stands in delim: {delim}")
    reader = pa.RecordBatchReader.from_batches(schema, batches)
    threads = threads or len(os.sched_getaffinity(0))
    quoted = schema.names if force_quote == "*" else _names(force_quote)
    codec = _STREAM_CODECS[compression.lower()]
    plain = f"{path}.plain" if codec else path
    try:
        written = (reader, plain, _named(shown), delim, header, threads, quote, escape, nullstr, quoted)
        translated(lambda: _runtime.write_csv(*written))
        if codec:
            with open(plain, "rb") as source, pa.CompressedOutputStream(path, codec) as target:
                shutil.copyfileobj(source, target, 8 << 20)
    finally:
        if codec and os.path.exists(plain):
            os.remove(plain)


def _named(shown: str) -> str:
    """What messages of the runtime call the file."""
    return f"the result: {shown}"


def _names(value: str | Sequence[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _json(
    target: Any,
    _shown: str,
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    array: bool = False,
    compression: str = "none",
) -> None:
    """Of batches of one column, whose texts are objects."""
    import pyarrow as pa

    codec = _STREAM_CODECS[compression.lower()]
    opened = open(target, "wb") if isinstance(target, (str, Path)) else nullcontext(target)  # noqa: SIM115
    before, between, behind = (b"[\n\t", b",\n\t", b"\n]\n") if array else (b"", b"\n", b"\n")
    with opened as file, pa.CompressedOutputStream(file, codec) if codec else nullcontext(file) as out:
        first = True
        for batch in batches:
            texts = [text.encode() for text in batch.column(0).to_pylist()]
            if texts:
                out.write(before if first else between)
                out.write(between.join(texts))
                first = False
        if not first:
            out.write(behind)
        elif array:
            out.write(before + behind)


#: Compressions of Parquet by their name in its format; what is called `lz4` there is another form, of old.
_CODECS = {
    "snappy": "snappy",
    "zstd": "zstd",
    "lz4": "lz4_raw",
    "gzip": "gzip",
    "brotli": "brotli",
    "none": "uncompressed",
    "lz4_raw": "lz4_raw",
    "uncompressed": "uncompressed",
}
#: Compressions of whole files by their name in Arrow; None: none.
_STREAM_CODECS = {"none": None, "uncompressed": None, "gzip": "gzip", "zstd": "zstd"}


def _is_codec(value: Any) -> bool:
    return isinstance(value, str) and value.lower() in _CODECS


def _is_stream_codec(value: Any) -> bool:
    return isinstance(value, str) and value.lower() in _STREAM_CODECS


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


#: Truths as people write them in COPY.
_TRUTHS = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}


def _is_size(value: Any) -> bool:
    return _is_count(value) or isinstance(value, str) and bool(re.fullmatch(r"[1-9]\d* ?[A-Za-z]+", value))


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def _is_mark(value: Any) -> bool:
    return isinstance(value, str) and (value == "" or len(value) == 1 and value.isascii())


def _is_separator(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value.encode()) <= 4 and not set(value) & {"\n", "\r"}


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_names(value: Any) -> bool:
    return isinstance(value, str) or isinstance(value, (list, tuple)) and all(map(_is_text, value))


# suffix -> what writes batches, and its options: whether a value is one, and how a message says what is.
_WRITERS: dict[str, Callable[..., None]] = {
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".csv": _csv,
    ".json": _json,
}
_MARK = (_is_mark, "one character of ASCII, or empty")
_STREAM_CODEC = (_is_stream_codec, f"one of {', '.join(_STREAM_CODECS)}")
_OPTIONS: dict[str, dict[str, tuple[Callable[[Any], bool], str]]] = {
    ".parquet": {
        "compression": (_is_codec, f"one of {', '.join(_CODECS)}"),
        "compression_level": (_is_count, "a number from 1 on"),
        "row_group_size": (_is_count, "a number of rows"),
        "row_group_size_bytes": (_is_size, "bytes, or a text such as 16MiB"),
        "field_ids": (are_field_ids, "'auto', or a struct of columns with numbers: {a: 1, b: 2}"),
    },
    ".arrow": {},
    ".csv": {
        "header": (_is_truth, "true or false"),
        "delim": (_is_separator, "one to four bytes without a line end"),
        "quote": _MARK,
        "escape": _MARK,
        "nullstr": (_is_text, "a text"),
        "force_quote": (_are_names, "a column, several, or *"),
        "compression": _STREAM_CODEC,
    },
    ".json": {"array": (_is_truth, "true or false"), "compression": _STREAM_CODEC},
}
#: Compressions by the end of a name.
_PACKED = {".gz": "gzip", ".zst": "zstd"}
#: Names of JSON lines.
_LINES = {".ndjson": ".json", ".jsonl": ".json"}
#: Options of a folder of files, which `part_files` has.
_OF_FOLDERS = ("partition_by", "per_thread_output", "overwrite")
