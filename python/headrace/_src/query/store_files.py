"""Files behind a network: which versions there are, and their bytes for libraries of Python."""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from headrace._src.errors import translated

_BEHIND = re.compile(r"(https?://[^\s'?]*\?)([^\s']*)", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+]+://")


@dataclass(frozen=True)
class Stamp:
    """What a store says of a file: a difference means another version of it."""

    bytes: int
    modified_nanoseconds: int
    #: Empty: the store gives none.
    tag: str

    def version(self) -> dict[str, Any]:
        """As the address of a file has it."""
        return {"bytes": self.bytes, "modified_nanoseconds": self.modified_nanoseconds, "tag": self.tag}


class StorePath(str):
    """The address of a file with the version that was there when it was found."""

    stamp: Stamp

    @staticmethod
    def of(address: str, stamp: Stamp) -> StorePath:
        path = StorePath(address)
        path.stamp = stamp
        return path


def is_store(path: str | os.PathLike[str]) -> bool:
    """Whether it is an address, s3://… for example, and no path."""
    return bool(_SCHEME.match(os.fspath(path)))


def found(text: str) -> list[str]:
    """The files of one table: of an address, a pattern or a folder."""
    from headrace import _runtime

    return [
        StorePath.of(address, Stamp(*stamp))
        for address, *stamp in translated(lambda: _runtime.store_files(text))
    ]


def with_stamps(paths: Iterable[str], *, anew: bool = False) -> list[str]:
    """The same paths; those of stores as `StorePath`. anew: of all of them it is asked what is there now."""
    from headrace import _runtime

    told = list(paths)
    places = [
        i for i, path in enumerate(told) if is_store(path) and (anew or not isinstance(path, StorePath))
    ]
    if places:
        texts = [str(told[i]) for i in places]
        stamps = translated(lambda: _runtime.store_stamps(texts))
        for i, stamp in zip(places, stamps, strict=True):
            told[i] = StorePath.of(told[i], Stamp(*stamp))
    return told


def shown(path: str) -> str:
    """The path; an address without what may be a secret."""
    from headrace import _runtime

    return translated(lambda: _runtime.shown_address(path)) if is_store(path) else path


def without_secrets(text: str) -> str:
    """A text with addresses, of as many characters, in which a digest stands for what is behind their "?"."""
    return _BEHIND.sub(lambda found: found[1] + _digits(found[2]), text)


def _digits(text: str) -> str:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return (digest * (len(text) // len(digest) + 1))[: len(text)]


def place_of(path: str) -> str:
    """The path, for its folders, its name and its suffix: an address without its options."""
    return path.partition("?")[0] if is_store(path) else path


class StoreFile(io.RawIOBase):
    """The bytes of a file, as Python reads them. Each read is a request, or several."""

    def __init__(self, path: StorePath) -> None:
        self._path = path
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._path.stamp.bytes}[whence]
        self._at = begin + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self._path.stamp.bytes - self._at)
        data = read(self._path, self._at, left if size is None or size < 0 else min(size, left))
        self._at += len(data)
        return data


class StoreWriter(io.RawIOBase):
    """A new file in a store, as Python writes it: there after finish(), whole, or not at all."""

    def __init__(self, address: str) -> None:
        from headrace import _runtime

        self._own(_runtime.StoreUpload.start(address))

    @staticmethod
    def taken_over(address: str, handed: str) -> StoreWriter:
        """What another process has written and handed over: only finish() and abort() are left."""
        from headrace import _runtime

        writer = StoreWriter.__new__(StoreWriter)
        writer._own(translated(lambda: _runtime.StoreUpload.take_over(address, handed)))
        return writer

    def _own(self, upload: Any) -> None:
        self._upload = upload
        self.finish = lambda: translated(upload.finish)
        self.hand_over = lambda: translated(upload.hand_over)
        self.abort = upload.abort

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data)
        translated(lambda: self._upload.write(bytes(view)))
        return view.nbytes


def read(path: StorePath, offset: int, size: int) -> bytes:
    """Bytes of a file in its version. Raises InputOutputError if it is another by now."""
    from headrace import _runtime

    stamp = path.stamp
    told = (stamp.bytes, stamp.modified_nanoseconds, stamp.tag)
    return translated(lambda: _runtime.read_store(str(path), told, offset, size)) if size else b""


def opened(path: str) -> Any:
    """What Arrow's readers take: a path as it is, or the bytes of a file in a store."""
    if not is_store(path):
        return path
    (stamped,) = with_stamps([path])
    assert isinstance(stamped, StorePath)
    return StoreFile(stamped)
