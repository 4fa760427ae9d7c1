"""A folder of files in a store: each rank uploads its own, and whoever leads puts them together."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from headrace._src.errors import HeadraceError, UserError, translated
from headrace._src.query.store_files import StoreWriter, place_of, shown

#: Uploads of this process that wait for whoever leads, by attempt.
_waiting: dict[str, list[StoreWriter]] = {}


@contextmanager
def of_a_call() -> Iterator[None]:
    """A call of a rank that another process leads: what it has uploaded is that one's, or given up."""
    try:
        yield
    except BaseException:
        for attempt in list(_waiting):
            give_up(attempt)
        raise
    finally:
        _waiting.clear()


def give_up(attempt: str) -> None:
    """Nothing stays of what this process has uploaded."""
    for upload in _waiting.pop(attempt, ()):
        upload.abort()


def uploaded(attempt: str, address: str, file: Path) -> tuple[str, str]:
    """Uploads a file, but for the last step; its address, and what that step needs."""
    upload = StoreWriter(address)
    try:
        with file.open("rb") as opened:
            shutil.copyfileobj(opened, upload, 8 << 20)
        handed = upload.hand_over()
    except BaseException:
        upload.abort()
        raise
    _waiting.setdefault(attempt, []).append(upload)
    return address, handed


def address_in(folder: str, name: str) -> str:
    """Of a file; what is behind the address of the folder is behind it too."""
    place = place_of(folder)
    return f"{place.rstrip('/')}/{name}{folder[len(place) :]}"


class StoreFolder:
    """Of whoever leads the ranks: the folder as it is told of, and what comes of it."""

    def __init__(self, address: str, overwrite: bool) -> None:
        from headrace import _runtime

        if translated(lambda: _runtime.has_store_files(address)):
            raise UserError(f"the folder of the output is there already, remove it first: {shown(address)}")
        if overwrite:
            raise UserError(f"overwrite replaces a folder of this machine, not of a store: {shown(address)}")

    def begin(self, sink: Any) -> None:
        pass

    def abandon(self, sink: Any) -> None:
        give_up(sink.attempt)

    def complete(self, sink: Any, uploads: Sequence[Sequence[str]], unneeded: str) -> None:
        """Puts the files together, one after another. unneeded: a file that is left out; or empty."""
        left = [StoreWriter.taken_over(*upload) for upload in uploads]
        places = [place_of(address) for address, _ in uploads]
        try:
            for place in places:
                upload = left[0]
                upload.abort() if unneeded and place.endswith(f"/{unneeded}") else upload.finish()
                left.pop(0)
        finally:
            for upload in left:
                with suppress(HeadraceError):
                    upload.abort()
        _waiting.pop(sink.attempt, None)
