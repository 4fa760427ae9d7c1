"""Transactions of a server's clients: each has a session of its own, beside that of the server."""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass

from headrace._src.errors import TransactionError
from headrace._src.session.session import Session

#: How many may be open at once.
TRANSACTIONS = 1000
#: Seconds without a statement after which one gives way to others.
IDLE = 600.0


@dataclass
class _Open:
    session: Session
    used: float  # when the last statement of it began


class ClientTransactions:
    """Those that have begun, by the names that clients know them by. Threads may share it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._open: dict[bytes, _Open] = {}

    def begin(self) -> bytes:
        """The name of a new one. Raises TransactionError if there are too many."""
        now = time.monotonic()
        with self._lock:
            if len(self._open) >= TRANSACTIONS:
                self._open = {name: each for name, each in self._open.items() if each.used > now - IDLE}
            if len(self._open) >= TRANSACTIONS:
                raise TransactionError(f"a server has at most {TRANSACTIONS} open transactions")
            session = self._session._beside()
            session._transactions.begin()
            name = secrets.token_hex(16).encode()
            self._open[name] = _Open(session, now)
            return name

    def session(self, name: bytes) -> Session:
        """That of a transaction, or of none the server's. Raises TransactionError for one that has ended."""
        if not name:
            return self._session
        with self._lock:
            found = self._open.get(name)
            if found:
                found.used = time.monotonic()
        if not found:
            raise TransactionError("the transaction has ended")
        return found.session

    def end(self, name: bytes, *, holds: bool) -> None:
        """Commits one, or undoes what it has changed."""
        session = self.session(name)
        with self._lock:
            self._open.pop(name, None)
        with session._changing:
            if holds:
                session._transactions.commit()
            else:
                session._transactions.rollback()
