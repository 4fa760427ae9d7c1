"""Queries as arguments of array programs: their columns become tensors on the ranks, in the same plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from headrace._src.arguments import checked, checked_methods, shown
from headrace._src.array.graph import NUMPY_TYPES, Rows
from headrace._src.array.mistakes import mistaken
from headrace._src.query.bound_query import BoundQuery, bound_query
from headrace._src.query.statistics import documents_for
from headrace._src.query.tables import Table, TablesArgument, resolve
from headrace._src.sql.clock import clock_of


@checked_methods
@dataclass(frozen=True, eq=False)
class Query:
    """A query that has not run: what `query` makes."""

    text: str
    tables: dict[str, Table]
    #: Function of `jit` -> its programs over this query, which hold the tables: they end with it.
    _programs: WeakKeyDictionary[Any, dict[tuple[object, ...], Any]] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False
    )

    @cached_property
    def bound(self) -> BoundQuery:
        """With the clock of the moment when it is first asked for, or was renewed."""
        return bound_query(self.text, documents_for(self.text, self.tables), clock_of(self.text))

    def renewed(self) -> BoundQuery:
        """Bound anew if a clock that it may use has gone on since."""
        if self.bound.clock.key() != clock_of(self.text).key():
            self.__dict__.pop("bound", None)
        return self.bound

    @property
    def statistics(self) -> dict[str, str]:
        """The statistics documents of the tables that it reads."""
        return self.bound.statistics

    def bindings(self) -> dict[str, Any]:
        from headrace._src.query.compiled_query import bindings_of

        return bindings_of({name: self.tables[name] for name in self.statistics})

    def to_tensor(self, columns: str | Sequence[str], dtype: str = "f64") -> QueryTensor:
        """Numeric columns as a tensor: one column name gives (rows,), several give (rows, columns)."""
        return self.to_tensors(columns, dtype=dtype)[0]

    def to_tensors(self, *groups: str | Sequence[str], dtype: str = "f64") -> tuple[QueryTensor, ...]:
        """One tensor per group of columns; their rows are in the same order."""
        if dtype not in NUMPY_TYPES:
            raise mistaken(f"dtype is not one of f32, f64, i64: got {dtype}")
        if not groups or not all(groups):
            raise mistaken("a tensor needs the name of a column, or several")
        for name in (each for group in groups for each in ([group] if isinstance(group, str) else group)):
            if not isinstance(name, str):
                raise mistaken(f"the name of a column is a str, got {shown(name)}")
        rows = Rows()
        return tuple(QueryTensor(self, group, dtype, rows) for group in groups)


@dataclass(frozen=True, eq=False)
class QueryTensor:
    """Columns of a query, as an argument of a jitted function."""

    query: Query
    group: str | Sequence[str]
    dtype: str
    rows: Rows = field(repr=False)

    @property
    def columns(self) -> list[str]:
        return [self.group] if isinstance(self.group, str) else list(self.group)

    @property
    def shape(self) -> tuple[Any, ...]:
        return (self.rows,) if isinstance(self.group, str) else (self.rows, len(self.columns))


@checked
def query(text: str, tables: TablesArgument) -> Query:
    """A query whose result becomes tensors: pass `query(…).to_tensor(columns)` to a function made by `jit`.

    Query and function are one program: one plan, sharded as a whole. `tables` is as in `sql`.
    """
    return Query(text, resolve(tables))
