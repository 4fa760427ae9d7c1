"""How texts are compared where a query names no collation; per thread."""

from __future__ import annotations

import re

from headrace._src.errors import UserError
from headrace._src.sql.thread_value import ThreadValue

_SET = re.compile(
    r"\s*(?:(?:set\s+(?:session\s+)?|pragma\s+)default_collation\s*(?:=|\bto\b)\s*(?P<quote>['\"]?)"
    r"(?P<name>[\w.]*)(?P=quote)|(?P<reset>reset\s+default_collation))\s*;?\s*",
    re.IGNORECASE,
)
#: What DuckDB calls the order of bytes.
_BINARY = ("", "binary", "c", "posix")
_PARTS = ("nocase", "noaccent", "nfc")


def _checked(name: str) -> str:
    known = name.lower()
    if known in _BINARY:
        return ""
    if any(part not in _PARTS for part in known.split(".")):
        raise UserError(f"unknown collation; NOCASE, NOACCENT, NFC and such as NOCASE.NFC are known: {name}")
    return known


_collation = ThreadValue("collation", _checked)
#: In small letters; empty: by bytes.
current_collation = _collation.current
in_collation = _collation.within


def collation_set_by(text: str) -> str | None:
    """The collation of a text that is SET default_collation = 'name' and nothing else, or its RESET."""
    found = _SET.fullmatch(text)
    return found and _checked(found["name"] or "")
