"""Stopping a query: on request of another thread, and after a time."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import TypeVar

from headrace._src.errors import CancelledError, QueryTimeoutError, UserError

_T = TypeVar("_T")


class Cancel:
    """Stops the queries that it was given to as `cancel=`: call `cancel()` from any thread.

    A query that is stopped raises CancelledError. The handle stays cancelled.
    """

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        self._event.set()

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()


_stop: ContextVar[Callable[[], None] | None] = ContextVar("stop", default=None)


@contextmanager
def stopping(stop: Callable[[], None] | None) -> Iterator[None]:
    """What is done meanwhile asks `stop` when it takes long."""
    before = _stop.set(stop)
    try:
        yield
    finally:
        _stop.reset(before)


def current_stop() -> Callable[[], None] | None:
    """What raises once that which this thread does has to stop; None: nothing does."""
    return _stop.get()


def unless_stopped(work: Callable[[], _T]) -> _T:
    """What `work` returns or raises. If this thread has to stop before, `work` goes on in one of its own.

    For what nothing interrupts: DuckDB's binder computes constants, however long that takes.
    """
    stop = current_stop()
    if stop is None:
        return work()
    context = copy_context()
    ended = threading.Event()
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(context.run(work))
        except BaseException as error:
            errors.append(error)
        ended.set()

    threading.Thread(target=run, name="headrace-binder").start()
    while not ended.wait(0.02):
        stop()
    if errors:
        raise errors[0]
    return results[0]


def stopper(timeout: float | None, cancel: Cancel | None, follows: bool = False) -> Callable[[], None] | None:
    """What raises once the query has to stop; `timeout` seconds count from this call.

    follows: another rank leads it, whose time counts: several clocks would give several errors.
    """
    if timeout is not None and not 0 < timeout < math.inf:
        raise UserError(f"timeout must be a positive number of seconds, got {timeout!r}")
    if follows:
        timeout = None
    if timeout is None and cancel is None:
        return None
    deadline = math.inf if timeout is None else time.monotonic() + timeout

    def stop() -> None:
        if cancel is not None and cancel.cancelled:
            raise CancelledError("the query was cancelled")
        if time.monotonic() > deadline:
            raise QueryTimeoutError(f"the query took longer than its timeout: {timeout:g} s")

    return stop
