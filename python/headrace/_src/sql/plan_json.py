"""DuckDB's plans as JSON: written as DuckDB writes them, in which names are looked for, and nodes put into
them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from headrace._src.errors import SqlError

Node = dict[str, Any]

#: The number of the column that numbers the rows of a table.
ROWID = (1 << 64) - 1
INTEGER, BIGINT, BOOLEAN = ({"id": name, "type_info": None} for name in ("INTEGER", "BIGINT", "BOOLEAN"))
#: Of an expression that stands in no text.
NOWHERE = {"alias": "", "query_location": (1 << 64) - 1, "query_location_length": 0}


def plan_text(plan: Any) -> str:
    return json.dumps(plan, separators=(",", ":"), ensure_ascii=False)


@contextmanager
def as_deep_as_can_be() -> Iterator[None]:
    """While a plan is read or gone through. Raises SqlError for one that is too deep."""
    try:
        yield
    except RecursionError:
        raise SqlError("the plan is too deep to be read") from None


def reference(place: int, kind: Node) -> Node:
    """The column at a place of the operator below, of a type."""
    return {
        "expression_class": "BOUND_REF",
        "type": "BOUND_REF",
        **NOWHERE,
        "return_type": kind,
        "index": place,
    }


def projection(child: Node, table_index: int, expressions: Sequence[Node]) -> Node:
    return {
        "type": "LOGICAL_PROJECTION",
        "children": [child],
        "table_index": table_index,
        "expressions": list(expressions),
    }


def constant(value: int | None, kind: Node) -> Node:
    held = {"type": kind, "is_null": value is None} | ({} if value is None else {"value": value})
    return {"expression_class": "BOUND_CONSTANT", "type": "VALUE_CONSTANT", **NOWHERE, "value": held}


def type_of(expression: Node) -> Node:
    found = expression["return_type"] if "return_type" in expression else expression["value"]["type"]
    assert isinstance(found, dict)
    return found


def operation(name: str, kind: str, gives: Node, children: Sequence[Node]) -> Node:
    """An operator of SQL on values. kind: BOUND_FUNCTION, or which comparison it is."""
    return {
        "expression_class": "BOUND_FUNCTION",
        "type": kind,
        **NOWHERE,
        "return_type": gives,
        "children": list(children),
        "arguments": [type_of(each) for each in children],
        "qname": {"path": [name]},
        "has_serialize": False,
        "is_operator": True,
    }


def case(checks: Sequence[tuple[Node, Node]], otherwise: Node, kind: Node) -> Node:
    return {
        "expression_class": "BOUND_CASE",
        "type": "CASE_EXPR",
        **NOWHERE,
        "return_type": kind,
        "case_checks": [{"when_expr": when, "then_expr": then} for when, then in checks],
        "else_expr": otherwise,
    }
