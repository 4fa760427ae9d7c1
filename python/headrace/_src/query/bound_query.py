"""A query as the compiler takes it: DuckDB's bound plan, with the statistics of the tables that it reads."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headrace._src.arguments import shown
from headrace._src.errors import UserError
from headrace._src.sql.catalogue import BoundPlan, bound_plan
from headrace._src.sql.clock import Clock
from headrace._src.sql.tables import TableSchema, schema_of
from headrace._src.sql.zones import zone_folder


@dataclass(frozen=True)
class BoundQuery:
    """A query over tables. Its positions are bytes of `text`."""

    text: str
    clock: Clock
    plan: BoundPlan
    #: Statistics documents (JSON) by table.
    statistics: dict[str, str]

    def describe(self, request: Any) -> None:
        """Puts it into a request, or a query of a request, to the compiler."""
        request.duckdb = self.plan.json
        request.text = self.text
        request.result_names = list(self.plan.names)
        request.now_microseconds = self.plan.moment or self.clock.microseconds
        request.time_zone = self.clock.zone
        request.zone_folder = zone_folder()


def schemas_of(documents: Mapping[str, str]) -> Sequence[TableSchema]:
    return [_schema(name, document) for name, document in documents.items()]


@functools.lru_cache(64)
def _schema(name: str, document: str) -> TableSchema:
    return schema_of(name, json.loads(document))


def bound_query(
    text: str,
    documents: Mapping[str, str],
    clock: Clock,
    others: Mapping[str, Any] | None = None,
    plan: BoundPlan | None = None,
) -> BoundQuery:
    """The query of `text` over tables with these statistics. Raises HeadraceError if it is none.

    others: documents by table that the compiler is told instead. plan: that of the query, or of a part of it,
    if it is known.
    """
    plan = plan or bound_plan(text, schemas_of(documents))
    told = {
        name: _document(name, others[name]) if others and name in others else document
        for name, document in documents.items()
        if names_table(plan.json, name)
    }
    return BoundQuery(text, clock, plan, told)


def _document(table: str, statistics: Any) -> str:
    try:
        return json.dumps(statistics)
    except (TypeError, ValueError):
        raise UserError(f"the statistics of {table} are no document, got {shown(statistics)}") from None


def names_table(plan: str, table: str) -> bool:
    """Whether a plan may read a table."""
    return f'"table":{json.dumps(table, ensure_ascii=False)}' in plan
