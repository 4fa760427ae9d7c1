"""SQL in: DuckDB's parser and binder, over a catalogue of empty tables, give the bound plan of a text.

DuckDB reads no data and no file: it knows what the tables are called and of what types their columns are.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from headrace._src.errors import SqlError, UnsupportedError
from headrace._src.sql.clock import Uses, clock_of
from headrace._src.sql.collations import current_collation
from headrace._src.sql.described import answered
from headrace._src.sql.literals import first_bignum
from headrace._src.sql.mistakes import error_of
from headrace._src.sql.parameters import place_of_one
from headrace._src.sql.place import located
from headrace._src.sql.plan_json import as_deep_as_can_be
from headrace._src.sql.recursion_keys import RecursionKeys
from headrace._src.sql.script import Kind, Script, may_change, script_of
from headrace._src.sql.spelling import WORD
from headrace._src.sql.stored_types import read_as_declared
from headrace._src.sql.tables import TableSchema, check_names, named_in, unquoted
from headrace._src.sql.zones import UTC, current_zone
from headrace._src.stop import unless_stopped

if TYPE_CHECKING:
    import pyarrow as pa

# A text reaches its tables only: no files, extensions, settings, variables of the Python program.
_CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
    "threads": 1,
}
_SETTINGS = (
    "set lambda_syntax = 'ENABLE_SINGLE_ARROW'",  # `x -> x + 1` beside `lambda x: x + 1`
    # The tables are empty, by which `moved_conditions` should not see conditions decided.
    "set disabled_optimizers = 'statistics_propagation,join_order,column_lifetime'",
    # Beyond it a PIVOT is an operator of its own, below it aggregates with FILTER; no PIVOT has more columns.
    "set pivot_filter_threshold = 100000",
    "set lock_configuration = true",
)
_OPTIMIZED = "select json_serialize_plan(?, optimize := true)"
_SERIALIZE = "select json_serialize_plan(?, optimize := false)"
_INTERNAL = '{"error":true,"error_type":"internal"'
_DEFINITIONS = tuple(f"LOGICAL_CREATE_{kind}" for kind in ("VIEW", "MACRO", "TYPE", "SEQUENCE", "SCHEMA"))
#: What plans in JSON have no place for, by words that stand for it.
_UNWRITTEN = {
    r"\busing\s+key\b": "WITH RECURSIVE … USING KEY of what is no column, or where two have one name,",
    r"\bbit\b|\bbitstring\b": "a value of the type BIT",
    r"\bbignum\b|\bvarint\b": "a value of the type BIGNUM",
}
_BOUND = '{"error":false'
_PATH = re.compile(rf"(?:{WORD})(?:\.(?:{WORD}))*")
_VARIABLE = '"scope":"VARIABLE"'  # of a SET, not of an option
_SET_SCHEMA = '{"type":"LOGICAL_SET","children":[],"name":"schema"'  # of USE


@dataclass(frozen=True)
class BoundPlan:
    """A query as DuckDB bound it."""

    json: str
    #: Of the result's columns; several may have the same.
    names: tuple[str, ...]
    #: DuckDB's, as SQL writes them.
    types: tuple[str, ...] = ()
    #: What DuckDB's clock showed, in microseconds since 1970, of which it folds functions. 0: not asked for.
    moment: int = 0


_ANSWERED_BY_SQL = {
    Kind.EXPLAIN: "EXPLAIN is",
    Kind.ANALYZE: "EXPLAIN ANALYZE is",
    Kind.CATALOGUE: "DESCRIBE and SHOW are",
}
_lock = threading.Lock()  # of the connection that waits for the next query
_connection: Any = None
_place = ("", "")  # of the connection: its zone and collation


def _close() -> None:
    """Of the caller that has the lock."""
    global _connection
    if _connection is not None:
        _connection.close()
        _connection = None


def _before_fork() -> None:
    """A child has none of DuckDB's threads, and would wait for them: parent and child connect anew."""
    _lock.acquire()
    _close()


def _at_exit() -> None:
    """DuckDB's module prints pages about leaks if a connection is there when the interpreter ends."""
    if _lock.acquire(blocking=False):
        _close()
        _lock.release()


atexit.register(_at_exit)

os.register_at_fork(before=_before_fork, after_in_parent=_lock.release, after_in_child=_lock.release)


def bound_plan(text: str, schemas: Sequence[TableSchema]) -> BoundPlan:
    """The plan of the query in `text`; its positions are bytes of `text`.

    Raises SqlError, and UnsupportedError for what is no query.
    """
    script = script_of(text)
    if script.kind is not Kind.ROWS:
        what = _ANSWERED_BY_SQL[script.kind]
        message = f"{what} answered by hr.sql and by headrace sql alone"
        raise located(UnsupportedError, message, text, script.start)

    def bound() -> BoundPlan:
        with tables_of_binder(schemas, script) as connection:
            plan = readable(connection, plan_of(connection, script, schemas), script, schemas)
            relation = connection.sql(script.query)
            names, types = tuple(relation.columns), tuple(map(str, relation.types))
            return BoundPlan(plan, names, types, moment_of(connection, text, plan))

    return unless_stopped(bound)


