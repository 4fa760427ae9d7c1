"""Refuses queries whose meaning Substrait would lose on the way, and puts back what it drops.

DataFusion's printed plan says per join whether it is null-aware (NOT IN); the JSON does not. The joins of
both are matched by their order in a post-order walk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from headrace._src.sql.errors import SqlError, SqlErrorKind

if TYPE_CHECKING:
    import pyarrow as pa

_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_SET_ALL = re.compile(r"\b(intersect|except)\s+all\b", re.IGNORECASE)
_IN_QUERY = re.compile(r"\bin\s*\(\s*\(*\s*(select|with|values|table)\b", re.IGNORECASE)
_DEBUG_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_NULL_AWARE = re.compile(r"null_aware: (true|false) \}\)")
_OUTER_JOINS = ("JOIN_TYPE_LEFT", "JOIN_TYPE_RIGHT", "JOIN_TYPE_OUTER")
_RELATION_INPUTS = ("input", "left", "right")


def refuse_text(text: str) -> None:
    """Refuses set operations that DataFusion plans as semi or anti joins, which lose multiplicities."""
    match = _SET_ALL.search(_without_quotes(text))
    if match:
        raise SqlError(
            f"{match.group(1).upper()} ALL is not supported; {match.group(1).upper()} (distinct) is",
            SqlErrorKind.UNSUPPORTED,
        )


def mark_null_aware_joins(document: dict[str, Any], plan_text: str) -> None:
    """Adds `"nullAware": true` to the anti joins of `document` that stand for NOT IN."""
    flags = [flag == "true" for flag in _NULL_AWARE.findall(_DEBUG_STRING.sub('""', plan_text))]
    joins = list(_joins(document["relations"][0]["root"]["input"]))
    if len(flags) != len(joins):
        if any(flags) or any(_is_anti(join) for join in joins):
            raise SqlError(
                "cannot tell which anti join is a NOT IN; rewrite it as NOT EXISTS",
                SqlErrorKind.UNSUPPORTED,
            )
        return
    for join, null_aware in zip(joins, flags, strict=True):
        if null_aware and not _is_anti(join):
            raise SqlError(
                f"NOT IN became a join of type {join.get('type')}; rewrite it as NOT EXISTS",
                SqlErrorKind.UNSUPPORTED,
            )
        if null_aware:
            join["nullAware"] = True
    # The printed plan leaves out what is inside scalar subqueries.
    if any(_is_anti(join) for sub in _subqueries(document) for join in _joins(sub)):
        raise SqlError(
            "NOT IN and NOT EXISTS inside a scalar subquery are not supported",
            SqlErrorKind.UNSUPPORTED,
        )


def refuse_null_blind_marks(
    document: dict[str, Any], plan_text: str, text: str, schemas: Mapping[str, pa.Schema]
) -> None:
    """Refuses `x IN (query)` under OR or in the SELECT list where its NULL would be taken for false."""
    if not any(_is_mark(join) for join in _all_joins(document)):
        return
    if not _IN_QUERY.search(_without_quotes(text)):
        return  # EXISTS has no NULL
    outer = any(join.get("type", "") in _OUTER_JOINS for join in _all_joins(document))
    nullable = outer or any(field.nullable for schema in schemas.values() for field in schema)
    negated = re.search(r'Not\(Column\(Column \{ relation: [^{}]*\{[^{}]*\}\), name: "mark"', plan_text)
    if nullable and negated:
        raise SqlError(
            "NOT IN (query) over nullable columns under OR is not supported; rewrite it as NOT EXISTS",
            SqlErrorKind.UNSUPPORTED,
        )


def _without_quotes(text: str) -> str:
    return _QUOTED.sub(" ", text)


def _is_anti(join: Mapping[str, Any]) -> bool:
    return "ANTI" in join.get("type", "")


def _is_mark(join: Mapping[str, Any]) -> bool:
    return "MARK" in join.get("type", "")


def _joins(relation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The joins below a relation in post-order, without those inside expressions."""
    for kind, body in relation.items():
        if not isinstance(body, dict):
            continue
        for key in _RELATION_INPUTS:
            if key in body:
                yield from _joins(body[key])
        for child in body.get("inputs", []):
            yield from _joins(child)
        if kind in ("join", "cross"):
            yield body


def _subqueries(node: Any) -> Iterator[dict[str, Any]]:
    """The relations of all subqueries anywhere below `node`."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "subquery":
                for subquery in value.values():
                    if isinstance(subquery, dict) and "input" in subquery:
                        yield subquery["input"]
            yield from _subqueries(value)
    elif isinstance(node, list):
        for value in node:
            yield from _subqueries(value)


def _all_joins(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from _joins(document["relations"][0]["root"]["input"])
    for subquery in _subqueries(document):
        yield from _joins(subquery)
