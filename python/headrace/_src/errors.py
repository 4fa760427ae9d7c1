"""The exceptions that users of headrace see: one class for each kind of trouble."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar


class HeadraceError(Exception):
    """A failure with its kind and, where it is known, the place in the user's program.

    `HeadraceError(message, kind)` makes an exception of the class of that kind, as OSError does.
    """

    #: The name that the runtime and the command line print.
    kind: str = "user"
    #: Where in the user's program: an expression, a line, a file; or empty.
    place: str = ""
    #: The line and column (from 1) in the text of a query, where they are known.
    line: int | None = None
    column: int | None = None

    _classes: ClassVar[dict[str, type[HeadraceError]]] = {}

    def __init_subclass__(cls, kind: str = "", **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if kind:
            cls.kind = kind
            HeadraceError._classes[kind] = cls

    def __new__(cls, message: str, kind: str = "user", place: str = "") -> HeadraceError:
        if cls is HeadraceError:
            cls = HeadraceError._classes.get(kind, InternalError)
        return super().__new__(cls, message)

    def __init__(self, message: str, kind: str | None = None, place: str = "") -> None:
        super().__init__(f"{message} (at {place})" if place else message)
        self.place = place


class UserError(HeadraceError, kind="user"):
    """The program or its input is wrong: the message says where and what to do."""


class SqlError(UserError):
    """A query that does not parse, or in which a name or a type does not fit the tables."""


class UnsupportedError(HeadraceError, kind="unsupported"):
    """A valid program that headrace cannot run; the message names what it lacks."""


class DataError(HeadraceError, kind="data"):
    """The data breaks a rule of the program: overflow, division by zero, a cast without a value."""


class ConstraintError(DataError):
    """A row breaks a constraint of the table that it was to be in."""


class TransactionError(UserError):
    """A transaction that does not begin, go on or hold: ROLLBACK, and do it again."""


class MemoryLimitError(HeadraceError, kind="memory"):
    """A limit of memory was reached; the message names the operator, the bytes and the setting."""


class InputOutputError(HeadraceError, kind="io"):
    """A file or a link failed."""


class CorruptError(HeadraceError, kind="corrupt"):
    """Bytes that do not decode: of a file, a plan or a message."""


class MismatchError(HeadraceError, kind="mismatch"):
    """Things that do not fit together: a plan and its files, a topology and its ranks, two builds."""


class CancelledError(HeadraceError, kind="cancelled"):
    """The query was stopped on request."""


class QueryTimeoutError(CancelledError, TimeoutError):
    """The query was stopped because it took longer than `timeout`."""


class InternalError(HeadraceError, kind="internal"):
    """A broken assumption of headrace: please report it."""


def reason(error: OSError | UnicodeDecodeError) -> str:
    """What the system says, without the number and the path: "No such file or directory"."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def translated(call: Callable[[], Any]) -> Any:
    """What the runtime raises, with its kind and place, as HeadraceError; what a callback raises as it is."""
    from headrace import _runtime

    try:
        return call()
    except _runtime.Error as error:
        raise HeadraceError(str(error), error.kind, error.place) from None
