"""Statements that change tables, through DuckDB's binder: what they do, and the tables that they make."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headrace._src.errors import ConstraintError, DataError, SqlError, UnsupportedError
from headrace._src.sql.catalogue import first_word, moment_of, plan_of, readable, tables_of_binder
from headrace._src.sql.changes import Change, Verb, change_of, is_constant
from headrace._src.sql.declared import declared
from headrace._src.sql.merges import Kind, Writable, writable
from headrace._src.sql.place import located
from headrace._src.sql.script import Script, query_alone, script_of, verb_of
from headrace._src.sql.tables import TableSchema, own_name, quoted
from headrace._src.stop import unless_stopped

if TYPE_CHECKING:
    import pyarrow as pa

#: Behind CREATE TABLE … AS query.
_DATA = re.compile(r"\bwith\s+(?:no\s+)?data\s*$", re.IGNORECASE)


def bound_change(text: str, schemas: Sequence[TableSchema], taken: Collection[str], more: str = "") -> Change:
    """What the last statement of `text` changes; positions in its plan are bytes of `text`.

    taken: names of tables and views, in small letters: a CREATE TABLE of one has no schema but to replace it.
    more: further rows of the VALUES that an INSERT ends with, which are literals. They are in `rows`; there
    are none if the row in the text is not constant, or one of them is a mistake.

    Raises SqlError, and UnsupportedError for what changes no table, or not in a way that a session knows.
    """
    script = script_of(text)

    def bound() -> Change:
        with tables_of_binder(schemas, script) as connection:
            merge = writable(script.query) if verb_of(script.query) == "merge" else Writable(script.query, {})
            plan = plan_of(connection, replace(script, query=merge.text), schemas, queries_only=False)
            try:
                change = change_of(plan, merge.deletes)
            except UnsupportedError as error:
                raise located(UnsupportedError, str(error), script.text, *first_word(script.query)) from None
            change = replace(change, moment=moment_of(connection, script.text, plan))
            if change.verb is Verb.CREATE:
                if change.on_conflict == "REPLACE" or change.name.lower() not in taken:
                    change = replace(change, schema=_created(connection, change, script))
            elif change.verb is Verb.INSERT and is_constant(change):
                return replace(change, rows=_constant_rows(connection, change, script, more))
            elif change.merge and verb_of(script.query) == "insert" and is_constant(change):
                change = replace(change, rows=_rows_without_conflict(connection, change, script))
            if change.tried:
                change = replace(change, tried=readable(connection, change.tried, script, schemas))
            if not change.plan:
                return change
            return replace(change, plan=readable(connection, change.plan, script, schemas))

    return unless_stopped(bound)


def _created(connection: Any, change: Change, script: Script) -> TableSchema:
    """The table that a statement makes, which is made without rows."""
    import duckdb

    statement = query_alone(script.query)
    if change.plan:
        statement = f"{_DATA.sub('', statement)}\nwith no data"
    try:
        connection.execute(statement)
    except duckdb.Error as error:
        message = str(error).partition(": ")[2]
        raise located(SqlError, message, script.text, *first_word(script.query)) from None
    return declared(connection, own_name(change.table_schema, change.name), change.table_schema)


#: Types of which DuckDB makes texts in Arrow, or other values where they are large.
_NO_ARROW = re.compile("UUID|INTERVAL|HUGEINT")


def _constant_rows(connection: Any, change: Change, script: Script, more: str) -> pa.Table | None:
    """What an INSERT of constants adds; None where a run has to find that.

    A run tells the place of a value that does not fit.

    Raises ConstraintError for a NULL that may not be, and DataError for a mistake in `more`.
    """
    import duckdb

    try:
        connection.execute(query_alone(script.query) + more)
    except duckdb.Error as error:
        if isinstance(error, duckdb.ConstraintException) or more:
            kind = ConstraintError if isinstance(error, duckdb.ConstraintException) else DataError
            raise kind(str(error).splitlines()[0].partition(": ")[2]) from None
        return None
    return _rows_of(connection, change, change.names)


def _rows_without_conflict(connection: Any, change: Change, script: Script) -> pa.Table | None:
    """What an INSERT with ON CONFLICT adds to a table without rows; None where that is a mistake."""
    import duckdb

    assert change.merge
    columns = next(action.columns for action in change.merge.actions if action.kind is Kind.INSERT)
    try:
        connection.execute(query_alone(script.query))
    except duckdb.Error:
        return None
    return _rows_of(connection, change, columns)


def _rows_of(connection: Any, change: Change, columns: Sequence[str]) -> pa.Table | None:
    rows = connection.sql(f"select {', '.join(map(quoted, columns))} from {change.sql_name}")
    return None if _NO_ARROW.search(" ".join(map(str, rows.types))) else rows.to_arrow_table()
