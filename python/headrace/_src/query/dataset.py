"""Datasets: the rows of a query where it made them, each on one rank, for the queries that follow."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from headrace._src.cluster import Cluster, current
from headrace._src.errors import InputOutputError, UserError, translated

if TYPE_CHECKING:
    import pyarrow as pa

    from headrace._src.frame.lazy_frame import LazyFrame


class MovedError(InputOutputError):
    """Ranks that had rows of a dataset, or parts of an array, have gone, or have other numbers."""


def check_there(cluster: Cluster | None, epoch: int, what: str, call: str) -> None:
    """Raises if a call is not run on the ranks where something lies: UserError, or MovedError if they have
    changed since.
    """
    if cluster is not current():
        raise UserError(
            f"{what} are on the ranks of "
            f"{'this process' if cluster is None else 'a cluster'}, and {call} is not run there"
        )
    if cluster is not None and epoch != cluster.epoch:
        raise MovedError(f"ranks that had {what.removeprefix('the ')} have changed: persist it again")


@dataclass(frozen=True, eq=False)
class Parts:
    """Where rows lie, and what of them is in this process."""

    #: The cluster that they lie on, and its ranks at that time; None: ranks of this process.
    cluster: Cluster | None
    epoch: int
    identity: str
    names: tuple[str, ...]
    #: By rank.
    rows: tuple[int, ...]
    #: The statistics document of all of them, where programs are compiled; else empty.
    document: str
    #: What the runtime reads in this process; None in a driver, which is no rank.
    table: Any

    @staticmethod
    def of_result(result: Any) -> Parts:
        """Of a run whose result is resident: on ranks of this process, or, on rank 0, of its cluster."""
        from headrace import _runtime

        cluster = current()
        document = translated(lambda: _runtime.united_statistics(result.part_statistics, result.part_keys))
        columns = json.loads(document)["columns"]
        names = tuple(sorted(columns, key=lambda name: columns[name]["index"]))
        rows = tuple(json.loads(part)["rows"] for part in result.part_statistics)
        identity = secrets.token_hex(8)
        if cluster is None:
            table = _runtime.parted(result.parts, _first_rows(rows), identity)
            return Parts(None, 0, identity, names, rows, document, table)
        table = _own(result.parts, 0, rows, identity)
        return Parts(cluster, cluster.epoch, identity, names, rows, document, table)

    def note(self) -> str:
        """What rank 0 tells the other ranks of it."""
        return json.dumps({"identity": self.identity, "names": self.names, "rows": self.rows})

    @staticmethod
    def of_note(cluster: Cluster, parts: Sequence[Any], note: str) -> Parts:
        """On another rank."""
        told = json.loads(note)
        rows = tuple(told["rows"])
        table = _own(parts, cluster.rank, rows, told["identity"])
        return Parts(cluster, cluster.epoch, told["identity"], tuple(told["names"]), rows, "", table)

    @property
    def first_rows(self) -> list[int]:
        """By rank, the number of its first row."""
        return _first_rows(self.rows)


def _own(parts: Sequence[Any], rank: int, rows: Sequence[int], identity: str) -> Any:
    """One rank's part as it reads it; nothing where there is none: in a driver."""
    return parts[0].part(rank, len(rows), _first_rows(rows)[rank], identity) if parts else None


def _first_rows(rows: Sequence[int]) -> list[int]:
    return [0, *accumulate(rows)][:-1]


class Dataset:
    """Rows that stay where a query made them, each on one rank. Made by `persist`.

    A query reads it as a table: `hr.sql("select count(*) from d", {"d": dataset})`, on as many ranks. Its
    rows have the order of the query, or of the table that it reads row by row; else that of the ranks. They
    are in memory until the dataset is dropped.
    """

    def __init__(self, parts: Parts, again: Callable[[Callable[[], None] | None], Parts]) -> None:
        self._parts = parts
        self._again = again

    @property
    def column_names(self) -> list[str]:
        return list(self._parts.names)

    @property
    def rows(self) -> list[int]:
        """How many there are on each rank."""
        return list(self._parts.rows)

    @property
    def num_rows(self) -> int:
        return sum(self._parts.rows)

    @property
    def nbytes(self) -> int:
        """Bytes of its values, as far as this rank knows them: rank 0, or the process itself."""
        columns = json.loads(self._parts.document or '{"columns": {}}')["columns"].values()
        return int(sum((column["average_bytes"] or 0) * self.num_rows for column in columns))

    def __len__(self) -> int:
        return self.num_rows

    def __repr__(self) -> str:
        return f"Dataset of {self.num_rows} rows on {len(self.rows)} ranks: {', '.join(self._parts.names)}"

    def collect(self, **options: Any) -> pa.Table:
        """All rows as a pyarrow.Table; options: those of `headrace.sql`. In a cluster, on rank 0."""
        from headrace._src.query.sql import sql

        if self._parts.cluster is None:
            options.setdefault("ranks", len(self.rows))
        return sql("select * from dataset", {"dataset": self}, **options)

    def lazy(self) -> LazyFrame:
        """A frame over the rows."""
        from headrace._src.frame.sources import from_dataset

        return from_dataset(self)

    # For queries

    @property
    def parts(self) -> Parts:
        """Where the rows lie now. Raises MovedError if ranks have changed since."""
        parts = self._parts
        check_there(parts.cluster, parts.epoch, "the rows of a dataset", "the query")
        return parts

    @property
    def here(self) -> Any:
        """What the runtime reads in this process."""
        return self._parts.table

    def renew(self, stop: Callable[[], None] | None) -> None:
        """Of a driver, before a call: makes the rows again if its ranks have changed since."""
        cluster = self._parts.cluster
        if cluster is not None and cluster is current() and self._parts.epoch != cluster.epoch:
            self._parts = self._again(stop)
