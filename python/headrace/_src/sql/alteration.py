"""ALTER TABLE, as DuckDB does it to a table without rows: what the table is afterwards."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from headrace._src.errors import SqlError, UnsupportedError
from headrace._src.sql.catalogue import tables_of_binder
from headrace._src.sql.declared import declared
from headrace._src.sql.place import located
from headrace._src.sql.spelling import WORD
from headrace._src.sql.tables import Column, TableSchema, quoted

#: As the binder begins the definition of a table that is in a schema.
_MADE = re.compile(rf"\bCREATE TABLE (?:{WORD})\.(?:{WORD})\(")


def altered(
    statement: str, schema: TableSchema, retyped: str = "", before: str = ""
) -> tuple[TableSchema, list[str]]:
    """The table that a statement makes of another, and what its columns were called before (no new one).

    retyped: the column that gets another type. before: statements in front.

    Raises SqlError for a mistake, UnsupportedError where other columns would get another type.
    """
    import duckdb

    position = len(statement) - len(statement.lstrip())
    with tables_of_binder([schema]) as connection:
        try:
            connection.execute(before)
            connection.execute(statement)
        except duckdb.Error as error:
            raise located(SqlError, str(error).partition(": ")[2], statement, position, 5) from None
        ((inside, name),) = connection.execute(
            "select schema_name, table_name from duckdb_tables()"
        ).fetchall()
        table = declared(connection, name, inside)
    columns = table.columns
    stay = {column.name for column in columns}
    is_shorter = len(columns) < len(schema.columns)
    known = [column for column in schema.columns if not is_shorter or column.name in stay]
    both = zip(known, columns, strict=False)
    if any(old.type != new.type and not _is_called(old, retyped) for old, new in both):
        message = "ALTER TABLE is not supported where it changes fields of a column"
        raise located(UnsupportedError, message, statement, position, 5)
    return table, [column.name for column in known]


@lru_cache(maxsize=256)
def renamed(schema: TableSchema, name: str) -> TableSchema:
    """The table by another name, in the schema main."""
    table = altered(f"alter table {schema.sql_name} rename to {quoted(name)}", schema)[0]
    if not table.schema:
        return table
    moved = _MADE.sub(lambda _: f"CREATE TABLE {quoted(name)}(", table.definition, count=1)
    return replace(table, name=name, definition=moved, schema="")


def refilled(before: TableSchema, after: TableSchema, retyped: str, using: str | None) -> str:
    """What SELECT gives for the columns of an altered table of those before.

    using: of the one that gets another type, as SQL; None: it is cast. A new column has its default.
    """
    values = []
    for place, column in enumerate(after.columns):
        if place == len(before.columns):
            values.append(default_of(after, column.name))
        elif _is_called(column, retyped):
            values.append(using.strip() if using else f"cast({quoted(column.name)} as {column.type})")
        else:
            values.append(quoted(column.name))
    return ", ".join(values)


def _is_called(column: Column, name: str) -> bool:
    return column.name.lower() == name.lower()


def default_of(schema: TableSchema, column: str) -> str:
    """The value, as SQL, that a column has where none is given."""
    with tables_of_binder([schema]) as connection:
        ((default,),) = connection.execute(
            "select column_default from duckdb_columns() where column_name = ? "
            "and table_oid = (select table_oid from duckdb_tables())",
            [column],
        ).fetchall()
    return default or "NULL"
