"""The tables of functions of texts, of lists and of JSON, for the reference page and for tests."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dev import places

SOURCE = "runtime/base/text_functions.def"
LIST_SOURCE = "runtime/base/list_functions.def"
JSON_SOURCE = "runtime/base/json_functions.def"
_LINE = re.compile(
    r"^HR_TEXT(?:_SKIPPING_NULLS)?(_OR_ERROR)?\((\d+), (\w+), (\w+), \(([^)]*)\), (.+?),"
    r' "([^"]*)", "([^"]*)", "([^"]*)"(?:, "([^"]*)")?\)$'
)
_GIVES = {"Text": "string", "Boolean": "i1", "Count": "i64", "CodePoint": "i64"}
_GIVES |= {"List": "list", "Number": "i64", "Binary": "binary", "Bytes": "string"}
_GIVES |= {
    "Interval": "interval",
    "ShortNumber": "i64",
    "Unsigned128": "ui128",
    "Uuid": "uuid",
    "Enum": "enum",
}
_GIVES |= {f"Maybe{kind}": type_ for kind, type_ in _GIVES.items()}


@dataclass(frozen=True)
class Argument:
    kind: str
    name: str


@dataclass(frozen=True)
class TextFunction:
    number: int
    name: str
    gives: str
    arguments: tuple[Argument, ...]
    duckdb: tuple[str, ...]
    substrait: tuple[str, ...]
    text: str
    error: str

    def call(self, *arguments: str, name: str | None = None) -> str:
        """A call in SQL, by the first of its names or another."""
        name = name or self.duckdb[0]
        if name == "position":
            return f"position({arguments[1]} in {arguments[0]})"
        if name.isidentifier():
            return f"{name}({', '.join(arguments)})"
        return f"({f' {name} '.join(arguments)})"

    @property
    def frame_type(self) -> str:
        """The type of the op's result."""
        return _GIVES[self.gives]

    def shown(self, name: str) -> str:
        """As the page writes it."""
        if self.arguments[-1].kind in ("Texts", "AllBytes", "Lists"):
            return self.call("x", "y", "…", name=name)
        names = [argument.name for argument in self.arguments]
        if self.arguments[-1].kind == "Blanks":
            names[-2:] = [f"{names[-2]}[, {names[-1]}]"]
        return self.call(*names, name=name)


def table(source: str = SOURCE) -> list[TextFunction]:
    functions = []
    for line in (places.ROOT / source).read_text().splitlines():
        if not line.startswith("HR_"):
            continue
        found = _LINE.match(line)
        if not found or bool(found[1]) != bool(found[10]):
            raise ValueError(f"a line of {source} is not one function: {line}")
        _, number, name, gives, listed, _, duckdb, substrait, text, error = found.groups()
        arguments = tuple(Argument(*each.split()) for each in listed.split(", "))
        functions.append(
            TextFunction(
                int(number),
                name,
                gives,
                arguments,
                tuple(duckdb.split()),
                tuple(substrait.split()),
                text,
                error or "",
            )
        )
    return functions


def section() -> str:
    """The functions of texts of docs/reference/functions.md."""
    rows = []
    for function in table():
        calls = ", ".join(f"`{function.shown(name)}`" for name in function.duckdb)
        calls = calls.replace("|", "\\|")
        substrait = ", ".join(f"`{name}`" for name in function.substrait)
        text = f"{function.text}; an error: {function.error}" if function.error else function.text
        if calls or substrait:
            rows.append(f"| {calls} | {text} | {substrait} |")
    return f"""Texts are UTF-8, and counted in characters (code points). Of NULL they are NULL, if nothing
else is said. `||`, `repeat`, `octet_length`, `hex`, `md5`, `sha1` and `sha256` are of BLOBs too.

| SQL | what it is | Substrait |
|---|---|---|
{chr(10).join(rows)}
"""


def list_section() -> str:
    """The functions of lists of docs/reference/functions.md."""
    rows = []
    for function in table(LIST_SOURCE):
        calls = ", ".join(f"`{function.shown(name)}`" for name in function.duckdb)
        text = f"{function.text}; an error: {function.error}" if function.error else function.text
        if calls:
            rows.append(f"| {calls.replace('|', chr(92) + '|')} | {text} |")
    return f"""Beside these `[a, b]` and `list_value`, `l[n]` and `l[a:b]`, `||`, casts to VARCHAR
and of elements, comparisons, `list_aggregate` of `sum`, `avg`, `min`, `max`, `count`, `product`, `first`,
`last` and `string_agg`, and `cardinality`. Places count from 1, negative ones from the end. Of NULL they
are NULL, if nothing else is said.

Of structs: `{{'a': x}}`, `struct_pack`, `row`, `s.a`, `s['a']`, `s[1]`, `struct_extract`,
`struct_insert`, `struct_update`, `struct_concat`, `unnest`. Of maps, beside those below: `MAP {{k: v}}`,
`m[k]`, `map_entries`, `cardinality`, `map_contains`, `map_contains_value`, and `histogram`.

| SQL | what it is |
|---|---|
{chr(10).join(rows)}
"""


def json_section() -> str:
    """The functions of JSON of docs/reference/functions.md."""
    rows = []
    for function in table(JSON_SOURCE):
        calls = ", ".join(f"`{function.shown(name)}`" for name in function.duckdb)
        text = f"{function.text}; an error: {function.error}" if function.error else function.text
        if calls:
            rows.append(f"| {calls.replace('|', chr(92) + '|')} | {text} |")
    return f"""Of JSON, and of texts that are some. Beside these `json(x)`, `to_json(x)`, `json_quote(x)`,
`array_to_json(l)`, `row_to_json(s)`, `json_array(x, …)`, `json_object(key, x, …)`,
`json_transform(x, shape)`, `from_json(x, shape)` and these with `_strict`, `j.key`, `j['key']` and `j[n]`,
casts from and to JSON, `json_group_array`, `json_group_object` and `json_group_structure`, and in `FROM`
`json_each(x, path)` and `json_tree(x, path)`. A path is `$.a.b`, `$."a b"`, `$[0]`,
`$[#-1]`, a pointer (`/a/0`), one key, or an integer, the place in an array; a constant one may have
wildcards: `$.*`, `$[*]`, `$..a`. Of NULL they are NULL.

| SQL | what it is |
|---|---|
{chr(10).join(rows)}
"""
