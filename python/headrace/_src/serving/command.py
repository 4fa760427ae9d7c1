"""`headrace serve`: tables behind a server of Arrow Flight SQL."""

from __future__ import annotations

import argparse
import contextlib
import signal
import socket
import sys
from collections.abc import Iterator

from headrace._src.query.tables import TABLES_HELP, TABLES_METAVAR
from headrace._src.serving import GRACE, QUERIES
from headrace._src.settings_options import add_threads

_PORT = 31337


@contextlib.contextmanager
def _told_to_end() -> Iterator[socket.socket]:
    """Where the number of SIGTERM or Control-C can be read once it has come; later ones end the process.

    Python's handlers run in the main thread once it is awake, but a signal may come in another thread,
    or just before the main one falls asleep: so the interpreter writes its number into a socket.
    """
    reader, writer = socket.socketpair()
    with reader, writer:
        writer.setblocking(False)
        signal.set_wakeup_fd(writer.fileno())
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)
        yield reader
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tables",
        default=[],
        action="append",
        metavar=TABLES_METAVAR,
        help=TABLES_HELP,
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="where to listen (default: 127.0.0.1, this machine)"
    )
    parser.add_argument("--port", type=int, default=_PORT, help=f"0: any that is free (default: {_PORT})")
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        help="a file with what clients must know, as a bearer's token or as the password of any user "
        "(default: none, which only --host 127.0.0.1 allows)",
    )
    parser.add_argument("--certificate", metavar="FILE", help="a certificate in PEM format, for TLS")
    parser.add_argument("--key", metavar="FILE", help="its key")
    parser.add_argument(
        "--files", action="store_true", help="let queries name files, which are read as the server's user"
    )
    parser.add_argument(
        "--ranks", type=int, default=1, help="ranks of this process that share a query (default: 1)"
    )
    add_threads(parser)
    parser.add_argument(
        "--memory",
        metavar="BYTES",
        help="memory limit of a query, such as 4GB (default: 70 %% of the machine's)",
    )
    parser.add_argument(
        "--queries",
        type=int,
        default=QUERIES,
        help=f"how many run at once, each within --memory; others wait (default: {QUERIES})",
    )
    parser.add_argument(
        "--grace",
        type=float,
        default=GRACE,
        metavar="SECONDS",
        help=f"how long clients may read on when the server is told to end (default: {GRACE:g})",
    )
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="stop a query after so long (default: never)"
    )


def command(arguments: argparse.Namespace, settings: dict[str, str]) -> int:
    """Serves until it is interrupted or told to end (SIGTERM)."""
    from headrace._src.serving.server import file_bytes, serve

    token = file_bytes(arguments.token_file).decode().strip() if arguments.token_file else None
    options = {
        name: getattr(arguments, name)
        for name in ("ranks", "threads", "memory", "timeout")
        if getattr(arguments, name) is not None
    }
    server = serve(
        arguments.tables,
        host=arguments.host,
        port=arguments.port,
        token=token,
        certificate=arguments.certificate,
        key=arguments.key,
        files=arguments.files,
        queries=arguments.queries,
        settings=settings,
        **options,
    )
    # What pyarrow sends of an error ends in its traceback, which is nobody's business.
    sys.tracebacklimit = 0
    with _told_to_end() as told:
        print(f"serving {', '.join(server.session.tables) or 'no tables'} at {server.location}", flush=True)
        number = told.recv(1)[0]
    server.shutdown(arguments.grace)
    return 0 if number == signal.SIGTERM else 128 + number
