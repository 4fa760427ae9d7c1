"""docs/reference/{functions,python,settings}.md, from tables and the package: part of `./dev docs`."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from dev import math_functions, places

FOLDER = places.ROOT / "docs" / "reference"
_FIRST_LINE = "<!-- Made by ./dev docs from {source}. -->"

# Environment variables that are no settings of a run.
VARIABLES = {
    "HEADRACE_HOME": "the folder of plans, kernels, tuning and calibration (default `~/.cache/headrace`)",
    "HEADRACE_CACHE_BYTES": "how many bytes plans may take there, and kernels as many (default 512 MiB each)",
    "HEADRACE_CALIBRATION": "the file of what `headrace calibrate` found; `off` uses assumed figures",
    "HEADRACE_TUNING": "`off` ignores what `headrace tune` found",
    "HEADRACE_ISA": "`x86-64`, `x86-64-v3` or `x86-64-v4`: kernels for that level, if the processor has it",
    "HEADRACE_QUICK_ROWS": "kernels that are thought to see no more rows compile quickly (default 50000)",
    "HEADRACE_DUMP_LLVM": "if set, the LLVM IR of every kernel goes to standard error",
    "TMPDIR": "where `headrace-topo detect` measures a disk (default `/tmp`)",
}

# What the functions take and return, in the order of the page; by module.
_CLASSES = {
    "headrace._src.query.profile": ["Profile"],
    "headrace._src.explain": ["OperatorRows"],
    "headrace._src.frame.expression": [
        "StringFunctions",
        "TemporalFunctions",
        "NameFunctions",
        "When",
        "Then",
    ],
    "headrace._src.frame.lists": ["ListFunctions"],
    "headrace._src.cost": ["Cost", "CostTerm", "TierUse"],
    "headrace._src.array.jit": ["Jit", "TensorType", "Traced"],
    "headrace._src.array.program": ["Program", "Lowered"],
    "headrace._src.array.queries": ["Query", "QueryTensor"],
    "headrace._src.tuning.search": ["Outcome"],
}


def pages() -> dict[Path, str]:
    """Each file, and what it should contain."""
    return {
        FOLDER / "functions.md": math_functions.page(),
        FOLDER / "python.md": python_page(),
        FOLDER / "settings.md": settings_page(),
    }


def remake() -> None:
    for path, text in pages().items():
        path.write_text(text)


def settings_page() -> str:
    from headrace import _runtime

    variables = "\n".join(f"| `{name}` | {meaning} |" for name, meaning in VARIABLES.items())
    return f"""{_FIRST_LINE.format(source="runtime/base/settings.def")}

# Settings

Settings of a run. Each is a flag of `headrace-run`, `headrace sql`, `headrace explain` and `headrace serve`,
an entry of `settings=` in Python, and an environment variable. A flag or an argument overrides the variable.
Sizes are given as a number of bytes, or as `512MiB` or `4GB`, here and wherever else bytes are asked for:
`K`, `M`, `G` and `T`, with or without `B`, are powers of 1,000, and `KiB`, `MiB`, `GiB` and `TiB` powers of
1,024, in small letters or large ones.

`memory`, `threads` and `ranks` are arguments of their own in Python. `HEADRACE_RANKS` is for `headrace-run`
alone: elsewhere the number of ranks is what a program is compiled for, `--ranks` or `ranks=`. The flag
`--memory` of `headrace` and `memory=` in Python are for all ranks together, as the ranks share one process.

{_runtime.settings_markdown().rstrip()}

## Other environment variables

