"""A name that queries of a thread are bound and compiled with: its time zone, its collation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class ThreadValue:
    """Empty where none was asked for."""

    def __init__(self, name: str, checked: Callable[[str], str]) -> None:
        """checked: the name as it is spelt; raises UserError if there is none."""
        self._value: ContextVar[str] = ContextVar(name, default="")
        self._checked = checked

    def current(self) -> str:
        return self._value.get()

    @contextmanager
    def within(self, name: str | None) -> Iterator[None]:
        """Meanwhile it is this one; None: that which is current. Raises UserError if there is none."""
        before = self._value.set(self.current() if name is None else self._checked(name))
        try:
            yield
        finally:
            self._value.reset(before)
