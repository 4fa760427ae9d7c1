"""`headrace.connect`: names for tables and views, and options, that hold for several queries."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from headrace._src.arguments import check_options, checked, checked_methods
from headrace._src.errors import SqlError, UserError
from headrace._src.programs import setting_texts
from headrace._src.query import sql as queries
from headrace._src.query.bound_query import schemas_of
from headrace._src.query.copy_to import Copy, copy_of
from headrace._src.query.named_files import with_named_files
from headrace._src.query.seeds import Draws, seed_set_by
from headrace._src.query.statistics import documents_for
from headrace._src.query.tables import ArrowTable, TablesArgument, checked_name, resolve
from headrace._src.query.temporary_files import in_settings
from headrace._src.session.relation import Relation
from headrace._src.session.run_settings import with_setting
from headrace._src.sql.catalogue import BoundPlan, bound_plan, tables_named
from headrace._src.sql.collations import collation_set_by, in_collation
from headrace._src.sql.composed import Composed, Part
from headrace._src.sql.literals import literal
from headrace._src.sql.parameters import Parameters, with_values
from headrace._src.sql.script import Kind, query_alone, script_of
from headrace._src.sql.tables import quoted
from headrace._src.sql.zones import in_zone, zone_set_by

_SET_VARIABLE = re.compile(
    r"""\s*set\s+variable\s+(?P<name>\w+|"(?:[^"]|"")+")\s*(?:=|\bto\b)(?P<value>.*?);?\s*""",
    re.IGNORECASE | re.DOTALL,
)
_READS_VARIABLE = "getvariable"


@dataclass(frozen=True)
class View:
    """A query with a name."""

    name: str
    text: str
    #: The tables and views that it names, in small letters.
    reads: frozenset[str]
    #: The tables that its text has in place of the files that it names.
    files: Mapping[str, Any] = field(default_factory=dict)


def _read_by(view: View, views: Mapping[str, View]) -> set[str]:
    """The names that a view reads, and those that the views among them do."""
    found: set[str] = set()
    left = list(view.reads)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += views[name].reads if name in views else ()
    return found


@dataclass(frozen=True)
class Names:
    """What names of tables mean, at one moment; by name in small letters, with the name as it was given."""

    #: What `tables=` of `sql` takes.
    tables: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
    views: Mapping[str, View] = field(default_factory=dict)
    #: Statements that set variables.
    variables: Mapping[str, str] = field(default_factory=dict)

    def without(self, name: str) -> Names:
        low = name.lower()
        return Names(
            {known: table for known, table in self.tables.items() if known != low},
            {known: view for known, view in self.views.items() if known != low},
            self.variables,
        )

    def reading(self, reads: Iterable[str]) -> tuple[list[View], dict[str, Any]]:
        """The views that a text with these names needs, each behind those that it reads; and the tables."""
        views: dict[str, View] = {}
        tables: dict[str, Any] = {}

        def visit(names: Iterable[str]) -> None:
            for name in sorted(names):
                if name in self.tables:
                    given, data = self.tables[name]
                    tables[given] = data
                elif name in self.views and name not in views:
                    visit(self.views[name].reads)
                    views[name] = self.views[name]
                    tables.update(self.views[name].files)

        visit(reads)
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
    text, files = _with_files(text, names)
    script = script_of(text)
    if script.kind is not Kind.ROWS:  # about any table
        composed, tables = _composed(text, names, (*names.tables, *names.views))
        return Bound(composed, {**tables, **files}, None)
    composed, tables = _composed(text, names, tables_named(script))
    tables.update(files)
    try:
        return Bound(composed, tables, _plan(composed, tables))
    except SqlError as error:
        raise _mistake(text, names) or composed.retold(error) from None


def _with_files(text: str, names: Names) -> tuple[str, dict[str, Any]]:
    """The text with names instead of files, and what `tables=` takes of them."""
    text, named = with_named_files(text, names.every)
    return text, {
        name: table.data if isinstance(table, ArrowTable) else table for name, table in named.items()
    }


def _composed(text: str, names: Names, reads: Iterable[str]) -> tuple[Composed, dict[str, Any]]:
    views, tables = names.reading(reads)
    parts = [Part(f"create view {quoted(v.name)} as {v.text}\n;", f"view {v.name}") for v in views]
    if any(_READS_VARIABLE in part.text.lower() for part in (*parts, Part(text))):
        parts = [*(Part(set_, f"variable {name}") for name, set_ in names.variables.items()), *parts]
    return Composed((*parts, Part(text))), tables


def _mistake(text: str, names: Names) -> SqlError | None:
    """The mistake, with all tables to choose the names from."""
    composed, tables = _composed(text, names, (*names.tables, *names.views))
    try:
        _plan(composed, tables)
    except SqlError as error:
        retold = composed.retold(error)
        return retold if isinstance(retold, SqlError) else None
    return None


def _plan(composed: Composed, tables: Mapping[str, Any]) -> BoundPlan:
    return bound_plan(composed.text, schemas_of(documents_for(composed.text, resolve(tables))))