| variable | meaning |
|---|---|
{variables}
"""


def python_page() -> str:
    import headrace
    from headrace import array, errors

    functions, classes = [], []
    for name in sorted(headrace.__all__):
        thing = getattr(headrace, name)
        if not inspect.isclass(thing):
            functions.append(thing)
        elif not issubclass(thing, Exception):
            classes.append(thing)
    classes += [getattr(_module(module), name) for module, names in _CLASSES.items() for name in names]
    parts = [
        _FIRST_LINE.format(source="the signatures and descriptions in python/headrace"),
        "# Python reference",
        "`import headrace as hr`. See also [tutorial](../tutorial.md) and [semantics](../semantics.md).",
        "`hr.__version__` is the version of the package.",
        "## Functions",
        *(_function(f"hr.{function.__name__}", function) for function in functions),
        "## What they take and return",
        *(part for each in classes for part in _class(each)),
        "## Array functions",
        "`from headrace import array as xp`: what can be called in a function that `hr.jit` traces.",
        _table(array),
        "## DB-API 2",
        "`headrace.dbapi` is [PEP 249](https://peps.python.org/pep-0249/): `dbapi.connect(tables, **options)`"
        " takes what `hr.connect` takes.",
        *(part for name in ("Connection", "Cursor") for part in _class(getattr(headrace.dbapi, name))),
        "## Exceptions",
        f"Of `hr.errors`, all of them `hr.HeadraceError`. {_text(errors.HeadraceError)}",
        *(
            f"- `{name}`: {_text(getattr(errors, name))}"
            for name in errors.__all__
            if name != "HeadraceError"
        ),
    ]
    text = "\n\n".join(part for part in parts if part)
    return text.replace("\n\n- `", "\n- `") + "\n"


def _module(name: str) -> ModuleType:
    import importlib

    return importlib.import_module(name)


def _function(name: str, function: Any) -> str:
    return f"### {name}\n\n```text\n{_signature(name, function)}\n```\n\n{_text(function)}"


def _class(each: type) -> Iterator[str]:
    yield f"### {each.__name__}"
    yield _text(each)
    rows = list(_members(each))
    if rows:
        yield "\n".join(f"- `{name}`{': ' if text else ''}{text}" for name, text in rows)


def _members(each: type) -> Iterator[tuple[str, str]]:
    fields = dataclasses.fields(each) if dataclasses.is_dataclass(each) else ()
    for field in fields:
        if not field.name.startswith("_"):
            yield f"{field.name}: {field.type}", ""
    # Of a class that is divided over files.
    parts = [base for base in each.__bases__ if base.__name__ == "RowExpression"]
    for name, member in (pair for part in (each, *parts) for pair in vars(part).items()):
        if name == "__call__":
            yield _signature("", member), _text(member)
        elif name.startswith("_") or name in {field.name for field in fields} or not _text(member):
            continue
        elif inspect.isfunction(member):
            yield _signature(f".{name}", member), _text(member)
        elif isinstance(member, property) or hasattr(member, "func"):
            yield f".{name}", _text(member)


def _table(array: ModuleType) -> str:
    rows = []
    for name in array.__all__:
        thing = getattr(array, name)
        if inspect.isfunction(thing):
            rows.append(
                f"| `{_signature(f'xp.{name}', thing).replace('|', chr(92) + '|')}` | {_text(thing)} |"
            )
        elif isinstance(thing, str):
            rows.append(f"| `xp.{name}` | the element type `{thing}` |")
    operators = (
        "`+ - * / @`, unary `-`, basic indexing `x[…]`, `.T`, `.shape`, `.dtype` of arrays mean what they "
        "mean in NumPy."
    )
    return "\n".join(
        ["| function | meaning, where its name does not say it |", "|---|---|", *rows, "", operators]
    )


def _signature(name: str, function: Any) -> str:
    """As Python writes it, without self; on several lines where one is too long."""
    signature = inspect.signature(function)
    parameters: list[str] = []
    kinds = [each.kind for each in signature.parameters.values()]
    for each in signature.parameters.values():
        if each.kind == each.KEYWORD_ONLY and "*" not in parameters and each.VAR_POSITIONAL not in kinds:
            parameters.append("*")
        star = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        default = "" if each.default is each.empty else f" = {each.default!r}"
        if each.name != "self":
            parameters.append(f"{star}{each.name}: {each.annotation}{default}")
    result = "" if signature.return_annotation is signature.empty else f" -> {signature.return_annotation}"
    line = f"{name}({', '.join(parameters)}){result}"
    if len(line) <= 100:
        return line
    rows = "".join(f"    {row},\n" for row in parameters)
    return f"{name}(\n{rows}){result}"


def _text(thing: Any) -> str:
    """The description as one paragraph after the other; none of a class that only inherits one."""
    text = thing.__doc__ or ""
    if inspect.isclass(thing) and dataclasses.is_dataclass(thing) and text.startswith(f"{thing.__name__}("):
        return ""
    paragraphs = [" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n")]
    names = list(inspect.signature(thing).parameters) if inspect.isfunction(thing) else []
    return "\n\n".join(_arguments(paragraph, names) for paragraph in paragraphs)


def _arguments(paragraph: str, names: list[str]) -> str:
    """A paragraph "first: what it is. second: …" about the parameters of these names as a list."""
    each = "|".join(re.escape(name) for name in names)
    if not names or not re.match(rf"({each}): ", paragraph):
        return paragraph
    items = re.split(rf"(?<=[.)]) (?=(?:{each}): )", paragraph)
    return "\n".join(re.sub(r"^(\w+): ", r"- `\1`: ", item) for item in items)
