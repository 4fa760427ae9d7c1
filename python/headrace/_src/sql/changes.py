"""Statements that change a session's tables, as DuckDB binds them: what they do, and the plan of their rows.

The rows are a part of the plan: those that an INSERT adds, cast to the columns of the table, in their order
and with their defaults; the numbers of those that a DELETE takes away; new values with the numbers of their
rows for an UPDATE; all of these, and what each row is for, of a MERGE INTO.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headrace._src.errors import UnsupportedError
from headrace._src.sql.merges import Merge, merge_of, tried_of
from headrace._src.sql.plan_json import as_deep_as_can_be, plan_text, projection, reference
from headrace._src.sql.tables import TableSchema, named_in, sql_name


class Verb(enum.Enum):
    """What a statement does."""

    CREATE = "CREATE TABLE"
    INSERT = "INSERT"
    DELETE = "DELETE"
    UPDATE = "UPDATE"
    MERGE = "MERGE INTO"


@dataclass(frozen=True)
class Change:
    """A statement that changes a session's tables."""

    verb: Verb
    #: Of the table, as a session calls it.
    name: str
    #: Of CREATE, where there is one of this name: REPLACE, IGNORE (IF NOT EXISTS) or ERROR.
    on_conflict: str = "ERROR"
    #: The plan of the rows (JSON), and names for its columns; empty: there are none.
    plan: str = ""
    names: tuple[str, ...] = ()
    #: Of CREATE: the table that comes of it.
    schema: TableSchema | None = None
    #: The rows of an INSERT of constants, as DuckDB has computed them; with ON CONFLICT what it adds to a
    #: table without rows.
    rows: Any = None
    #: Of MERGE: what becomes of which rows.
    merge: Merge | None = None
    #: Of ON CONFLICT without columns, where a table has several keys: the plan of the columns of those behind
    #: the first, and how many each has.
    tried: str = ""
    tried_widths: tuple[int, ...] = ()
    #: How many columns it gives of the rows that it changes: those of RETURNING.
    returned: int = 0
    #: Of the table; empty: main.
    table_schema: str = ""
    #: As of a BoundPlan.
    moment: int = 0

    @property
    def sql_name(self) -> str:
        """Of the table."""
        return sql_name(self.table_schema, self.name)


#: Roots of plans.
_VERBS = {
    "LOGICAL_CREATE_TABLE": Verb.CREATE,
    "LOGICAL_INSERT": Verb.INSERT,
    "LOGICAL_DELETE": Verb.DELETE,
    "LOGICAL_UPDATE": Verb.UPDATE,
    "LOGICAL_MERGE_INTO": Verb.MERGE,
}
#: What is made of constants alone.
_CONSTANT = {
    "type": {"LOGICAL_PROJECTION", "LOGICAL_DISTINCT", "LOGICAL_EXPRESSION_GET", "LOGICAL_DUMMY_SCAN"},
    "expression_class": {"BOUND_CONSTANT", "BOUND_REF", "BOUND_FUNCTION"},
    "function": {"__cast", "-", "list_value", "struct_pack", "row", "map", "decode", "encode"},
}


def change_of(plan: str, deletes: Mapping[str, Sequence[bool]]) -> Change:
    """What a bound statement does. deletes: those of a MERGE INTO, as `Writable` has them.

    Raises UnsupportedError for what a session has no place for."""
    with as_deep_as_can_be():
        (root,) = json.loads(plan)["plans"]
    around = []  # common table expressions in front of the verb
    while root["type"] == "LOGICAL_MATERIALIZED_CTE":
        around.append(root)
        root = root["children"][1]
    returned = 0
    if root["type"] == "LOGICAL_PROJECTION" and root["children"][0].get("return_chunk"):
        returned, root = len(root["expressions"]), root["children"][0]
    verb = _VERBS.get(root["type"])
    if verb is None:
        raise UnsupportedError(
            f"{_shown(root)} is not supported: a session's tables are changed by CREATE TABLE, INSERT, "
            "DELETE, UPDATE, MERGE INTO, TRUNCATE and DROP TABLE"
        )
    change = _created(root) if verb is Verb.CREATE else _changed(root, verb, deletes)
    info = root["info"] if verb is Verb.CREATE else root["table_info"]
    change = replace(change, returned=returned, table_schema=_schema(info))
    if not change.plan or not around:
        return change
    (rows,) = json.loads(change.plan)["plans"]
    for each in reversed(around):
        rows = {**each, "children": [each["children"][0], rows]}
    if change.tried:
        (tried,) = json.loads(change.tried)["plans"]
        for each in reversed(around):
            tried = {**each, "children": [each["children"][0], tried]}
        change = replace(change, tried=_plan(tried))
    return replace(change, plan=_plan(rows))


