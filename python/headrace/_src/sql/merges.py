"""MERGE INTO, and ON CONFLICT of an INSERT, of which DuckDB's binder makes one: what becomes of which rows.

The plan below the verb joins the rows of the source with those of the table. Behind it stands the number of
the action that each of them falls under, and what each action needs: values of an action are computed for its
own rows alone, as its conditions are for those that no action before has taken.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headrace._src.sql.plan_json import (
    BIGINT,
    BOOLEAN,
    INTEGER,
    NOWHERE,
    Node,
    case,
    constant,
    operation,
    projection,
    reference,
    type_of,
)
from headrace._src.sql.script import word_at

#: A column that is not there, and an expression for no column.
_NONE = (1 << 64) - 1
#: Of a row that no action takes.
NO_ACTION = -1
#: No other operator of a plan has these numbers, and nothing refers to them.
_CHOSEN, _VALUES = 1 << 32, (1 << 32) + 1


class Kind(enum.Enum):
    """What an action does with its rows."""

    INSERT = "INSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    ERROR = "ERROR"
    NOTHING = "DO NOTHING"


@dataclass(frozen=True)
class Action:
    kind: Kind
    #: Which rows it is for: WHEN MATCHED and its like.
    when: str
    #: Those of the table that it has values for; of ERROR one for its message, if it has one.
    columns: tuple[str, ...] = ()

    @property
    def takes_matched(self) -> bool:
        """Whether it changes rows of the table that a row of the source was found for."""
        return self.when == "WHEN MATCHED" and self.kind in (Kind.UPDATE, Kind.DELETE)


@dataclass(frozen=True)
class Merge:
    """The actions by their numbers. The rows: that number, that of the row in the table, and their values."""

    actions: tuple[Action, ...]

    def first_value(self, number: int) -> int:
        """The place of the first value of an action."""
        return 2 + sum(len(action.columns) for action in self.actions[:number])

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns of the rows."""
        values = (
            f"{number} {column}" for number, action in enumerate(self.actions) for column in action.columns
        )
        return ("action", "rowid", *values)


@dataclass(frozen=True)
class Writable:
    """A MERGE INTO whose plan DuckDB can write: that with a DELETE it cannot, nor one that it has optimized.

    ERROR stands for DELETE, which has nothing to bind either.
    """

    text: str
    #: For each WHEN in the plan's words, for each of its actions in their order, whether it is a DELETE.
    deletes: Mapping[str, Sequence[bool]]


def writable(statement: str) -> Writable:
    """The statement with ERROR for DELETE.

    CASE, WHEN, THEN and END are words that nothing is called by but behind AS and a point.
    """
    import duckdb

    data = bytearray(statement.encode())
    deletes: dict[str, list[bool]] = {}
    words = [
        (position, word_at(data, position))
        for position, kind in duckdb.tokenize(statement)
        if kind != duckdb.token_type.comment
    ]
    cases, when = 0, ""
    for place, (position, word) in enumerate(words):
        before, word_before = words[place - 1] if place else (position, "")
        if word_before == "as" or data[before : before + 1] == b".":
            continue
        cases += (word == "case") - (word == "end")
        following = [each for _, each in words[place + 1 : place + 5]]
        if word == "when" and not cases:
            when = _when(following)
        elif word == "then" and not cases and when:
            deletes.setdefault(when, []).append(following[:1] == ["delete"])
            if following[:1] == ["delete"]:
                start = words[place + 1][0]
                data[start : start + len("delete")] = b"error "
    return Writable(data.decode(), deletes)


def _when(words: Sequence[str]) -> str:
    if words[:1] == ["matched"]:
        return "WHEN_MATCHED"
    is_by_source = words[:4] == ["not", "matched", "by", "source"]
    return f"WHEN_NOT_MATCHED_BY_{'SOURCE' if is_by_source else 'TARGET'}"


