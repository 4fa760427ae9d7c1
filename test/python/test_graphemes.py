"""Characters as they are seen (grapheme clusters), beside DuckDB."""

from __future__ import annotations

import random

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import answer, check, same

_ROWS = 3000
#: What the rules tell apart: marks, joiners, emoji, regions, consonants that link, syllables, controls.
_CHARACTERS = (
    *"ab\r\n \t\u0301\u0308\u200d\u200c\u0903\u0600\u0915\u0937\u094d\u093c\u1100\u1161\u11a8\uac00\uac01",
    *"\u2764\ufe0f\U0001f468\U0001f469\U0001f467\U0001f3fd\U0001f1e9\U0001f1ea\U0001f1eb\u0e33\u00e9\u4e00",
)


def _texts() -> list[str | None]:
    draw = random.Random(3)
    texts = ["", None, "a", "\r\n", "mañana", "👨‍👩‍👧", "🇩🇪🇫🇷🇦", "क्षि", "각가"]
    return texts + ["".join(draw.choices(_CHARACTERS, k=draw.randrange(12))) for _ in range(_ROWS)]


_TEXTS = _texts()
_TABLES = {
    "t": pa.table(
        {"i": range(len(_TEXTS)), "n": [place % 23 - 11 for place in range(len(_TEXTS))], "s": _TEXTS}
    )
}


def test_every_code_point() -> None:
    """Alone, and beside what tells apart of which kind it is."""
    c = "chr(i)"
    beside = {
        "after": f"'a', {c}",
        "before": f"{c}, 'a'",
        "marked": f"{c}, chr(769)",
        "pictures": f"chr(10084), {c}, chr(8205), chr(10084)",
        "picture": f"chr(10084), chr(8205), {c}",
        "linked": f"chr(2325), {c}, chr(2325)",
        "linking": f"chr(2325), chr(2381), {c}, chr(2325)",
        "regions": f"chr(127462), {c}, chr(127462)",
        "leading": f"chr(4352), {c}, chr(44032)",
        "vowel": f"chr(44032), {c}, chr(4449)",
        "trailing": f"chr(44033), {c}, chr(4520)",
    }
    codes = [code for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000]
    sums = ", ".join(
        f"sum(length_grapheme(concat({text})) * (i % 61 + 1)) as {name}" for name, text in beside.items()
    )
    tables = {"c": pa.table({"i": pa.array(codes, pa.int32())})}
    check(f"select i // 64 as block, {sums} from c group by all", tables)


@pytest.mark.parametrize("ranks", [1, 3])
def test_texts(ranks: int) -> None:
    calls = ["length_grapheme(s)", "reverse(s)", "left_grapheme('é' || s, n)", "right_grapheme(s, n)"]
    calls += ["left_grapheme(s, -2)", "right_grapheme(s, null)", "length_grapheme(s || 'é')"]
    listed = ", ".join(f"{call} as c{place}" for place, call in enumerate(calls))
    check(f"select i, {listed} from t", _TABLES, ranks=ranks)


def test_parts() -> None:
    """Behind a letter that is not of ASCII: DuckDB counts bytes in front of the first one."""
    calls = [f"substring_grapheme('é' || s, n, {count})" for count in ("0", "3", "-2", "i % 9 - 4", "99")]
    calls += ["substring_grapheme('é' || s, n)", "substring_grapheme('é' || s, 0, 2)"]
    calls += [f"substring_grapheme('hello', n, {count})" for count in (2, -3)]
    listed = ", ".join(f"{call} as c{place}" for place, call in enumerate(calls))
    check(f"select i, {listed} from t", _TABLES)


def test_where_duckdb_counts_bytes() -> None:
    text = "select substring_grapheme('abcdé', -4, 1) as a, substring('abcdé', -4, 1) as b"
    assert hr.sql(text, {}).to_pylist() == [{"a": "b", "b": "b"}]
    assert answer(text, {}).to_pylist() == [{"a": "c", "b": "b"}]


def test_groups_and_keys() -> None:
    text = "select length_grapheme(s) as k, count(*) as n from t group by all order by all"
    same(hr.sql(text, _TABLES, ranks=2), answer(text, _TABLES), ordered=True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("left_grapheme(s, 5000000000)", "left_grapheme of 2.32 characters"),
        ("substring_grapheme(s, 5000000000)", "substring_grapheme beyond 2.32 characters"),
        ("substring_grapheme(s, 1, -5000000000)", "substring_grapheme beyond 2.32 characters"),
    ],
)
def test_refused(call: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql(f"select {call} from t", _TABLES)
