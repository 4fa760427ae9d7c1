"""RETURNING of statements that change rows: a query over these, which stand where their table did."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from headrace._src.errors import HeadraceError, SqlError, UnsupportedError
from headrace._src.query import sql as queries
from headrace._src.session.effects import Answer
from headrace._src.session.kept_table import KeptTable
from headrace._src.session.names import Bound, BoundChange, Names, bound
from headrace._src.sql.changes import Verb
from headrace._src.sql.composed import Composed, Part
from headrace._src.sql.script import query_returned
from headrace._src.sql.spelling import QUALIFIED, WORD
from headrace._src.sql.tables import unquoted

_ROWID = re.compile(r"\browid\b", re.IGNORECASE)
#: The other name of a table that a statement changes.
_ALIAS = re.compile(
    rf"\b(?:into|delete\s+from|update)\s+{QUALIFIED}\s+(?P<as>as\s+)?(?P<alias>{WORD})",
    re.IGNORECASE,
)
_NO_ALIAS = ("using", "set", "values", "select", "with", "where", "returning", "default", "by", "on", "from")
_ACTION = re.compile(r"\bmerge_action\b", re.IGNORECASE)


class Returned:
    """What RETURNING asks for of the rows that a statement changes."""

    def __init__(self, names: Names, said: BoundChange, table: KeptTable) -> None:
        """Raises UnsupportedError for more than columns of the table. names: before the statement."""
        self._name = names.tables[said.change.name.lower()][0]
        self._names = names.without(self._name)
        self._statement = said.composed.parts[-1].text
        is_insert = said.change.verb is Verb.INSERT  # whose other name is not known behind it
        own = names.sql_name(self._name)
        self._from = own if is_insert else _called(self._statement, table.schema.own_name, own)
        asked_text = query_returned(self._statement, self._from)
        self._has_action = said.change.merge is not None and _ACTION.search(asked_text) is not None
        try:
            asked = self._bound(table, {"INSERT": 0})
        except SqlError as error:
            raise UnsupportedError(
                f"RETURNING has columns of the table {self._name} alone: {error}"
            ) from None
        assert asked.plan
        if _ROWID.search(asked_text) or len(asked.plan.names) != said.change.returned + self._has_action:
            raise UnsupportedError(
                f"RETURNING has columns of the table {self._name} alone, without rowid: name them"
            )

    def answer(self, rows: KeptTable, counts: Mapping[str, int], options: Mapping[str, Any]) -> Answer:
        """counts: how many of the rows come of which action, in their order."""
        asked = self._bound(rows, counts)
        assert asked.plan
        try:
            found = queries.sql(asked.composed.text, asked.tables, **options)
        except HeadraceError as error:
            raise self._retold(asked.composed.retold(error)) from None
        own = list(range(int(self._has_action), found.num_columns))
        return Answer(found.select(own), sum(counts.values()), asked.plan.types[int(self._has_action) :])

    def _bound(self, rows: KeptTable, counts: Mapping[str, int]) -> Bound:
        action = f"{_action_of(counts)} as merge_action" if self._has_action else ""
        text = query_returned(self._statement, self._from, action)
        try:
            return bound(text, self._names.having(self._name, rows))
        except HeadraceError as error:
            raise self._retold(error) from None

    def _retold(self, error: HeadraceError) -> HeadraceError:
        """The same error, without the line that `merge_action` has for itself."""
        if not self._has_action:
            return error
        return Composed((Part("", "merge_action"), Part(self._statement))).retold(error)


def _called(statement: str, table: str, own: str) -> str:
    """A table as it stands in FROM, by the name that the statement has for it. own: as SQL names it."""
    for found in _ALIAS.finditer(statement):
        is_name = found["as"] or found["alias"].lower() not in _NO_ALIAS
        if is_name and unquoted(found[2]).lower() == table.lower():
            return f"{own} as {found['alias']}"
    return own


def _action_of(counts: Mapping[str, int]) -> str:
    """What has been done to a row, which its number tells."""
    ends = accumulate(counts.values())
    checks = " ".join(f"when rowid < {end} then '{action}'" for action, end in zip(counts, ends, strict=True))
    return f"case {checks} end"
