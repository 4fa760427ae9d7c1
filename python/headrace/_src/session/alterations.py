"""ALTER TABLE in a session.

What keeps all values only names the table's parts anew; what gives rows other values fills the altered table
from the one before.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from headrace._src.errors import UserError
from headrace._src.session.effects import Answer, Effect, kept_table
from headrace._src.session.kept_table import KeptTable
from headrace._src.session.names import Names
from headrace._src.session.references import check_unreferenced
from headrace._src.sql.alteration import altered, refilled
from headrace._src.sql.script import query_alone
from headrace._src.sql.spelling import NOTHING, QUALIFIED, WORD
from headrace._src.sql.tables import TableSchema, qualified, quoted, unquoted

_ALTER = re.compile(
    rf"{NOTHING}alter\s+table\s+(?P<exists>if\s+exists\s+)?"
    rf"{QUALIFIED}\s+(?:"
    rf"rename\s+(?P<moves>to\s+)?|drop\s|(?P<adds>add\s+(?:column\s+)?(?:if\s+not\s+exists\s+)?)"
    rf"|alter\s+(?:column\s+)?(?P<column>{WORD})\s+"
    rf"(?:(?:set|drop)\s+(?:default|not\s+null)\b"
    rf"|(?P<types>(?:set\s+data\s+)?type\s(?:.*?\busing\b(?P<using>.*))?)))",
    re.IGNORECASE | re.DOTALL,
)
_DEFAULT = re.compile(r"\b(?:set|drop)\s+default\b", re.IGNORECASE)
#: What the table before is called meanwhile.
_BEFORE = "headrace_before"


def alters_of(text: str) -> re.Match[str] | None:
    """The parts of an ALTER TABLE; None for any other statement."""
    return _ALTER.match(query_alone(text)) if _ALTER.match(text) else None


def _check_foreign_keys(names: Names, alters: re.Match[str], before: TableSchema, after: TableSchema) -> None:
    """Raises UserError where they would not hold for what becomes of their tables."""
    if not alters["adds"] and not _DEFAULT.search(alters.string):
        check_unreferenced(names, before.name)
        refers_to_itself = any(key.table == before.name.lower() for key in before.foreign_keys)
        if refers_to_itself and alters["moves"]:
            raise UserError(f"a table that refers to itself is not renamed: {before.name}")
    types = {column.name: column.type for column in after.columns}
    for key in before.foreign_keys:
        own = {column.name: column.type for column in before.columns if column.name in key.columns}
        if any(types.get(name) != kind for name, kind in own.items()):
            raise UserError(f"a column of a foreign key stays as it is: {', '.join(key.columns)}")


def alteration(alters: re.Match[str], names: Names, change: Callable[[Names, str], Effect]) -> Effect:
    """What an ALTER TABLE does. change: does an INSERT, with these names."""
    name = names.known(*qualified(alters, 2))
    if name.lower() not in names.tables:
        if alters["exists"] and name.lower() not in names.views:
            return Effect(Answer.of_success())
        raise UserError(f"no such table: {name}")
    table = kept_table(names, name, "ALTER TABLE")
    retyped = unquoted(alters["column"]) if alters["types"] else ""
    sequences = "\n".join(each.statement for each in names.sequences_of(alters.string))
    if names.schema and names.schema == table.schema.schema:
        sequences = f"{sequences}\nuse memory.{quoted(names.schema)};"
    schema, columns = altered(alters.string, table.schema, retyped, sequences)
    schema = replace(schema, foreign_keys=table.schema.foreign_keys)
    _check_foreign_keys(names, alters, table.schema, schema)
    if alters["moves"] and schema.name.lower() in (*names.tables, *names.views):
        raise UserError(f"there is a table or view of this name: {schema.name}")
    if not alters["adds"] and not retyped:
        return Effect(Answer.of_success(), table.schema.name, table.altered(schema, columns))
    values = refilled(table.schema, schema, retyped, alters["using"])
    meanwhile = names.without(name).having(_BEFORE, table.called(_BEFORE)).having(name, KeptTable(schema))
    called, own = quoted(schema.own_name), schema.sql_name
    filled = change(meanwhile.within(""), f"insert into {own} select {values} from {_BEFORE} as {called}")
    return replace(filled, answer=Answer.of_success())
