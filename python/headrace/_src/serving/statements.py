"""Statements of clients: queries, and those that name views.

A server keeps nothing of them: a handle or a ticket is the text itself, with its values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from headrace._src.errors import UnsupportedError, UserError
from headrace._src.query.copy_to import copy_of
from headrace._src.query.named_files import names_files
from headrace._src.serving.messages import Fields, message
from headrace._src.session.run_settings import sets
from headrace._src.session.session import Session
from headrace._src.sql.parameters import has_parameters, with_values
from headrace._src.stop import Cancel

_NOTHING = r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*"  # blanks and comments
_WORD = r'"(?:[^"]|"")+"|[A-Za-z_]\w*'
_NAME = rf"(?:(?:memory\s*\.\s*)?main\s*\.\s*)?({_WORD})"
_COLUMN = rf"{_NOTHING}(?:{_WORD}){_NOTHING}"
_COLUMNS = re.compile(rf"{_NOTHING}({_WORD}){_NOTHING}(?:,|$)", re.DOTALL)
_CREATE = re.compile(
    rf"{_NOTHING}create\s+(or\s+replace\s+)?(?:temp\s+|temporary\s+)?view\s+(if\s+not\s+exists\s+)?{_NAME}"
    rf"{_NOTHING}(?:\(({_COLUMN}(?:,{_COLUMN})*)\))?{_NOTHING}as\b",
    re.IGNORECASE | re.DOTALL,
)
_DROP = re.compile(
    rf"{_NOTHING}drop\s+view\s+(if\s+exists\s+)?{_NAME}(?:\s+cascade|\s+restrict)?{_NOTHING};?{_NOTHING}",
    re.IGNORECASE | re.DOTALL,
)
#: Of a handle. An answer has it twice, and clients of gRPC take 16 MiB.
_BYTES_MAX = 4 << 20
#: Of statements that give no rows.
NO_ROWS = pa.schema([pa.field("status", pa.string())])


class Statement:
    """A text, and as it is run: with the values of its parameters, once they are bound."""

    def __init__(self, text: str, with_its_values: str | None = None) -> None:
        self.text = text
        self._run = text if with_its_values is None else with_its_values
        if len(self.handle) > _BYTES_MAX:
            raise UserError(f"a statement has at most {_BYTES_MAX >> 20} MiB with its values")

    @classmethod
    def of(cls, handle: bytes) -> Statement:
        fields = Fields(handle)
        return cls(fields.text(1), fields.text(2) if fields.has(2) else None)

    @property
    def handle(self) -> bytes:
        return message({1: self.text} if self._run == self.text else {1: self.text, 2: self._run})

    def bound(self, rows: pa.Table) -> Statement:
        """With the values of one row, by position, or by name where columns have names but numbers."""
        if rows.num_rows != 1:
            raise UnsupportedError(f"a query takes one set of parameters, got {rows.num_rows}")
        values: Sequence[Any] = [column[0].as_py() for column in rows.columns]
        by_place = all(re.fullmatch(r"\d*", name) for name in rows.column_names)
        given = values if by_place else dict(zip(rows.column_names, values, strict=True))
        return Statement(self.text, with_values(self.text, given))

    @property
    def is_query(self) -> bool:
        return not (_CREATE.match(self._run) or _DROP.fullmatch(self._run))

    def check_is_read(self) -> None:
        """Refuses a text that writes files, or changes how other clients' queries run."""
        if copy_of(self._run) or sets(self._run):
            raise UnsupportedError("a server's clients write no files by COPY, and change no setting of it")

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

    def define(self, session: Session) -> None:
        """Names a view, or forgets one."""
        if created := _CREATE.match(self._run):
            replaces, if_none, name = created[1], created[2], _plain(created[3])
            if not replaces and name.lower() in map(str.lower, session.tables):
                if if_none:
                    return
                raise UserError(
                    f"there is a table or view of this name: {name}; CREATE OR REPLACE VIEW makes it anew"
                )
            columns = [_plain(each) for each in _COLUMNS.findall(created[4] or "")]
            session.view(name, self._run[created.end() :].strip(), columns)
            return
        dropped = _DROP.fullmatch(self._run)
        if dropped is None:
            raise UnsupportedError("a server runs queries, CREATE VIEW and DROP VIEW; it changes no tables")
        name = _plain(dropped[2])
        if name.lower() in map(str.lower, session.views):
            session.unregister(name)
        elif not dropped[1]:
            raise UserError(f"no such view: {name}")


def _nullable(schema: pa.Schema) -> pa.Schema:
    """A run may find that a column has no NULL; clients want the schema that they were told."""
    return pa.schema([field.with_nullable(True) for field in schema])


def _plain(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
