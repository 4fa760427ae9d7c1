"""What PRIMARY KEY, UNIQUE and CHECK say of the rows that a statement has made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headrace._src.errors import ConstraintError
from headrace._src.query import sql as queries
from headrace._src.session.kept_table import KeptTable
from headrace._src.session.names import Names, bound
from headrace._src.sql.alteration import altered
from headrace._src.sql.constraints import Constraint, constraints_of
from headrace._src.sql.tables import quoted


def check_added(names: Names, old: KeptTable, new: KeptTable, options: Mapping[str, Any]) -> None:
    """Raises ConstraintError if new rows break a constraint of their table."""
    for constraint in constraints_of(new.schema) if new.num_rows else ():
        _check(constraint, constraint.broken_by_new(), names, {"old": old, "new": new}, options)


def check_all(names: Names, rows: KeptTable, options: Mapping[str, Any]) -> None:
    """Raises ConstraintError if rows break a constraint of their table."""
    for constraint in constraints_of(rows.schema):
        _check(constraint, constraint.broken_by_any(), names, {"rows": rows}, options)


def _check(
    constraint: Constraint,
    query: str,
    names: Names,
    tables: Mapping[str, KeptTable],
    options: Mapping[str, Any],
) -> None:
    for name, table in tables.items():
        names = names.without(name).having(name, _called(table, name))
    asked = bound(query, names)
    found = queries.sql(asked.composed.text, asked.tables, **options).to_pylist()
    if not found:
        return
    (row,) = found
    if not constraint.key:
        (table, *_) = tables.values()
        raise ConstraintError(f"CHECK constraint failed on table {table.schema.name}: {constraint.text}")
    key = ", ".join(f"{name}: {value}" for name, value in zip(constraint.key, row.values(), strict=True))
    kind = "primary key" if constraint.is_primary else "unique"
    raise ConstraintError(f'duplicate key "{key}" violates {kind} constraint')


def _called(table: KeptTable, name: str) -> KeptTable:
    """The table by another name."""
    schema, columns = altered(
        f"alter table {quoted(table.schema.name)} rename to {quoted(name)}", table.schema, values_stay=True
    )
    return table.altered(schema, columns)
