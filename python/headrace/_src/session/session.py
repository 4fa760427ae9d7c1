"""`headrace.connect`: names for tables and views, and options, that hold for several queries."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from headrace._src.arguments import check_options, checked, checked_methods
from headrace._src.cluster import current
from headrace._src.errors import UnsupportedError, UserError
from headrace._src.programs import setting_texts
from headrace._src.query import sql as queries
from headrace._src.query.copy_to import Copy, copy_of
from headrace._src.query.pivots import with_pivot_values
from headrace._src.query.seeds import Draws, seed_set_by
from headrace._src.query.tables import TablesArgument, checked_name, resolve
from headrace._src.query.temporary_files import in_settings
from headrace._src.session.changes import done, is_script
from headrace._src.session.effects import Answer, Effect
from headrace._src.session.names import Bound, Names, View, bound, read_by, with_files
from headrace._src.session.prepared import Execution, Prepared
from headrace._src.session.relation import Relation
from headrace._src.session.run_settings import with_setting
from headrace._src.session.sequences import KeptSequence
from headrace._src.session.transactions import Database, Transactions, within
from headrace._src.sql.catalogue import tables_named
from headrace._src.sql.collations import collation_set_by, in_collation
from headrace._src.sql.composed import Composed, Part
from headrace._src.sql.literals import literal
from headrace._src.sql.parameters import Parameters, with_values
from headrace._src.sql.script import Kind, query_alone, script_of
from headrace._src.sql.tables import own_name, quoted
from headrace._src.sql.zones import in_zone, zone_set_by

_SET_VARIABLE = re.compile(
    r"""\s*set\s+variable\s+(?P<name>\w+|"(?:[^"]|"")+")\s*(?:=|\bto\b)(?P<value>.*?);?\s*""",
    re.IGNORECASE | re.DOTALL,
)


