"""Tables of the binder's catalogue, as a session keeps what it knows of them."""

from __future__ import annotations

import re
from typing import Any

from headrace._src.sql.tables import Column, TableSchema, unquoted

_NEXTVAL = re.compile(r"\bnextval\('((?:[^']|'')*)'\)", re.IGNORECASE)


def declared(connection: Any, name: str) -> TableSchema:
    """The table of a name, with the columns that are stored; a TEMP one where there are two."""
    ((oid, own, definition),) = connection.execute(
        "select table_oid, table_name, sql from duckdb_tables() where lower(table_name) = lower(?) "
        "order by temporary desc limit 1",
        [name],
    ).fetchall()
    columns = connection.execute(
        "select column_name, data_type, is_nullable from duckdb_columns() where table_oid = ? "
        "and not is_generated order by column_index",
        [oid],
    ).fetchall()
    used = sequences_in(definition)
    sequences = (
        connection.execute("select sequence_name, sql from duckdb_sequences()").fetchall() if used else ()
    )
    made = "".join(f"{if_not_there(sql)}\n" for each, sql in sequences if each.lower() in used)
    return TableSchema(own, tuple(Column(*each) for each in columns), f"{made}{definition}")


def if_not_there(statement: str) -> str:
    """The binder's CREATE SEQUENCE, of one that may be there."""
    return re.sub("^CREATE SEQUENCE", "CREATE SEQUENCE IF NOT EXISTS", statement)


def sequences_in(definition: str) -> set[str]:
    """The sequences, in small letters, that a table has in its defaults."""
    return {
        unquoted(name.rpartition(".")[2].replace("''", "'")).lower() for name in _NEXTVAL.findall(definition)
    }
