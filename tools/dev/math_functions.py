"""The table of functions of doubles (runtime/base/math_functions.def), for the reference page and for tests."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dev import places

SOURCE = "runtime/base/math_functions.def"
_LINE = re.compile(r'^HR_MATH\((\d+), (\w+), (\d), "([^"]*)", "([^"]*)", (.+), "([^"]*)"\)$')


@dataclass(frozen=True)
class MathFunction:
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
        return f"({name.join(arguments)})"


def table() -> list[MathFunction]:
    functions = []
    for line in (places.ROOT / SOURCE).read_text().splitlines():
        if not line.startswith("HR_MATH("):
            continue
        found = _LINE.match(line)
        if not found:
            raise ValueError(f"a line of {SOURCE} is not one function: {line}")
        number, name, arguments, duckdb, substrait, _, text = found.groups()
        functions.append(
            MathFunction(int(number), name, int(arguments), tuple(duckdb.split()), substrait, text)
        )
    return functions


def page() -> str:
    """docs/reference/functions.md."""
    rows = []
    for function in table():
        arguments = ["x", "y"][: function.arguments]
        calls = ", ".join(f"`{function.call(*arguments, name=name)}`" for name in function.duckdb)
        substrait = f"`{function.substrait}`" if function.substrait else ""
        rows.append(f"| {calls} | {function.text} | {substrait} |")
    return f"""<!-- Made by ./dev docs from {SOURCE}. -->

# Functions of doubles

Arguments of any number type become doubles; the result is a double, of `sign` a TINYINT, of `is…` and `signbit` a
BOOLEAN. Every function has a value for every argument, infinities and NaN among them; of NULL it is NULL. The other
functions are in [the semantics](../semantics.md#the-sql-that-is-supported).

| SQL | what it is | Substrait |
|---|---|---|
{chr(10).join(rows)}
"""
