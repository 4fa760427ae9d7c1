"""What names of tables mean in a session, and texts behind what they read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from headrace._src.errors import HeadraceError, SqlError, UserError
from headrace._src.query.bound_query import names_table, schemas_of
from headrace._src.query.named_files import with_named_files
from headrace._src.query.statistics import documents_for
from headrace._src.query.tables import ArrowTable, resolve
from headrace._src.session.kept_table import KeptTable
from headrace._src.session.sequences import KeptSequence
from headrace._src.sql.bound_change import bound_change
from headrace._src.sql.catalogue import BoundPlan, tables_named
from headrace._src.sql.changes import Change
from headrace._src.sql.composed import Composed, Part
from headrace._src.sql.declared import Sequence, last_numbers
from headrace._src.sql.foreign_keys import ForeignKey
from headrace._src.sql.kept_plans import kept_plan
from headrace._src.sql.script import Kind, script_of
from headrace._src.sql.sequences import may_call
from headrace._src.sql.tables import TableSchema, named_in, quoted, schema_statement, sql_name

_READS_VARIABLE = "getvariable"
#: In a text that may ask what tables there are.
_ABOUT_TABLES = re.compile(r"information_schema|\b(?:duckdb|pragma|pg|sqlite)_", re.IGNORECASE)
_ABOUT_SEQUENCES = re.compile(r"\b(?:duckdb_sequences|pg_sequences?)\b", re.IGNORECASE)


@dataclass(frozen=True)
class View:
    """A query with a name."""

    name: str
    text: str
    #: The tables and views that it names, in small letters.
    reads: frozenset[str]
    #: The tables that its text has in place of the files that it names.
    files: Mapping[str, Any] = field(default_factory=dict)
    #: That it is in; empty: main.
    schema: str = ""

    @property
    def sql_name(self) -> str:
        return sql_name(self.schema, self.name)


def read_by(view: View, names: Names) -> set[str]:
    """The names that a view reads, and those that the views among them do."""
    found: set[str] = set()
    left = names.meant_by(view.reads)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            if name in names.views:
                left += names.meant_by(names.views[name].reads)
    return found


@dataclass(frozen=True)
class Names:
    """What names of tables mean, at one moment; by name in small letters, with the name as it was given."""

    #: What `tables=` of `sql` takes, or a table that statements change.
    tables: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
    views: Mapping[str, View] = field(default_factory=dict)
    #: Statements that set variables.
    variables: Mapping[str, str] = field(default_factory=dict)
    #: Those that create macros and types.
    definitions: Mapping[str, str] = field(default_factory=dict)
    sequences: Mapping[str, KeptSequence] = field(default_factory=dict)
    #: Those beside main, and which of them USE has named; empty: main.
    schemas: Mapping[str, str] = field(default_factory=dict)
    schema: str = ""

    def without(self, name: str) -> Names:
        low = name.lower()
        return replace(
            self,
            tables={known: table for known, table in self.tables.items() if known != low},
            views={known: view for known, view in self.views.items() if known != low},
        )

    def defined_for(self, text: str) -> dict[str, str]:
        """The macros and types, if the text or a view may mean one."""
        texts = (text, *(view.text for view in self.views.values())) if self.definitions else ()
        if self.definitions.keys().isdisjoint(word for each in texts for word in _words(each)):
            return {}
        return dict(self.definitions)

    def sequences_of(self, text: str) -> list[Sequence]:
        """The sequences, if the text may call one, or ask which there are."""
        is_asked = may_call(text) or _ABOUT_SEQUENCES.search(text)
        return [kept.sequence for kept in self.sequences.values()] if is_asked else []

    def named(self, name: str) -> Any:
        """The table or view of a name; None: there is none."""
        table = self.tables.get(name.lower())
        return table[1] if table else self.views.get(name.lower())

    def within(self, schema: str) -> Names:
        """The same after a USE."""
        return replace(self, schema=schema)

    def schema_named(self, name: str) -> str:
        """The schema of a name; empty: main. Raises UserError if there is none."""
        if name.lower() in ("main", "memory"):
            return ""
        if name.lower() not in self.schemas:
            raise UserError(f"no such schema: {name}")
        return self.schemas[name.lower()]

    def new(self, schema: str | None, name: str) -> tuple[str, str]:
        """The schema, and what a session calls it, of what is made by a name. schema: in front of it."""
        inside = self.schema if schema is None else self.schema_named(schema)
        return inside, named_in(inside, name)

    def known(self, schema: str | None, name: str) -> str:
        """What a session calls what a statement calls so: it may be in main as well."""
        if schema is not None and schema.lower() not in (*self.schemas, "main", "memory"):
            return named_in(schema, name)  # there is nothing of this name
        key = self.new(schema, name)[1]
        is_there = any(key.lower() in each for each in (self.tables, self.views, self.sequences))
        return key if is_there or schema is not None else name

    def sql_name(self, name: str) -> str:
        """As SQL names what a session calls so."""
        found = self.named(name)
        if isinstance(found, KeptTable):
            found = found.schema
        if isinstance(found, (TableSchema, View)) and found.schema:
            return found.sql_name
        return f"main.{quoted(name)}" if self.schema else quoted(name)

    def schema_of(self, name: str) -> str:
        """That of a table, view or sequence; empty: main. name: in small letters."""
        if name in self.sequences:
            return self.sequences[name].sequence.schema
        found = self.named(name)
        found = found.schema if isinstance(found, KeptTable) else found
        return found.schema if isinstance(found, (TableSchema, View)) else ""

    def inside(self, schema: str) -> set[str]:
        """The tables, views and sequences of a schema, in small letters."""
        return {
            each for each in (*self.tables, *self.views, *self.sequences) if self.schema_of(each) == schema
        }

    def children_of(self, name: str) -> list[tuple[KeptTable, ForeignKey]]:
        """The tables with a foreign key to one, in small letters, and that key."""
        kept = [table for _, table in self.tables.values() if isinstance(table, KeptTable)]
        return [(table, key) for table in kept for key in table.schema.foreign_keys if key.table == name]

    def related(self, name: str) -> set[str]:
        """The tables, in small letters, that foreign keys tie to one."""
        table = self.named(name)
        parents = {key.table for key in table.schema.foreign_keys} if isinstance(table, KeptTable) else set()
        return parents | {child.schema.name.lower() for child, _ in self.children_of(name.lower())}

    def meant_by(self, reads: Iterable[str]) -> list[str]:
        """What a session calls what a text may mean by these names, in small letters."""
        found: list[str] = []
        for name in reads:
            if name.startswith("main."):
                names = [name.removeprefix("main.")]
            else:  # the binder knows which
                names = [name, *(named_in(schema, name) for schema in self.schemas)]
            found += [each for each in names if each in self.tables or each in self.views]
        return found

    def having(self, name: str, table: Any) -> Names:
        """With a table, where there is none of its name."""
        return replace(self, tables={**self.tables, name.lower(): (name, table)})

    def described(self) -> dict[str, Any]:
        """The tables with all that is known of them, each behind those that its foreign keys refer to."""
        tables: dict[str, Any] = {}

        def visit(name: str) -> None:
            given, data = self.tables[name]
            if given in tables or not isinstance(data, KeptTable):
                tables.setdefault(given, data)
                return
            for key in data.schema.foreign_keys:
                if key.table != name:
                    visit(key.table)
            tables[given] = data.described

        for name in sorted(self.tables):
            visit(name)
        return tables

    def reading(self, reads: Iterable[str]) -> tuple[list[View], dict[str, Any]]:
        """The views that a text with these names needs, each behind those that it reads; and the tables."""
        views: dict[str, View] = {}
        tables: dict[str, Any] = {}

        def visit(names: Iterable[str]) -> None:
            for name in sorted(names):
                if name in self.tables:
                    given, data = self.tables[name]
                    tables[given] = data.table if isinstance(data, KeptTable) else data
                elif name in self.views and name not in views:
                    view = self.views[name]
                    visit(self.meant_by(view.reads))
                    views[name] = view
                    tables.update(view.files)

        visit(self.meant_by(reads))
        return list(views.values()), tables

    @property
    def every(self) -> list[str]:
        return sorted((*(given for given, _ in self.tables.values()), *(v.name for v in self.views.values())))


@dataclass(frozen=True)
class Bound:
    """A text behind the views that it reads, with their tables."""

    composed: Composed
    tables: dict[str, Any]
    #: None for EXPLAIN, DESCRIBE and SHOW.
    plan: BoundPlan | None


def bound(text: str, names: Names) -> Bound:
    """A text with what it reads. Raises SqlError with the place in the text, or the view."""
    text, files = with_files(text, names)
    script = script_of(text)
    if script.kind is not Kind.ROWS:  # about any table
        composed, tables = _composed(text, names, (*names.tables, *names.views))
        return Bound(composed, {**names.described(), **_of_views(tables, names), **files}, None)
    is_about_tables = _ABOUT_TABLES.search(text)
    reads = (*names.tables, *names.views) if is_about_tables else tables_named(script)
    composed, tables = _composed(text, names, reads)
    if is_about_tables:
        tables = {**names.described(), **_of_views(tables, names)}
    tables.update(files)
    try:
        return Bound(composed, tables, _plan(composed, tables))
    except SqlError as error:
        raise _mistake(text, names, _plan) or composed.retold(error) from None


def _of_views(tables: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """The files among what a text reads."""
    own = {given for given, _ in names.tables.values()}
    return {name: table for name, table in tables.items() if name not in own}


@dataclass(frozen=True)
class BoundChange:
    """A statement that changes tables, behind the views that it reads, with their tables."""

    composed: Composed
    tables: dict[str, Any]
    change: Change
    #: Which its rows may take numbers of.
    sequences: Mapping[str, KeptSequence]

    @property
    def read(self) -> dict[str, Any]:
        """The tables that its rows come from."""
        return {name: table for name, table in self.tables.items() if names_table(self.change.plan, name)}


def bound_statement(text: str, names: Names, more: str = "") -> BoundChange:
    """A statement that changes tables. Raises SqlError with the place in the text, or the view.

    more: as `bound_change` has it.
    """
    text, files = with_files(text, names)
    composed, tables = _composed(text, names, tables_named(script_of(text)))
    tables.update(files)
    taken = {*names.tables, *names.views}

    def bind(composed: Composed, tables: Mapping[str, Any]) -> Change:
        schemas = [_nullable(schema) for schema in _schemas(composed.text, tables)]
        return bound_change(composed.text, schemas, taken, more)

    try:
        change = bind(composed, tables)
    except SqlError as error:
        raise _mistake(text, names, bind) or composed.retold(error) from None
    except HeadraceError as error:
        raise composed.retold(error) from None
    return BoundChange(composed, tables, change, names.sequences)


def _nullable(schema: TableSchema) -> TableSchema:
    """A table of files may get NULLs though it has none yet."""
    return replace(schema, columns=tuple(replace(column, nullable=True) for column in schema.columns))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def with_files(text: str, names: Names) -> tuple[str, dict[str, Any]]:
    """The text with names instead of files, and what `tables=` takes of them."""
    text, named = with_named_files(text, names.every)
    return text, {
        name: table.data if isinstance(table, ArrowTable) else table for name, table in named.items()
    }


def _composed(text: str, names: Names, reads: Iterable[str]) -> tuple[Composed, dict[str, Any]]:
    definitions = names.defined_for(text)
    views, tables = names.reading({*reads, *(word for each in definitions.values() for word in _words(each))})
    parts = [Part(f"create view {v.sql_name} as {v.text}\n;", f"view {v.name}") for v in views]
    if any(_READS_VARIABLE in part.text.lower() for part in (*parts, Part(text))):
        parts = [*(Part(set_, f"variable {name}") for name, set_ in names.variables.items()), *parts]
    sequences = names.sequences_of("\n".join(part.text for part in (*parts, Part(text))))
    parts = [*(Part(each.statement, f"sequence {each.name}") for each in sequences), *parts]
    if sequences and _ABOUT_SEQUENCES.search(text):
        last = {
            name: (kept.last, kept.numbers.begin)
            for name, kept in names.sequences.items()
            if kept.last is not None
        }
        parts.append(Part(last_numbers(last), "the sequences"))
    parts = [*(Part(f"{each}\n;", f"macro {name}") for name, each in definitions.items()), *parts]
    parts = [*(Part(schema_statement(each), f"schema {each}") for each in names.schemas.values()), *parts]
    if names.schema:
        parts.append(Part(f"use memory.{quoted(names.schema)};", f"schema {names.schema}"))
    return Composed((*parts, Part(text))), tables


def _mistake(text: str, names: Names, bind: Callable[[Composed, dict[str, Any]], Any]) -> SqlError | None:
    """The mistake, with all tables to choose the names from."""
    composed, tables = _composed(text, names, (*names.tables, *names.views))
    try:
        bind(composed, tables)
    except SqlError as error:
        retold = composed.retold(error)
        return retold if isinstance(retold, SqlError) else None
    return None


def _plan(composed: Composed, tables: Mapping[str, Any]) -> BoundPlan:
    return kept_plan(composed.text, _schemas(composed.text, tables))


def _schemas(text: str, tables: Mapping[str, Any]) -> list[TableSchema]:
    """Of the tables, without a look at rows that statements have put into them."""
    found = resolve(tables)
    declared = {
        name: table.schema for name, table in found.items() if isinstance(table, ArrowTable) and table.schema
    }
    others = {name: table for name, table in found.items() if name not in declared}
    return [*declared.values(), *schemas_of(documents_for(text, others))]
