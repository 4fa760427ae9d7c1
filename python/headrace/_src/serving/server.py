"""The server: what a client of Flight SQL asks, as queries of a session."""

from __future__ import annotations

import base64
import binascii
import contextlib
import hmac
import os
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.flight as flight

from headrace._src import errors
from headrace._src.arguments import checked
from headrace._src.query.tables import TablesArgument
from headrace._src.serving import GRACE, QUERIES, catalogue
from headrace._src.serving.messages import Fields, message, packed, unpacked
from headrace._src.serving.statements import NO_ROWS, Statement
from headrace._src.serving.transactions import ClientTransactions
from headrace._src.session.session import Session, connect
from headrace._src.stop import Cancel

#: Seconds until connections of which a stream has not ended by then are closed.
_LAST = 1.0
#: Seconds between two looks at whether a client has gone.
_LOOKS = 0.05
#: What an EndTransaction asks for; anything else is a rollback.
_COMMIT = 1
_NETWORK = (socket.AF_INET, socket.AF_INET6)
_ENDS = "the server is ending"
_HERE = ("127.0.0.1", "localhost", "::1")
#: What gRPC's codes say, and what ADBC makes exceptions of: the first that fits.
_ERRORS: tuple[tuple[type[errors.HeadraceError], type[Exception]], ...] = (
    (errors.QueryTimeoutError, flight.FlightTimedOutError),
    (errors.CancelledError, flight.FlightCancelledError),
    (errors.UnsupportedError, NotImplementedError),
    (errors.UserError, pa.ArrowInvalid),
    (errors.DataError, pa.ArrowInvalid),
    (errors.MemoryLimitError, flight.FlightUnavailableError),
    (errors.InputOutputError, flight.FlightUnavailableError),
    (errors.InternalError, flight.FlightInternalError),
    (errors.HeadraceError, flight.FlightServerError),
)


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Headrace's errors, and messages that are none, as those of Flight."""
    try:
        yield
    except errors.HeadraceError as error:
        kind = next(theirs for ours, theirs in _ERRORS if isinstance(error, ours))
        raise kind(str(error)) from None  # what the client gets ends in the traceback
    except ValueError as error:  # of a message, or of a text in it
        raise pa.ArrowInvalid(str(error)) from None


def _disconnect(port: int) -> None:
    """Closes connections to a port of this process: gRPC waits for clients that do not read, without end."""
    for number in map(int, os.listdir("/proc/self/fd")):
        with contextlib.suppress(OSError):  # it may be closed by now, or be the one that listens
            if not stat.S_ISSOCK(os.fstat(number).st_mode):
                continue
            with socket.socket(fileno=os.dup(number)) as connection:
                if connection.family in _NETWORK and connection.getsockname()[1] == port:
                    connection.getpeername()
                    connection.shutdown(socket.SHUT_RDWR)


class Server:
    """A session that clients of Arrow Flight SQL ask. Made by `serve`; it answers until `shutdown`."""

    def __init__(
        self, session: Session, host: str, port: int, files: bool, queries: int, security: dict[str, Any]
    ) -> None:
        scheme = "grpc+tls" if "tls_certificates" in security else "grpc"
        address = f"[{host}]" if ":" in host else host
        self._flight = _Flight(session, f"{scheme}://{address}:{port}", files, queries, security)
        #: What its clients ask; tables that are registered here are there for them.
        self.session = session
        #: What clients connect to, such as "grpc://127.0.0.1:31337".
        self.location = f"{scheme}://{address}:{self._flight.port}"

    def wait(self) -> None:
        """Returns when the server has ended: by `shutdown` in another thread, or Control-C."""
        self._flight.serve()

    def shutdown(self, grace: float = GRACE) -> None:
        """Ends the server: it refuses what is asked from now on, and stops the queries that are running.

        grace: seconds in which clients may read on what they are reading; then they get an error, and the
            connections of those that do not read are closed.
        """
        self._flight.stop_all()
        ending = threading.Thread(target=self._flight.shutdown, daemon=True, name="headrace-ending")
        ending.start()
        ending.join(grace)
        self._flight.cuts.set()
        while ending.is_alive():
            ending.join(_LAST)
            _disconnect(self._flight.port)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()


