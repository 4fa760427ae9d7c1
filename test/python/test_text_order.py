"""ORDER BY of texts goes by their bytes: equal beginnings of every length, empty ones, any bytes."""

from __future__ import annotations

import random

import headrace as hr
import pyarrow
import pytest


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
    expected = sorted(
        range(len(texts)), key=lambda i: texts[i].encode(), reverse=direction == "desc"
    )  # stable
    assert answer["i"].to_pylist() == expected


def test_a_profile_says_how_many_words_of_keys_were_needed() -> None:
    """The first is not counted; that of a second wide number is needed where the first is alike."""
    rows = 4096
    few, different = [2**40 + row % 4 for row in range(rows)], [2**40 + row for row in range(rows)]
    numbers = pyarrow.table({"a": few, "b": different})

    def words(order: str) -> int:
        hr.sql(f"select * from t order by {order}", {"t": numbers})
        return sum(task.get("order_words", 0) for task in hr.last_profile().run["tasks"])

    assert words("b") == 0
    assert words("b, a") == 0
    assert words("a, b") == rows
