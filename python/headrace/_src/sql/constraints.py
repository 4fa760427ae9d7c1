"""PRIMARY KEY, UNIQUE and CHECK of tables that statements change, as queries that find what breaks them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from headrace._src.sql.catalogue import tables_of_binder
from headrace._src.sql.tables import TableSchema, quoted


@dataclass(frozen=True)
class Constraint:
    """The queries are over tables `old`, `new` and `rows`; a row of theirs breaks it."""

    #: As the binder writes it.
    text: str
    #: That it is about.
    columns: tuple[str, ...]
    is_primary: bool
    #: Of a CHECK; empty: a key.
    expression: str
    #: Of the columns of a key, those that are texts: no two have the same bytes, whatever their collation.
    texts: frozenset[str] = frozenset()

    @property
    def key(self) -> tuple[str, ...]:
        return () if self.expression else self.columns

    def broken_by_new(self) -> str:
        """The rows that break it, of `new` ones beside `old` ones that do not."""
        if not self.key:
            return f"select 1 from new where not ({self.expression}) limit 1"
        columns = self._columns("")
        same = " and ".join(f"{self._value('o.', each)} = {self._value('n.', each)}" for each in self.key)
        return (
            f"select {columns} from (select {columns} from new where {self._has_key} union all "
            f"select {self._columns('o.')} from old as o "
            f"join (select distinct {columns} from new) as n on {same}) "
            "group by all having count(*) > 1 limit 1"
        )

    def broken_by_any(self) -> str:
        """The rows that break it, of all `rows`."""
        if not self.key:
            return f"select 1 from rows where not ({self.expression}) limit 1"
        return (
            f"select {self._columns('')} from rows where {self._has_key} "
            "group by all having count(*) > 1 limit 1"
        )

    def _columns(self, table: str) -> str:
        return ", ".join(f"{self._value(table, each)} as {quoted(each)}" for each in self.key)

    def _value(self, table: str, column: str) -> str:
        return f"{table}{quoted(column)}{' collate c' if column in self.texts else ''}"

    @property
    def _has_key(self) -> str:
        return " and ".join(f"{quoted(each)} is not null" for each in self.key)


@lru_cache(maxsize=256)
def constraints_of(schema: TableSchema) -> tuple[Constraint, ...]:
    """Those that more than one value decides on; NOT NULL is of columns."""
    if not any(word in schema.definition.upper() for word in ("PRIMARY KEY", "UNIQUE", "CHECK")):
        return ()
    with tables_of_binder([schema]) as connection:
        told = connection.execute(
            "select constraint_type, constraint_text, expression, constraint_column_names "
            "from duckdb_constraints() where constraint_type in ('PRIMARY KEY', 'UNIQUE', 'CHECK')"
        ).fetchall()
    texts = frozenset(column.name for column in schema.columns if column.type == "VARCHAR")
    return tuple(
        Constraint(text, tuple(columns), kind == "PRIMARY KEY", expression or "", texts)
        for kind, text, expression, columns in told
    )


@lru_cache(maxsize=256)
def generated_columns(schema: TableSchema) -> Mapping[str, str]:
    """Those that are computed when they are read: their expressions."""
    if "GENERATED ALWAYS AS" not in schema.definition.upper():
        return {}
    with tables_of_binder([schema]) as connection:
        told = connection.execute(
            "select column_name, column_default from duckdb_columns() where is_generated "
            "order by column_index"
        ).fetchall()
    return dict(told)
