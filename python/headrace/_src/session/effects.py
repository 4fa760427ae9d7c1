"""What a statement does to the names of a session, and what it says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace._src.errors import UnsupportedError
from headrace._src.session.kept_table import KeptTable
from headrace._src.session.names import Names

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Answer:
    """What a statement says that it has done."""

    #: As DuckDB's: the number of rows, if it is about rows.
    rows: pa.Table
    #: How many rows were changed; -1: the statement is about none.
    count: int = -1
    #: Of the columns of RETURNING, as SQL writes them.
    types: tuple[str, ...] = ()

    @staticmethod
    def of(count: int | None = None) -> Answer:
        import pyarrow as pa

        counts = [] if count is None else [count]
        rows = pa.table({"Count": pa.array(counts, pa.int64())})
        return Answer(rows, -1 if count is None else count)

    @staticmethod
    def of_success() -> Answer:
        import pyarrow as pa

        return Answer(pa.table({"Success": pa.array([], pa.bool_())}))


@dataclass(frozen=True)
class Effect:
    """What a statement does to the names of a session."""

    answer: Answer
    #: Whose table or view is another one now, or none; empty: nothing changes.
    name: str = ""
    table: KeptTable | None = None

    def on(self, names: Names) -> Names:
        """The names after it."""
        others = names.without(self.name) if self.name else names
        return others.having(self.table.schema.name, self.table) if self.table else others

    @property
    def changed(self) -> set[str]:
        """The names that mean something else."""
        return {self.name, self.table.schema.name} if self.table else {self.name}


def kept_table(names: Names, name: str, verb: str) -> KeptTable:
    """The table of a name that statements may change. Raises UnsupportedError for others."""
    table = names.tables[name.lower()][1] if name.lower() in names.tables else None
    if not isinstance(table, KeptTable):
        raise UnsupportedError(
            f"{verb} of a table that the session was given: {name}; "
            "statements change those that CREATE TABLE has made"
        )
    return table
