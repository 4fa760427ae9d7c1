"""Regular expressions: those that mean the same in Polars (Rust's) and in SQL (RE2's)."""

from __future__ import annotations

import re
from typing import Any

from headrace._src.errors import UnsupportedError, UserError

_MEANING = set("\\.^$*+?{}[]|()")
# Classes such as that of digits hold Unicode in Rust and ASCII in RE2; flags, names, and sets of sets are
# written in other ways.
_OTHER = re.compile(r"\\[A-Za-z0-9]|\(\?(?!:)|&&|--|~~|\[\[")

#: In front of a pattern: whether a point fits the end of a line, and whether case counts. Of three pairs of
#: Greek letters and ligatures RE2 and Rust's know different things.
_FLAGS = re.compile(r"^\(\?(?:s|[is]{1,2}(?=\)[\x00-\x7f]*$))\)")


def is_text(pattern: Any) -> bool:
    """Whether a pattern fits itself alone."""
    return isinstance(pattern, str) and not _MEANING & set(pattern)


def portable(pattern: Any) -> str:
    """A regular expression. Raises UnsupportedError for one that RE2 may take for another."""
    if not isinstance(pattern, str):
        raise UnsupportedError("a regular expression must be a text, no column; for a text say literal=True")
    found = _OTHER.search(_FLAGS.sub("", pattern))
    if found:
        raise UnsupportedError(
            f"unsupported in a regular expression: {found[0]}; for a text say literal=True: {pattern}"
        )
    return str(pattern)


def replaceable(pattern: Any, value: Any, literal: bool) -> str:
    """The regular expression for what is to be replaced by a text."""
    if not isinstance(pattern, str) or not isinstance(value, str):
        raise UserError("what replaces, and what is replaced, must be a text")
    if literal:
        return "".join(f"\\{each}" if each in _MEANING else each for each in pattern)
    if "$" in value:
        raise UnsupportedError(f"groups in what replaces are not supported: {value}")
    expression = portable(pattern)
    try:
        empty = re.match(expression, "")
    except re.error as error:
        raise UserError(f"a regular expression is wrong: {error}: {pattern}") from None
    if empty:
        raise UnsupportedError(f"a regular expression that fits an empty text replaces nothing: {pattern}")
    return expression
