"""What is wrong with a user's SQL."""

from __future__ import annotations

import enum


class SqlErrorKind(enum.Enum):
    """Why a text was refused."""

    INVALID = "user"  # it does not parse, or names or types do not exist
    UNSUPPORTED = "unsupported"  # it is SQL, but headrace cannot run it (yet)


class SqlError(ValueError):
    """A statement that headrace refuses, with the reason in `args[0]` and the kind in `kind`."""

    def __init__(self, message: str, kind: SqlErrorKind) -> None:
        super().__init__(message)
        self.kind = kind
