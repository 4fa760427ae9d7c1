"""Commit points: rows that a long call in a cluster keeps in files, from which it goes on after a loss."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from headrace._src.errors import InputOutputError, reason
from headrace._src.part_files import output_of
from headrace._src.query.tables import FileTable, files_of

#: A call that losses cost less, in seconds, is not asked about: what is found out could not gain more.
_GAIN_MIN = 0.01

#: Cuts a program for so many losses in a second: the table that each part keeps, and its text.
Cut = Callable[[float], list[tuple[str, str]]]
#: The result of a part's text over what is kept; before each try it asks for what the ranks are told.
Run = Callable[[str, Mapping[str, FileTable], Callable[[], str]], Any]


class CommitPoints:
    """Those of one call, in a folder of its own. The call may begin again; what is kept stays until `end`."""

    def __init__(self, folder: str, lost_per_second: float, stop: Callable[[], None] | None) -> None:
        """folder: an absolute path. lost_per_second: how often one rank is lost."""
        self._folder = Path(folder, f"headrace-{secrets.token_hex(8)}")
        self._lost_per_second = lost_per_second
        self._stop = stop
        self._parts: list[tuple[str, str]] | None = None
        self._kept: dict[str, FileTable] = {}

    def end(self) -> None:
        """Nothing stays."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def last_part(self, ranks: int, seconds: float, cut: Cut, run: Run) -> str | None:
        """The text of the last part, once what is in front of it is kept; None if there is one part.

        seconds: what the whole program is predicted to take.
        """
        losses = ranks * self._lost_per_second
        if self._parts is None:
            gains = losses * seconds * seconds / 4 >= _GAIN_MIN
            self._parts = cut(losses) if gains else []
        if len(self._parts) < 2:
            return None
        *before, (_, last) = self._parts
        for table, text in before:
            if table not in self._kept:
                self._kept[table] = self._keep(table, text, run)
        return last

    @property
    def kept(self) -> dict[str, FileTable]:
        """What is kept, by the names that later parts read it by."""
        return dict(self._kept)

    def _keep(self, table: str, text: str, run: Run) -> FileTable:
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
        except OSError as error:
            raise InputOutputError(
                f"cannot write into the folder of commit points: {self._folder.parent}: {reason(error)}"
            ) from None
        path = str(self._folder / table.replace(" ", "-"))
        output = output_of(path, ".parquet", per_thread_output=True, compression="none")
        try:
            output.finish(run(text, self._kept, lambda: output.begin(self._stop)))
        finally:
            output.abandon()
        return files_of(path)
