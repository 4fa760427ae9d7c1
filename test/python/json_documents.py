"""JSON for tests: odd documents and paths, and random ones from a seed."""

from __future__ import annotations

import json
import random

DOCUMENTS = [
    None, "{}", "[]", "null", "true", " 1 ", "-0", "1.50", '"text"', '""', '{"a": 1}',
    '{"a": null, "b": [1, 2.50, "x"]}',
    '{"a": {"b": {"c": [1, [2, {"d": "deep"}]]}}, "e": false}', '{"a": 1, "a": 2, "b": {"a": 3}}',
    '{"a b": 1, "a.b": 2, "a/b": 3, "x\\"y": 4, "": 5, "0": 6, "a~b": 7}',
    '{"\\u0061": "\\u00e9\\ud83d\\ude00\\n\\"\\/\\\\"}',
    '["é€😀", "tab\\t", "\\u0001\\u001f", "\\b\\f"]',
    "[1, 2.0, -3, 1e5, 1E400, -0.0, 1e-7, 0.000001, 1e21, 123456789012345678901234567890]",
    "[18446744073709551615, 18446744073709551616, -9223372036854775808, -9223372036854775809]",
    "[0.1, 100.10, NaN, -Infinity]",
    "[1, 2, ]", '{"a": 1, }', '[{"a": 1}, {"a": 2, "b": 3}, 4]', '[[1, 2], [3], []]',
    '\t{ "a" :\n[ 1 ,\r2 ] } ',
]  # fmt: skip

MALFORMED = [
    "", " ", "{", "[", '"', "[1", '{"a"', '{"a":', '{"a": 1', "[1 2]", "{a: 1}", "[,]", "[1,,]", "{,}",
    "tru", "nulL", "[01]", "[1.]", "[.5]",
    "[+1]", "[1e]", "[--1]", "-", '["\\x"]', '["\\ud83d"]', '["\\ude00"]', '["\\u12g4"]', '["a\tb"]',
    '["a\nb"]', "{} {}", "[]]", '{"a": 1]', "'a'",
    "[1}", '{"a" 1}', '{1: 2}', "nan1", "[inf", '"\\u12"',
]  # fmt: skip

PATHS = [
    "$", "$.a", "a", "$.b", "$.b[0]", "$.b[2]", "$[0]", "$[#-1]", "$[-1]", "$[#]", "$[9]", "$[-99]",
    "$.a.b.c[1][1].d", '$."a b"', '$."a.b"',
    "a.b", "a/b", "/a", "/a/b", "/b/1", "/0", "/a~1b", "/a~0b", "/", "/01", '$."x\\"y"', 'x"y', "a~b", "",
    "$.a.x", "$.0", "$[0].a",
]  # fmt: skip
WILDCARDS = [
    "$.*",
    "$[*]",
    "$.a.*",
    "$[*].a",
    "$.b[*]",
    "$..a",
    "$..b[0]",
    "$..*",
    "$..[*]",
    "$.*.*",
    "$[*][*]",
    "$..[#-1]",
]
BAD_PATHS = ["$.", "$x", "$[", "$[x]", "$[1", '$."a', "$.a.", "$[]", "$[#0]", "$.*", "$..a", "$[*]"]

_NUMBERS = (
    "0 -0 1 -1 1.0 -0.0 2.50 1e5 1E+2 1.5e-7 0.0000001 1e21 18446744073709551616 1e400 1e-400 NaN -inf 0.1"
    " 5e-324 12345678901234567.5"
)
_TEXTS = ["", "x", "hello", "tab\t", 'q"', "back\\", "é€😀", "\x01\x1f\x7f", "line\n", "0123456789abcdefghij"]
_KEYS = ["a", "b", "ab", "", "a b", "é", "a.b", 'x"y', "0", "a/b", "k~"]


class Documents:
    """Random JSON, not always well-formed, and paths into it."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def _blanks(self) -> str:
        return self._random.choice(["", "", "", "", " ", "\n", "\t ", "\r"])

    def _text(self, text: str) -> str:
        return json.dumps(text, ensure_ascii=self._random.random() < 0.5)

    def value(self, depth: int) -> str:
        draw = self._random
        if depth == 0 or draw.random() < 0.4:
            if draw.random() < 0.5:
                real = f"{draw.uniform(-10, 10) * 10.0 ** draw.randrange(-25, 25):.{draw.randrange(18)}e}"
                return draw.choice([*_NUMBERS.split(), real, repr(draw.uniform(-1e6, 1e6))])
            return draw.choice([*map(self._text, _TEXTS), '"\\/\\b\\u0022"', "true", "false", "null"])
        items = [self._blanks() + self.value(depth - 1) + self._blanks() for _ in range(draw.randrange(4))]
        last = "," if items and draw.random() < 0.05 else ""
        if draw.random() < 0.5:
            return f"[{','.join(items)}{last}{self._blanks()}]"
        pairs = [f"{self._blanks()}{self._text(draw.choice(_KEYS))}{self._blanks()}:{item}" for item in items]
        return f"{{{','.join(pairs)}{last}{self._blanks()}}}"

    def document(self) -> str:
        draw = self._random
        text = self._blanks() + self.value(3) + self._blanks()
        at = draw.randrange(len(text) + 1)
        if draw.random() < 0.15:
            return text[:at] + draw.choice(["", *'{}[]",:\\-+eE.tfnu']) + text[at + draw.randrange(2) :]
        return text

    def path(self) -> str:
        draw = self._random
        if draw.random() < 0.2:
            parts = ["a", "b", "0", "1", "01", "", "k~0", "a~1b", "~2", "é"]
            return "".join("/" + draw.choice(parts) for _ in range(draw.randrange(1, 4)))
        if draw.random() < 0.1:
            return draw.choice(_KEYS)
        steps = [
            ".a",
            ".b",
            '."a b"',
            '."a.b"',
            '."x\\"y"',
            ".é",
            "[0]",
            "[1]",
            "[#-1]",
            "[-2]",
            "[#]",
            ".k~",
        ]
        return "$" + "".join(draw.choice(steps) for _ in range(draw.randrange(4)))
