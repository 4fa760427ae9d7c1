"""Files of JSON as tables on disk: DuckDB reads them, so that their types are what its users expect."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from headrace._src.errors import InputOutputError, UnsupportedError, UserError
from headrace._src.query.csv_files import COMPRESSIONS, constant, first_line, stamp
from headrace._src.query.kept_rows import kept_batches, larger
from headrace._src.query.store_files import StoreFile, StorePath, place_of, shown, with_stamps
from headrace._src.query.temporary_files import TemporaryFile
from headrace._src.sql.literals import literal

if TYPE_CHECKING:
    import pyarrow as pa

_SUFFIXES = (".json", ".ndjson", ".jsonl")
#: Of how far DuckDB is, on standard output.
WITHOUT_BAR = "set enable_progress_bar = false"
#: Read of a store at a time.
_PIECE_BYTES = 16 << 20
_PART_ROWS = 1 << 11
#: Of `read_json`, as DuckDB calls them.
OPTIONS = (
    "auto_detect",
    "columns",
    "compression",
    "convert_strings_to_integers",
    "dateformat",
    "date_format",
    "field_appearance_threshold",
    "filename",
    "format",
    "hive_partitioning",
    "hive_types",
    "hive_types_autocast",
    "ignore_errors",
    "map_inference_threshold",
    "maximum_depth",
    "maximum_object_size",
    "maximum_sample_files",
    "records",
    "sample_size",
    "timestampformat",
    "timestamp_format",
    "union_by_name",
)
#: What a file has by its place; in a store DuckDB does not see it.
_OF_PLACES = ("filename", "hive_partitioning", "hive_types", "hive_types_autocast")

#: What was read, as long as somebody has it: a query is bound and run, and each asks for its tables.
_tables: weakref.WeakValueDictionary[Any, pa.Table] = weakref.WeakValueDictionary()


def is_json(path: str) -> bool:
    """Whether the name is that of a file of JSON."""
    name = place_of(path).lower()
    for suffix in COMPRESSIONS:
        name = name.removesuffix(suffix)
    return name.endswith(_SUFFIXES)


def json_table(function: str, paths: Sequence[str], options: Mapping[str, Any]) -> pa.Table:
    """The rows that a function of DuckDB (`read_json`, `read_ndjson` …) finds in files.

    Raises UserError for what is not such a file, or no option.
    """
    for name in options:
        if name not in OPTIONS:
            raise UnsupportedError(f"{function}: no such option: {name}; there are {', '.join(OPTIONS)}")
    paths = with_stamps(paths)
    stamps = tuple((str(path), path.stamp) if isinstance(path, StorePath) else stamp(path) for path in paths)
    key = (function, stamps, constant(dict(options)))
    table = _tables.get(key)
    if table is None:
        table = _tables[key] = _read(function, paths, options)
    return table


def _read(function: str, paths: Sequence[str], options: Mapping[str, Any]) -> pa.Table:
    import duckdb

    with ExitStack() as stack, duckdb.connect() as connection:
        connection.execute(WITHOUT_BAR)
        compression = options.get("compression", "auto")
        places = [stack.enter_context(_place(path, compression)) for path in paths]
        if list(paths) != places:
            for name in _OF_PLACES:
                if options.get(name):
                    raise UnsupportedError(f"{function}: {name} of files in a store: {shown(paths[0])}")
        arguments = "".join(f", {name} = {constant(value)}" for name, value in options.items())
        files = ", ".join(map(literal, places))
        try:
            rows = connection.sql(f"from {function}([{files}]{arguments})")
            # JSON is JSON then, but integers of 128 bits are of no type that the runtime knows.
            is_lossless = not any("HUGEINT" in str(kind) for kind in rows.types)
            connection.execute(f"set arrow_lossless_conversion = {is_lossless}")
            return kept_rows(rows, shown(paths[0]))
        except duckdb.Error as error:
            said = first_line(error)
            for place, path in zip(places, paths, strict=True):
                said = said.replace(place, shown(path))
            raise UserError(f"cannot read as JSON: {shown(paths[0])}: {said}") from None


def kept_rows(rows: Any, path: str) -> pa.Table:
    """The rows of DuckDB's relation, which lie on disk and are mapped: memory has one batch at a time."""
    parts = rows.to_arrow_reader(_PART_ROWS)
    return kept_batches(parts.schema, larger(_told(parts, path)), path)


def _told(parts: pa.RecordBatchReader, path: str) -> Iterator[pa.RecordBatch]:
    """The batches; what DuckDB finds while it reads on comes as errors of Arrow's reader."""
    import pyarrow as pa

    try:
        yield from parts
    except (OSError, pa.ArrowException) as error:
        kind = InputOutputError if str(error).startswith("IO Error") else UserError
        raise kind(f"cannot read: {path}: {first_line(error)}") from None


@contextmanager
def _place(path: str, compression: Any) -> Iterator[str]:
    """Where DuckDB finds a file: there where it is, or a copy of one in a store.

    compression: the option. The name of a copy does not say it, so what the file's own says is undone.
    """
    import pyarrow as pa

    if not isinstance(path, StorePath):
        yield path
        return
    suffix = f".{place_of(path).lower().rpartition('.')[2]}"
    codec = COMPRESSIONS.get(suffix) if compression in ("auto", "auto_detect") else None
    source: Any = StoreFile(path)
    if codec:
        source = pa.CompressedInputStream(pa.PythonFile(source, mode="r"), codec)
    with TemporaryFile(shown(path)) as file:
        while piece := source.read(_PIECE_BYTES):
            file.write(piece)
        yield file.name
