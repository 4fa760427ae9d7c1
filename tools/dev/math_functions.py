"""The table of functions of numbers (runtime/base/math_functions.def), for its page and for tests."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dev import aggregate_functions, date_functions, places, text_functions

SOURCE = "runtime/base/math_functions.def"
_LINE = re.compile(r'^HR_(MATH|INTEGER_MATH)\((\d+), (\w+), (\d), "([^"]*)", "([^"]*)", (.+), "([^"]*)"\)$')


@dataclass(frozen=True)
class MathFunction:
    integers: bool
    number: int
    name: str
    arguments: int
    duckdb: tuple[str, ...]
    substrait: str
    text: str

    def call(self, *arguments: str, name: str | None = None) -> str:
        """A call in SQL, by the first of its names or another."""
        name = name or self.duckdb[0]
        if name.isidentifier():
            return f"{name}({', '.join(arguments)})"
        if len(arguments) == 1:
            return f"({name} {arguments[0]})"
        return f"({name.join(arguments)})"


def table() -> list[MathFunction]:
    functions = []
    for line in (places.ROOT / SOURCE).read_text().splitlines():
        if not line.startswith("HR_"):
            continue
        found = _LINE.match(line)
        if not found:
            raise ValueError(f"a line of {SOURCE} is not one function: {line}")
        kind, number, name, arguments, duckdb, substrait, _, text = found.groups()
        integers = kind == "INTEGER_MATH"
        functions.append(
            MathFunction(integers, int(number), name, int(arguments), tuple(duckdb.split()), substrait, text)
        )
    return functions


def _rows(functions: list[MathFunction]) -> str:
    rows = []
    for function in functions:
        arguments = ["x", "y"][: function.arguments]
        calls = ", ".join(f"`{function.call(*arguments, name=name)}`" for name in function.duckdb)
        calls = calls.replace("|", "\\|")
        substrait = f"`{function.substrait}`" if function.substrait else ""
        rows.append(f"| {calls} | {function.text} | {substrait} |")
    return "\n".join(rows)


def page() -> str:
    """docs/reference/functions.md."""
    functions = table()
    named = [function for function in functions if function.duckdb]
    doubles = _rows([function for function in named if not function.integers])
    integers = _rows([function for function in named if function.integers])
    return f"""<!-- Made by ./dev docs from {SOURCE}, {text_functions.SOURCE}, {text_functions.LIST_SOURCE},
{text_functions.JSON_SOURCE}, {date_functions.PARTS_SOURCE},
{date_functions.SOURCE} and {aggregate_functions.SOURCE}. -->

# Functions

Those that are no operator, and every aggregate. The rest is in
[the semantics](../semantics.md#the-sql-that-is-supported).

## Functions of doubles

Arguments of any number type become doubles; the result is a double, of `sign` a TINYINT, of `is…` and
`signbit` a BOOLEAN. Every function has a value for every argument, infinities and NaN among them; of NULL it
is NULL.

| SQL | what it is | Substrait |
|---|---|---|
{doubles}

## Functions of integers

Of integers of at most 128 bits; what does not fit the result's type is an overflow. Of NULL they are NULL.

| SQL | what it is | Substrait |
|---|---|---|
{integers}

## Functions of texts

{text_functions.section()}
## Functions of lists

{text_functions.list_section()}
## Functions of JSON

{text_functions.json_section()}
## Dates and times

{date_functions.section()}
## Aggregates

{aggregate_functions.section()}"""
