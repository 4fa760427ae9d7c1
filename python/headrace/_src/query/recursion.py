"""WITH RECURSIVE: plans of their own give the rows, round after round; the query's plan reads a table.

Of DuckDB's plan a recursive part is its start and its step, which reads the rows of the round before, and
those of all rounds as `recurring.name`. Each is compiled once. Common table expressions around a recursion
that it may read are computed before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from headrace._src.errors import UnsupportedError
from headrace._src.query.tables import ArrowTable
from headrace._src.sql.catalogue import BoundPlan
from headrace._src.sql.plan_json import as_deep_as_can_be, plan_text

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
    plan: BoundPlan, names: Mapping[str, object], compiled: Callable[[BoundPlan], Run], *, in_cluster: bool
) -> tuple[BoundPlan, dict[str, ArrowTable]]:
    """The plan without recursion, and the tables that it reads instead.

    names: those of the query's tables. compiled: compiles a plan.
    """
    if in_cluster and "LOGICAL_RECURSIVE_CTE" in plan.json:
        raise UnsupportedError("WITH RECURSIVE is not supported in a cluster")
    unrolling = _Unrolling(names, compiled)
    return unrolling.plain_plan(plan), unrolling.tables


def described(
    plan: BoundPlan, names: Mapping[str, object], shown: Callable[[BoundPlan], str], *, analyze: bool
) -> str:
    """What is shown of the parts of a recursive plan: for each recursion that of its start and of its step,
    then that of the query, which reads their rows as a table. Empty if the plan is not recursive.

    names: those of the query's tables. shown: what is shown of a plan. analyze: it is to be run, too.
    """
    if "LOGICAL_RECURSIVE_CTE" not in plan.json:
        return ""
    if analyze:
        raise UnsupportedError("EXPLAIN ANALYZE of WITH RECURSIVE is not supported; EXPLAIN is")
    description = _Description(names, shown)
    description.add("query", description.plain_plan(plan))
    return "\n".join(description.parts)


@dataclass(frozen=True)
class _Parts:
    """The plans of a recursion; `before` is the table of the rows of the round before, `seen` that of all
    rounds, if the step reads it."""

    start: Node
    step: Node
    before: str
    seen: str | None


class _Unrolling:
    """Makes tables of recursive parts, from the outermost common table expressions inwards."""

    def __init__(self, names: Mapping[str, object], compiled: Callable[[BoundPlan], Run]) -> None:
        self.tables: dict[str, ArrowTable] = {}
        self._names = names
        self._compiled = compiled

    def plain_plan(self, plan: BoundPlan) -> BoundPlan:
        """The plan without recursion."""
        with as_deep_as_can_be():
            document = json.loads(plan.json)
            document["plans"] = [self.plain(root) for root in document["plans"]]
            return replace(plan, json=plan_text(document))

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
        name = self._computed(definition, len(references[0]["chunk_types"]))
        return self.plain(self._reading(use, node["table_index"], name))

    def _computed(self, definition: Node, width: int) -> str:
        """The table of the rows of a common table expression."""
        return self._keep(self._run(definition, width)({}))

    def _parts(self, node: Node) -> _Parts:
        keyed = bool(node["key_targets"])
        start, step = node["children"]
        index, distinct = node["table_index"], not node["union_all"] and not keyed
        if distinct:
            start = {"type": "LOGICAL_UNION", "setop_all": False, "children": [start]}
        seen, before = self._name("seen"), self._name("before")
        wants_all = distinct or any(each["is_recurring"] for each in _references(step, index))
        step = self._reading(step, index, before, seen)
        if distinct:
            known = self._scan(seen, node["internal_types"])
            step = {"type": "LOGICAL_EXCEPT", "setop_all": False, "children": [step, known]}
        return _Parts(start, step, before, seen if wants_all else None)

    def _rounds(self, node: Node, rows_wanted: int | None) -> str:
        """The table of all rows of a recursion."""
        parts, width = self._parts(node), len(node["internal_types"])
        rows = self._run(parts.start, width)({})
        if node["key_targets"]:
            return self._keep(self._latest(node, parts, rows))
        found = [rows]
        run = None if _recurs(parts.step) else self._run(parts.step, width)
        count = rows.num_rows
        while rows.num_rows and (rows_wanted is None or count < rows_wanted):
            tables = {parts.before: ArrowTable(rows)}
            if parts.seen:
                tables[parts.seen] = ArrowTable(_joined(found))
            rows = run(tables) if run else self._nested(parts.step, width, tables)
            found.append(rows)
            count += rows.num_rows
        return self._keep(_joined(found))

    def _latest(self, node: Node, parts: _Parts, rows: pa.Table) -> pa.Table:
        """Of a recursion with keys the last row of each. With UNION a round has one row of each key, and
        none that is there already."""
        import pyarrow as pa

        types = node["internal_types"]
        name, known = self._name("found"), self._name("known")
        first = {
            "type": "LOGICAL_DISTINCT",
            "distinct_type": "DISTINCT_ON",
            "distinct_targets": node["key_targets"],
            "children": [self._scan(name, types)],
        }
        both = [self._scan(name, types), self._scan(known, types)]
        without = {"type": "LOGICAL_EXCEPT", "setop_all": False, "children": both}
        first_of, news_of = self._run(first, len(types)), self._run(without, len(types))

        def last_of(found: pa.Table) -> pa.Table:
            backwards = pa.array(range(found.num_rows - 1, -1, -1), pa.int64())
            return first_of({name: ArrowTable(found.take(backwards))})

        run = None if _recurs(parts.step) else self._run(parts.step, len(types))
        latest = last_of(rows)
        rows = rows if node["union_all"] else latest
        while rows.num_rows:
            tables = {parts.before: ArrowTable(rows)}
            if parts.seen:
                tables[parts.seen] = ArrowTable(latest)
            rows = run(tables) if run else self._nested(parts.step, len(types), tables)
            if not node["union_all"]:
                rows = news_of({name: ArrowTable(last_of(rows)), known: ArrowTable(latest)})
            latest = last_of(_joined([latest, rows]))
        return latest

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
        plan = plan_text({"error": False, "plans": [node]})
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
            if f'"id":"{kind}"' in plan_text({"types": types}):
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


class _Description(_Unrolling):
    """Shows the parts that would be run, and reads tables that nobody has made."""

    def __init__(self, names: Mapping[str, object], shown: Callable[[BoundPlan], str]) -> None:
        self._taken = dict(names)
        super().__init__(self._taken, self._unused)
        self._shown = shown
        self.parts: list[str] = []

    def add(self, title: str, plan: BoundPlan) -> None:
        self.parts.append(f"{title}:\n{self._shown(plan)}")

    @staticmethod
    def _unused(plan: BoundPlan) -> Run:
        raise AssertionError("nothing is run")  # no test: parts that are shown are never run

    def _rounds(self, node: Node, rows_wanted: int | None) -> str:
        parts, width = self._parts(node), len(node["internal_types"])
        name = self._name("rows")
        self._add_part(f'start of the recursion "{name}"', parts.start, width)
        until = "until a round has no rows" if rows_wanted is None else f"until there are {rows_wanted} rows"
        title = f'step of the recursion "{name}", round after round {until}; how many it takes is not known'
        self._add_part(title, self.plain(parts.step), width)
        return name

    def _computed(self, definition: Node, width: int) -> str:
        name = self._name("rows")
        self._add_part(f'table "{name}"', definition, width)
        return name

    def _add_part(self, title: str, node: Node, width: int) -> None:
        plan = plan_text({"error": False, "plans": [node]})
        self.add(title, BoundPlan(plan, tuple(map(str, range(width)))))

    def _name(self, what: str) -> str:
        name = super()._name(what)
        self._taken[name] = None
        return name


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
