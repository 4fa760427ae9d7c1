"""Schemas of a session: names in front of those of tables, views and sequences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from headrace._src.errors import UnsupportedError, UserError
from headrace._src.session.names import Names
from headrace._src.sql.declared import sequences_in
from headrace._src.sql.spelling import NOTHING, QUALIFIED, WORD
from headrace._src.sql.tables import unquoted

if TYPE_CHECKING:
    from headrace._src.session.session import Session

CREATE_SCHEMA = re.compile(
    rf"{NOTHING}create\s+(or\s+replace\s+)?schema\s+(if\s+not\s+exists\s+)?{QUALIFIED}{NOTHING};?{NOTHING}",
    re.IGNORECASE | re.DOTALL,
)
USE = re.compile(
    rf"{NOTHING}(?:use\s+{QUALIFIED}|set\s+(?:session\s+)?schema\s*(?:=|\bto\b)\s*(?:'({WORD})'|({WORD}))"
    rf"|(reset\s+schema)){NOTHING};?{NOTHING}",
    re.IGNORECASE | re.DOTALL,
)
#: What DuckDB has without being asked.
_OF_BINDER = ("main", "information_schema", "pg_catalog")


def create_schema(session: Session, said: re.Match[str]) -> None:
    replaces, if_none, name = said[1], said[2], unquoted(said[4])
    names = session._names
    _check_outermost(said[3])
    if name.lower() in _OF_BINDER and not (if_none and name.lower() == "main"):
        raise UserError(f"there is a schema of this name: {name}")
    if name.lower() in names.schemas:
        if not replaces and not if_none:
            raise UserError(f"there is a schema of this name: {name}")
        if replaces:
            _check_empty(names, names.schemas[name.lower()])
        return
    if name.lower() != "main":
        session._in_schemas({**names.schemas, name.lower(): name}, names.schema)


def drop_schema(session: Session, within: str | None, name: str, *, if_there: bool, cascades: bool) -> None:
    """Forgets a schema, with what is in it: if it cascades."""
    names = session._names
    _check_outermost(within)
    if name.lower() == "main":
        raise UserError("the schema main is not dropped")
    if name.lower() not in names.schemas:
        if if_there:
            return
        raise UserError(f"no such schema: {name}")
    name = names.schemas[name.lower()]
    if not cascades:
        _check_empty(names, name)
    inside = names.inside(name)
    for key, (given, table) in names.tables.items():
        used = sequences_in(table.schema.definition) if hasattr(table, "schema") else set()
        if key not in inside and (sequence := min(used & inside, default="")):
            raise UserError(f"table {given} has a default of the sequence {sequence}: DROP TABLE comes first")
    schemas = {low: given for low, given in names.schemas.items() if low != name.lower()}
    session._in_schemas(schemas, "" if names.schema == name else names.schema, inside)


def use_schema(session: Session, said: re.Match[str]) -> None:
    within, used, given, bare = said[1], said[2], said[3], said[4]
    name = unquoted(used or given or bare or "main")
    if within and within.lower() != "memory":
        raise UserError(f"no such schema: {within}.{name}")
    names = session._names
    session._in_schemas(names.schemas, names.schema_named(name))


def _check_outermost(within: str | None) -> None:
    if within and within.lower() != "memory":
        raise UnsupportedError(f"a schema in another one is not supported: {within}")


def _check_empty(names: Names, schema: str) -> None:
    if inside := names.inside(schema):
        raise UserError(
            f"the schema {schema} has {', '.join(sorted(inside))}: DROP SCHEMA … CASCADE drops them"
        )
