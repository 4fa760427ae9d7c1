"""WITH RECURSIVE: plans of their own give the rows, round after round; the query's plan reads a table.

Of DuckDB's plan a recursive part is its start and its step, which reads the rows of the round before, and
those of all rounds as `recurring.name`. Each is compiled once. Common table expressions around a recursion
that it may read are computed before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from headrace._src.errors import SqlError, UnsupportedError
from headrace._src.query.tables import ArrowTable
from headrace._src.sql.catalogue import BoundPlan

if TYPE_CHECKING:
    import pyarrow as pa

Node = dict[str, Any]
#: Runs a plan over these tables, beside those of the query.
Run = Callable[[Mapping[str, ArrowTable]], "pa.Table"]

_WORD = re.compile(r"\brecursive\b", re.IGNORECASE)


def may_recur(text: str) -> bool:
    """Whether a query may be recursive; cheap."""
    return _WORD.search(text) is not None


def unrolled(
    plan: BoundPlan, names: Mapping[str, object], compiled: Callable[[BoundPlan], Run]
) -> tuple[BoundPlan, dict[str, ArrowTable]]:
    """The plan without recursion, and the tables that it reads instead.

    names: those of the query's tables. compiled: compiles a plan.
    """
    try:
        document = json.loads(plan.json)
        unrolling = _Unrolling(names, compiled)
        document["plans"] = [unrolling.plain(root) for root in document["plans"]]
        text = _text(document)
    except RecursionError:
        raise SqlError("the plan is too deep to be read") from None
    return BoundPlan(text, plan.names, plan.types), unrolling.tables


class _Unrolling:
    """Makes tables of recursive parts, from the outermost common table expressions inwards."""

    def __init__(self, names: Mapping[str, object], compiled: Callable[[BoundPlan], Run]) -> None:
        self.tables: dict[str, ArrowTable] = {}
        self._names = names
        self._compiled = compiled

    def plain(self, node: Node, rows_wanted: int | None = None) -> Node:
        """This part of a plan without recursion."""
        if not _recurs(node):
            return node
        if node["type"] == "LOGICAL_RECURSIVE_CTE":
            return self._scan(self._rounds(node, rows_wanted), node["internal_types"])
        if node["type"] != "LOGICAL_MATERIALIZED_CTE":
            return {**node, "children": [self.plain(child) for child in node["children"]]}
        definition, use = node["children"]
        definition = self.plain(definition, _rows_wanted(use, node["table_index"]))
        if not _recurs(use):
            return {**node, "children": [definition, use]}
        references = list(_references(use, node["table_index"]))
        if not references:
            return self.plain(use)
        name = self._keep(self._run(definition, len(references[0]["chunk_types"]))({}))
        return self.plain(self._reading(use, node["table_index"], name))

    def _rounds(self, node: Node, rows_wanted: int | None) -> str:
        """The table of all rows of a recursion."""
        if node["key_targets"]:
            # no test: DuckDB cannot write such a plan
            raise UnsupportedError("WITH RECURSIVE … USING KEY is not supported")
        start, step = node["children"]
        index, width, distinct = node["table_index"], len(node["internal_types"]), not node["union_all"]
        if distinct:
            start = {"type": "LOGICAL_UNION", "setop_all": False, "children": [start]}
        rows = self._run(start, width)({})
        found, seen, before = [rows], self._name("seen"), self._name("before")
        wants_all = distinct or any(each["is_recurring"] for each in _references(step, index))
        step = self._reading(step, index, before, seen)
        if distinct:
            known = self._scan(seen, node["internal_types"])
            step = {"type": "LOGICAL_EXCEPT", "setop_all": False, "children": [step, known]}
        run = None if _recurs(step) else self._run(step, width)
        count = rows.num_rows
        while rows.num_rows and (rows_wanted is None or count < rows_wanted):
            tables = {before: ArrowTable(rows)}
            if wants_all:
                tables[seen] = ArrowTable(_joined(found))
            rows = run(tables) if run else self._nested(step, width, tables)
            found.append(rows)
            count += rows.num_rows
        return self._keep(_joined(found))

    def _nested(self, step: Node, width: int, tables: dict[str, ArrowTable]) -> pa.Table:
        """The rows of a step with a recursion in it."""
        inner = _Unrolling({**self._names, **self.tables, **tables}, self._with(tables))
        plain = inner.plain(step)
        return inner._run(plain, width)({})

    def _with(self, tables: dict[str, ArrowTable]) -> Callable[[BoundPlan], Run]:
        """Compiles plans that read these tables, too."""

        def compiled(plan: BoundPlan) -> Run:
            run = self._compiled(plan)
            return lambda others: run({**self.tables, **tables, **others})

        return compiled

    def _run(self, node: Node, width: int) -> Run:
        """Runs a part of the plan; its columns are called by their numbers."""
        plan = _text({"error": False, "plans": [node]})
        run = self._compiled(BoundPlan(plan, tuple(map(str, range(width)))))
        return lambda tables: run({**self.tables, **tables})

    def _keep(self, rows: pa.Table) -> str:
        name = self._name("rows")
        self.tables[name] = ArrowTable(rows)
        return name

    def _name(self, what: str) -> str:
        """One that no table has."""
        number = len(self.tables)
        while (name := f"{what} of WITH {number}") in self._names:
            number += 1
        return name

    def _reading(self, node: Node, index: int, name: str, recurring: str = "") -> Node:
        """A plan that reads a table where it referred to a common table expression, and another where it
        did so to all rows of a recursion."""
        if node["type"] == "LOGICAL_CTE_REF" and node["cte_index"] == index:
            return self._scan(recurring if node["is_recurring"] else name, node["chunk_types"])
        children = [self._reading(child, index, name, recurring) for child in node["children"]]
        return {**node, "children": children}

    @staticmethod
    def _scan(name: str, types: list[Node]) -> Node:
        for kind in ("UHUGEINT", "ENUM"):  # which are other types in Arrow
            if f'"id":"{kind}"' in _text({"types": types}):
                raise UnsupportedError(f"WITH RECURSIVE of {kind} is not supported; cast it to VARCHAR")
        columns = range(len(types))
        return {
            "type": "LOGICAL_GET",
            "children": [],
            "returned_types": types,
            "names": list(map(str, columns)),
            "column_indexes": [{"index": column, "index_type": "FULL_READ"} for column in columns],
            "source_ordinality": "WITHOUT_ORDINALITY",
            "function_data": {"table": name},
        }


def _text(document: Node) -> str:
    """As DuckDB writes plans."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _recurs(node: Node) -> bool:
    return node["type"] == "LOGICAL_RECURSIVE_CTE" or any(map(_recurs, node["children"]))


