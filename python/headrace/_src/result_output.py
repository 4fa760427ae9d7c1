"""Where the command line puts a result: text on standard output, or a file by its suffix."""

from __future__ import annotations

import os
from collections.abc import Callable
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
    """A file for a result; nothing is left behind if writing fails.

    Made before the query runs: raises at once for a format or a folder that cannot be written.
    """

    def __init__(self, path: str, format: str = "") -> None:
        """format: a suffix; default: that of the path."""
        self._path = Path(path).expanduser()
        self._format = format or self._path.suffix
        if self._format not in _WRITERS:
            formats = ", ".join(_WRITERS)
            raise UserError(f"the output must end in one of {formats}, got {path}")
        if not os.access(self._path.parent, os.W_OK):
            raise InputOutputError(f"cannot write into the folder of the output: {path}")

    def write(self, batches: pa.RecordBatchReader) -> int:
        """Writes one batch after the other; the number of rows."""
        temporary = f"{self._path}.{os.getpid()}.tmp"
        rows = 0
        try:
            with _WRITERS[self._format](temporary, batches.schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)
                    rows += batch.num_rows
            os.replace(temporary, self._path)
        except OSError as error:
            raise InputOutputError(f"cannot write the result: {self._path}: {reason(error)}") from None
        finally:
            if os.path.exists(temporary):
                os.remove(temporary)
        return rows


def _parquet(path: str, schema: pa.Schema) -> Any:
    import pyarrow.parquet as parquet

    return parquet.ParquetWriter(path, schema)


def _arrow(path: str, schema: pa.Schema) -> Any:
    import pyarrow as pa

    return pa.ipc.new_file(path, schema)


def _csv(path: str, schema: pa.Schema) -> Any:
    import pyarrow.csv as csv

    return csv.CSVWriter(path, schema)


# suffix -> what makes a writer of batches
_WRITERS: dict[str, Callable[[str, pa.Schema], Any]] = {".parquet": _parquet, ".arrow": _arrow, ".csv": _csv}
