"""Parameters of a text (`?`, `$1`, `$name`, `:name`), replaced by typed literals.

The binder decides types, so that it must see values: a parameter without one would have none. DuckDB's tokens
say what is text, a quoted name or a comment; nothing in there is a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from headrace._src.arguments import shown
from headrace._src.errors import SqlError, UserError
from headrace._src.sql.literals import literal
from headrace._src.sql.place import located

#: What `parameters=` takes: values for `?`, `$1`, `$2`, … in their order, or by name for `$name` and `:name`.
Parameters = Sequence[Any] | Mapping[str, Any]

_SIGN = re.compile(rb"""\?(\d*)|\$(\w+)|(?<![:\w\]'"]):([A-Za-z_]\w*)""")


def with_values(text: str, parameters: Parameters) -> str:
    """The text with its parameters as literals. Raises UserError for values that do not fit them."""
    return _filled(text, parameters, _signs(text, text.encode()))


def with_each(text: str, sets: Iterable[Parameters]) -> Iterator[str]:
    """The same for several sets of values."""
    signs = list(_signs(text, text.encode()))
    return (_filled(text, each, signs) for each in sets)


def _filled(text: str, parameters: Parameters, signs: Iterable[re.Match[bytes]]) -> str:
    named = isinstance(parameters, Mapping)
    if isinstance(parameters, (str, bytes)) or not isinstance(parameters, Iterable):
        raise UserError(f"parameters are a list of values or a dict of them by name, got {shown(parameters)}")
    if isinstance(parameters, Mapping) and not all(isinstance(name, str) for name in parameters):
        raise UserError("the names of parameters are str")
    values: dict[str, Any] = (
        dict(parameters)
        if isinstance(parameters, Mapping)
        else {str(number): value for number, value in enumerate(parameters, 1)}
    )
    data, out, end, asked, used = text.encode(), [], 0, 0, set()
    for match in signs:
        name = (match[1] or match[2] or match[3] or b"").decode()
        if match[3] is not None and name not in values:
            continue  # a colon that means something else
        if not name:
            asked += 1
            name = str(asked)
        if name not in values:
            kind = "name" if named else "number"
            raise located(
                SqlError,
                f"no value for the parameter {match[0].decode()}: give it by {kind}",
                text,
                match.start(),
                len(match[0]),
            )
        used.add(name)
        try:
            out += [data[end : match.start()], literal(values[name]).encode()]
        except UserError as error:
            message = f"the parameter {match[0].decode()}: {error}"
            raise located(SqlError, message, text, match.start(), len(match[0])) from None
        end = match.end()
    if unused := [name for name in values if name not in used]:
        raise UserError(f"no parameter of the query takes this value: {', '.join(unused)}")
    return b"".join([*out, data[end:]]).decode()


def has_parameters(text: str) -> bool:
    """Whether something in a text may stand for a value."""
    return next(_signs(text, text.encode()), None) is not None


def place_of_one(text: str, names: Iterable[str]) -> tuple[int, int]:
    """The byte and length of the first parameter of a text that has some, by these names or `?`."""
    for match in _signs(text, text.encode()):
        name = (match[1] or match[2] or match[3] or b"").decode()
        if not name or name in names:
            return match.start(), len(match[0])
    return 0, 1


def _signs(text: str, data: bytes) -> Iterator[re.Match[bytes]]:
    """The parameters outside of texts, quoted names and comments."""
    import duckdb

    tokens = [*duckdb.tokenize(text), (len(data), None)]
    closed = (duckdb.token_type.string_const, duckdb.token_type.comment)
    end = 0
    for (start, kind), (behind, _) in pairwise(tokens):
        if kind in closed or data[start : start + 1] == b'"' or start < end:
            continue
        # A name behind its sign is a token of its own.
        match = _SIGN.match(data, start)
        if match and start < behind:
            end = match.end()
            yield match
