"""PIVOT without a list of values: a query finds them, and they are written into the text, as DuckDB does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from headrace._src.errors import UnsupportedError
from headrace._src.sql.brackets import closing, outside_quotes, split_at_commas
from headrace._src.sql.literals import literal

_MAY_PIVOT = re.compile(r"\bpivot(_wider)?\b", re.IGNORECASE)
_PIVOT = re.compile(r"(?:^|;|\(|\))\s*(pivot(?:_wider)?)\s", re.IGNORECASE)
_WITH = re.compile(r"\s*with\s+(recursive\s+)?", re.IGNORECASE)
_DEFINED = re.compile(r"\bas\s+(?:(?:not\s+)?materialized\s*)?\(", re.IGNORECASE)
_CLAUSE = re.compile(r"(on|using|group|order|limit|offset|in|union|intersect|except)\b", re.IGNORECASE)


def with_pivot_values(text: str, values_of: Callable[[str], list[str]]) -> str:
    """The text with the values of each PIVOT … ON x that lists none.

    values_of: the rows of a query of one column of texts.
    """
    if not _MAY_PIVOT.search(text):
        return text
    position = 0
    while found := _PIVOT.search(text, position):
        position = found.end()
        end = min(closing(text, position), _end_of_statement(text, position))
        clauses = list(_clauses(text, position, end))
        starts = [place for place, word in clauses if word == "on"]
        if not starts:
            continue
        source, begin = text[position : starts[0]], starts[0] + len("on")
        behind = next((place for place, word in clauses if place > begin and word != "in"), end)
        items = [
            _with_values(item, source, _before(text, found.start(1)), values_of)
            for item in split_at_commas(text[begin:behind])
        ]
        text = text[:begin] + ",".join(items) + " " + text[behind:]
    return text


def _with_values(
    item: str, source: str, before: tuple[str, list[str]], values_of: Callable[[str], list[str]]
) -> str:
    if any(word == "in" for _, word in _clauses(item, 0, len(item))):
        return item
    definitions, withs = before
    query = f"select cast(({item}) as varchar) as v from {source}"
    for clause in reversed(withs):
        query = f"{clause}select v from ({query})"
    values = values_of(f"{definitions} select distinct v from ({query}) where v is not null order by v")
    if not values:
        raise UnsupportedError(f"PIVOT ON {item.strip()} finds no values")
    return f" ({item.strip()}) in ({', '.join(map(literal, values))})"


def _before(text: str, pivot: int) -> tuple[str, list[str]]:
    """What the source of a PIVOT may refer to: the definitions in front of its statement, and of each query
    around it, from the outermost, what its WITH has defined until here."""
    statement, opened = 0, [0]
    for position, character, depth in outside_quotes(text[:pivot], 0):
        if character == ";" and depth == 0:
            statement, opened = position + 1, [position + 1]
        elif character == "(":
            opened.append(position + 1)
        elif character == ")" and len(opened) > 1:  # else DuckDB says what is wrong
            opened.pop()
    withs = [_with_before(text[start:pivot]) for start in opened]
    return text[:statement], [clause for clause in withs if clause]


def _with_before(text: str) -> str:
    """The WITH that a text begins with, as far as its definitions end in it."""
    start = _WITH.match(text)
    if not start:
        return ""
    definitions, position = [], start.end()
    while body := _DEFINED.search(text, position):
        end = closing(text, body.end())
        if end == len(text):  # it goes on behind
            break
        definitions.append(text[position : end + 1])
        following = text[end + 1 :].lstrip()
        if not following.startswith(","):
            break
        position = text.index(",", end) + 1
    return f"{start.group()}{','.join(definitions)} " if definitions else ""


def _end_of_statement(text: str, start: int) -> int:
    for position, character, depth in outside_quotes(text, start):
        if character == ";" and depth == 0:
            return position
    return len(text)


def _clauses(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Where clauses begin that are in no bracket and no quotes, and their first word in small letters."""
    for position, _, depth in outside_quotes(text[:end], start):
        before = text[position - 1] if position else " "
        if depth == 0 and not (before.isalnum() or before in "_.$"):
            word = _CLAUSE.match(text, position, end)
            if word:
                yield position, word.group(1).lower()
