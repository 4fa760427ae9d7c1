"""ALTER TABLE, as DuckDB does it to a table without rows: what the table is afterwards."""

from __future__ import annotations

from headrace._src.errors import SqlError, UnsupportedError
from headrace._src.sql.catalogue import tables_of_binder
from headrace._src.sql.place import located
from headrace._src.sql.tables import Column, TableSchema, quoted


def altered(statement: str, schema: TableSchema, *, values_stay: bool) -> tuple[TableSchema, list[str]]:
    """The table that a statement makes of another, and, if values stay, what its columns were called before.

    Raises SqlError for a mistake, and UnsupportedError where values would become others.
    """
    import duckdb

    position = len(statement) - len(statement.lstrip())
    with tables_of_binder([schema]) as connection:
        try:
            connection.execute(statement)
        except duckdb.Error as error:
            raise located(SqlError, str(error).partition(": ")[2], statement, position, 5) from None
        ((name, definition),) = connection.execute("select table_name, sql from duckdb_tables()").fetchall()
        told = connection.execute(
            "select column_name, data_type, is_nullable from duckdb_columns() "
            "where table_oid = (select table_oid from duckdb_tables()) order by column_index"
        ).fetchall()
    columns = tuple(Column(*each) for each in told)
    if not values_stay:
        return TableSchema(name, columns, definition), []
    stay = {column.name for column in columns}
    is_shorter = len(columns) < len(schema.columns)
    before = [column for column in schema.columns if not is_shorter or column.name in stay]
    if [column.type for column in before] != [column.type for column in columns]:
        message = "ALTER TABLE is not supported where it changes fields of a column"
        raise located(UnsupportedError, message, statement, position, 5)
    return TableSchema(name, columns, definition), [column.name for column in before]


def refilled(before: TableSchema, after: TableSchema, using: str | None) -> str:
    """What SELECT gives for the columns of an altered table of those before.

    using: of the one that has another type, as SQL; None: it is cast. A new column has its default.
    """
    values = []
    for place, column in enumerate(after.columns):
        if place == len(before.columns):
            values.append(default_of(after, column.name))
        elif column.type == before.columns[place].type:
            values.append(quoted(column.name))
        else:
            values.append(using.strip() if using else f"cast({quoted(column.name)} as {column.type})")
    return ", ".join(values)


def default_of(schema: TableSchema, column: str) -> str:
    """The value, as SQL, that a column has where none is given."""
    with tables_of_binder([schema]) as connection:
        ((default,),) = connection.execute(
            "select column_default from duckdb_columns() where column_name = ? "
            "and table_oid = (select table_oid from duckdb_tables())",
            [column],
        ).fetchall()
    return default or "NULL"
