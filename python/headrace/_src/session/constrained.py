"""What PRIMARY KEY, UNIQUE and CHECK say of the rows that a statement has made."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from headrace._src.errors import ConstraintError, DataError
from headrace._src.query import sql as queries
from headrace._src.session.kept_table import KeptTable
from headrace._src.session.merged_rows import Merged
from headrace._src.session.names import Names, bound
from headrace._src.sql.constraints import Constraint, constraints_of, generated_columns
from headrace._src.sql.tables import TableSchema, quoted

#: The keys of so many new rows, or of one for so many old ones, are looked for one by one.
_FEW_ROWS, _MANY_TIMES = 1024, 8


def check_added(names: Names, old: KeptTable, new: KeptTable, options: Mapping[str, Any]) -> None:
    """Raises ConstraintError if new rows break a constraint of their table."""
    if new.num_rows:
        _check_new(constraints_of(new.schema), names, old, new, options)
        if generated := generated_columns(new.schema):
            _compute(generated, names, new, options)


def check_constants(names: Names, old: KeptTable, new: KeptTable, options: Mapping[str, Any]) -> None:
    """The same of rows that DuckDB's binder has put into a table without others."""
    keys = [each for each in constraints_of(new.schema) if each.key]
    _check_new(keys, names, old, new, options, are_apart=True)


def check_changed(
    names: Names, rows: KeptTable, columns: Collection[str], options: Mapping[str, Any]
) -> None:
    """Raises ConstraintError if rows with other values in these columns break a constraint of their table."""
    touched, _ = _touched(rows.schema, columns)
    _check_all(touched, names, rows, options)


def check_merged(names: Names, done: Merged, options: Mapping[str, Any]) -> None:
    """Raises ConstraintError if rows that were merged break a constraint of their table."""
    touched, others = _touched(done.table.schema, done.columns)
    _check_all(touched, names, done.table, options)
    if done.inserted.num_rows:
        _check_new(others, names, done.stayed, done.inserted, options)
        if generated := generated_columns(done.table.schema):
            _compute(generated, names, done.inserted, options)


def _touched(
    schema: TableSchema, columns: Collection[str]
) -> tuple[Sequence[Constraint], Sequence[Constraint]]:
    """The constraints that other values of these columns may break, and the others."""
    constraints = constraints_of(schema)
    if columns and generated_columns(schema):  # which follow from others
        return constraints, ()
    touched = [each for each in constraints if not set(each.columns).isdisjoint(columns)]
    return touched, [each for each in constraints if each not in touched]


def _check_all(
    constraints: Sequence[Constraint], names: Names, rows: KeptTable, options: Mapping[str, Any]
) -> None:
    for each in constraints:
        _check(each, each.broken_by_any(), names, {"rows": rows}, options)


def _check_new(
    constraints: Sequence[Constraint],
    names: Names,
    old: KeptTable,
    new: KeptTable,
    options: Mapping[str, Any],
    *,
    are_apart: bool = False,
) -> None:
    """are_apart: whether no two new rows have one key."""
    for each in constraints:
        beside = _beside(each.key, old, new) if each.key else old
        if each.key and not beside.num_rows and (are_apart or new.num_rows == 1):
            continue
        _check(each, each.broken_by_new(), names, {"old": beside, "new": new}, options)


def _beside(key: tuple[str, ...], old: KeptTable, new: KeptTable) -> KeptTable:
    """The old rows among which those are that have a key of a new one."""
    if new.num_rows > max(_FEW_ROWS, old.num_rows // _MANY_TIMES):
        return old
    numbers = old.numbers_with(key, new)
    return old if numbers is None else old.taken(numbers)


def _compute(generated: Iterable[str], names: Names, new: KeptTable, options: Mapping[str, Any]) -> None:
    """Raises ConstraintError if a generated column of new rows is a mistake; DuckDB lets updates make one."""
    asked = bound(
        f"select {', '.join(map(quoted, generated))} from new",
        names.within("").without("new").having("new", new.called("new")),
    )
    try:
        for _ in queries.batches(asked.composed.text, asked.tables, **options):
            pass
    except DataError as error:
        what = str(error).partition(" (at ")[0]
        raise ConstraintError(f"a generated column of table {new.schema.name} has no value: {what}") from None


def _check(
    constraint: Constraint,
    query: str,
    names: Names,
    tables: Mapping[str, KeptTable],
    options: Mapping[str, Any],
) -> None:
    """tables: by the names that the query has for them."""
    names = names.within("")
    for called, table in tables.items():
        name = table.schema.name
        names = names.without(called).having(called, table.called(called))
    asked = bound(query, names)
    found = queries.sql(asked.composed.text, asked.tables, **options).to_pylist()
    if found and not constraint.key:
        raise ConstraintError(f"CHECK constraint failed on table {name}: {constraint.text}")
    if found:
        kind = "primary key" if constraint.is_primary else "unique"
        key = ", ".join(f"{column}: {value}" for column, value in found[0].items())
        raise ConstraintError(f'duplicate key "{key}" violates {kind} constraint')
