"""DB-API 2 (PEP 249) over a session. Names and meanings are those of the document."""

from __future__ import annotations

import builtins
import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

from headrace._src import errors
from headrace._src.arguments import shown
from headrace._src.session.changes import done_for_each, is_script
from headrace._src.session.session import Session
from headrace._src.session.session import connect as session_of

if TYPE_CHECKING:
    import pyarrow as pa

    from headrace._src.query.tables import TablesArgument
    from headrace._src.sql.parameters import Parameters

apilevel = "2.0"
#: Threads may share the module and connections, but no cursors.
threadsafety = 2
#: `?`; `$1`, `$name` and `:name` are parameters, too.
paramstyle = "qmark"


class Warning(builtins.Warning):
    """Never raised."""


class Error(Exception):
    """All errors of this module; `__cause__` is headrace's own."""


class InterfaceError(Error):
    """The module was not used as it is meant: a closed cursor, rows before a query."""


class DatabaseError(Error):
    """All errors of queries."""


class DataError(DatabaseError):
    """The data breaks a rule of the query."""


class OperationalError(DatabaseError):
    """A file, memory, a link, a time-out, a transaction."""


class IntegrityError(DatabaseError):
    """A row breaks a constraint: a NULL in a column that is NOT NULL."""


class InternalError(DatabaseError):
    """A broken assumption of headrace."""


class ProgrammingError(DatabaseError):
    """A mistake in the query or its parameters."""


class NotSupportedError(DatabaseError):
    """What headrace cannot do."""


#: The first that fits.
_ERRORS: tuple[tuple[type[errors.HeadraceError], type[DatabaseError]], ...] = (
    (errors.TransactionError, OperationalError),
    (errors.ConstraintError, IntegrityError),
    (errors.DataError, DataError),
    (errors.UnsupportedError, NotSupportedError),
    (errors.InternalError, InternalError),
    (errors.UserError, ProgrammingError),
    (errors.HeadraceError, OperationalError),
)


class _Kind:
    """A kind of types, which equals the type codes of columns that are of it."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def __eq__(self, other: object) -> bool:
        return other is self or str(other).startswith(self._names)

    def __hash__(self) -> int:
        return hash(self._names)


STRING = _Kind("string")
BINARY = _Kind("binary")
NUMBER = _Kind("int", "float", "double", "decimal", "bool")
DATETIME = _Kind("date", "time")
ROWID = _Kind("no column is one")

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> datetime.date:  # noqa: N802
    return datetime.date.fromtimestamp(ticks)


def TimeFromTicks(ticks: float) -> datetime.time:  # noqa: N802
    return datetime.datetime.fromtimestamp(ticks).time()


def TimestampFromTicks(ticks: float) -> datetime.datetime:  # noqa: N802
    return datetime.datetime.fromtimestamp(ticks)


def connect(tables: TablesArgument | None = None, **options: Any) -> Connection:
    """A connection; the arguments are those of `headrace.connect`."""
    return Connection(_translated(lambda: session_of(tables, **options)))


class Connection:
    """A session with cursors. `session` names further tables and views."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._closed = False

    def cursor(self) -> Cursor:
        self._check()
        return Cursor(self)

    def execute(self, operation: str, parameters: Parameters = ()) -> Cursor:
        """A new cursor that has run a query."""
        return self.cursor().execute(operation, parameters)

    def begin(self) -> None:
        """Begins a transaction. Without one each statement holds when it has ended."""
        self.execute("begin")

    def commit(self) -> None:
        """Ends the transaction: what it has changed holds. Without one there is nothing to do."""
        self._check()
        if self.session._transactions.running:
            self.execute("commit")

    def rollback(self) -> None:
        """Undoes what the transaction has changed. Raises OperationalError if none has begun."""
        self.execute("rollback")

    def close(self) -> None:
        """Undoes what a transaction has changed that was not committed."""
        if not self._closed and self.session._transactions.running:
            self.rollback()
        self._closed = True

    def _check(self) -> None:
        if self._closed:
            raise InterfaceError("the connection is closed")

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Cursor:
    """Runs queries and hands out their rows, a batch of them at a time.

    arraysize: how many rows `fetchmany` gives.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.arraysize = 1
        self._reader: pa.RecordBatchReader | None = None
        self._rows: Iterator[tuple[Any, ...]] | None = None
        self._changed = -1
        self._closed = False

    @property
    def description(self) -> list[tuple[Any, ...]] | None:
        """For each column its name, its type and five times None; None before a query."""
        if self._reader is None:
            return None
        return [(field.name, str(field.type), None, None, None, None, None) for field in self._reader.schema]

    @property
    def rowcount(self) -> int:
        """How many rows a statement has changed; -1 of queries: not known before all rows were fetched."""
        return self._changed

    def execute(self, operation: str, parameters: Parameters = ()) -> Cursor:
        """Runs a statement; parameters are the values of `?`, or by name of `$name` and `:name`."""
        self._check()
        relation = _translated(lambda: self.connection.session.sql(operation, parameters))
        self._reader = _translated(relation.batches)
        self._changed = relation.changed
        self._rows = self._each_row()
        return self

    def executemany(self, operation: str, seq_of_parameters: Sequence[Parameters]) -> Cursor:
        """Runs a statement for each set of parameters; the rows are those of the last.

        An INSERT … VALUES (?, ?) of values adds the rows of all sets at once.
        """
        if not isinstance(seq_of_parameters, Iterable):
            raise ProgrammingError(
                f"executemany takes several sets of parameters, got {shown(seq_of_parameters)}"
            )
        sets = list(seq_of_parameters)
        if is_script(operation):
            self._check()
            session = self.connection.session
            self._changed = _translated(lambda: done_for_each(session, operation, sets))
            self._reader = self._rows = None
            return self
        for parameters in sets:
            self.execute(operation, parameters)
        return self

    def fetchone(self) -> tuple[Any, ...] | None:
        return next(self._left(), None)

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        rows, count = self._left(), self.arraysize if size is None else size
        if not isinstance(count, Integral):
            raise ProgrammingError(f"a number of rows is an int, got {shown(count)}")
        return [row for _, row in zip(range(count), rows, strict=False)]

    def fetchall(self) -> list[tuple[Any, ...]]:
        return list(self._left())

    def fetch_arrow_table(self) -> pa.Table:
        """The rows as a pyarrow.Table, if none was fetched yet."""
        self._left()
        assert self._reader is not None
        reader = self._reader
        return _translated(reader.read_all)

    def setinputsizes(self, sizes: object) -> None:
        """Does nothing."""

    def setoutputsize(self, size: object, column: object = None) -> None:
        """Does nothing."""

    def close(self) -> None:
        self._closed = True
        self._reader = self._rows = None

    def _check(self) -> None:
        self.connection._check()
        if self._closed:
            raise InterfaceError("the cursor is closed")

    def _left(self) -> Iterator[tuple[Any, ...]]:
        self._check()
        if self._rows is None:
            raise InterfaceError("there are no rows before a query is executed")
        return self._rows

    def _each_row(self) -> Iterator[tuple[Any, ...]]:
        reader = self._reader
        while reader is not None:
            try:
                batch = _translated(reader.read_next_batch)
            except StopIteration:
                return
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._left()

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _translated(call: Callable[[], Any]) -> Any:
    """What `call` gives, with headrace's errors as those of the document."""
    try:
        return call()
    except errors.HeadraceError as error:
        kind = next(ours for theirs, ours in _ERRORS if isinstance(error, theirs))
        raise kind(str(error)) from error
