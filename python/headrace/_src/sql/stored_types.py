"""Types of a session's tables that Arrow has no place for: their rows are stored as others, and cast where
they are read.

HUGEINT is stored as DECIMAL(38, 0), an ENUM as its texts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from headrace._src.sql.plan_json import NOWHERE, ROWID, as_deep_as_can_be, plan_text, projection, reference
from headrace._src.sql.tables import TableSchema

_DIGITS = {"type": "DECIMAL_TYPE_INFO", "alias": "", "extension_info": None, "width": 38, "scale": 0}
_INTEGER = {"id": "DECIMAL", "type_info": _DIGITS}
_STORED = {"HUGEINT": _INTEGER, "UHUGEINT": _INTEGER, "ENUM": {"id": "VARCHAR", "type_info": None}}


def read_as_declared(plan: str, schemas: Sequence[TableSchema]) -> str:
    """A plan whose scans of a session's tables ask for what is stored, behind casts to the declared types."""
    declared = {schema.name for schema in schemas if schema.definition}
    if not declared or not any(f'"{kind}"' in plan for kind in _STORED):
        return plan
    with as_deep_as_can_be():
        return plan_text(_read(json.loads(plan), declared))


def _read(node: Any, declared: set[str]) -> Any:
    if isinstance(node, list):
        return [_read(each, declared) for each in node]
    if not isinstance(node, dict):
        return node
    data = node.get("function_data")
    if node.get("type") == "LOGICAL_GET" and isinstance(data, dict) and data.get("table") in declared:
        return _scan(node)
    return {key: _read(each, declared) for key, each in node.items()}


def _scan(scan: dict[str, Any]) -> dict[str, Any]:
    wanted = [column["index"] for column in scan["column_indexes"]]
    kept = [wanted[place] for place in scan["projection_ids"]] or wanted
    types = [
        {"id": "BIGINT", "type_info": None} if index == ROWID else scan["returned_types"][index]
        for index in kept
    ]
    if all(_stored(kind) == kind for kind in types):
        return scan
    stored = {**scan, "returned_types": [_stored(kind) for kind in scan["returned_types"]]}
    expressions = [_expression(place, kind) for place, kind in enumerate(types)]
    return projection(stored, scan["table_index"], expressions)


def _stored(kind: Any) -> Any:
    """A type with what is stored of it, as deep as it is nested."""
    if isinstance(kind, list):
        return [_stored(each) for each in kind]
    if not isinstance(kind, dict):
        return kind
    if kind.get("id") in _STORED:
        return _STORED[kind["id"]]
    return {key: _stored(each) for key, each in kind.items()}


def _expression(place: int, kind: dict[str, Any]) -> dict[str, Any]:
    stored = _stored(kind)
    column = reference(place, stored)
    if stored == kind:
        return column
    return {
        "expression_class": "BOUND_FUNCTION",
        "type": "OPERATOR_CAST",
        **NOWHERE,
        "return_type": kind,
        "children": [column],
        "arguments": [stored],
        "qname": {"path": ["__cast"]},
        "has_serialize": True,
        "function_data": {"try_cast": False, "is_default_cast": False},
        "is_operator": True,
    }
