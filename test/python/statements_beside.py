"""Statements in a session and on a connection of DuckDB: rows, types, counts and mistakes are alike."""

from __future__ import annotations

from typing import Any

import duckdb
import headrace as hr

#: What DuckDB raises where headrace does.
_ALIKE: tuple[tuple[type[hr.HeadraceError], tuple[type[Exception], ...]], ...] = (
    (hr.errors.TransactionError, (duckdb.TransactionException,)),
    (hr.errors.ConstraintError, (duckdb.ConstraintException,)),
    (
        hr.errors.DataError,
        (
            duckdb.ConversionException,
            duckdb.OutOfRangeException,
            duckdb.InvalidInputException,
            duckdb.SequenceException,
        ),
    ),
    (
        hr.errors.UserError,
        (
            duckdb.ParserException,
            duckdb.BinderException,
            duckdb.CatalogException,
            duckdb.DependencyException,
        ),
    ),
)


class Beside:
    """A session and a connection, to which the same is said."""

    def __init__(self, **options: Any) -> None:
        self.session = hr.connect(**options)
        self.oracle = duckdb.connect()
        self.oracle.execute("set TimeZone = 'UTC'")

    def say(self, text: str) -> None:
        """Both do a statement, or refuse it for the same kind of reason."""
        try:
            told = self.oracle.execute(text)
            expected, columns = told.fetchall(), told.description
        except duckdb.Error as mistake:
            self._refused(text, mistake)
            return
        found = self.session.sql(text).arrow()
        if "set variable" in text:  # which says its value, and in DuckDB nothing
            return
        assert sorted(rows_of(found), key=repr) == sorted(expected, key=repr), text
        assert found.column_names == [column[0] for column in columns], text

    def ask(self, text: str) -> None:
        """Both give the same rows, in the order of their values, with the same types."""
        relation, told = self.session.sql(text), self.oracle.sql(text)
        assert [str(kind) for kind in relation.types] == [str(kind) for kind in told.types], text
        assert relation.columns == told.columns, text
        assert sorted(rows_of(relation.arrow()), key=repr) == sorted(told.fetchall(), key=repr), text

    def _refused(self, text: str, mistake: duckdb.Error) -> None:
        try:
            found = self.session.sql(text).arrow()
        except hr.HeadraceError as error:
            if "the transaction was aborted" in str(error):  # DuckDB may look at the text before
                return
            alike = next((theirs for ours, theirs in _ALIKE if isinstance(error, ours)), ())
            assert isinstance(mistake, alike), (text, mistake, error)
            return
        raise AssertionError((text, mistake, found))


def rows_of(table: Any) -> list[tuple[Any, ...]]:
    """Rows as DuckDB gives them."""
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
