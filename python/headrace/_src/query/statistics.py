"""What the storage says of tables: their statistics documents and sizes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from headrace._src.errors import HeadraceError, translated
from headrace._src.query.tables import FileTable, Table, TablesArgument, resolve
from headrace._src.query.temporary_files import current_settings

_of_files: dict[str, str] = {}


def statistics_of(table: Table) -> str:
    """The statistics document (JSON) of a table; that of files is read once in a process."""
    from headrace import _runtime

    if not isinstance(table, FileTable):
        return translated(lambda: table.statistics)
    key = json.dumps(table.identity())
    if key not in _of_files:
        document = translated(lambda: _runtime.statistics(table.addresses, current_settings()))
        if any(table.readers):
            told = json.loads(document)
            told["casts"] = table.casts(told["columns"])
            document = json.dumps(told)
        _of_files[key] = document
    return _of_files[key]


def table_statistics(tables: TablesArgument) -> dict[str, Any]:
    """The statistics documents of tables by name, as the compiler sees them."""
    return {name: json.loads(statistics_of(table)) for name, table in resolve(tables).items()}


def documents_for(text: str, tables: Mapping[str, Table]) -> dict[str, str]:
    """The statistics of all tables; one that cannot be read matters only to a query that names it."""
    out = {}
    for name, table in tables.items():
        try:
            out[name] = statistics_of(table)
        except HeadraceError:
            if name.lower() in text.lower():
                raise
    return out


def table_sizes(tables: Mapping[str, Table]) -> dict[str, int]:
    """Bytes of every table; 0 where that is not known without reading it."""
    return {
        name: _size_of_files(table) if isinstance(table, FileTable) else int(getattr(table.data, "nbytes", 0))
        for name, table in tables.items()
    }


def _size_of_files(table: FileTable) -> int:
    try:
        return table.bytes
    except OSError:
        return 0
