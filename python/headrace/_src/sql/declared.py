"""Tables and sequences of the binder's catalogue, as a session keeps what it knows of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from headrace._src.sql.tables import Column, TableSchema, named_in, quoted, unquoted

_NEXTVAL = re.compile(r"\bnextval\('((?:[^']|'')*)'\)", re.IGNORECASE)


def declared(connection: Any, name: str, schema: str = "") -> TableSchema:
    """The table of a name in a schema, with the columns that are stored; of two a TEMP one."""
    ((oid, inside, own, definition),) = connection.execute(
        "select table_oid, schema_name, table_name, sql from duckdb_tables() "
        "where lower(table_name) = lower(?) and lower(schema_name) = lower(?) order by temporary desc limit 1",
        [name, schema or "main"],
    ).fetchall()
    columns = connection.execute(
        "select column_name, data_type, is_nullable from duckdb_columns() where table_oid = ? "
        "and not is_generated order by column_index",
        [oid],
    ).fetchall()
    used = sequences_in(definition)
    known = sequences(connection) if used else []
    made = "".join(f"{each.statement}\n" for each in known if each.name.lower() in used)
    schema = "" if inside == "main" else inside
    columns = tuple(Column(*each) for each in columns)
    return TableSchema(named_in(schema, own), columns, f"{made}{definition}", schema)


@dataclass(frozen=True)
class Sequence:
    name: str
    start: int
    least: int
    most: int
    step: int
    cycles: bool

    @property
    def statement(self) -> str:
        """Creates it where it is not there."""
        return (
            f"CREATE SEQUENCE IF NOT EXISTS {quoted(self.name)} INCREMENT BY {self.step} "
            f"MINVALUE {self.least} MAXVALUE {self.most} START {self.start};"
        )


def sequences(connection: Any) -> list[Sequence]:
    """Those of the binder's catalogue."""
    told = connection.execute(
        "select sequence_name, start_value, min_value, max_value, increment_by, cycle from duckdb_sequences()"
    ).fetchall()
    return [Sequence(*each) for each in told]


def sequences_in(definition: str) -> set[str]:
    """The sequences, in small letters, that a table has in its defaults."""
    return {
        unquoted(name.rpartition(".")[2].replace("''", "'")).lower() for name in _NEXTVAL.findall(definition)
    }