def moment_of(connection: Any, text: str, plan: str) -> int:
    """What DuckDB's clock shows in this transaction, if the text or its plan may ask for it; else 0."""
    if clock_of(text, plan).uses is Uses.NOTHING:
        return 0
    return int(connection.execute("select epoch_us(now())").fetchall()[0][0])


def readable(connection: Any, plan: str, script: Script, schemas: Sequence[TableSchema]) -> str:
    """A plan that reads what the tables store, with rows in place of functions of the catalogue."""
    return read_as_declared(_stored(answered(connection, plan, script.text), schemas), schemas)


def moved_conditions(text: str, schemas: Sequence[TableSchema]) -> Any:
    """The plan of the query in `text` as DuckDB's optimizer leaves it, read from its JSON.

    Conditions stand in the scans of tables, as far as they can.

    Raises SqlError as `bound_plan` does, and for a plan that is too deep to be read.
    """
    script = script_of(text)

    def moved() -> str:
        with tables_of_binder(schemas, script) as connection:
            plan_of(connection, script, schemas, queries_only=False)
            plan: str = connection.execute(_OPTIMIZED, [script.query]).fetchall()[0][0]
            return _stored(plan, schemas)

    with as_deep_as_can_be():
        return json.loads(unless_stopped(moved))


def tables_named(script: Script) -> frozenset[str]:
    """Names, in small letters, among which are those of all tables that a script reads.

    Where the text says in which schema one is, that is in front, with a point, also main.
    """
    if not script.definitions and not may_change(script.text):
        names = _tables_of_query(script.query)
        if names is not None:
            return names
    # DuckDB does not know the macros of the text, or it is wrong: any word may be a name.
    return frozenset(name.strip('"') for name in re.findall(r'\w+|"[^"]+"', script.text.lower()))


@lru_cache(64)
def _tables_of_query(query: str) -> frozenset[str] | None:
    """As DuckDB finds them; None where it does not understand the query alone."""
    import duckdb

    with tables_of_binder(()) as connection, suppress(duckdb.Error):
        names = connection.get_table_names(query, qualified=True)
        return frozenset(_without_catalog(name.lower()) for name in names)
    return None


def _without_catalog(name: str) -> str:
    """What a session calls a table that DuckDB names so, with what else it is called behind it."""
    path = _PATH.match(name)
    parts = [unquoted(part) for part in re.findall(WORD, path[0])] if path else [name]
    if len(parts) == 1 or parts[-2] in ("memory", "temp"):
        return parts[-1]
    return named_in(parts[-2], parts[-1])


def catalogue_rows(script: Script, schemas: Sequence[TableSchema]) -> pa.Table:
    """DuckDB's answer to DESCRIBE or SHOW."""
    with tables_of_binder(schemas, script) as connection:
        plan_of(connection, script, schemas)
        return connection.sql(script.query).to_arrow_table()


@contextmanager
def tables_of_binder(schemas: Sequence[TableSchema], script: Script | None = None) -> Iterator[Any]:
    """A connection with these tables in its catalogue, and nothing else, which is this caller's alone.

    script: what it is for, if that has definitions.
    """
    global _connection, _place
    check_names(schemas)
    place = (current_zone() or UTC, current_collation())
    with _lock:
        if place != _place:
            _close()
            _place = place
        # Kept for the next query only if this one leaves it clean.
        connection, _connection = _connection, None
    connection = connection or _connect(*place)
    connection.execute("begin")
    try:
        for schema in schemas:
            connection.execute(schema.statement())
        yield connection
    finally:
        connection.execute("rollback")
        uses = script and any(_word_of(definition) == "use" for definition in script.definitions)
        if uses or any(schema.schema for schema in schemas):
            connection.execute("use memory.main")
    if script and any(_word_of(definition) == "set" for definition in script.definitions):
        connection.close()  # variables stay
        return
    with _lock:
        if place == _place and _connection is None:
            _connection = connection


def _connect(zone: str, collation: str) -> Any:
    import duckdb

    connection = duckdb.connect(config=_CONFIGURATION)
    connection.execute(f"set TimeZone = '{zone}'")
    connection.execute(f"set default_collation = '{collation}'")
    for setting in _SETTINGS:
        connection.execute(setting)
    return connection


