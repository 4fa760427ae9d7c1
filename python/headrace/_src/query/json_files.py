"""Files of JSON as tables in memory: DuckDB reads them, so that their types are what its users expect."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from headrace._src.errors import InputOutputError, UnsupportedError, UserError
from headrace._src.query.csv_files import constant, first_line, stamp
from headrace._src.query.store_files import StorePath, place_of, read, shown, with_stamps
from headrace._src.sql.literals import literal

if TYPE_CHECKING:
    import pyarrow as pa

_SUFFIXES = (".json", ".ndjson", ".jsonl")
_COMPRESSED = (".gz", ".zst")
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
    for suffix in _COMPRESSED:
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
        places = [stack.enter_context(_Copy(path)).name for path in paths]
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
            return rows.to_arrow_table()
        except duckdb.Error as error:
            said = first_line(error)
            for place, path in zip(places, paths, strict=True):
                said = said.replace(place, shown(path))
            raise UserError(f"cannot read as JSON: {shown(paths[0])}: {said}") from None


class _Copy:
    """Where DuckDB finds a file: there where it is, or a copy of one in a store."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: Any = None

    def __enter__(self) -> _Copy:
        if isinstance(self._path, StorePath):
            # Its compression is told by the end of its name.
            suffix = place_of(self._path).rpartition("/")[2]
            self._file = tempfile.NamedTemporaryFile(suffix=suffix)  # noqa: SIM115
            try:
                self._file.write(read(self._path, 0, self._path.stamp.bytes))
                self._file.flush()
            except OSError as error:
                # no test: it takes a full disk
                raise InputOutputError(f"cannot copy the file: {shown(self._path)}: {error}") from None
        return self

    @property
    def name(self) -> str:
        return self._file.name if self._file else self._path

    def __exit__(self, *_: object) -> None:
        if self._file:
            self._file.close()