class _Flight(flight.FlightServerBase):
    """What Flight calls."""

    def __init__(
        self, session: Session, address: str, files: bool, queries: int, security: dict[str, Any]
    ) -> None:
        super().__init__(address, **security)
        self.session = session
        self._transactions = ClientTransactions(session)
        self._files = files
        self._turns = threading.Semaphore(queries)
        self._running: set[Cancel] = set()
        self._ends = False
        #: Whether streams end now, with an error.
        self.cuts = threading.Event()

    def stop_all(self) -> None:
        self._ends = True
        for cancel in tuple(self._running):
            cancel.cancel()

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        """Around what a client asks: errors are Flight's, and a server that ends answers nothing."""
        if self._ends:
            raise flight.FlightUnavailableError(_ENDS)
        with _told():
            yield

    def _stream(self, rows: pa.RecordBatchReader) -> flight.FlightDataStream:
        def batches() -> Iterator[pa.RecordBatch]:
            for batch in rows:
                if self.cuts.is_set():
                    raise flight.FlightUnavailableError(_ENDS)
                yield batch

        return flight.GeneratorStream(rows.schema, batches())

    def _checked(self, statement: Statement) -> Statement:
        statement.check_is_read()
        if not self._files:
            statement.check_files(self._of(statement))
        return statement

    def _of(self, statement: Statement) -> Session:
        """The session that a statement is a part of."""
        return self._transactions.session(statement.transaction)

    def _statement(self, name: str, command: Fields) -> Statement | None:
        """The statement that a command runs; None of those about the catalogue."""
        if name in ("CommandStatementQuery", "CommandStatementUpdate"):
            return self._checked(Statement(command.text(1), transaction=command.data(2)))
        if name in ("CommandPreparedStatementQuery", "CommandPreparedStatementUpdate"):
            return self._checked(Statement.of(command.data(1)))
        return None

    def _asked(self, command: bytes) -> tuple[Statement | None, pa.Schema]:
        """The statement that a command runs, if it runs one, and the columns of what it gives."""
        name, fields = unpacked(command)
        statement = self._statement(name, fields)
        if statement is None:
            return None, _known(catalogue.schema_of, name, fields)
        schema = statement.schema(self._of(statement))
        return statement, pa.schema([]) if schema is None else schema

    def get_flight_info(
        self, context: flight.ServerCallContext, descriptor: flight.FlightDescriptor
    ) -> flight.FlightInfo:
        with self._asking():
            statement, schema = self._asked(descriptor.command)
            ticket = descriptor.command
            if statement is not None:
                ticket = packed("TicketStatementQuery", {1: statement.handle})
                if not statement.is_query:  # here, not with its rows, which clients need not fetch
                    with self._stopped_with(context) as cancel, self._turn(cancel):
                        statement.do(self._of(statement), cancel)
            return flight.FlightInfo(schema, descriptor, [flight.FlightEndpoint(ticket, [])], -1, -1)

    def get_schema(
        self, context: flight.ServerCallContext, descriptor: flight.FlightDescriptor
    ) -> flight.SchemaResult:
        with self._asking():
            return flight.SchemaResult(self._asked(descriptor.command)[1])

    def do_get(self, context: flight.ServerCallContext, ticket: flight.Ticket) -> flight.FlightDataStream:
        with self._asking():
            name, command = unpacked(ticket.ticket)
            if name != "TicketStatementQuery":
                return flight.RecordBatchStream(_known(catalogue.answer, name, command, self.session))
            statement = self._checked(Statement.of(command.data(1)))
            if not statement.is_query:
                return flight.RecordBatchStream(NO_ROWS.empty_table())
            with self._stopped_with(context) as cancel, self._turn(cancel):
                return self._stream(statement.rows(self._of(statement), cancel))

    def do_put(
        self,
        context: flight.ServerCallContext,
        descriptor: flight.FlightDescriptor,
        reader: flight.MetadataRecordBatchReader,
        writer: flight.FlightMetadataWriter,
    ) -> None:
        with self._asking():
            name, command = unpacked(descriptor.command)
            if name == "CommandPreparedStatementQuery":
                bound = Statement.of(command.data(1)).bound(reader.read_all())
                writer.write(pa.py_buffer(message({1: bound.handle})))
                return
            statement = self._statement(name, command)
            if statement is None:
                raise NotImplementedError(f"headrace's server takes no rows: {name}")
            sets = reader.read_all() if name == "CommandPreparedStatementUpdate" else None
            with self._stopped_with(context) as cancel, self._turn(cancel):
                changed = statement.do(self._of(statement), cancel, sets)
            writer.write(pa.py_buffer(message({1: max(changed, 0)})))

    def do_action(self, context: flight.ServerCallContext, action: flight.Action) -> list[flight.Result]:
        with self._asking():
            if action.type == "CreatePreparedStatement":
                asked = unpacked(action.body.to_pybytes())[1]
                statement = self._checked(Statement(asked.text(1), transaction=asked.data(2)))
                answer: dict[int, bytes | str | int] = {1: statement.handle}
                schema = statement.schema(self._of(statement))
                if schema is not None:
                    answer[2] = schema.serialize().to_pybytes()
                return [flight.Result(packed("ActionCreatePreparedStatementResult", answer))]
            if action.type == "ClosePreparedStatement":
                return []
            if action.type == "BeginTransaction":
                begun = self._transactions.begin()
                return [flight.Result(packed("ActionBeginTransactionResult", {1: begun}))]
            if action.type == "EndTransaction":
                end = unpacked(action.body.to_pybytes())[1]
                self._transactions.end(end.data(1), holds=end.numbers(2) == [_COMMIT])
                return []
            raise NotImplementedError(f"headrace's server has no such action: {action.type}")

    @contextlib.contextmanager
    def _stopped_with(self, context: flight.ServerCallContext) -> Iterator[Cancel]:
        """What stops a query when its client has gone, or the server ends."""
        cancel, ended = Cancel(), threading.Event()

        def look() -> None:
            while not ended.wait(_LOOKS):
                if context.is_cancelled():
                    cancel.cancel()
                    return

        watcher = threading.Thread(target=look, daemon=True, name="headrace-client")
        watcher.start()
        self._running.add(cancel)
        try:
            yield cancel
        finally:
            self._running.discard(cancel)
            ended.set()
            watcher.join()

    @contextlib.contextmanager
    def _turn(self, cancel: Cancel) -> Iterator[None]:
        """While a query runs; before that it waits until fewer do."""
        has_turn = False
        while not has_turn and not cancel.cancelled:
            has_turn = self._turns.acquire(timeout=_LOOKS)
        try:
            if cancel.cancelled:  # also where the turn came with the end of another that was cancelled too
                raise errors.CancelledError("the query was cancelled while it waited for others")
            yield
        finally:
            if has_turn:
                self._turns.release()

    def list_actions(self, context: flight.ServerCallContext) -> list[tuple[str, str]]:
        return [
            ("CreatePreparedStatement", "a text as a statement"),
            ("ClosePreparedStatement", "forgets a statement"),
            ("BeginTransaction", "begins a transaction"),
            ("EndTransaction", "commits a transaction, or rolls it back"),
        ]


