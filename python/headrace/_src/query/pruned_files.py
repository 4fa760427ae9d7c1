"""Files whose folders no row of a query can come from are left out before any of them is opened.

DuckDB's optimizer moves the conditions of the query to its tables; those on columns that files are given are
decided here by file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from headrace._src.errors import HeadraceError
from headrace._src.query.statistics import documents_for, statistics_of
from headrace._src.query.tables import FileTable, Table
from headrace._src.sql.catalogue import moved_conditions
from headrace._src.sql.plan_json import ROWID
from headrace._src.sql.tables import schema_of


def pruned_tables(text: str, tables: Mapping[str, Table]) -> dict[str, Table]:
    """The tables, with the files that the query of `text` can have rows from."""
    partitioned = {
        name: table
        for name, table in tables.items()
        if isinstance(table, FileTable) and table.is_partitioned and name.lower() in text.lower()
    }
    if not partitioned:
        return dict(tables)
    try:
        others = {name: table for name, table in tables.items() if name not in partitioned}
        documents = {
            **documents_for(text, others),
            **{name: statistics_of(table.first) for name, table in partitioned.items()},
        }
        schemas = [schema_of(name, json.loads(document)) for name, document in documents.items()]
        plan = moved_conditions(text, schemas)
    except HeadraceError:
        return dict(tables)  # told where the query is bound
    return {**tables, **{name: _pruned(name, table, plan) for name, table in partitioned.items()}}


def _pruned(name: str, table: FileTable, plan: Any) -> FileTable:
    scans = [scan for scan in _scans(plan) if scan["function_data"]["table"] == name]
    # Numbers of rows count the rows of all files.
    if not scans or any(ROWID in _columns(scan) for scan in scans):
        return table
    given = [
        {each["name"]: each["value"] for each in columns if not each.get("counts")} for columns in table.given
    ]
    kept = [i for i, values in enumerate(given) if any(_may_have_rows(scan, values) for scan in scans)]
    # One file at least says which columns there are.
    return table.only(kept or [0])


def _scans(plan: Any) -> Iterator[Any]:
    if isinstance(plan, list):
        for each in plan:
            yield from _scans(each)
    elif isinstance(plan, dict):
        if plan.get("type") == "LOGICAL_GET" and "table" in (plan.get("function_data") or {}):
            yield plan
        for each in plan.values():
            if isinstance(each, (dict, list)):
                yield from _scans(each)


def _columns(scan: Any) -> list[int]:
    return [column["index"] for column in scan["column_indexes"]]


def _may_have_rows(scan: Any, values: Mapping[str, Any]) -> bool:
    columns = _columns(scan)
    for condition in scan["table_filters"]["filters"]:
        name = scan["names"][columns[condition["key"]]]
        if name in values and not _may_hold(condition["value"], values[name]):
            return False
    return True


_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "COMPARE_EQUAL": lambda value, constant: value == constant,
    "COMPARE_NOTEQUAL": lambda value, constant: value != constant,
    "COMPARE_LESSTHAN": lambda value, constant: value < constant,
    "COMPARE_LESSTHANOREQUALTO": lambda value, constant: value <= constant,
    "COMPARE_GREATERTHAN": lambda value, constant: value > constant,
    "COMPARE_GREATERTHANOREQUALTO": lambda value, constant: value >= constant,
}


def _may_hold(condition: Any, value: Any) -> bool:
    """False only if the condition is not true for the value. What is not known may hold."""
    kind = condition["filter_type"].removeprefix("LEGACY_")
    if kind in ("CONJUNCTION_AND", "CONJUNCTION_OR"):
        held = (_may_hold(each, value) for each in condition["child_filters"])
        return all(held) if kind == "CONJUNCTION_AND" else any(held)
    if kind == "OPTIONAL_FILTER":
        return _may_hold(condition["child_filter"], value)
    if kind in ("IS_NULL", "IS_NOT_NULL"):
        return (value is None) == (kind == "IS_NULL")
    if kind == "IN_FILTER":
        constants = [each["value"] for each in condition["values"]]
        return not all(_comparable(value, constant) for constant in constants) or value in constants
    if kind == "CONSTANT_COMPARISON" and condition["comparison_type"] in _COMPARED:
        constant = condition["constant"]["value"]
        if value is None or not _comparable(value, constant):
            return value is not None
        return _COMPARED[condition["comparison_type"]](value, constant)
    return True


def _comparable(value: Any, constant: Any) -> bool:
    return type(value) is type(constant)
