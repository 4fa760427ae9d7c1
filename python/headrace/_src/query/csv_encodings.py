"""Encodings of CSV files: UTF-16, and those of one byte for each character, as UTF-8."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from functools import cache
from typing import Any

from headrace._src.errors import UnsupportedError, UserError

_UTF8 = ("utf-8", "utf8", "utf_8")
_UTF16 = {"utf-16-le": "le", "utf-16-be": "be", "utf-16": ""}


@dataclass(frozen=True)
class Encoding:
    """Of a file, as Python calls it and as the runtime is told of it."""

    codec: str
    described: dict[str, Any]

    def decoded(self, head: bytes, path: str) -> bytes:
        """The begin of a file as UTF-8, as far as its characters are whole."""
        try:
            text = codecs.getincrementaldecoder(self.codec)().decode(head)
        except UnicodeDecodeError as error:
            message = f"no character of the file's encoding stands at byte {error.start}"
            raise UserError(f"cannot read as CSV: {path}: {message}") from None
        return text.removeprefix("\ufeff").encode()


def is_encoded(name: Any) -> bool:
    """Whether an encoding that an option names is another than UTF-8."""
    return name is not None and str(name).lower() not in _UTF8


def encoding_of(name: Any, head: bytes, path: str) -> Encoding | None:
    """That of a file which begins so; None: UTF-8. Raises UnsupportedError for what cannot be read."""
    if not is_encoded(name):
        return None
    try:
        known = codecs.lookup(str(name))
    except LookupError:
        raise UserError(f"no such encoding of CSV: {path}: {name}") from None
    if known.name in _UTF16:
        by_mark = "be" if head.startswith(codecs.BOM_UTF16_BE) else "le"
        order = _UTF16[known.name] or by_mark
        return Encoding(f"utf-16-{order}", {"utf16": order})
    characters = _characters(known.name) if getattr(known, "_is_text_encoding", False) else []
    if not characters:
        message = "CSV in UTF-8, UTF-16 and encodings of one byte for each character can be read"
        raise UnsupportedError(f"{message}, not: {path}: {name}")
    return Encoding(known.name, {"characters": characters})


@cache
def _characters(codec: str) -> list[str]:
    """By byte its character, or empty where it is none; nothing if bytes mean something together."""

    def meaning(data: bytes) -> str:
        try:
            return data.decode(codec)
        except UnicodeDecodeError:
            return ""

    alone = [meaning(bytes([byte])) for byte in range(256)]
    unknown = [byte for byte, character in enumerate(alone) if len(character) != 1]
    if len(unknown) == 256 or any(meaning(bytes([one, two])) for one in unknown for two in range(256)):
        return []
    return alone
