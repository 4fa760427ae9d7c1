"""Text that a command line gives: as it stands, or of the file behind an @."""

from __future__ import annotations

from pathlib import Path

from headrace._src.errors import InputOutputError, reason


def given_text(given: str, what: str) -> str:
    """`what` it is, for messages: "query"."""
    if not given.startswith("@"):
        return given
    path = Path(given.removeprefix("@")).expanduser()
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputOutputError(f"cannot read the {what}: {path}: {reason(error)}") from None