def _known(call: Callable[..., Any], name: str, *arguments: Any) -> Any:
    if name not in catalogue.SCHEMAS:
        raise NotImplementedError(f"headrace's server has no such command: {name}")
    return call(name, *arguments)


class _Nobody(flight.ServerAuthHandler):
    """The handshake is the middleware's: it has seen the password in the headers."""

    def authenticate(self, outgoing: Any, incoming: Any) -> None:
        pass

    def is_valid(self, token: bytes) -> str:
        return ""


class _Guards(flight.ServerMiddlewareFactory):
    """Lets in who knows the token: as a bearer's, or as the password of any name."""

    def __init__(self, token: str) -> None:
        self._token = token

    def start_call(self, info: flight.CallInfo, headers: dict[str, list[str]]) -> _Guard:
        for given in next((v for k, v in headers.items() if k.lower() == "authorization"), []):
            kind, _, value = given.partition(" ")
            if kind.lower() == "basic":
                with contextlib.suppress(binascii.Error, UnicodeDecodeError):
                    full = value + "=" * (-len(value) % 4)  # Go leaves the padding out
                    value = base64.b64decode(full, validate=True).decode().partition(":")[2]
            elif kind.lower() != "bearer":
                continue
            if hmac.compare_digest(value.encode(), self._token.encode()):
                return _Guard(self._token)
        raise flight.FlightUnauthenticatedError("the token is missing or not that of the server")


