"""A user's text as definitions of views and macros, and the one statement behind them.

DuckDB's tokens decide where statements begin. Every part keeps its place: what stands before it is
blanked, so that positions in the part are positions in the text.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from itertools import pairwise

from headrace._src.errors import SqlError, UnsupportedError
from headrace._src.sql.place import located

# DuckDB's parser ends the process for want of stack from some 70,000 on.
_DEPTH_MAX = 20_000
_BLANKED = re.compile(rb"[^\n]")
_WORD = re.compile(rb"\w+")
#: Statements that change what a session has.
CHANGES = ("create", "drop", "insert", "delete", "update", "truncate", "alter", "merge")
#: Statements that begin and end transactions.
TRANSACTIONS = ("begin", "start", "commit", "end", "rollback", "abort")
# Where one may begin.
_MAY_CHANGE, _MAY_TRANSACT = (
    re.compile(rf"(?:^|[;)\n]|\*/)\s*(?:{'|'.join(words)})\b", re.IGNORECASE)
    for words in (CHANGES, TRANSACTIONS)
)
_MAY_COPY = re.compile(r"(?:^|[;)\n]|\*/)\s*copy\b.*\bfrom\s+'", re.IGNORECASE | re.DOTALL)
#: PRAGMA as the statement that says the same.
_PRAGMAS = (
    (re.compile(rb"pragma\s+table_info\s*\(\s*(\w+)\s*\)", re.IGNORECASE), rb"from pragma_table_info('\1')"),
    (re.compile(rb"pragma\s+table_info\b", re.IGNORECASE), rb"from pragma_table_info"),
    (re.compile(rb"pragma\s+show_(tables|databases)\b", re.IGNORECASE), rb"show \1"),
)
# Where a statement may begin that is not a query over the tables.
_NO_ROWS = re.compile(r"(?:^|;|\*/|\n)\s*(?:explain|describe|desc|show|pragma)\b", re.IGNORECASE)


class Kind(enum.Enum):
    """What the last statement asks for."""

    ROWS = "rows"  # a query over the tables
    EXPLAIN = "explain"
    ANALYZE = "explain analyze"
    CATALOGUE = "catalogue"  # DESCRIBE and SHOW: about the tables, not their rows


@dataclass(frozen=True)
class Script:
    """The statements of a text, without EXPLAIN."""

    text: str
    definitions: tuple[str, ...]
    query: str
    kind: Kind
    #: The byte at which the last statement begins, with its EXPLAIN.
    start: int


def may_not_be_rows(text: str) -> bool:
    """Whether a text may be something else than a query over the tables; cheap, and without DuckDB."""
    return _NO_ROWS.search(text) is not None


def kind_of(text: str) -> Kind:
    """What a text asks for; DuckDB is loaded only for what may be no query."""
    return script_of(text).kind if may_not_be_rows(text) else Kind.ROWS


def gives_rows(text: str) -> bool:
    """Whether a text is a query over the tables."""
    return kind_of(text) is Kind.ROWS


def script_of(text: str) -> Script:
    """The statements of a text. Raises SqlError if it has none, and for brackets in too many others."""
    import duckdb

    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise SqlError(f"the query is not Unicode: {error.reason}") from None
    statements: list[list[int]] = [[]]
    depth = 0
    for position, kind in duckdb.tokenize(text):
        byte = data[position : position + 1]
        depth += (byte == b"(") - (byte == b")")
        if depth > _DEPTH_MAX:
            raise located(SqlError, f"more than {_DEPTH_MAX:,} brackets in each other", text, position)
        if byte == b";":
            statements.append([])
        elif kind != duckdb.token_type.comment:
            statements[-1].append(position)
    statements = [tokens for tokens in statements if tokens]
    if not statements:
        raise SqlError("the query is empty")
    starts = [tokens[0] for tokens in statements]
    if word_at(data, starts[-1]) == "pragma":
        for pragma, query in _PRAGMAS:
            if pragma.match(data, starts[-1]):
                said = pragma.sub(query, data[starts[-1] :], count=1)
                return script_of((data[: starts[-1]] + said).decode())
    if word_at(data, starts[-1]) == "call" and len(statements[-1]) > 1:
        data = data[: starts[-1]] + b"from" + data[starts[-1] + 4 :]
    definitions = [_part(data, start, end) for start, end in pairwise(starts)]
    kind, start = _kind(text, data, statements[-1])
    text = (data[: starts[-1]] + _BLANKED.sub(b" ", data[starts[-1] : start]) + data[start:]).decode()
    return Script(text, tuple(definitions), _part(data, start, len(data)), kind, starts[-1])


def may_change(text: str) -> bool:
    """Whether a text may have one of CHANGES; cheap, and without DuckDB."""
    return _MAY_CHANGE.search(text) is not None


def may_be_done(text: str) -> bool:
    """Whether a text may have one of CHANGES or TRANSACTIONS, or a COPY … FROM; as cheap."""
    return may_change(text) or _MAY_TRANSACT.search(text) is not None or _MAY_COPY.search(text) is not None


def statements_of(text: str) -> list[str]:
    """All statements of a text, each in its place. Raises SqlError if it has none."""
    script = script_of(text)
    return [*script.definitions, _part(text.encode(), script.start, len(text.encode()))]


def verb_of(statement: str) -> str:
    """The first word of a statement, or that behind its WITH, in small letters."""
    import duckdb

    data, depth, closes = statement.encode(), 0, False
    words = [position for position, kind in duckdb.tokenize(statement) if kind != duckdb.token_type.comment]
    first = word_at(data, words[0]) if words else ""
    for position in words if first == "with" else ():
        byte = data[position : position + 1]
        depth += (byte == b"(") - (byte == b")")
        word = word_at(data, position)
        if closes and word and word not in ("as", "using"):
            return word
        closes = byte == b")" and depth == 0
    return first


def returning_of(statement: str) -> int | None:
    """The byte at which RETURNING stands in a statement; None: it has none."""
    import duckdb

    data, depth, found = statement.encode(), 0, None
    for position, kind in duckdb.tokenize(statement):
        byte = data[position : position + 1]
        depth += (byte == b"(") - (byte == b")")
        if depth == 0 and kind == duckdb.token_type.keyword and word_at(data, position) == "returning":
            found = position
    return found


def query_returned(statement: str, table: str, before: str = "") -> str:
    """What RETURNING asks for, as a query over a table of the rows; it keeps its place.

    before: a column in front of the others, which has a line of its own; they may read it.
    """
    statement = query_alone(statement)
    place = returning_of(statement)
    assert place is not None
    data = statement.encode()
    select = f"select {before},\n" if before else ""
    begin = _BLANKED.sub(b" ", data[:place]) + (b"" if before else b"select").ljust(len("returning"))
    return f"{select}{begin.decode()}{data[place + len('returning') :].decode()}\nfrom {table}"


def query_alone(query: str) -> str:
    """The last statement of a text without the semicolon behind it, and what follows that."""
    import duckdb

    data = query.encode()
    for position, _ in duckdb.tokenize(query):
        if data[position : position + 1] == b";":
            return data[:position].decode()
    return query


def _part(data: bytes, start: int, end: int) -> str:
    return (_BLANKED.sub(b" ", data[:start]) + data[start:end]).decode()


def _kind(text: str, data: bytes, tokens: list[int]) -> tuple[Kind, int]:
    """What a statement with these tokens asks for, and where its query begins."""
    words = [word_at(data, position) for position in tokens[:3]]
    if words[0] in ("describe", "desc", "show"):
        return Kind.CATALOGUE, tokens[0]
    if words[0] != "explain" or len(tokens) == 1:
        return Kind.ROWS, tokens[0]
    if words[1] == "analyze" and len(tokens) > 2:
        return Kind.ANALYZE, _explained(text, words[2], tokens[2])
    if words[1:] in (["", "analyze"], ["", "format"]):  # in parentheses
        message = "options of EXPLAIN are not supported; EXPLAIN ANALYZE is"
        raise located(UnsupportedError, message, text, tokens[1])
    return Kind.EXPLAIN, _explained(text, words[1], tokens[1])


def _explained(text: str, word: str, position: int) -> int:
    """Where the query behind EXPLAIN begins."""
    if word in ("explain", "describe", "desc", "show"):
        message = f"only queries can be explained, got {word.upper()}"
        raise located(UnsupportedError, message, text, position, len(word))
    return position


def word_at(data: bytes | bytearray, position: int) -> str:
    """The word that begins there, in small letters; empty: none does."""
    match = _WORD.match(data, position)
    return match.group().decode().lower() if match else ""
