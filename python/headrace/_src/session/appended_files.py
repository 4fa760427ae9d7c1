"""INSERT INTO a table that is a folder of Parquet files: a file more, which is there whole or not at all.

It is written by the process that gets the rows, under a name that sorts behind those of the others, so that
its rows are the last of the table. Queries that run later read it, whoever asks them.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._src.errors import InputOutputError, UnsupportedError, reason
from headrace._src.query.statistics import statistics_of
from headrace._src.query.store_files import is_store
from headrace._src.query.tables import files_of
from headrace._src.result_output import Form, ResultFile

if TYPE_CHECKING:
    import pyarrow as pa

#: Behind the name of the file that was the last before the first that was added.
_NUMBER = re.compile(r"(.*)_(\d{5})", re.DOTALL)
_files_stay: ContextVar[str] = ContextVar("files_stay", default="")


@contextmanager
def files_stay(why: str) -> Iterator[None]:
    """Meanwhile no file is added. why: the message, without the table's name behind it."""
    before = _files_stay.set(why)
    try:
        yield
    finally:
        _files_stay.reset(before)


def is_folder(data: Any) -> bool:
    """Whether a table was given as a folder."""
    if not isinstance(data, (str, os.PathLike)) or is_store(os.fspath(data)):
        return False
    return os.path.isdir(os.path.expanduser(data))


class AppendedFile:
    """The place of a file more."""

    def __init__(self, name: str, data: Any) -> None:
        """Raises UnsupportedError for a folder whose files cannot become one more. name: of the table."""
        if why := _files_stay.get():
            raise UnsupportedError(f"{why}: {name}")
        self._folder = Path(os.fspath(data)).expanduser()
        files = files_of(data)
        if any(files.readers):
            raise UnsupportedError(
                f"INSERT adds to folders of Parquet files alone, without partitions: {name}"
            )
        if unreadable := json.loads(statistics_of(files))["unsupported"]:
            columns = ", ".join(unreadable)
            raise UnsupportedError(f"INSERT into a table with columns that cannot be read: {columns}")
        self._last = max(Path(path).stem for path in files.paths)

    def write(self, rows: pa.RecordBatchReader) -> int:
        """Adds a file of these rows; how many there are. Without any there is no file."""
        # No reader takes a file of such a name for one of the table.
        hidden = self._folder / f".{secrets.token_hex(8)}.tmp"
        try:
            count = ResultFile(str(hidden), Form.of(str(hidden), ".parquet")).write(rows)
            if count:
                self._name(hidden)
        except OSError as error:
            raise InputOutputError(
                f"cannot add a file to the table: {self._folder}: {reason(error)}"
            ) from None
        finally:
            hidden.unlink(missing_ok=True)
        return count

    def _name(self, hidden: Path) -> None:
        """Gives it the first name behind the last that nobody else has taken meanwhile."""
        found = _NUMBER.fullmatch(self._last)
        begin, number = (found[1], int(found[2])) if found else (self._last, 0)
        while True:
            number += 1
            try:
                os.link(hidden, self._folder / f"{begin}_{number:05}.parquet")
            except FileExistsError:
                continue
            return
