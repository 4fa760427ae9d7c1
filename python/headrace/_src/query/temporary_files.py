"""Copies of files where rows wait: without a name, within `spillLimit`, gone with their last reader."""

from __future__ import annotations

import io
import mmap
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from headrace._src.errors import translated

_settings: ContextVar[Mapping[str, str] | None] = ContextVar("settings", default=None)
_options: ContextVar[Mapping[str, Any] | None] = ContextVar("options", default=None)


def current_settings() -> Mapping[str, str]:
    return _settings.get() or {}


def current_options() -> dict[str, Any]:
    """Of the run, those that are given."""
    return {name: value for name, value in (_options.get() or {}).items() if value is not None}


@contextmanager
def in_settings(settings: Mapping[str, str], **options: Any) -> Iterator[None]:
    """Meanwhile copies lie where these settings of the runtime say, over those of the environment.

    options: `threads` and `memory` of the run, which a query may ask for.
    """
    before = _settings.set(settings), _options.set(options)
    try:
        yield
    finally:
        _settings.reset(before[0])
        _options.reset(before[1])


class TemporaryFile(io.RawIOBase):
    """A copy of a file, in another form perhaps, as Python writes it.

    It goes with its `with`, if nobody has mapped it.

    What it raises is kept, since libraries between it and the caller make errors of their own of it.
    """

    def __init__(self, path: str) -> None:
        """path: of the file, for messages."""
        from headrace import _runtime

        self._file = translated(lambda: _runtime.TemporaryFile.make(path, current_settings()))
        self.error: BaseException | None = None

    def __exit__(self, *_: object) -> None:
        # An error has the frames in which it was raised, and they have this.
        self._file = None
        self.close()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data)
        try:
            translated(lambda: self._file.write(view))
        except BaseException as error:
            self.error = error
            raise
        return view.nbytes

    def raise_error(self) -> None:
        """Raises what a write has raised, if one has."""
        error, self.error = self.error, None  # whose frames have this: else nothing of them would end
        if error:
            try:
                raise error from None
            finally:
                del error

    @property
    def name(self) -> str:
        """A path for readers in this process, as long as this object is there."""
        return f"/proc/self/fd/{self._file.descriptor}"

    def mapped(self) -> mmap.mmap:
        """All that was written; it counts as long as somebody has this."""
        mapped = mmap.mmap(self._file.descriptor, 0, prot=mmap.PROT_READ)
        held = [self._file]
        # Also where the interpreter ends before: what it holds then counts as lost.
        weakref.finalize(mapped, held.clear)
        return mapped
