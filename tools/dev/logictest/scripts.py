"""What a script of sqllogictest says, as far as this needs it: its statements and queries in order, with
loops unrolled. Expected results are passed over, since DuckDB gives them anew.

The format: https://duckdb.org/docs/stable/dev/sqllogictest/intro
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

# What a script may require without being passed over: what this Python's DuckDB has built in.
AVAILABLE = frozenset(
    {
        "64bit",
        "core_functions",
        "exact_vector_size",
        "icu",
        "json",
        "longdouble",
        "no_alternative_verify",
        "no_extension_autoloading",
        "no_vector_verification",
        "noforcestorage",
        "notmingw",
        "notmusl",
        "notwindows",
        "parquet",
        "skip_reload",
        "vector_size",
    }
)

_SIZES = ("tinyint", "smallint", "integer", "bigint", "hugeint")
_INTEGERS = [*_SIZES, *(f"u{size}" for size in _SIZES)]
_NUMBERS = [*_INTEGERS, "float", "double"]
LISTS = {
    "<integral>": _INTEGERS,
    "<signed>": [*_SIZES],
    "<unsigned>": _INTEGERS[len(_SIZES) :],
    "<numeric>": _NUMBERS,
    "<alltypes>": [*_NUMBERS, "bool", "interval", "varchar"],
}


class NotRunnable(Exception):
    """Why the script, or the rest of it, is passed over."""


@dataclass(frozen=True)
class Step:
    """One statement, or a query whose result is wanted. `line` counts from 1."""

    line: int
    text: str
    is_query: bool


@dataclass(frozen=True)
class _Block:
    line: int
    words: list[str]
    body: list[str]


def steps_of(script: str) -> Iterator[Step]:
    """The steps of a script in order; NotRunnable where it needs what is not here."""
    yield from _run(list(_blocks(script)), {})


def _blocks(script: str) -> Iterator[_Block]:
    """Commands with the lines of SQL that belong to them."""
    lines = script.splitlines()
    at = 0
    while at < len(lines):
        words = lines[at].split()
        if not words or words[0].startswith("#"):
            at += 1
            continue
        start = at
        at += 1
        body: list[str] = []
        if words[0] in ("statement", "query"):
            while at < len(lines) and lines[at].strip() and not lines[at].startswith("----"):
                body.append(lines[at])
                at += 1
            while at < len(lines) and lines[at].strip():  # the expected result
                at += 1
        yield _Block(start + 1, words, body)


def _run(blocks: Sequence[_Block], variables: Mapping[str, str]) -> Iterator[Step]:
    at = 0
    passed_over = False  # by skipif or onlyif, the next command alone
    skipping = False  # between `mode skip` and `mode unskip`
    while at < len(blocks):
        block = blocks[at]
        at += 1
        command, words = block.words[0], [_filled(word, variables) for word in block.words[1:]]
        if command == "mode" and words[:1] in (["skip"], ["unskip"]):
            skipping = words[0] == "skip"
        elif command == "halt" and not skipping:
            return
        elif command in ("skipif", "onlyif"):
            passed_over = (words[0] == "duckdb") == (command == "skipif")
        elif command in ("loop", "foreach", "concurrentloop", "concurrentforeach"):
            end = _end_of_loop(blocks, at)
            if not skipping:
                for more in _rounds(command, words):
                    yield from _run(blocks[at:end], {**variables, **more})
            at = end + 1
        elif command in ("statement", "query"):
            if not skipping and not passed_over:
                yield Step(block.line, _filled("\n".join(block.body), variables), command == "query")
            passed_over = False
        elif command == "require" and not skipping:
            if words[0].lower() not in AVAILABLE:
                raise NotRunnable(f"requires {words[0]}")
        elif command in ("load", "require-env", "restart", "unzip") and not skipping:
            raise NotRunnable(f"{command} is not understood")


def _end_of_loop(blocks: Sequence[_Block], at: int) -> int:
    depth = 1
    for end in range(at, len(blocks)):
        if blocks[end].words[0] in ("loop", "foreach", "concurrentloop", "concurrentforeach"):
            depth += 1
        elif blocks[end].words[0] == "endloop":
            depth -= 1
            if depth == 0:
                return end
    raise NotRunnable("a loop has no end")


def _rounds(command: str, words: Sequence[str]) -> Iterator[dict[str, str]]:
    """The variables of each round of a loop."""
    if command.startswith("concurrent"):
        raise NotRunnable("loops of several connections are not understood")
    if command == "loop":
        name, start, end = words[:3]
        yield from ({name: str(i)} for i in range(int(start), int(end)))
        return
    names = words[0].split(",")
    values = list(itertools.chain.from_iterable(LISTS.get(word.lower(), [word]) for word in words[1:]))
    left_out = {value[1:] for value in values if value.startswith("!")}
    for value in values:
        if not value.startswith("!") and value not in left_out:
            parts = value.split(",") if len(names) > 1 else [value]
            yield dict(zip(names, parts, strict=True))


def _filled(text: str, variables: Mapping[str, str]) -> str:
    return re.sub(r"\$?\{(\w+)\}", lambda found: variables.get(found[1], found[0]), text)
