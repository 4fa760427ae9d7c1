"""Rows of statements that change a table: they are computed, put into the table, and tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from headrace._src.errors import UnsupportedError
from headrace._src.query import sql as queries
from headrace._src.query.kept_rows import kept_batches, larger
from headrace._src.session.constrained import check_added, check_changed, check_constants, check_merged
from headrace._src.session.kept_table import KeptTable
from headrace._src.session.merged_rows import Merged
from headrace._src.session.names import BoundChange, Names
from headrace._src.session.references import Changed, check_references, has_references, takes_rows_away
from headrace._src.session.sequences import numbered
from headrace._src.session.upserts import upserted
from headrace._src.sql.catalogue import BoundPlan
from headrace._src.sql.changes import Verb
from headrace._src.sql.tables import quoted


def changed_rows(
    names: Names, said: BoundChange, table: KeptTable, options: Mapping[str, Any]
) -> tuple[KeptTable, Callable[[], KeptTable], Mapping[str, int]]:
    """The table with its rows changed, these rows, and how many of them by what, in their order."""
    import numpy as np

    change = said.change
    refers = has_references(names, table)
    if change.merge:
        if change.tried:
            _check_tried(said, options)
        done = upserted(table, said, lambda said, take: rows_of(said, options, take))
        check_merged(names, done, options)
        if refers:
            check_references(names, table, _changed_by_merge(table, done), options)
        return done.table, lambda: done.changed, done.counts
    if change.verb is Verb.INSERT:
        is_known = change.rows is not None
        made = (
            table.with_rows(change.rows.to_batches()) if is_known else rows_of(said, options, table.with_rows)
        )
        rows = made.behind(table.num_rows)
        check = check_constants if is_known else check_added
        check(names, table, rows, options)
        if refers:
            check_references(names, table, Changed(KeptTable(table.schema), rows, lambda: table), options)
        return made, lambda: rows, {change.verb.value: rows.num_rows}
    if change.verb is Verb.DELETE:
        goes = rows_of(said, options, table.numbered)
        made = table.where(~goes)
        if refers:
            gone = Changed(table.where(goes), KeptTable(table.schema), lambda: made)
            check_references(names, table, gone, options)
        return made, lambda: table.where(goes), {change.verb.value: int(np.count_nonzero(goes))}
    columns = change.names[:-1]
    made, has = rows_of(said, options, lambda rows: table.with_values(columns, rows))
    check_changed(names, made, columns, options)
    if refers and takes_rows_away(table, columns):
        changed = Changed(table.where(has), made.where(has), lambda: table.where(~has))
        check_references(names, table, changed, options)
    return made, lambda: made.where(has), {change.verb.value: int(np.count_nonzero(has))}


def _changed_by_merge(table: KeptTable, done: Merged) -> Changed:
    goes, new = done.goes, done.inserted
    if takes_rows_away(table, done.columns):
        goes = goes | done.has_changed
        new = KeptTable(table.schema, (*done.after.where(done.has_changed).parts, *new.parts))
    return Changed(table.where(goes), new, lambda: table.where(~goes))


def _check_tried(said: BoundChange, options: Mapping[str, Any]) -> None:
    """Raises UnsupportedError if it is not known which of the rows of an ON CONFLICT stays."""
    change = said.change
    plan = BoundPlan(change.tried, tuple(str(place) for place in range(sum(change.tried_widths))))
    what = f"the keys of rows for table {change.name}"

    def kept(rows: Any) -> Any:
        return kept_batches(rows.schema, larger(rows), what)

    with numbered(plan.json, said.sequences, counting(said.composed.text, said.read, options)) as now:
        plan = replace(plan, json=now.plan)
        rows = queries.rows_of_plan(kept, plan, said.composed.text, said.read, options)
    first = 0
    for width in change.tried_widths:
        key = ", ".join(quoted(name) for name in plan.names[first : first + width])
        first += width
        twice = f"select 1 as twice from tried group by {key} having count(*) > 1 limit 1"
        if queries.sql(twice, {"tried": rows}, **options).num_rows:
            raise UnsupportedError(
                f"rows of an INSERT … ON CONFLICT have one value (or NULL) of a key of table {change.name} "
                "which has several: name the columns of one, ON CONFLICT (…), or leave such rows out"
            )


def rows_of(said: BoundChange, options: Mapping[str, Any], take: Callable[[Any], Any]) -> Any:
    """What `take` makes of the rows of a statement."""
    change = said.change
    with numbered(change.plan, said.sequences, counting(said.composed.text, said.read, options)) as now:
        plan = BoundPlan(now.plan, change.names, moment=change.moment)
        return queries.rows_of_plan(now.counting(take), plan, said.composed.text, said.read, options)


def counting(text: str, tables: Mapping[str, Any], options: Mapping[str, Any]) -> Callable[[str], int]:
    """Counts the rows of a plan that is a part of the statement `text`."""

    def count(plan: str) -> int:
        return int(queries.rows_of_plan(_number_of, BoundPlan(plan, ("row",)), text, tables, options))

    return count


def _number_of(batches: Any) -> int:
    return sum(batch.num_rows for batch in batches)
