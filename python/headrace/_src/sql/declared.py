"""Tables and sequences of the binder's catalogue, as a session keeps what it knows of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headrace._src.sql.foreign_keys import without_foreign_keys
from headrace._src.sql.literals import literal
from headrace._src.sql.spelling import WORD
from headrace._src.sql.tables import Column, TableSchema, named_in, schema_statement, sql_name, unquoted

_START = re.compile(r"\bSTART -?\d+")
_NEXTVAL = re.compile(r"\bnextval\('((?:[^']|'')*)'\)", re.IGNORECASE)


def declared(connection: Any, name: str, schema: str = "") -> TableSchema:
    """The table of a name in a schema, with the columns that are stored; of two a TEMP one."""
    ((oid, inside, own, definition),) = connection.execute(
        "select table_oid, schema_name, table_name, sql from duckdb_tables() "
        "where lower(table_name) = lower(?) and lower(schema_name) = lower(?) "
        "order by temporary desc limit 1",
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
    definition, keys = without_foreign_keys(definition, schema, columns)
    return TableSchema(named_in(schema, own), columns, f"{made}{definition}", schema, keys)


@dataclass(frozen=True)
class Sequence:
    #: Empty: main.
    schema: str
    #: With that of its schema and a point in front, if that is not main.
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
            f"{schema_statement(self.schema) if self.schema else ''}"
            f"CREATE SEQUENCE IF NOT EXISTS {sql_name(self.schema, self.name)} INCREMENT BY {self.step} "
            f"MINVALUE {self.least} MAXVALUE {self.most} START {self.start}{' CYCLE' if self.cycles else ''};"
        )


#: A variable of texts that ask about sequences: the last number and the next of those that have given one.
LAST_NUMBERS = "headrace_last_numbers"


def last_numbers(last: Mapping[str, tuple[int, int]]) -> str:
    """The statement that tells the binder."""
    numbers = ", ".join(f"{literal(name)}: {list(each)}" for name, each in last.items())
    return f"set variable {LAST_NUMBERS} = map {{{numbers}}};"


def with_last_numbers(connection: Any, names: list[str], rows: list[Any]) -> list[Any]:
    """Rows of `duckdb_sequences()` with the last numbers that the session has given."""
    ((last,),) = connection.execute(f"select getvariable('{LAST_NUMBERS}')").fetchall()
    found = []
    for row in rows:
        told = dict(zip(names, row, strict=True))
        inside = "" if told["schema_name"] == "main" else told["schema_name"]
        if numbers := (last or {}).get(named_in(inside, told["sequence_name"]).lower()):
            told["last_value"] = numbers[0]
            told["sql"] = _START.sub(f"START {numbers[1]}", told["sql"])
        found.append(tuple(told.values()))
    return found


def sequences(connection: Any) -> list[Sequence]:
    """Those of the binder's catalogue."""
    told = connection.execute(
        "select case schema_name when 'main' then '' else schema_name end, sequence_name, start_value, "
        "min_value, max_value, increment_by, cycle from duckdb_sequences()"
    ).fetchall()
    return [Sequence(schema, named_in(schema, name), *rest) for schema, name, *rest in told]


def sequences_in(definition: str) -> set[str]:
    """The sequences, in small letters, that a table has in its defaults."""
    return {_called(name.replace("''", "'")).lower() for name in _NEXTVAL.findall(definition)}


def short_sequences_in(definition: str) -> set[str]:
    """Those that stand there without a schema."""
    return {name for name in _NEXTVAL.findall(definition) if len(re.findall(WORD, name)) == 1}


def _called(name: str) -> str:
    """What a session calls a sequence that a default names so."""
    parts = [unquoted(part) for part in re.findall(WORD, name)]
    schema = parts[-2] if len(parts) > 1 and parts[-2] not in ("main", "memory") else ""
    return named_in(schema, parts[-1])
