"""Statements of clients: queries, and those that change tables and views.

A server keeps nothing of them: a handle or a ticket is the text itself, with its values.
"""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from headrace._src.errors import UnsupportedError, UserError
from headrace._src.query.copy_to import copy_of
from headrace._src.query.named_files import names_files
from headrace._src.serving.messages import Fields, message
from headrace._src.session.appended_files import files_stay
from headrace._src.session.changes import done_for_each, is_script
from headrace._src.session.run_settings import is_setting
from headrace._src.session.schemas import USE
from headrace._src.session.session import Session
from headrace._src.session.transactions import transaction_of
from headrace._src.sql.parameters import has_parameters, with_values
from headrace._src.sql.script import returning_of, statements_of
from headrace._src.stop import Cancel

#: Of a handle. An answer has it twice, and clients of gRPC take 16 MiB.
_BYTES_MAX = 4 << 20
#: Of statements that give no rows.
NO_ROWS = pa.schema([pa.field("status", pa.string())])


class Statement:
    """A text, and as it is run: with the values of its parameters, once they are bound."""

    def __init__(self, text: str, with_its_values: str | None = None, *, transaction: bytes = b"") -> None:
        self.text = text
        #: That it is a part of, if it is.
        self.transaction = transaction
        self._run = text if with_its_values is None else with_its_values
        if len(self.handle) > _BYTES_MAX:
            raise UserError(f"a statement has at most {_BYTES_MAX >> 20} MiB with its values")

    @classmethod
    def of(cls, handle: bytes) -> Statement:
        fields = Fields(handle)
        run = fields.text(2) if fields.has(2) else None
        return cls(fields.text(1), run, transaction=fields.data(3))

    @property
    def handle(self) -> bytes:
        fields: dict[int, bytes | str | int] = {1: self.text}
        if self._run != self.text:
            fields[2] = self._run
        if self.transaction:
            fields[3] = self.transaction
        return message(fields)

    def bound(self, rows: pa.Table) -> Statement:
        """With the values of one row, by position, or by name where columns have names but numbers."""
        if rows.num_rows != 1:
            raise UnsupportedError(f"a query takes one set of parameters, got {rows.num_rows}")
        run = with_values(self.text, _sets_of(rows)[0])
        return Statement(self.text, run, transaction=self.transaction)

    @property
    def is_query(self) -> bool:
        return not is_script(self._run)

    def check_is_read(self) -> None:
        """Refuses a text that writes files, or changes how other clients' queries run."""
        statements = statements_of(self._run)
        if any(copy_of(each) or is_setting(each) or USE.fullmatch(each) for each in statements):
            raise UnsupportedError("a server's clients write no files by COPY, and change no setting of it")
        if any(returning_of(each) is not None for each in statements if is_script(each)):
            raise UnsupportedError(
                "RETURNING gives a server's clients no rows: ask for them in the same transaction"
            )
        if any(map(transaction_of, statements)):
            raise UnsupportedError(
                "a server's clients begin and end transactions by their driver (autocommit=False, commit()), "
                "not by a statement"
            )

    def check_files(self, session: Session) -> None:
        """Refuses a text that names files."""
        if names_files(self._run, session.tables):
            raise UnsupportedError(
                "a server's clients read its tables alone; files=True (--files) lets them name its files"
            )

    def schema(self, session: Session) -> pa.Schema | None:
        """The columns of its rows, without running it; None before its parameters are bound."""
        if not self.is_query:
            return NO_ROWS
        return None if has_parameters(self._run) else _nullable(session.sql(self._run).schema)

    def rows(self, session: Session, cancel: Cancel) -> pa.RecordBatchReader:
        reader = session.sql(self._run, cancel=cancel).batches()
        return reader.cast(_nullable(reader.schema))

    def do(self, session: Session, cancel: Cancel, sets: pa.Table | None = None) -> int:
        """Changes tables or views; how many rows of a table, -1 if it is about none.

        sets: the values of its parameters, once for each row.
        """
        if self.is_query:
            raise UnsupportedError("an update is a statement that changes tables or views, got a query")
        with files_stay("a server's clients add no files to a table"):
            if sets is not None and sets.num_rows:
                return done_for_each(session, self.text, _sets_of(sets), cancel=cancel)
            done = session.sql(self._run, cancel=cancel)
        if not done.is_answer:
            raise UnsupportedError(
                "behind statements that change tables a server's clients ask no query: ask it alone"
            )
        return done.changed


def _sets_of(rows: pa.Table) -> list[Any]:
    """Values of parameters by position, or by name where columns have names but numbers."""
    columns = [column.to_pylist() for column in rows.columns]
    sets = list(zip(*columns, strict=True))
    if all(re.fullmatch(r"\d*", name) for name in rows.column_names):
        return sets
    return [dict(zip(rows.column_names, each, strict=True)) for each in sets]


def _nullable(schema: pa.Schema) -> pa.Schema:
    """A run may find that a column has no NULL; clients want the schema that they were told."""
    return pa.schema([field.with_nullable(True) for field in schema])