def merge_of(root: Node, columns: Sequence[str], deletes: Mapping[str, Sequence[bool]]) -> tuple[Merge, Node]:
    """What a bound MERGE INTO does, and the plan of its rows.

    columns: those of the table. deletes: as `Writable` has them; none of an INSERT.
    """
    (child,) = root["children"]
    below = child["expressions"]
    actions: list[Action] = []
    values: list[list[Node]] = []
    numbers: dict[str, Node] = {}
    for when in root["actions"]:
        checks = []
        are_deletes = deletes.get(when["key"]) or [False] * len(when["value"])
        for each, is_delete in zip(when["value"], are_deletes, strict=True):
            checks.append((each["condition"], _number(len(actions))))
            name = when["key"].replace("_", " ")
            action, written = _action(each, name, columns, root["bound_defaults"])
            actions.append(Action(Kind.DELETE, name) if is_delete else action)
            values.append(written)
        numbers[when["key"]] = _first_of(checks)
    row = reference(root["row_id_start"], BIGINT)
    checks = [(_is_null(row), numbers.get("WHEN_NOT_MATCHED_BY_TARGET", _number(NO_ACTION)))]
    if (marker := root["source_marker"]) != _NONE:
        checks.insert(0, (_is_null(reference(marker, INTEGER)), numbers["WHEN_NOT_MATCHED_BY_SOURCE"]))
    number = case(checks, numbers.get("WHEN_MATCHED", _number(NO_ACTION)), INTEGER)
    kept = [reference(place, type_of(each)) for place, each in enumerate(below)]
    chosen = projection(child, _CHOSEN, [*kept, number])
    of_row = reference(len(below), INTEGER)
    wanted = [
        case([(_equal(of_row, _number(taken)), value)], constant(None, type_of(value)), type_of(value))
        for taken, written in enumerate(values)
        for value in written
    ]
    return Merge(tuple(actions)), projection(chosen, _VALUES, [of_row, row, *wanted])


@dataclass(frozen=True)
class Tried:
    """Of an ON CONFLICT without columns, where a table has several keys: the rows that are tried key by key.

    DuckDB leaves one row of each value of the first key, of these one of each value of the second, and so on.
    Which one that is, is known for the first key alone.
    """

    #: Of the keys behind the first, one after the other.
    plan: Node
    #: How many columns each has.
    widths: tuple[int, ...]


def tried_of(rows: Node) -> Tried | None:
    """What is tried of the source of a merge; None: it is tried by one key, or is one row.

    rows: the plan below the verb."""
    while rows["type"] == "LOGICAL_PROJECTION":
        (rows,) = rows["children"]
    if rows["type"] not in ("LOGICAL_COMPARISON_JOIN", "LOGICAL_ANY_JOIN"):
        return None
    below = rows["children"][0]
    keys: list[list[Node]] = []  # the last one first
    while below["type"] in ("LOGICAL_PROJECTION", "LOGICAL_DISTINCT"):
        if below["type"] == "LOGICAL_DISTINCT":
            if below["distinct_type"] != "DISTINCT_ON":
                break
            keys.append(below["distinct_targets"])
            first = below
        elif keys and not _keeps_places(below):
            break
        (below,) = below["children"]
    while below["type"] == "LOGICAL_PROJECTION":
        (below,) = below["children"]
    is_one = below["type"] == "LOGICAL_DUMMY_SCAN" or (
        below["type"] == "LOGICAL_EXPRESSION_GET" and len(below["expressions"]) == 1
    )
    if len(keys) < 2 or is_one:
        return None
    later = keys[:-1][::-1]
    return Tried(projection(first, _CHOSEN, [each for key in later for each in key]), tuple(map(len, later)))


def _keeps_places(projected: Node) -> bool:
    """Whether a projection has the columns below it where they are."""
    return all(
        each["expression_class"] == "BOUND_REF" and each["index"] == place
        for place, each in enumerate(projected["expressions"])
    )


def _action(
    bound: Node, when: str, columns: Sequence[str], defaults: Sequence[Node]
) -> tuple[Action, list[Node]]:
    """An action, and the values that it needs."""
    kind = Kind(bound["action_type"].removeprefix("MERGE_").replace("_", " "))
    expressions = bound["expressions"]
    if kind is Kind.UPDATE:
        places = bound["columns"]
        values = [
            defaults[place] if each["expression_class"] == "BOUND_DEFAULT" else each
            for place, each in zip(places, expressions, strict=True)
        ]
        return Action(kind, when, tuple(columns[place] for place in places)), values
    if kind is Kind.INSERT:
        places = bound["column_index_map"]["internal_vector"] or range(len(columns))
        values = [
            defaults[column] if place == _NONE else expressions[place] for column, place in enumerate(places)
        ]
        return Action(kind, when, tuple(columns)), values
    if kind is Kind.ERROR:
        return Action(kind, when, ("message",)[: len(expressions)]), expressions
    return Action(kind, when), []


def _first_of(checks: Sequence[tuple[Node | None, Node]]) -> Node:
    """The number behind the first condition that holds; there is none behind one that is missing."""
    found = _number(NO_ACTION)
    conditions = []
    for condition, number in checks:
        if condition is None:
            found = number
            break
        conditions.append((condition, number))
    return case(conditions, found, INTEGER) if conditions else found


def _number(value: int) -> Node:
    return constant(value, INTEGER)


def _is_null(operand: Node) -> Node:
    return {
        "expression_class": "BOUND_OPERATOR",
        "type": "OPERATOR_IS_NULL",
        **NOWHERE,
        "return_type": BOOLEAN,
        "children": [operand],
    }


def _equal(left: Node, right: Node) -> Node:
    return operation("=", "COMPARE_EQUAL", BOOLEAN, [left, right])