class _Guard(flight.ServerMiddleware):
    """Hands back the token as a bearer's: clients who gave a password use it from then on."""

    def __init__(self, token: str) -> None:
        self._token = token

    def sending_headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self._token}"}


@checked
def serve(
    tables: TablesArgument | Session | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    certificate: str | Path | None = None,
    key: str | Path | None = None,
    files: bool = False,
    queries: int = QUERIES,
    **options: Any,
) -> Server:
    """Starts a server of Arrow Flight SQL over a session, for ADBC, JDBC, ODBC and what speaks through them.

    tables: as in `connect`, or a session. All clients share it: a table or view that one creates is there
        for all.
    host, port: where it listens; port 0: any free one, which `Server.location` says.
    token: what clients must know, as a bearer's token or as the password of any user. Without one, only
        this machine can be listened to.
    certificate, key: files in PEM format, for TLS. Without them who sees the network sees the rows and
        the token.
    files: whether queries may name files (`FROM 'x.parquet'`), which are then read as the server's user.
    queries: how many run at once; others wait for them. Each may take `memory`.
    options: those of `sql`, for all queries: ranks=2, memory="4GB", timeout=60.

    The server answers at once, from threads of its own, until `shutdown()` or the end of a `with`; `wait()`
    waits for that. Queries of clients run beside each other.

    Raises UserError for options that do not fit, and InputOutputError where it cannot listen.
    """
    session = tables if isinstance(tables, Session) else connect(tables, **options)
    if isinstance(tables, Session) and options:
        raise errors.UserError(f"a session has its options already: {', '.join(options)}")
    if queries < 1:
        raise errors.UserError(f"queries must be at least 1, got {queries}")
    if token is None and host not in _HERE:
        raise errors.UserError(f"a server on {host} needs a token: others than this machine can reach it")
    if token is not None and not token:
        raise errors.UserError("the token of a server must not be empty")
    if (certificate is None) != (key is None):
        raise errors.UserError("TLS needs both certificate and key")
    security: dict[str, Any] = {}
    if certificate is not None and key is not None:
        security["tls_certificates"] = [(file_bytes(certificate), file_bytes(key))]
    if token is not None:
        security |= {"middleware": {"headrace": _Guards(token)}, "auth_handler": _Nobody()}
    try:
        return Server(session, host, port, files, queries, security)
    except (pa.ArrowException, OSError) as error:
        raise errors.InputOutputError(f"cannot listen on {host}:{port}: {error}") from None


def file_bytes(path: str | Path) -> bytes:
    """What a file has. Raises InputOutputError."""
    try:
        return Path(path).expanduser().read_bytes()
    except OSError as error:
        raise errors.InputOutputError(f"{path}: {error.strerror}") from None
