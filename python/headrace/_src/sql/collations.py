"""How texts are compared where a query names no collation; per thread."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from headrace._src.errors import UserError

_SET = re.compile(
    r"\s*(?:(?:set\s+(?:session\s+)?|pragma\s+)default_collation\s*(?:=|\bto\b)\s*(?P<quote>['\"]?)"
    r"(?P<name>[\w.]*)(?P=quote)|(?P<reset>reset\s+default_collation))\s*;?\s*",
    re.IGNORECASE,
)
#: What DuckDB calls the order of bytes.
_BINARY = ("", "binary", "c", "posix")
_PARTS = ("nocase", "noaccent", "nfc")

_collation: ContextVar[str] = ContextVar("collation", default="")


def current_collation() -> str:
    """That of queries of this thread, in small letters; empty: by bytes."""
    return _collation.get()


@contextmanager
def in_collation(name: str | None) -> Iterator[None]:
    """Queries meanwhile are in this collation; None: in that which is current. Raises UserError for none."""
    before = _collation.set(_collation.get() if name is None else _checked(name))
    try:
        yield
    finally:
        _collation.reset(before)


def _checked(name: str) -> str:
    known = name.lower()
    if known in _BINARY:
        return ""
    if any(part not in _PARTS for part in known.split(".")):
        raise UserError(f"unknown collation; NOCASE, NOACCENT, NFC and such as NOCASE.NFC are known: {name}")
    return known


def collation_set_by(text: str) -> str | None:
    """The collation of a text that is SET default_collation = 'name' and nothing else, or its RESET."""
    found = _SET.fullmatch(text)
    return found and _checked(found["name"] or "")
