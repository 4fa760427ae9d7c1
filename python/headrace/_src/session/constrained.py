"""What PRIMARY KEY, UNIQUE and CHECK say of the rows that a statement has made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headrace._src.errors import ConstraintError, DataError
from headrace._src.query import sql as queries
from headrace._src.session.kept_table import KeptTable
from headrace._src.session.merged_rows import Merged
from headrace._src.session.names import Names, bound
from headrace._src.sql.constraints import Constraint, constraints_of, generated_columns
from headrace._src.sql.tables import quoted


def check_added(names: Names, old: KeptTable, new: KeptTable, options: Mapping[str, Any]) -> None:
    """Raises ConstraintError if new rows break a constraint of their table."""
    constraints = constraints_of(new.schema) if new.num_rows else ()
    queries_of = {constraint: constraint.broken_by_new() for constraint in constraints}
    _check(queries_of, new.schema.name, names, {"old": old, "new": new}, options)
    if new.num_rows and (generated := generated_columns(new.schema)):
        _compute(generated, names, new, options)


def check_all(names: Names, rows: KeptTable, options: Mapping[str, Any]) -> None:
    """Raises ConstraintError if rows break a constraint of their table."""
    queries_of = {constraint: constraint.broken_by_any() for constraint in constraints_of(rows.schema)}
    _check(queries_of, rows.schema.name, names, {"rows": rows}, options)


def check_merged(names: Names, done: Merged, options: Mapping[str, Any]) -> None:
    """Raises ConstraintError if rows that were merged break a constraint of their table."""
    if done.has_changed.any():
        check_all(names, done.table, options)
        check_added(names, KeptTable(done.table.schema), done.inserted, options)
    else:
        check_added(names, done.stayed, done.inserted, options)


def _compute(generated: Sequence[str], names: Names, new: KeptTable, options: Mapping[str, Any]) -> None:
    """Raises ConstraintError if a generated column of new rows is a mistake; DuckDB lets updates make one."""
    asked = bound(
        f"select {', '.join(map(quoted, generated))} from new",
        names.without("new").having("new", new.called("new")),
    )
    try:
        for _ in queries.batches(asked.composed.text, asked.tables, **options):
            pass
    except DataError as error:
        what = str(error).partition(" (at ")[0]
        raise ConstraintError(f"a generated column of table {new.schema.name} has no value: {what}") from None


def _check(
    queries_of: Mapping[Constraint, str],
    name: str,
    names: Names,
    tables: Mapping[str, KeptTable],
    options: Mapping[str, Any],
) -> None:
    """name: of the table. tables: by the names that the queries have for them."""
    for constraint, query in queries_of.items():
        for called, table in tables.items():
            names = names.without(called).having(called, table.called(called))
        asked = bound(query, names)
        found = queries.sql(asked.composed.text, asked.tables, **options).to_pylist()
        if found and not constraint.key:
            raise ConstraintError(f"CHECK constraint failed on table {name}: {constraint.text}")
        if found:
            kind = "primary key" if constraint.is_primary else "unique"
            key = ", ".join(f"{column}: {value}" for column, value in found[0].items())
            raise ConstraintError(f'duplicate key "{key}" violates {kind} constraint')
