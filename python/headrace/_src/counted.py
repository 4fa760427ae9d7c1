"""Numbers of things in messages."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """1 row, or 1,000 rows."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
