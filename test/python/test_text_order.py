"""ORDER BY of texts goes by their bytes: equal beginnings of every length, empty ones, bytes beyond ASCII and zero."""

from __future__ import annotations

import random

import pyarrow
import pytest

import headrace as hr


def _texts() -> list[str]:
    choose = random.Random(7)
    beginnings = ["", "a", "abc", "abcd", "abcdefg", "abcdefgh", "abcdefghi", "abcdefghijklmnop", "é" * 9]
    ends = ["", "\0", "\0\0", "a", "b", "z", "é", "\x7f", "\u4e2d", "abcdefgh", "abcdefgi", "\U0001f600"]
    return [choose.choice(beginnings) + choose.choice(ends) + choose.choice(ends) for _ in range(3000)]


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_order_of_texts(direction: str, ranks: int) -> None:
    texts = _texts()
    table = pyarrow.table({"t": texts, "i": list(range(len(texts)))})
    answer = hr.sql(f"select t, i from s order by t {direction}, i", {"s": table}, ranks=ranks)
    expected = sorted(range(len(texts)), key=lambda i: texts[i].encode(), reverse=direction == "desc")  # stable
    assert answer["i"].to_pylist() == expected
