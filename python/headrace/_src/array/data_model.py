"""What of Python's data model a traced array refuses: whatever asks for values, which tracing has not.

Python would answer most of it by identity or by a default, which would be wrong without a word.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


def _refuses(reason: str) -> Callable[..., NoReturn]:
    def method(*_: object, **__: object) -> NoReturn:
        raise TypeError(reason)

    return method


def _not_compared(operator: str) -> Callable[..., NoReturn]:
    return _refuses(f"traced arrays cannot be compared yet (there are maximum and minimum): got {operator}")


def _no_value(use: str) -> Callable[..., NoReturn]:
    return _refuses(f"a traced array has no value yet, control flow cannot depend on it: got {use}")


class Valueless:
    """Base of what has a shape and a type, but no elements yet."""

    __array_ufunc__ = None  # NumPy's operators leave the work to ours

    __eq__ = _not_compared("==")
    __ne__ = _not_compared("!=")
    __lt__ = _not_compared("<")
    __le__ = _not_compared("<=")
    __gt__ = _not_compared(">")
    __ge__ = _not_compared(">=")
    __contains__ = _not_compared("in")
    __hash__ = _refuses("a traced array cannot be a key of a dict or in a set: got hash()")

    __bool__ = _no_value("bool()")
    __int__ = _no_value("int()")
    __float__ = _no_value("float()")
    __complex__ = _no_value("complex()")
    __index__ = _no_value("a use as an index")
    __round__ = _no_value("round()")
    __trunc__ = _no_value("math.trunc()")
    __floor__ = _no_value("math.floor()")
    __ceil__ = _no_value("math.ceil()")
    __bytes__ = _no_value("bytes()")

    __setitem__ = _refuses("traced arrays are never changed in place: got an assignment to []")
    __delitem__ = _refuses("traced arrays are never changed in place: got del []")

    __array__ = _refuses("a traced array is not a NumPy array (use the functions of headrace.array)")
    __dlpack__ = _no_value("an exchange by DLPack")
    __dlpack_device__ = _no_value("an exchange by DLPack")
    __reduce_ex__ = _no_value("a copy or pickle of it")

    def __array_function__(self, function: Any, *_: object) -> NoReturn:
        name = function.__name__
        raise TypeError(
            f"NumPy's functions do not take traced arrays (use those of headrace.array): got {name}"
        )

    def __format__(self, specification: str) -> str:
        if specification:
            raise TypeError(f"a traced array has no value yet to be formatted: got {specification}")
        return str(self)