@checked_methods
class Session:
    """Tables and views by name, and options, for several queries. Made by `connect`; threads may share it.

    A query sees the names as they are when it is written: what is registered later is for later queries.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = dict(options)
        self._given = dict(options)  # which RESET goes back to
        self._lock = threading.Lock()
        self._names = Names()
        self._draws: Draws | None = None

    def register(self, name: str, data: Any) -> None:
        """Names a table: an Arrow table or data frame, a path, a pattern or a list of these.

        It replaces a table or view of this name. Raises UserError if it is no table, and InputOutputError
        for a file that is not there.
        """
        resolve({name: data})  # which raises for what is none
        with self._lock:
            names = self._names.without(name)
            self._names = replace(names, tables={**names.tables, name.lower(): (name, data)})

    def view(self, name: str, query: str | Relation, columns: Sequence[str] = ()) -> Relation:
        """Names a query, which later ones may read as a table; it is computed as a part of them.

        columns: names for its first columns, in place of the query's.

        It replaces a table or view of this name, and what it reads is looked up when it is read itself. Gives
        the relation of all its rows. Raises UserError for a relation of another session.
        """
        checked_name(name)
        if isinstance(query, Relation) and query.session is not self:
            raise UserError(f"view {name}: the relation belongs to another session; register its rows")
        text = query.text if isinstance(query, Relation) else query
        script = script_of(text)
        if script.kind is not Kind.ROWS or script.definitions:
            raise UserError(f"view {name}: a view is one query, without definitions in front of it")
        if columns:
            renamed = ", ".join(map(quoted, columns))
            text = f"select * from ({query_alone(text).strip()}\n) as {quoted(name)} ({renamed})"
        with self._lock, in_settings(setting_texts(self._options.get("settings"))):
            names = self._names.without(name)
            shown, files = _with_files(query_alone(text).strip(), names)
            view = View(name, shown, tables_named(script), files)
            if name.lower() in _read_by(view, names.views):
                raise UserError(f"view {name}: it would read itself; choose another name")
            bound(text, names)
            self._names = replace(names, views={**names.views, name.lower(): view})
        return self.table(name)

    def unregister(self, name: str) -> None:
        """Forgets a table or view. Raises UserError if there is none of this name."""
        with self._lock:
            if name.lower() not in (*self._names.tables, *self._names.views):
                raise UserError(f"no such table or view: {name}")
            self._names = self._names.without(name)

    @property
    def tables(self) -> list[str]:
        """The names of tables and views."""
        return self._names.every

    @property
    def views(self) -> list[str]:
        """The names of views."""
        return sorted(view.name for view in self._names.views.values())

    def table(self, name: str) -> Relation:
        """All rows of a table or view."""
        return self.sql(f"select * from {quoted(name)}")

    def _options_of_run(self, text: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """The options of a query's next run: after `setseed`, with what random() draws follows from."""
        draws = self._draws
        return {**options, "settings": draws.settings_of(text, options.get("settings"))} if draws else options

    def sql(self, text: str, parameters: Parameters = (), **options: Any) -> Relation:
        """A query over the tables and views, which runs when it is asked for rows.

        SELECT setseed(x), x from -1 to 1, has later queries draw the same numbers by random() each time.
        SET TimeZone = 'Europe/Berlin' has later ones in this zone, as the option time_zone; RESET TimeZone in
        UTC. So do SET default_collation = 'nocase' and the option collation, and SET threads, memory_limit,
        temp_directory and max_temp_directory_size. SET VARIABLE x = value runs at once, also a subquery, and
        getvariable('x') is that value for later ones. COPY (query) TO 'file' writes at once, and gives the
        number of rows.

        parameters: the values of `?` and `$1` in their order, or of `$name` and `:name` by name. They are
            typed literals for the query; an error shows the text with its values.
        options: those of `headrace.sql`, over those of the session.

        Raises SqlError at once for a text that does not fit the tables.
        """
        check_options(options, queries.sql)
        text = with_values(text, parameters)
        if copy := copy_of(text):
            text = self._copy(copy, options)
        seed = seed_set_by(text)
        if seed is not None:
            self._draws = Draws(seed)
            text = f'select cast(null as integer) as "setseed({seed})"'
        zone = zone_set_by(text)
        if zone is not None:
            self._options["time_zone"] = zone
            text = f"select '{zone}' as \"TimeZone\""
        collation = collation_set_by(text)
        if collation is not None:
            self._options["collation"] = collation
            text = f"select '{collation}' as default_collation"
        if set_by := with_setting(text, self._options, self._given):
            self._options, text = set_by
        options = {**self._options, **options}
        if (variable := _SET_VARIABLE.fullmatch(text)) and not script_of(text).definitions:
            # The value stays where it stands, for the places of mistakes.
            value = "select (".rjust(variable.start("value")) + variable["value"] + "\n) as value"
            text = self._set_variable(variable["name"], self.sql(value, **options))
        told = in_settings(
            setting_texts(options.get("settings")),
            threads=options.get("threads"),
            memory=options.get("memory"),
        )
        with told, in_zone(options.get("time_zone")), in_collation(options.get("collation")):
            return Relation(self, text, bound(text, self._names), options)

    def _copy(self, copy: Copy, options: Mapping[str, Any]) -> str:
        """Writes the rows of a query now; the query of their number."""
        count = self.sql(copy.query, **options).copy(copy)
        return f'select cast({"null" if count is None else count} as bigint) as "Count"'

    def _set_variable(self, name: str, value: Relation) -> str:
        """Computes the value of a variable; the query of its row."""
        constant = f"cast({literal(value.arrow()['value'][0])} as {value.types[0]})"
        with self._lock:
            key = name.strip('"').lower()
            variables = {**self._names.variables, key: f"set variable {name} = {constant};"}
            self._names = replace(self._names, variables=variables)
        return f"select {constant} as {name}"


@checked
def connect(tables: TablesArgument | None = None, **options: Any) -> Session:
    """A session: tables and views by name, and options, for several queries.

    tables: as in `sql`; more are named by `Session.register`.
    options: those of `sql` for all its queries: ranks=2, threads=8, memory="4GB".
    """
    check_options(options, queries.sql)
    session = Session(options)
    if isinstance(tables, Mapping):
        for name, data in tables.items():
            session.register(name, data)
    elif tables is not None:
        for name, table in resolve(tables).items():
            session.register(name, list(getattr(table, "paths", ())))
    return session
