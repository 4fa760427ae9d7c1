"""Queries compiled for a target, kept, and run: what is between `headrace.sql` and the compiler."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from headrace._src import programs
from headrace._src.programs import LoadedProgram, Target
from headrace._src.query import plan_cache
from headrace._src.query.bound_query import bound_query
from headrace._src.query.plan_cache import CompiledQuery
from headrace._src.query.pruned_files import pruned_tables
from headrace._src.query.statistics import documents_for, statistics_of, table_sizes
from headrace._src.query.tables import ArrowTable, FileTable, ResidentTable, Table, located
from headrace._src.sql.catalogue import BoundPlan
from headrace._src.sql.clock import Clock, clock_of
from headrace._src.sql.constraints import generated_columns
from headrace._src.sql.described import settings_asked
from headrace._src.stop import current_stop
from headrace._src.tuning import use as tuning


def _key(text: str, tables: dict[str, Table], options: object) -> str:
    described = {
        name: table.identity() if isinstance(table, FileTable) else statistics_of(table)
        for name, table in tables.items()
    }
    return plan_cache.key_of([text, described, options])


def load_query(
    text: str,
    tables: dict[str, Table],
    target: Target,
    statistics: Mapping[str, Any] | None = None,
    plan: BoundPlan | None = None,
) -> LoadedProgram:
    """The query for `target`, with what a tuner found for it. plan: a part of the query, in its place."""
    target = tuning.applied(target, tuning.sql_program(text), lambda: table_sizes(tables))
    clock = _clock(text, tables, plan)
    part = [plan.json, plan.names, plan.types] if plan else []
    asked = settings_asked(text)
    key = _key(text, tables, [*target.key(), statistics, clock.key(), *part, *asked])
    persistent = (
        clock.lasting and not asked and all(isinstance(table, FileTable) for table in tables.values())
    )
    return programs.load(
        key,
        lambda: compiled_query(text, tables, target, statistics, clock, plan),
        persistent=persistent,
        settings=target.settings(),
    )


def _clock(text: str, tables: dict[str, Table], plan: BoundPlan | None) -> Clock:
    """Of all that the query may ask: defaults stand in its plan, generated columns with the tables."""
    if plan:
        return clock_of(text, plan.json)
    declared = [table.schema for table in tables.values() if isinstance(table, ArrowTable) and table.schema]
    computed = [each for schema in declared for each in generated_columns(schema).values()]
    return clock_of("\n".join([text, *computed]))


def predicted_seconds(program: LoadedProgram) -> float:
    """What the compiler thinks that a run takes."""
    return float(json.loads(program.compiled.plan_json)["explanation"].get("totalSeconds", 0.0))


def compiled_query(
    text: str,
    tables: dict[str, Table],
    target: Target,
    statistics: Mapping[str, Any] | None = None,
    clock: Clock | None = None,
    plan: BoundPlan | None = None,
) -> CompiledQuery:
    tables = pruned_tables(text, tables)
    clock = clock or _clock(text, tables, plan)
    answer = answer_of(text, tables, clock, target, "", statistics, plan)
    manifest = _manifest(answer.plan_json, tables)
    return programs.compiled_of(answer.inner, manifest=manifest, parse_seconds=answer.parse_seconds)


def load_part(
    part: str, text: str, tables: dict[str, Table], kept: Mapping[str, FileTable], target: Target
) -> LoadedProgram:
    """A part of the query `text`, as `answer_of` gives it. kept: of `tables` those of the parts before it."""
    known = {name: statistics_of(table) for name, table in kept.items()}

    def compiled() -> CompiledQuery:
        request = target.request()
        request.mlir, request.text = part, text
        request.resume_after = "optimize"
        request.statistics = known
        answer = programs.checked(programs.compiler().compile_mlir(request, current_stop()))
        return programs.compiled_of(answer, manifest=_manifest(answer.plan_json, tables))

    return programs.load(plan_cache.key_of([part, known, target.key()]), compiled, persistent=False)


def _manifest(plan_json: str, tables: dict[str, Table]) -> dict[str, Any]:
    """Which files the plan's slots were compiled against; paths as `FileTable.identity` has them.

    Statistics have the paths by which the files were read first, perhaps in another working directory.
    """
    slots = {slot["name"] for slot in json.loads(plan_json).get("slots", [])}
    return {
        name: [
            {**file, "path": located(path)}
            for path, file in zip(table.paths, json.loads(statistics_of(table))["identity"], strict=True)
        ]
        for name, table in tables.items()
        if name in slots and isinstance(table, FileTable)
    }


class Answer:
    """The compiler's answer with the time of the front end beside it."""

    def __init__(self, inner: Any, parse_seconds: dict[str, float]) -> None:
        self.inner = inner
        self.parse_seconds = parse_seconds

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def answer_of(
    text: str,
    tables: dict[str, Table],
    clock: Clock,
    target: Target,
    stop_after: str,
    statistics: Mapping[str, Any] | None,
    plan: BoundPlan | None = None,
    lost_per_second: float = 0.0,
) -> Answer:
    """The compiler's answer up to a phase; all of it, if none is named.

    lost_per_second: how often one of the ranks is lost: the answer is the parts that the query is cut into.
    """
    start = time.perf_counter()
    documents = documents_for(text, tables)
    measured = time.perf_counter()
    query = bound_query(text, documents, clock, statistics, plan)
    parsed = time.perf_counter()
    request = target.request()
    query.describe(request)
    request.statistics = query.statistics
    if stop_after:
        request.dump_phases = [stop_after]
        request.stop_after = stop_after
    request.losses_per_second = lost_per_second
    inner = programs.checked(programs.compiler().compile_sql(request, current_stop()), text)
    return Answer(inner, {"statistics": measured - start, "parse": parsed - measured})


def bindings_of(tables: Mapping[str, Table], manifest: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What the runtime reads the tables from. manifest: the files that a plan reads, if those are not all."""
    read = {name: {file["path"] for file in files} for name, files in (manifest or {}).items()}
    return {
        name: _read(table, read.get(name)).addresses if isinstance(table, FileTable) else _imported(table)
        for name, table in tables.items()
    }


def _read(table: FileTable, read: set[str] | None) -> FileTable:
    if read is None or not table.is_partitioned:
        return table
    return table.only([i for i, path in enumerate(table.paths) if located(path) in read])


def _imported(table: ArrowTable | ResidentTable) -> Any:
    return programs.translated(lambda: table.imported)


def run_query(
    program: LoadedProgram,
    tables: dict[str, Table],
    ranks: int,
    threads: int | None,
    memory: int | str | None,
    simulation_seed: int | None,
    settings: Mapping[str, object] | None = None,
    progress: Callable[[int, int, int, str], None] | None = None,
    stop: Callable[[], None] | None = None,
    sink: str = "",
) -> Any:
    bindings = bindings_of(tables, program.compiled.manifest)
    options = programs.run_options(ranks, threads, memory, program.settings, settings)
    options["progress"] = progress
    options["poll"] = stop
    options["sink"] = sink
    if simulation_seed is not None:
        options["simulation_seed"] = simulation_seed
    return programs.run(program, bindings, options)
