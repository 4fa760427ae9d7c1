"""Mistakes found while tracing: the same kind of exception, with the line of the user's program."""

from __future__ import annotations

import os
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from headrace._src.array.graph import Place
from headrace._src.errors import HeadraceError, UserError

# Python's own library, this package and NumPy are not the user's program.
_LIBRARIES = (
    os.path.join(os.path.abspath(__file__).rpartition(os.sep + "_src" + os.sep)[0], ""),
    os.path.join(sysconfig.get_path("stdlib"), ""),
)
_MODULES = ("headrace", "numpy")
# What NumPy says of an operand whose `__array_ufunc__` is None, where it is no operator.
_NO_UFUNC = "does not support ufuncs (__array_ufunc__=None)"


class TraceTypeError(UserError, TypeError):
    """A TypeError with its place in the traced function."""


def mistaken(message: str) -> TraceTypeError:
    """A mistake outside of a traced function: its place is where Python says that it was raised."""
    return TraceTypeError(message, "user")


class TraceValueError(UserError, ValueError):
    """A ValueError with its place in the traced function."""


class TraceOverflowError(UserError, OverflowError):
    """An OverflowError with its place in the traced function."""


class TraceIndexError(UserError, IndexError):
    """An IndexError with its place in the traced function."""


class TraceAttributeError(UserError, AttributeError):
    """An AttributeError with its place in the traced function: no such function, mostly."""


_PLACED = {
    TypeError: TraceTypeError,
    ValueError: TraceValueError,
    OverflowError: TraceOverflowError,
    IndexError: TraceIndexError,
    AttributeError: TraceAttributeError,
}


def _innermost(error: BaseException, default: Place) -> Place:
    """The innermost line of the traceback in the user's program."""
    outside = [
        Place(frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not os.path.abspath(frame.f_code.co_filename).startswith(_LIBRARIES)
        # Generated methods have no file.
        and frame.f_globals.get("__name__", "").partition(".")[0] not in _MODULES
    ]
    return outside[-1] if outside else default


@contextmanager
def placed(default: Place) -> Iterator[None]:
    """Runs traced code; its mistakes come out with their place."""
    try:
        yield
    except HeadraceError:
        raise
    except tuple(_PLACED) as error:
        place = _innermost(error, default)
        kind = next(placed for plain, placed in _PLACED.items() if isinstance(error, plain))
        message = str(error)
        if message.endswith(_NO_UFUNC):
            message = "NumPy's functions do not take traced arrays (use those of headrace.array)"
        raise kind(message, "user", f"{place.file}:{place.line}") from error
