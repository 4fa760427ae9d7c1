"""The tables of dates and times (time_parts.def and date_functions.def), for their page and for tests."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dev import places

PARTS_SOURCE = "passes/import/time_parts.def"
SOURCE = "passes/import/date_functions.def"
_PART = re.compile(r'^HR_PART\((\w+), "([^"]*)", (\S+?(?:\([^)]*\))?), (.+), "([^"]*)"\)$')
_DATE = re.compile(r'^HR_DATE\("([^"]*)", \(([^)]*)\), (.+), "([^"]*)"\)$')


@dataclass(frozen=True)
class Part:
    names: tuple[str, ...]
    length: str  #: "ofMonths(12)", or "" of one that counts nothing
    text: str

    @property
    def is_of_time(self) -> bool:
        """Whether times of day have it."""
        return self.length.startswith(("ofSeconds", "ofMicros")) or self.names == ("nanosecond",)


@dataclass(frozen=True)
class Argument:
    kind: str
    name: str


@dataclass(frozen=True)
class DateFunction:
    names: tuple[str, ...]
    arguments: tuple[Argument, ...]
    text: str

    def shown(self, name: str) -> str:
        """As the page writes it."""
        return f"{name}({', '.join(each.name for each in self.arguments)})"


def _lines(source: str, pattern: re.Pattern[str]) -> list[tuple[str, ...]]:
    lines = []
    for line in (places.ROOT / source).read_text().splitlines():
        if not line.startswith("HR_"):
            continue
        found = pattern.match(line)
        if not found:
            raise ValueError(f"a line of {source} is not one of its table: {line}")
        lines.append(found.groups())
    return lines


def parts() -> list[Part]:
    return [
        Part(tuple(names.split()), "" if length == "std::nullopt" else length, text)
        for _, names, length, _, text in _lines(PARTS_SOURCE, _PART)
    ]


def table() -> list[DateFunction]:
    return [
        DateFunction(
            tuple(names.split()), tuple(Argument(*each.split()) for each in listed.split(", ")), text
        )
        for names, listed, _, text in _lines(SOURCE, _DATE)
    ]


def section() -> str:
    """The parts and functions of dates and times of docs/reference/functions.md."""
    named = [
        f"| {', '.join(f'`{name}`' for name in part.names)} | {part.text} | {'yes' if part.length else ''} |"
        for part in parts()
    ]
    rows = [
        f"| {', '.join(f'`{each.shown(name)}`' for name in each.names)} | {each.text} |" for each in table()
    ]
    return f"""Of NULL they are NULL. `format` is a constant. A part is written
`date_part('year', x)`, `extract(year from x)` or by its name, `year(x)`, in Substrait `extract`; its name may
be another in each row, as a value of a column. Times of day have the parts from hours to nanoseconds, and
the epoch.

| part | what it is | a length of time |
|---|---|---|
{chr(10).join(named)}

Those that are no length of time have no `date_trunc`, `date_diff` and `date_sub`.

| SQL | what it is |
|---|---|
{chr(10).join(rows)}
"""
