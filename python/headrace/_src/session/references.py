"""What FOREIGN KEYs say of the rows that a statement has made, and of those that it takes away."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from headrace._src.errors import ConstraintError, UserError
from headrace._src.query import sql as queries
from headrace._src.session.kept_table import KeptTable
from headrace._src.session.names import Names, bound
from headrace._src.sql.constraints import constraints_of


@dataclass(frozen=True)
class Changed:
    """Rows of a statement; of one that DuckDB changes by a DELETE and an INSERT as it was and is."""

    gone: KeptTable
    new: KeptTable
    #: The table without those that are gone.
    stayed: Callable[[], KeptTable]


#: Types whose values DuckDB does not change in their places.
_NESTED = re.compile(r"\]|\bMAP\(|\bUNION\(")
#: Among so many rows keys are looked for one by one.
_FEW_ROWS = 1 << 16


def has_references(names: Names, table: KeptTable) -> bool:
    return bool(table.schema.foreign_keys) or bool(names.children_of(table.schema.name))


def takes_rows_away(table: KeptTable, columns: Collection[str]) -> bool:
    """Whether DuckDB changes rows by a DELETE and an INSERT where these columns get other values."""
    keys = [each.columns for each in constraints_of(table.schema) if each.key]
    keys += [each.columns for each in table.schema.foreign_keys]
    types = {column.name: column.type for column in table.schema.columns}
    return any(not set(columns).isdisjoint(key) for key in keys) or any(
        _NESTED.search(types[name]) for name in columns
    )


def check_references(names: Names, before: KeptTable, changed: Changed, options: Mapping[str, Any]) -> None:
    """Raises ConstraintError if rows that go are referred to, or new ones refer to what is not there.

    before: the table. A new row refers to none of the same statement, as in DuckDB.
    """
    own = before.schema.name.lower()
    gone, new = changed.gone, changed.new
    for child, key in names.children_of(own) if gone.num_rows else ():
        children = before if child.schema.name.lower() == own else child
        children = _among(children, key.columns, gone, key.referenced)
        asked = {"children": children, "gone": gone}
        if children.num_rows and (found := _asked(key.with_child(), names, asked, options)):
            raise ConstraintError(
                f'key "{found}" is referred to by a foreign key of table {child.schema.name}'
            )
    for key in before.schema.foreign_keys if new.num_rows else ():
        parents = changed.stayed() if key.table == own else names.tables[key.table][1]
        parents = _among(parents, key.referenced, new, key.columns)
        if found := _asked(key.without_parent(), names, {"new": new, "parents": parents}, options):
            raise ConstraintError(f'key "{found}" of a foreign key is not in table {key.table}')


def _among(table: KeptTable, key: tuple[str, ...], rows: KeptTable, their: tuple[str, ...]) -> KeptTable:
    """The rows of a table among which those are that have a key of `rows`."""
    numbers = table.numbers_with(key, rows, their) if rows.num_rows <= _FEW_ROWS else None
    return table if numbers is None else table.taken(numbers)


def _asked(query: str, names: Names, tables: Mapping[str, KeptTable], options: Mapping[str, Any]) -> str:
    """The key of the first row of a query; empty: there is none."""
    names = names.within("")
    for called, table in tables.items():
        names = names.without(called).having(called, table.called(called))
    asked = bound(query, names)
    found = queries.sql(asked.composed.text, asked.tables, **options).to_pylist()
    return ", ".join(f"{column}: {value}" for column, value in found[0].items()) if found else ""


def check_unreferenced(names: Names, name: str) -> None:
    """Raises UserError if another table has a foreign key to one."""
    for child, _ in names.children_of(name.lower()):
        if child.schema.name.lower() != name.lower():
            raise UserError(
                f"table {child.schema.name} has a foreign key to {name}: DROP TABLE of it comes first"
            )