def plan_of(
    connection: Any, script: Script, schemas: Sequence[TableSchema], *, queries_only: bool = True
) -> str:
    """The plan of a script's last statement, after its definitions."""
    import duckdb

    for definition in script.definitions:
        plan = _serialized(connection, definition, script, schemas)
        root = _root(plan)
        is_variable = root == "LOGICAL_SET" and _VARIABLE in plan
        if root not in _DEFINITIONS and not is_variable and _SET_SCHEMA not in plan:
            message = (
                "one query at a time; before it only CREATE SCHEMA, VIEW, MACRO and TYPE, USE, "
                "and SET VARIABLE"
            )
            raise located(UnsupportedError, message, script.text, *first_word(definition))
        if is_variable and '"LOGICAL_GET"' in plan:
            message = "a variable in front of a query reads no table; SET VARIABLE of a session may"
            raise located(UnsupportedError, message, script.text, *first_word(definition))
        try:
            connection.execute(RecursionKeys(script.text).without(definition))
        except duckdb.Error as error:
            raise located(
                SqlError, str(error).partition(": ")[2], script.text, *first_word(definition)
            ) from None
    return _serialized(connection, script.query, script, schemas, queries_only)


def _serialized(
    connection: Any, part: str, script: Script, schemas: Sequence[TableSchema], queries_only: bool = False
) -> str:
    import duckdb

    try:
        (statement,) = connection.extract_statements(part)
    except duckdb.Error:
        pass  # said below, with its place
    else:
        if statement.named_parameters:
            names = ", ".join(f"${name}" for name in sorted(statement.named_parameters))
            place = place_of_one(part, statement.named_parameters)
            raise located(UnsupportedError, f"parameters are not supported: {names}", script.text, *place)
        if not queries_only and statement.type.name in _STATEMENTS:
            message = "a statement that changes tables has no PIVOT without a list of values: ON x IN (…)"
            raise located(UnsupportedError, message, script.text, *first_word(part))
        if queries_only and statement.type != duckdb.StatementType.SELECT:
            name = _STATEMENTS.get(statement.type.name, statement.type.name)
            message = f"only queries are supported, got {name}"
            if name in _OF_SESSIONS:
                message += "; a session (hr.connect) has tables that statements change"
            raise located(UnsupportedError, message, script.text, *first_word(part))
    plan: str | None = connection.execute(_SERIALIZE, [part]).fetchall()[0][0]
    keys = RecursionKeys(script.text)
    if keys and (not plan or plan.startswith((_INTERNAL, _BOUND))):
        plan = connection.execute(_SERIALIZE, [keys.without(part)]).fetchall()[0][0]
        if plan and plan.startswith(_BOUND) and (keyed := keys.put_into(plan)):
            return keyed
        raise _unwritten(script.text, part)
    if not plan or plan.startswith(_INTERNAL):
        # DuckDB cannot name the columns of some plans before its optimizer has changed them.
        plan = connection.execute(_OPTIMIZED, [part]).fetchall()[0][0]
    if not plan or plan.startswith(_INTERNAL):
        # Of a plan with values or operators that its JSON has no place for.
        raise _unwritten(script.text, part)
    if plan.startswith('{"error":true'):
        raise error_of(json.loads(plan), script.text, schemas)
    return plan


def _unwritten(text: str, part: str) -> UnsupportedError:
    """Why DuckDB binds a statement and cannot write its plan: a BIGNUM, as far as is known."""
    if found := first_bignum(text):
        value, position = found
        message = f"an integer has at most 128 bits, got {value}"
        return located(UnsupportedError, message, text, position, len(value))
    for words, what in _UNWRITTEN.items():
        if found := re.search(words, text, re.IGNORECASE):
            position = len(text[: found.start()].encode())
            return located(UnsupportedError, f"{what} is not supported", text, position, len(found[0]))
    # no test: what is known to be so is named above
    message = "DuckDB's binder understands this query, but cannot write its plan"
    return located(UnsupportedError, message, text, *first_word(part))


def _stored(plan: str, schemas: Sequence[TableSchema]) -> str:
    """A plan that reads tables by the names that sessions have for them, also where these are views of what
    is stored."""
    for schema in schemas:
        if schema.schema:
            inside, own, name = map(_json, (schema.schema, schema.own_name, schema.name))
            plan = plan.replace(f'"schema":{inside},"table":{own}', f'"schema":{inside},"table":{name}')
        if schema.is_cast:
            plan = plan.replace(_json(schema.stored_name), _json(schema.name))
    return plan


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


#: What DuckDB calls by another name than the text.
_STATEMENTS = {"MULTI": "PIVOT without a list of values"}
_OF_SESSIONS = ("CREATE", "INSERT", "DELETE", "UPDATE", "DROP", "ALTER", "MERGE_INTO", "TRANSACTION")


def _root(plan: str) -> str:
    """The outermost operator of a plan in JSON, which may be nested too deep for Python's reader."""
    return plan.partition('"type":"')[2].partition('"')[0]


def _word_of(part: str) -> str:
    return part.split(maxsplit=1)[0].lower()


def first_word(part: str) -> tuple[int, int]:
    """Where a statement begins in its text, and the bytes of its first word."""
    position = len(part) - len(part.lstrip())
    return position, len(part.split(maxsplit=1)[0].encode())
