"""Statements that change what a session has: its tables and views. They are done at once, one by one.

Each makes another `Names`: a query goes on with the rows that its tables had when it was written, and a
statement that fails has changed nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headrace._src.cluster import current
from headrace._src.errors import HeadraceError, UnsupportedError, UserError
from headrace._src.query import sql as queries
from headrace._src.session.alterations import alteration, alters_of
from headrace._src.session.appended_files import AppendedFile, is_folder
from headrace._src.session.changed_rows import changed_rows, counting, rows_of
from headrace._src.session.copied_files import copied_from, insertion
from headrace._src.session.effects import Answer, Effect, kept_table
from headrace._src.session.kept_table import KeptTable
from headrace._src.session.names import BoundChange, Names, bound, bound_statement
from headrace._src.session.references import check_unreferenced
from headrace._src.session.returned import Returned
from headrace._src.session.schemas import CREATE_SCHEMA, USE, create_schema, drop_schema, use_schema
from headrace._src.session.sequences import KeptSequence, numbered
from headrace._src.session.transactions import changing_within, transaction_of, within
from headrace._src.sql.changes import Verb
from headrace._src.sql.declared import sequences_in, short_sequences_in
from headrace._src.sql.parameters import Parameters, with_each
from headrace._src.sql.script import (
    CHANGES,
    TRANSACTIONS,
    gives_rows,
    may_be_done,
    query_alone,
    statements_of,
    verb_of,
)
from headrace._src.sql.sequences import created, may_call, takes_numbers
from headrace._src.sql.spelling import NOTHING, QUALIFIED, WORD
from headrace._src.sql.tables import qualified, unquoted

if TYPE_CHECKING:
    from headrace._src.session.session import Session

_COLUMN = rf"{NOTHING}(?:{WORD}){NOTHING}"
_COLUMNS = re.compile(rf"{NOTHING}({WORD}){NOTHING}(?:,|$)", re.DOTALL)
_CREATE_VIEW = re.compile(
    rf"{NOTHING}create\s+(or\s+replace\s+)?(?:temp\s+|temporary\s+)?view\s+(if\s+not\s+exists\s+)?{QUALIFIED}"
    rf"{NOTHING}(?:\(({_COLUMN}(?:,{_COLUMN})*)\))?{NOTHING}as\b",
    re.IGNORECASE | re.DOTALL,
)
_DROP = re.compile(
    rf"{NOTHING}drop\s+(table|view|macro|function|type|sequence|schema)\s+(if\s+exists\s+)?{QUALIFIED}"
    rf"(?:\s+(cascade)|\s+restrict)?{NOTHING};?{NOTHING}",
    re.IGNORECASE | re.DOTALL,
)
_CREATE = rf"{NOTHING}create\s+(or\s+replace\s+)?(?:temp\s+|temporary\s+)?"
_DEFINE = re.compile(
    rf"{_CREATE}(?:macro|function|type)\s+(if\s+not\s+exists\s+)?{QUALIFIED}", re.IGNORECASE | re.DOTALL
)
_CREATE_SEQUENCE = re.compile(
    rf"{_CREATE}sequence\s+(if\s+not\s+exists\s+)?{QUALIFIED}", re.IGNORECASE | re.DOTALL
)
#: What a query may have in front of it, for itself.
_OF_QUERY = re.compile(
    rf"(?:{_CREATE}(?:macro|function|type|view)|{NOTHING}set\s+variable)\b", re.IGNORECASE | re.DOTALL
)
_ONE_ROW = re.compile(r"\bvalues\s*(\(.*\))\s*;?\s*", re.IGNORECASE | re.DOTALL)


def is_script(text: str) -> bool:
    """Whether a text is done statement by statement: no query, or one with more than its own definitions in
    front."""
    if ";" not in text and not may_be_done(text) and not may_call(text) and not USE.fullmatch(text):
        return False
    *front, last = statements_of(text)
    return _is_done(last) or not all(map(_OF_QUERY.match, front))


def _is_change(statement: str) -> bool:
    verb = verb_of(statement)
    return verb in (*CHANGES, *TRANSACTIONS) or (verb == "copy" and copied_from(statement) is not None)


def _is_done(statement: str) -> bool:
    """Whether a statement is done at once: it changes something, if only the next number of a sequence."""
    uses = USE.fullmatch(statement) is not None
    return uses or _is_change(statement) or (may_call(statement) and gives_rows(statement))


def done(session: Session, text: str, options: Mapping[str, Any]) -> tuple[str, Answer | None]:
    """Does what the statements of a text say, in their order, up to a query at its end.

    That query; or what the last statement says.
    """
    *front, last = statements_of(text)
    for each in front:
        if _is_done(each):
            _do(session, each, options)
        else:
            session.sql(each, **options)
    return last, _do(session, last, options) if _is_done(last) else None


def done_for_each(session: Session, text: str, sets: Sequence[Parameters], **options: Any) -> int:
    """Does a statement for each set of parameters; how many rows were changed, -1 if that is not known.

    An INSERT of a row of VALUES is one statement for all of them: all rows are added, or none.
    """
    found = _ONE_ROW.search(text)
    row = found[1] if found and found.end() == len(text) else ""
    if row and len(sets) > 1 and verb_of(text) == "insert":
        first, *others = with_each(row, sets)
        first = text[: found.start(1)] + first if found else ""
        more = "".join(f", {each}" for each in others)
        with changing_within(session._transactions.running):
            answer = session._changed(first, options, lambda names, _: _inserted(names, first, more))
        if answer:
            return answer.count
    counts = [relation.changed for relation in (session.sql(text, each, **options) for each in sets)]
    return sum(counts) if all(count >= 0 for count in counts) else -1


def _inserted(names: Names, text: str, more: str) -> Effect | None:
    """Rows of constants are added; None if they are not all."""
    said = bound_statement(text, names, more)
    if said.change.verb is not Verb.INSERT or said.change.rows is None:
        return None
    return _made(names, said, {})


def _do(session: Session, text: str, options: Mapping[str, Any]) -> Answer:
    """Does one statement."""
    if ends_or_begins := transaction_of(text):
        with session._changing:
            ends_or_begins(session._transactions)
        return Answer.of_success()
    if schema := USE.fullmatch(text):
        with within(session._transactions.running), session._changing:
            use_schema(session, schema)
        return Answer.of_success()
    if not _is_change(text):
        around = changing_within if takes_numbers(text) else within
        with around(session._transactions.running):
            return _asked(session, text, options)
    with changing_within(session._transactions.running):
        return _done(session, text, options)


def _asked(session: Session, text: str, options: Mapping[str, Any]) -> Answer:
    """The rows of a query that takes numbers of sequences."""

    def ask(names: Names, told: Mapping[str, Any]) -> Effect:
        asked = bound(text, names)
        assert asked.plan
        try:
            count = counting(asked.composed.text, asked.tables, told)
            with numbered(asked.plan.json, names.sequences, count) as now:
                plan = replace(asked.plan, json=now.plan)
                rows = queries.whole_of_plan(plan, asked.composed.text, asked.tables, told)
                now.has_run(rows.num_rows)
        except HeadraceError as error:
            raise asked.composed.retold(error) from None
        return Effect(Answer(rows, types=asked.plan.types))

    answer = session._changed(text, options, ask)
    assert answer
    return answer


def _done(session: Session, text: str, options: Mapping[str, Any]) -> Answer:
    """Does one that changes tables, views, macros or types."""
    if created := _CREATE_VIEW.match(text):
        return _create_view(session, text, created)
    if defined := _DEFINE.match(text):
        return _define(session, text, defined)
    if schema := CREATE_SCHEMA.fullmatch(text):
        create_schema(session, schema)
        return Answer.of()
    if sequence := _CREATE_SEQUENCE.match(text):
        return _create_sequence(session, text, sequence)
    if dropped := _DROP.fullmatch(text):
        return _drop(session, dropped)

    def change(names: Names, told: Mapping[str, Any]) -> Effect:
        if alters := alters_of(text):
            return alteration(alters, names, lambda within, said: _change(within, said, told))
        copies = copied_from(text)
        return _change(names, insertion(copies, names) if copies else text, told)

    answer = session._changed(text, options, change)
    assert answer
    return answer


def _create_view(session: Session, text: str, created: re.Match[str]) -> Answer:
    replaces, if_none = created[1], created[2]
    schema, name = session._names.new(*qualified(created, 3))
    if not replaces and name.lower() in map(str.lower, session.tables):
        if if_none:
            return Answer.of()
        raise UserError(
            f"there is a table or view of this name: {name}; CREATE OR REPLACE VIEW makes it anew"
        )
    if name.lower() in session._names.tables:
        raise UserError(f"a table is not replaced by a view: {name}")
    columns = [unquoted(each) for each in _COLUMNS.findall(created[5] or "")]
    session._viewed(schema, name, query_alone(text)[created.end() :].strip(), columns)
    return Answer.of()


def _define(session: Session, text: str, defined: re.Match[str]) -> Answer:
    """Names a macro or a type."""
    replaces, if_none = defined[1], defined[2]
    schema, name = session._names.new(*qualified(defined, 3))
    if schema:
        raise UnsupportedError(f"macros and types are in the schema main, not in: {schema}")
    if not replaces and name.lower() in session._names.definitions:
        if if_none:
            return Answer.of()
        raise UserError(f"there is a macro or type of this name: {name}; CREATE OR REPLACE makes it anew")
    statement = query_alone(text)
    bound(f"{statement}\n; select 1", session._names)  # raises for a mistake in it
    session._defined(name, statement.strip())
    return Answer.of()


def _create_sequence(session: Session, text: str, said: re.Match[str]) -> Answer:
    replaces, if_none = said[1], said[2]
    schema, name = session._names.new(*qualified(said, 3))
    if name.lower() in session._names.sequences:
        if if_none:
            return Answer.of()
        if not replaces:
            raise UserError(f"there is a sequence of this name: {name}; CREATE OR REPLACE makes it anew")
        _check_unused(session._names, name)
    session._sequenced(name, KeptSequence(created(query_alone(text), schema)))
    return Answer.of()


def _check_unused(names: Names, sequence: str) -> None:
    for name, table in names.tables.values():
        if isinstance(table, KeptTable) and sequence.lower() in sequences_in(table.schema.definition):
            raise UserError(f"table {name} has a default of the sequence {sequence}: DROP TABLE comes first")


def _drop_sequence(session: Session, name: str, *, if_there: bool) -> Answer:
    if name.lower() in session._names.sequences:
        _check_unused(session._names, name)
        session._sequenced(name, None)
    elif not if_there:
        raise UserError(f"no such sequence: {name}")
    return Answer.of_success()


def _drop(session: Session, dropped: re.Match[str]) -> Answer:
    kind, words = dropped[1].lower(), qualified(dropped, 3)
    if kind == "schema":
        drop_schema(session, *words, if_there=bool(dropped[2]), cascades=bool(dropped[5]))
        return Answer.of_success()
    name = session._names.known(*words)
    if kind == "sequence":
        return _drop_sequence(session, name, if_there=bool(dropped[2]))
    if kind not in ("table", "view"):
        if name.lower() in session._names.definitions:
            session._defined(name, "")
        elif not dropped[2]:
            raise UserError(f"no such {kind}: {name}")
        return Answer.of_success()

    def drop(names: Names, _: object) -> Effect:
        is_view = name.lower() in names.views
        if not is_view and name.lower() not in names.tables:
            if dropped[2]:
                return Effect(Answer.of_success())
            raise UserError(f"no such {kind}: {name}")
        if is_view != (kind == "view"):
            other = "view" if is_view else "table"
            raise UserError(f"{name} is a {other}: DROP {other.upper()}")
        if not is_view:
            kept_table(names, name, "DROP TABLE")
            check_unreferenced(names, name)
        return Effect(Answer.of_success(), name)

    answer = session._changed("", {}, drop)
    assert answer
    return answer


def _change(names: Names, text: str, options: Mapping[str, Any]) -> Effect:
    """What a statement does, once its rows are there."""
    said = bound_statement(text, names)
    change = said.change
    name = change.name.lower()
    if change.verb is Verb.CREATE and name in (*names.tables, *names.views):
        if change.on_conflict == "IGNORE":
            return Effect(Answer.of())
        if change.on_conflict == "ERROR":
            raise UserError(
                f"there is a table or view of this name: {change.name}; CREATE OR REPLACE TABLE makes it anew"
            )
        kept_table(names, change.name, "CREATE OR REPLACE")
        check_unreferenced(names, change.name)
    try:
        return _made(names, said, options)
    except HeadraceError as error:
        raise said.composed.retold(error) from None


def _made(names: Names, said: BoundChange, options: Mapping[str, Any]) -> Effect:
    """What a statement makes of its table."""
    group = current()
    if group is not None and group.runs_script_on_all:
        raise UnsupportedError(
            "tables that statements change are of one process, and each rank of this cluster runs the "
            "script: hr.persist keeps rows on the ranks, COPY writes them to files"
        )
    change = said.change
    if change.verb is Verb.CREATE:
        assert change.schema
        if change.schema.schema and (short := short_sequences_in(change.schema.definition)):
            raise UnsupportedError(
                f"a default in a schema names that of its sequence in front of it: {min(short)}"
            )
        made = KeptTable(change.schema)
        made.check_types()
        if change.plan:
            made = rows_of(said, options, made.with_rows)
        return Effect(Answer.of(made.num_rows if change.plan else None), change.name, made)
    given = names.tables.get(change.name.lower(), ("", None))[1]
    if change.verb is Verb.INSERT and is_folder(given):
        if change.returned:
            raise UnsupportedError(f"RETURNING of rows that become a file is not supported: {change.name}")
        file = AppendedFile(change.name, given)
        rows = change.rows
        count = file.write(rows.to_reader()) if rows is not None else rows_of(said, options, file.write)
        return Effect(Answer.of(count))
    table = kept_table(names, change.name, change.verb.value)
    returned = Returned(names, said, table) if change.returned else None
    made, rows, counts = changed_rows(names, said, table, options)
    answer = returned.answer(rows(), counts, options) if returned else Answer.of(sum(counts.values()))
    return Effect(answer, change.name, made)
