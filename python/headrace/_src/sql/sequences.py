"""Sequences: what CREATE SEQUENCE says, and the numbers of `nextval` in a bound plan.

A call gives each row of a projection another number, by a number of the rows below it, and each row of VALUES
the one that is its turn. How many a statement has used is known when it has run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headrace._src.errors import SqlError, UnsupportedError
from headrace._src.sql.catalogue import tables_of_binder
from headrace._src.sql.declared import Sequence, sequences
from headrace._src.sql.place import located
from headrace._src.sql.plan_json import (
    BIGINT,
    BOOLEAN,
    NOWHERE,
    Node,
    as_deep_as_can_be,
    case,
    constant,
    operation,
    plan_text,
    projection,
    reference,
)
from headrace._src.sql.script import Kind, Script
from headrace._src.sql.tables import named_in, quoted, schema_statement

_CALLS = re.compile(r"\b(?:nextval|currval)\s*\(", re.IGNORECASE)
#: What has rows of several operators, or not all: what is below it is computed once for each row of VALUES.
_BESIDE_OTHERS = ("LOGICAL_COMPARISON_JOIN", "LOGICAL_DISTINCT", "LOGICAL_UNION")
#: No other operator of a plan has these numbers.
_NUMBERED, _COMPUTED = (1 << 32) + 2, (1 << 32) + 3
#: Of a function, what has columns of its own.
_LAMBDAS = "function_data"
_ROW_NUMBER = {
    "expression_class": "BOUND_WINDOW",
    "type": "WINDOW_ROW_NUMBER",
    **NOWHERE,
    "return_type": BIGINT,
    "children": [],
    "partitions": [],
    "orders": [],
    "filters": None,
    "ignore_nulls": False,
    "start": "UNBOUNDED_PRECEDING",
    "end": "CURRENT_ROW_RANGE",
    "start_expr": None,
    "end_expr": None,
    "offset_expr": None,
    "default_expr": None,
    "exclude_clause": "NO_OTHER",
    "distinct": False,
    "arg_orders": [],
    "sql_range_start": None,
    "sql_range_end": None,
    "sql_range_order_type": {"id": "INVALID", "type_info": None},
    "sql_range_start_boundary": None,
    "sql_range_end_boundary": None,
    "sql_range_order_casts": [],
}


@dataclass(frozen=True)
class Numbers:
    """What a sequence gives from now on."""

    begin: int
    step: int
    #: After so many it goes on with another, and with that again after so many more; None: never.
    count: int | None = None
    again: int = 0
    every: int = 1

    def at(self, place: int) -> int:
        if self.count is None or place < self.count:
            return self.begin + self.step * place
        return self.again + self.step * ((place - self.count) % self.every)

    def of_row(self, row: Node) -> Node:
        """That of a row by its number, from 1."""
        if self.count is None:
            return _plus(_times(row, self.step), self.begin - self.step)
        place = _plus(row, -1)
        behind = _computed("%", [_plus(row, -1 - self.count), constant(self.every, BIGINT)])
        is_first = operation("<", "COMPARE_LESSTHAN", BOOLEAN, [place, constant(self.count, BIGINT)])
        steps = case([(is_first, place)], behind, BIGINT)
        begin = case([(is_first, constant(self.begin, BIGINT))], constant(self.again, BIGINT), BIGINT)
        return _computed("+", [begin, _times(steps, self.step)])


def _computed(name: str, operands: list[Node]) -> Node:
    return operation(name, "BOUND_FUNCTION", BIGINT, operands)


def _plus(operand: Node, number: int) -> Node:
    return _computed("+", [operand, constant(number, BIGINT)])


def _times(operand: Node, number: int) -> Node:
    return _computed("*", [operand, constant(number, BIGINT)])


#: What `nextval` of a sequence gives, or `currval` once.
Begins = Callable[[str, str], Numbers]


def created(statement: str, schema: str) -> Sequence:
    """What a CREATE SEQUENCE makes in a schema. Raises SqlError for a mistake."""
    import duckdb

    position = len(statement) - len(statement.lstrip())
    front = Script("", (f"use memory.{quoted(schema)}",), "", Kind.ROWS, 0) if schema else None
    with tables_of_binder((), front) as connection:
        try:
            if schema:
                connection.execute(f"{schema_statement(schema)} use memory.{quoted(schema)}")
            connection.execute(statement)
        except duckdb.Error as error:
            raise located(SqlError, str(error).partition(": ")[2], statement, position, 6) from None
        (sequence,) = sequences(connection)
    return sequence


def may_call(text: str) -> bool:
    """Whether a text may ask a sequence for numbers."""
    return _CALLS.search(text) is not None


def takes_numbers(text: str) -> bool:
    """Whether it may be other ones for the next."""
    return "nextval" in text.lower()


@dataclass(frozen=True)
class Used:
    """Calls of one sequence: so many altogether, or for each row."""

    calls: int
    is_for_each_row: bool
    #: The plan of other rows than the statement's, for each of which they are.
    counted: str = ""


def with_numbers(plan: str, begins: Begins) -> tuple[str, dict[str, Used]]:
    """A plan with numbers in place of calls; and which sequences it uses how often.

    Raises UnsupportedError for a call where it is not known how often it is made.
    """
    used: dict[str, Used] = {}
    if '"nextval"' not in plan and '"currval"' not in plan:
        return plan, used
    with as_deep_as_can_be():
        document = json.loads(plan)
        document["plans"] = [_numbered(document["plans"][0], begins, used)]
        if next(_calls_of(document["plans"]), None) is not None:
            raise UnsupportedError(
                "nextval and currval stand in columns of what is inserted or selected, without conditions "
                "around them: not in CASE, subqueries, WHERE, below LIMIT and its like, nor in actions of "
                "MERGE INTO"
            )
        return plan_text(document), used


def _numbered(
    root: Node, begins: Begins, used: dict[str, Used], around: tuple[Node, ...] = (), *, is_sure: bool = True
) -> Node:
    """The operator with its calls done, and those below it.

    around: the common table expressions that it may read. is_sure: whether each of its rows is one of the
    statement's.
    """
    kind = root["type"]
    if kind == "LOGICAL_EXPRESSION_GET":
        return _in_values(root, begins, used)
    if kind in _BESIDE_OTHERS:
        is_sure = False
    elif kind == "LOGICAL_MATERIALIZED_CTE":
        first, behind = root["children"]
        children = [
            _numbered(first, begins, used, around, is_sure=False),
            _numbered(behind, begins, used, (*around, root), is_sure=is_sure),
        ]
        return {**root, "children": children}
    elif kind != "LOGICAL_PROJECTION":
        return root
    below = [_numbered(child, begins, used, around, is_sure=is_sure) for child in root["children"]]
    root = {**root, "children": below}
    if kind != "LOGICAL_PROJECTION" or not any(True for _ in _calls_of(root["expressions"])):
        return root
    rows = _rows_of(below[0])
    counted = ""
    if rows is None and not is_sure:
        counted = plan_text({"error": False, "plans": [_of_rows(root["children"][0], around)]})
    return _in_projection(root, rows, begins, used, counted)


def _of_rows(operator: Node, around: tuple[Node, ...]) -> Node:
    """A plan with so many rows as the operator."""
    rows = projection(operator, _NUMBERED, [constant(0, BIGINT)])
    for each in reversed(around):
        rows = {**each, "children": [each["children"][0], rows]}
    return rows


def _rows_of(operator: Node) -> int | None:
    """How many rows it has, of VALUES."""
    while operator["type"] == "LOGICAL_PROJECTION":
        operator = operator["children"][0]
    if operator["type"] == "LOGICAL_DUMMY_SCAN":
        return 1
    return len(operator["expressions"]) if operator["type"] == "LOGICAL_EXPRESSION_GET" else None


def _in_values(root: Node, begins: Begins, used: dict[str, Used]) -> Node:
    turn = _Numbers(begins)
    rows = [[turn.put_into(each) for each in row] for row in root["expressions"]]
    _put(used, {name: Used(calls, False) for name, calls in turn.calls.items()})
    return {**root, "expressions": rows}


def _in_projection(root: Node, rows: int | None, begins: Begins, used: dict[str, Used], counted: str) -> Node:
    """A projection of so many rows, if that is known, with its calls done. counted: as `Used` has it."""
    if rows == 1 and root["children"][0]["type"] == "LOGICAL_DUMMY_SCAN":
        (expressions,) = _in_values({"expressions": [root["expressions"]]}, begins, used)["expressions"]
        return {**root, "expressions": expressions}
    direct = filter(_is_call, _nodes(root["expressions"], "BOUND_FUNCTION", without=_LAMBDAS))
    names = [_sequence(each) for each in direct]
    _check_once([name for name in names if names.count(name) > 1])
    kept = {each["index"]: each for each in _nodes(root["expressions"], "BOUND_REF", without=_LAMBDAS)}
    places = {index: place for place, index in enumerate(kept)}
    below = [reference(index, each["return_type"]) for index, each in kept.items()]
    below = below or [constant(0, BIGINT)]
    numbered = {
        "type": "LOGICAL_WINDOW",
        "children": [projection(root["children"][0], _NUMBERED, below)],
        "window_index": _COMPUTED,
        "expressions": [_ROW_NUMBER],
    }
    turn = _Numbers(begins, row=reference(len(below), BIGINT), places=places)
    expressions = [turn.put_into(each) for each in root["expressions"]]
    found = {name: Used(calls * (rows or 1), rows is None, counted) for name, calls in turn.calls.items()}
    _put(used, found)
    return {**root, "children": [numbered], "expressions": expressions}


def _put(used: dict[str, Used], more: dict[str, Used]) -> None:
    _check_once([name for name in more if name in used])
    used.update(more)


def _check_once(twice: list[str]) -> None:
    if twice:
        raise UnsupportedError(f"a sequence gives each row one number: {twice[0]} is asked twice")


class _Numbers:
    """Puts numbers in place of calls, in their order."""

    def __init__(
        self, begins: Begins, row: Node | None = None, places: Mapping[int, int] | None = None
    ) -> None:
        """row: the number of the row, from 1, where there are several; then `places` are those of columns."""
        self.calls: dict[str, int] = {}
        self._begins = begins
        self._row = row
        self._places = places or {}

    def put_into(self, node: Node, is_sure: bool = True) -> Node:
        """is_sure: whether it is computed for each row."""
        if node.get("expression_class") == "BOUND_REF" and self._row:
            return {**node, "index": self._places[node["index"]]}
        if _is_call(node):
            return self._number(node) if is_sure else node
        is_sure = is_sure and node.get("type") in ("BOUND_FUNCTION", "OPERATOR_CAST")

        def put(value: Any) -> Any:
            if isinstance(value, list):
                return [put(each) for each in value]
            return self.put_into(value, is_sure) if isinstance(value, dict) else value

        return {key: value if key == _LAMBDAS else put(value) for key, value in node.items()}

    def _number(self, call: Node) -> Node:
        name = _sequence(call)
        before = self.calls.get(name, 0)
        if _function(call) == "currval" and not before:
            return constant(self._begins(name, "currval").begin, BIGINT)
        numbers = self._begins(name, "nextval")
        if _function(call) == "currval":
            return constant(numbers.at(before - 1), BIGINT)
        self.calls[name] = before + 1
        return numbers.of_row(self._row) if self._row else constant(numbers.at(before), BIGINT)


def _nodes(node: Any, kind: str, without: str = "") -> Iterator[Node]:
    if isinstance(node, list):
        for each in node:
            yield from _nodes(each, kind, without)
    elif isinstance(node, dict):
        if node.get("expression_class") == kind:
            yield node
        for key, each in node.items():
            if key != without:
                yield from _nodes(each, kind, without)


def _calls_of(node: Any) -> Iterator[Node]:
    return filter(_is_call, _nodes(node, "BOUND_FUNCTION"))


def _is_call(node: Node) -> bool:
    return node.get("expression_class") == "BOUND_FUNCTION" and _function(node) in ("nextval", "currval")


def _function(call: Node) -> str:
    return str(call["qname"]["path"][-1])


def _sequence(call: Node) -> str:
    (*_, schema, name) = call["function_data"]["sequence_create_info"]["qualified_name"]["path"]
    return named_in("" if schema == "main" else schema, name)
