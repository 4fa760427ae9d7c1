"""Queries that are still running when something happens to them, however fast the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import headrace as hr
import pyarrow as pa

#: A run tells of itself from half a second on, so that this leaves time to strike.
SECONDS = 2.0
DOUBLINGS_MAX = 8


def lasting(text_of: Callable[[int], str], tables: Any, size: int) -> tuple[str, pa.Table]:
    """A query of a size from `size` on that takes at least `SECONDS` on this machine, and its answer."""
    for _ in range(DOUBLINGS_MAX):
        text = text_of(size)
        hr.sql(f"EXPLAIN {text}", tables)  # compiled, as it is for the second time
        begin = time.perf_counter()
        answer = hr.sql(text, tables)
        if time.perf_counter() - begin >= SECONDS:
            return text, answer
        size *= 2
    raise AssertionError(f"not even {size // 2} takes {SECONDS} s")