def _references(node: Node, index: int) -> Iterator[Node]:
    """Where a plan refers to a common table expression."""
    if node["type"] == "LOGICAL_CTE_REF" and node["cte_index"] == index:
        yield node
    for child in node["children"]:
        yield from _references(child, index)


def _rows_wanted(use: Node, index: int) -> int | None:
    """How many rows of a common table expression are read, if a LIMIT says so and nothing else reads it."""
    wanted = None
    while len(use["children"]) == 1:
        if use["type"] == "LOGICAL_LIMIT":
            wanted = _limit(use)
        elif use["type"] != "LOGICAL_PROJECTION":
            wanted = None
        (use,) = use["children"]
    return wanted if use["type"] == "LOGICAL_CTE_REF" and use["cte_index"] == index else None


def _limit(node: Node) -> int | None:
    """With the rows in front of it; None if it is no constant."""
    limit, offset = node["limit_val"], node["offset_val"]
    if limit["type"] != "CONSTANT_VALUE" or offset["type"] not in ("CONSTANT_VALUE", "UNSET"):
        return None
    return int(limit["constant_integer"] or 0) + int(offset["constant_integer"] or 0)


def _joined(rounds: list[pa.Table]) -> pa.Table:
    """The rows of all rounds; a column may be known to have no NULL in some of them."""
    import pyarrow as pa

    names = rounds[0].column_names
    return pa.concat_tables([pa.table(rows.columns, names) for rows in rounds])
