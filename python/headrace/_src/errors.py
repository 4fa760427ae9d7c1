"""The exceptions that users of headrace see."""

from __future__ import annotations


class HeadraceError(Exception):
    """A failure with its kind and, where it is known, the place in the user's program.

    Kinds: user, data, memory, unsupported, io, corrupt, mismatch, cancelled, internal.
    """

    def __init__(self, message: str, kind: str = "user", place: str = "") -> None:
        super().__init__(f"{message} (at {place})" if place else message)
        self.kind = kind
        self.place = place