@checked_methods
class Session:
    """Tables and views by name, and options, for several queries. Made by `connect`; threads may share it.

    A query sees the names as they are when it is written: what is registered later is for later queries.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = dict(options)
        self._given = dict(options)  # which RESET goes back to
        self._use(Database())
        self._changing = threading.RLock()  # held while a statement changes a table
        self._draws: Draws | None = None
        self._prepared = Prepared()

    def _use(self, database: Database) -> None:
        """Reads and changes the tables of a database from now on."""
        self._transactions = Transactions(database)
        self._lock = database.lock

    def _beside(self) -> Session:
        """A session with the same tables and options, which has transactions of its own."""
        session = Session(self._options)
        session._use(self._transactions.database)
        return session

    @property
    def _names(self) -> Names:
        return self._transactions.names

    @_names.setter
    def _names(self, names: Names) -> None:
        self._transactions.names = names

    def register(self, name: str, data: Any) -> None:
        """Names a table: an Arrow table or data frame, a path, a pattern or a list of these.

        It replaces a table or view of this name. Raises UserError if it is no table, and InputOutputError
        for a file that is not there.
        """
        resolve({name: data})  # which raises for what is none
        with self._lock:
            self._names = self._names.without(name).having(name, data)

    def view(self, name: str, query: str | Relation, columns: Sequence[str] = ()) -> Relation:
        """Names a query, which later ones may read as a table; it is computed as a part of them.

        columns: names for its first columns, in place of the query's.

        It replaces a table or view of this name, and what it reads is looked up when it is read itself. Gives
        the relation of all its rows. Raises UserError for a relation of another session.
        """
        return self._viewed("", checked_name(name), query, columns)

    def _viewed(self, schema: str, name: str, query: str | Relation, columns: Sequence[str]) -> Relation:
        """`view` in a schema. name: what the session calls it."""
        if isinstance(query, Relation) and query.session is not self:
            raise UserError(f"view {name}: the relation belongs to another session; register its rows")
        text = query.text if isinstance(query, Relation) else query
        script = script_of(text)
        if script.kind is not Kind.ROWS or script.definitions:
            raise UserError(f"view {name}: a view is one query, without definitions in front of it")
        called = f"{quoted(own_name(schema, name))} ({', '.join(map(quoted, columns))})"

        def with_columns(query: str) -> str:
            return f"select * from ({query}\n) as {called}" if columns else query

        alone = query_alone(text).strip()
        with self._lock, in_settings(setting_texts(self._options.get("settings"))):
            names = self._names.without(name)
            # Of what it reads its own name is none.
            shown, files = with_files(alone, names)
            view = View(name, with_columns(shown), tables_named(script_of(shown)), files, schema)
            after = replace(names, views={**names.views, name.lower(): view})
            if name.lower() in read_by(view, after):
                raise UserError(f"view {name}: it would read itself; choose another name")
            bound(with_columns(alone) if columns else text, names.within(schema))
            self._names = after
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
        return self.sql(f"select * from {self._names.sql_name(name)}")

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
        number of rows. CREATE TABLE, INSERT, DELETE, UPDATE, MERGE INTO, TRUNCATE, DROP and CREATE VIEW are
        done at once, too; BEGIN, COMMIT and ROLLBACK make several hold together. PREPARE p AS … keeps a
        statement with `?` or `$1` in it, which EXECUTE p(5) runs, until DEALLOCATE p. A text may have several
        statements and end in a query. `Relation.changed` is the number of rows.

        parameters: the values of `?` and `$1` in their order, or of `$name` and `:name` by name. They are
            typed literals for the query; an error shows the text with its values.
        options: those of `headrace.sql`, over those of the session.

        Raises SqlError at once for a text that does not fit the tables, ConstraintError for a NULL in a
        column that is NOT NULL, and TransactionError for what a transaction has no place for.
        """
        check_options(options, queries.sql)
        if prepared := self._prepared.said(text, parameters):
            if not isinstance(prepared, Execution):
                return self._answered(text, options, Answer.of_success())
            text, parameters = prepared.text, prepared.parameters
        text = with_values(text, parameters)
        if is_script(text):
            text, answer = done(self, text, options)
            if answer:
                return self._answered(text, options, answer)
        with within(self._transactions.running):
            return self._query(text, options)

    def _answered(self, text: str, options: Mapping[str, Any], answer: Answer) -> Relation:
        return Relation(self, text, Bound(Composed((Part(text),)), {}, None), options, answer)

    def _query(self, text: str, options: Mapping[str, Any]) -> Relation:
        """What a statement gives that changes no table."""
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
        text = with_pivot_values(text, lambda query: self._values(query, options))
        with _as_said(options):
            return Relation(self, text, bound(text, self._names), options)

    def _values(self, query: str, options: Mapping[str, Any]) -> list[Any]:
        """The rows of a query of one column, which a PIVOT without a list of values has for one."""
        group = current()
        if group is not None and group.runs_script_on_all:
            raise UnsupportedError(
                "each rank of this cluster runs the script, and a session there has no PIVOT without a list "
                "of values: ON x IN (…); hr.sql finds them"
            )
        values: list[Any] = self._query(query, options).arrow().column(0).to_pylist()
        return values

    def _changed(
        self,
        text: str,
        options: Mapping[str, Any],
        change: Callable[[Names, Mapping[str, Any]], Effect | None],
    ) -> Answer | None:
        """What a statement says that changes the names; None if `change` gives nothing.

        change: what it does, with the options of the session. One runs at a time.
        """
        with self._changing:
            options = self._options_of_run(text, {**self._options, **options})
            with _as_said(options):
                before = self._names
                made = change(before, options)
            if made is None:
                return None
            with self._lock:
                tied = {each for name in made.changed for each in made.on(before).related(name)}
                for name in {*made.changed, *tied}:
                    if self._names.named(name) is not before.named(name):
                        raise UserError(f"there is another table of this name by now: {name}")
                self._names = made.on(self._names)
            return made.answer

    def _defined(self, name: str, statement: str) -> None:
        """Names a macro or a type, or forgets it: without a statement."""
        with self._lock:
            low, known = name.lower(), self._names.definitions
            others = {each: text for each, text in known.items() if each != low}
            # One that is made anew stays in its place: others behind it may use it.
            definitions = {**known, low: statement} if statement else others
            self._names = replace(self._names, definitions=definitions)

    def _in_schemas(self, schemas: Mapping[str, str], within: str, dropped: Collection[str] = ()) -> None:
        """Has these schemas, and uses one. dropped: what there is no more, in small letters."""
        with self._lock:
            names = self._names
            for each in dropped:
                names = names.without(each)
            sequences = {name: kept for name, kept in names.sequences.items() if name not in dropped}
            self._names = replace(names, schemas=schemas, schema=within, sequences=sequences)

    def _sequenced(self, name: str, sequence: KeptSequence | None) -> None:
        """Names a sequence, or forgets it."""
        with self._lock:
            others = {each: kept for each, kept in self._names.sequences.items() if each != name.lower()}
            named = {**others, name.lower(): sequence} if sequence else others
            self._names = replace(self._names, sequences=named)

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


@contextmanager
def _as_said(options: Mapping[str, Any]) -> Iterator[None]:
    """While a text is bound and run with these options."""
    told = in_settings(
        setting_texts(options.get("settings")), threads=options.get("threads"), memory=options.get("memory")
    )
    with told, in_zone(options.get("time_zone")), in_collation(options.get("collation")):
        yield


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