def _changed(root: dict[str, Any], verb: Verb, deletes: Mapping[str, Sequence[bool]]) -> Change:
    """What INSERT, DELETE, UPDATE and MERGE INTO do."""
    table = root["table_info"]
    columns = _stored_columns(table)
    if verb is Verb.MERGE:
        merge, rows = merge_of(root, columns, deletes)
        change = Change(verb, _name(table), plan=_plan(rows), names=merge.names, merge=merge)
        tried = tried_of(rows)
        return replace(change, tried=_plan(tried.plan), tried_widths=tried.widths) if tried else change
    if verb is Verb.INSERT:
        return Change(verb, _name(table), plan=_plan(root["children"][0]), names=columns)
    (child,) = root["children"]
    if verb is Verb.DELETE:
        plan = _plan(_projected(child, root["expressions"]))
        return Change(verb, _name(table), plan=plan, names=("rowid",))
    changed = [columns[index] for index in root["columns"]]
    values = [
        root["bound_defaults"][index] if each["expression_class"] == "BOUND_DEFAULT" else each
        for index, each in zip(root["columns"], root["expressions"], strict=True)
    ]
    number = reference(len(child["expressions"]) - 1, {"id": "BIGINT", "type_info": None})
    plan = _plan(_projected(child, [*values, number]))
    return Change(verb, _name(table), plan=plan, names=(*changed, "rowid"))


def is_constant(change: Change) -> bool:
    """Whether what an INSERT adds, or would without a conflict, is made of constants and casts alone."""
    (root,) = json.loads(change.plan)["plans"]
    if change.verb is Verb.INSERT:
        return _is_constant(root)
    while root["type"] == "LOGICAL_PROJECTION":
        (root,) = root["children"]
    if root["type"] not in ("LOGICAL_COMPARISON_JOIN", "LOGICAL_ANY_JOIN"):
        return False
    source, table = root["children"]
    # Of the table of keys; subqueries would be more joins.
    return table["type"] == "LOGICAL_GET" and _is_constant(source)


def _is_constant(node: Any) -> bool:
    return all(found <= _CONSTANT[kind] for kind, found in _parts_of(node).items())


def _parts_of(node: Any) -> dict[str, set[str]]:
    """The operators, kinds of expressions and functions of a plan."""
    out: dict[str, set[str]] = {kind: set() for kind in _CONSTANT}
    left = [node]
    while left:
        each = left.pop()
        if isinstance(each, list):
            left += each
        elif isinstance(each, dict):
            left += each.values()
            kind = each.get("type")
            if isinstance(kind, str) and kind.startswith("LOGICAL_"):
                out["type"].add(kind)
            if "expression_class" in each:
                out["expression_class"].add(each["expression_class"])
                if each["expression_class"] == "BOUND_FUNCTION":
                    out["function"].add(each["qname"]["path"][-1])
    return out


def _created(root: dict[str, Any]) -> Change:
    info = root["info"]
    for option in ("partition_keys", "sort_keys", "options"):
        if info.get(option):
            # no test: DuckDB refuses them for tables of its own
            raise UnsupportedError(f"CREATE TABLE with {option} is not supported")
    conflict = info["on_conflict"].partition("_")[0]
    plan = _plan(root["children"][0]) if root["children"] else ""
    return Change(Verb.CREATE, _name(info), conflict, plan, _stored_columns(info))


def _stored_columns(table: dict[str, Any]) -> tuple[str, ...]:
    """Those that are not generated."""
    columns = table["columns"]["columns"]
    return tuple(column["name"] for column in columns if column["category"] == "STANDARD")


def _name(info: dict[str, Any]) -> str:
    return named_in(_schema(info), str(info["qualified_name"]["path"][-1]))


def _schema(info: dict[str, Any]) -> str:
    """Of a table; empty: main."""
    (*_, schema, _) = info["qualified_name"]["path"]
    return "" if schema.lower() in ("main", "") else str(schema)


def _shown(root: dict[str, Any]) -> str:
    """What a statement is called, by the root of its plan."""
    return str(root["type"]).removeprefix("LOGICAL_").replace("_", " ")


def _plan(root: dict[str, Any]) -> str:
    return plan_text({"error": False, "plans": [root]})


def _projected(child: dict[str, Any], expressions: list[Any]) -> dict[str, Any]:
    # No other operator of a plan has this number, and nothing refers to it.
    return projection(child, 1 << 32, expressions)
