"""Brackets in a text of SQL: where they close, and the parts between commas."""

from __future__ import annotations

from collections.abc import Iterator


def closing(text: str, start: int) -> int:
    """The place of the bracket that closes the one before `start`; the end of the text if none does."""
    for position, _, depth in outside_quotes(text, start):
        if depth < 0:
            return position
    return len(text)


def split_at_commas(text: str) -> list[str]:
    """The parts between the commas that are in no bracket and no quotes."""
    parts, begin = [], 0
    for position, character, depth in outside_quotes(text, 0):
        if character == "," and depth == 0:
            parts.append(text[begin:position])
            begin = position + 1
    return [*parts, text[begin:]]


def outside_quotes(text: str, start: int) -> Iterator[tuple[int, str, int]]:
    """Places and characters, with the number of brackets that are open behind them."""
    depth, quote = 0, ""
    for position in range(start, len(text)):
        character = text[position]
        if quote:
            quote = "" if character == quote else quote
            continue
        if character in "'\"":
            quote = character
        depth += (character in "([{") - (character in ")]}")
        yield position, character, depth
