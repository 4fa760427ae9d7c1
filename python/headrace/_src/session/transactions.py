"""Transactions over several statements: what a session sees meanwhile, and what becomes of it.

Tables are made of parts that never change, so a snapshot is the names of one moment. What a transaction has
changed is put among the names of the database when it ends, all of it or nothing.
"""

from __future__ import annotations

import enum
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from headrace._src.errors import TransactionError
from headrace._src.session.appended_files import files_stay
from headrace._src.session.names import Names
from headrace._src.sql.spelling import NOTHING

_MODE = rf"\b{NOTHING}(?:(?:work|transaction)\b{NOTHING})?"
_BEGIN = rf"(?P<begin>begin|start){_MODE}(?:read\b{NOTHING}(?:(?P<only>only)|write)\b{NOTHING})?"
_STATEMENT = re.compile(
    rf"{NOTHING}(?:{_BEGIN}|(?P<commit>commit|end){_MODE}|(?:rollback|abort){_MODE});?{NOTHING}",
    re.IGNORECASE | re.DOTALL,
)


class Phase(enum.Enum):
    ACTIVE = "active"
    ABORTED = "aborted"  # by a mistake: nothing of it will hold
    ENDED = "ended"


class Database:
    """The names that sessions have in common."""

    def __init__(self) -> None:
        self.lock = threading.Lock()  # held for a moment, to change the names
        self.names = Names()


@dataclass
class Transaction:
    """One that has begun. It sees the names of its begin, and what it has changed itself."""

    before: Names
    names: Names
    reads_only: bool = False
    phase: Phase = Phase.ACTIVE

    def committed(self, now: Names) -> Names:
        """The names of the database with what the transaction has changed.

        Raises TransactionError if another one has changed one of these meanwhile.
        """
        before, mine = self.before, self.names
        tables = _merged(before.tables, mine.tables, now.tables)
        views = _merged(before.views, mine.views, now.views)
        if both := tables.keys() & views.keys():
            raise _conflict(min(both))
        definitions = _merged(before.definitions, mine.definitions, now.definitions)
        sequences = _merged(before.sequences, mine.sequences, now.sequences)
        schemas = _merged(before.schemas, mine.schemas, now.schemas)
        for name in (*before.tables, *mine.tables):
            if mine.tables.get(name) is not before.tables.get(name):
                for tied in mine.related(name):
                    if now.tables.get(tied) is not before.tables.get(tied):
                        raise _conflict(tied)
        made = Names(tables, views, now.variables, definitions, sequences, schemas)
        for key in (*tables, *views, *sequences):
            if (schema := made.schema_of(key)) and schema.lower() not in schemas:
                raise _conflict(schema)
        return self.with_settings(made, now)

    def with_settings(self, names: Names, now: Names) -> Names:
        """With the variables and the schema in use: what a transaction sets, its end does not undo."""
        is_set = self.names.variables is not self.before.variables
        variables = self.names.variables if is_set else now.variables
        schema = self.names.schema if self.names.schema != self.before.schema else now.schema
        return replace(names, variables=variables, schema=schema if schema.lower() in names.schemas else "")


def _merged(before: Mapping[str, Any], mine: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """What is there now, with the changes that have made `mine` of what was there before."""
    changed = {name: mine.get(name) for name in {**before, **mine} if before.get(name) is not mine.get(name)}
    for name in changed:
        if now.get(name) is not before.get(name):
            raise _conflict(name)
    return {name: each for name, each in {**now, **changed}.items() if each is not None}


def _conflict(name: str) -> TransactionError:
    return TransactionError(
        "the transaction is rolled back, as another one has changed the same table, view, macro, type, "
        f"sequence or schema meanwhile: {name}; do it again"
    )


@contextmanager
def within(transaction: Transaction | None) -> Iterator[None]:
    """Around a statement of a transaction, if there is one: a mistake aborts it, and nothing follows that."""
    if transaction is None or transaction.phase is Phase.ENDED:
        yield
        return
    if transaction.phase is Phase.ABORTED:
        raise TransactionError("the transaction was aborted by a mistake in it: ROLLBACK ends it")
    try:
        with files_stay("a file that is added cannot be rolled back: INSERT outside of a transaction into"):
            yield
    except BaseException:
        if transaction.phase is Phase.ACTIVE:
            transaction.phase = Phase.ABORTED
        raise


@contextmanager
def changing_within(transaction: Transaction | None) -> Iterator[None]:
    """The same, around a statement that changes tables."""
    with within(transaction):
        if transaction and transaction.reads_only:
            raise TransactionError(
                "the transaction only reads: BEGIN without READ ONLY lets it change tables"
            )
        yield


class Transactions:
    """Those of a session, one after the other, and the names that the session sees."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.running: Transaction | None = None

    @property
    def names(self) -> Names:
        running = self.running
        return running.names if running else self.database.names

    @names.setter
    def names(self, names: Names) -> None:
        if self.running:
            self.running.names = names
        else:
            self.database.names = names

    def begin(self, *, reads_only: bool = False) -> None:
        with within(self.running), self.database.lock:
            if self.running:
                raise TransactionError("a transaction has begun already: COMMIT or ROLLBACK ends it")
            self.running = Transaction(self.database.names, self.database.names, reads_only)

    def commit(self) -> None:
        """What it has changed is there for all. One that was aborted is rolled back."""
        with self.database.lock:
            ended = self._ended("COMMIT")
            is_aborted, ended.phase = ended.phase is Phase.ABORTED, Phase.ENDED
            if is_aborted:
                self._put_settings(ended)
            else:
                self.database.names = ended.committed(self.database.names)

    def rollback(self) -> None:
        with self.database.lock:
            ended = self._ended("ROLLBACK")
            ended.phase = Phase.ENDED
            self._put_settings(ended)

    def _ended(self, what: str) -> Transaction:
        if not self.running:
            raise TransactionError(f"no transaction has begun that {what} could end")
        ended, self.running = self.running, None
        return ended

    def _put_settings(self, ended: Transaction) -> None:
        now = self.database.names
        self.database.names = ended.with_settings(now, now)


def transaction_of(text: str) -> Callable[[Transactions], None] | None:
    """What a statement does that begins or ends one; None for others."""
    found = _STATEMENT.fullmatch(text)
    if not found:
        return None
    if found["begin"]:
        return lambda transactions: transactions.begin(reads_only=bool(found["only"]))
    return Transactions.commit if found["commit"] else Transactions.rollback
