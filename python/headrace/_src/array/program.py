"""Tensor programs compiled for a target: from MLIR text, or from a trace."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from headrace._src import programs
from headrace._src.arguments import checked, checked_methods
from headrace._src.array.queries import QueryTensor
from headrace._src.array.resident import (
    Gather,
    KeptResults,
    Layout,
    ResidentArray,
    check_residents,
    here,
    layout_of,
)
from headrace._src.cluster import current
from headrace._src.cost import Cost, cost_of
from headrace._src.errors import HeadraceError, InputOutputError, UserError, reason
from headrace._src.explain import explained
from headrace._src.phases import PHASES
from headrace._src.programs import LoadedProgram, Mesh, Target, ranks_of
from headrace._src.query import plan_cache
from headrace._src.query.plan_cache import CompiledQuery
from headrace._src.query.tables import Table, TablesArgument, resolve
from headrace._src.query.temporary_files import in_settings
from headrace._src.stop import stopper
from headrace._src.tuning import database
from headrace._src.tuning import use as tuning


@dataclass(frozen=True)
class Options:
    """How a program runs: see `jit`."""

    ranks: int = 1
    threads: int | None = None
    memory: int | str | None = None
    topology: str | Path | None = None
    layout_seed: int | None = None
    settings: Mapping[str, object] | None = None
    mesh: Mesh | None = None
    timeout: float | None = None

    def target(self) -> Target:
        return Target.of(self.ranks, self.topology, self.layout_seed, self.mesh)

    @cached_property
    def gather(self) -> Gather:
        """The function that gives what it is given, whole."""
        from headrace._src.array.jit import Jit

        return Jit(lambda x: x, self)

    def on_all_ranks(
        self,
        call: str,
        lead: Callable[[], Any],
        tables: Mapping[str, Any],
        arrays: tuple[object, ...],
        keeps: bool = False,
    ) -> Any:
        """What `lead` gives; in a cluster, on rank 0, while the others take part with their own arrays.

        keeps: it gives `KeptResults`, and other ranks get theirs.
        """
        group = current()
        if group is None:
            return lead()
        options = programs.run_options(1, self.threads, self.memory, None, self.settings)
        return group.call(
            call,
            lead,
            tables=tables,
            arrays=tuple(here(each) if isinstance(each, ResidentArray) else each for each in arrays),
            kept=KeptResults.of_note(self.gather) if keeps else None,
            threads=options.get("threads"),
            memory=options.get("memory"),
            settings=options["settings"],
        )


@dataclass(frozen=True)
class Lowered:
    """A program on its way down, as text after every phase."""

    source: str
    options: Options
    queries: tuple[tuple[int, QueryTensor], ...] = ()

    @cached_property
    def phases(self) -> dict[str, str]:
        """The program after import, optimize, shard, form, lower and schedule."""
        request = _request(self.source, self.queries, self.options.target())
        request.dump_phases = list(PHASES)
        request.stop_after = request.dump_phases[-1]
        return dict(programs.checked(programs.compiler().compile_mlir(request)).dumps)

    @property
    def text(self) -> str:
        """One rank's program, behind the phase form."""
        return self.phases["form"]

    def compile(self) -> Program:
        return Program(self.source, self.options, self.queries)


def _request(
    source: str,
    queries: tuple[tuple[int, QueryTensor], ...],
    target: Target,
    known: Mapping[str, str] | None = None,
    resume_after: str = "",
) -> Any:
    """known: statistics of tables that the text scans; resume_after: the phase that made the text."""
    from headrace import _compiler

    request = target.request()
    request.mlir = source
    request.resume_after = resume_after
    statistics: dict[str, str] = dict(known or {})
    made = []
    for query in dict.fromkeys(tensor.query for _, tensor in queries):
        # Tensors of one call of to_tensors align; those of others do not, and are another conversion.
        for rows in dict.fromkeys(tensor.rows for _, tensor in queries if tensor.query is query):
            part = _compiler.Query()
            query.bound.describe(part)
            members = [(index, tensor) for index, tensor in queries if tensor.rows is rows]
            part.arguments = [index for index, _ in members]
            part.columns = [tensor.columns for _, tensor in members]
            made.append(part)
        statistics.update(query.statistics)
    request.queries = made
    request.statistics = statistics
    return request


def described(queries: tuple[tuple[int, QueryTensor], ...]) -> list[list[Any]]:
    """What of its queries is part of a program: arguments, columns, what aligns, and the query itself."""
    rows = {id(tensor.rows): None for _, tensor in queries}
    number = {key: position for position, key in enumerate(rows)}
    return [
        [index, tensor.columns, number[id(tensor.rows)], tensor.query.text.strip()]
        for index, tensor in queries
    ]


def program_hash(source: str, queries: tuple[tuple[int, QueryTensor], ...]) -> str:
    """What the tuner's records are kept under."""
    columns = [[*rest, tuning.plain_sql(text)] for *rest, text in described(queries)]
    return database.program_hash(["mlir", source, columns])


def tables_of(queries: tuple[tuple[int, QueryTensor], ...]) -> dict[str, Table]:
    """The tables that the queries read, by name."""
    return {name: tensor.query.tables[name] for _, tensor in queries for name in tensor.query.statistics}


def _sizes(queries: tuple[tuple[int, QueryTensor], ...]) -> dict[str, int]:
    from headrace._src.query.statistics import table_sizes

    return table_sizes(tables_of(queries))


def bindings(queries: tuple[tuple[int, QueryTensor], ...]) -> dict[str, Any]:
    """What the runtime reads the tables from."""
    bound: dict[str, Any] = {}
    for _, tensor in queries:
        for name, data in tensor.query.bindings().items():
            if name in bound and bound[name] is not data and bound[name] != data:
                raise HeadraceError(f"two queries of a program mean different tables by the name: {name}")
            bound[name] = data
    return bound


def compiled(
    source: str,
    queries: tuple[tuple[int, QueryTensor], ...],
    target: Target,
    known: Mapping[str, str] | None = None,
    resume_after: str = "",
) -> CompiledQuery:
    """The plan and kernels of a program's text, its queries and a target."""
    request = _request(source, queries, target, known, resume_after)
    return programs.compiled_of(programs.checked(programs.compiler().compile_mlir(request)))


@checked_methods
class Program:
    """A compiled program: call it with its arrays."""

    def __init__(
        self,
        source: str,
        options: Options,
        queries: tuple[tuple[int, QueryTensor], ...] = (),
        tables: Mapping[str, Table] | None = None,
        resume_after: str = "",
    ) -> None:
        """tables: what the names of tables in the text mean; resume_after: the phase that made it."""
        self._source = source
        self._resume_after = resume_after
        self._queries = queries
        self._scanned = dict(tables or {})
        self._options = options
        self._loaded: LoadedProgram = self._load()
        plan = json.loads(self.plan_json)
        self._tables = {**bindings(queries), **_bound(self._scanned)}
        self._gives_table = bool(plan.get("result", {}).get("columns"))
        #: Of results that stay on the ranks; None if they do not.
        self._layouts = Layout.of_results(plan) if plan.get("resident") and not self._gives_table else None
        #: By name: the layout of those that lie on the ranks.
        self._parameters = Layout.of_arguments(plan)

    def write(self, folder: str | Path) -> None:
        """The plan as a directory NAME.plan; InputOutputError if there is one already."""
        try:
            plan_cache.write(Path(folder), self._loaded.compiled)
        except OSError as error:
            raise InputOutputError(f"cannot write the plan: {folder}: {reason(error)}") from None

    def _load(self) -> LoadedProgram:
        from headrace._src.query.statistics import statistics_of

        queries = self._queries
        program = program_hash(self._source, queries)
        target = tuning.applied(self._options.target(), program, lambda: _sizes(queries))
        bound = [tensor.query.bound for _, tensor in queries]
        parts = [
            described(queries),
            [query.statistics for query in bound],
            [query.clock.key() for query in bound],
        ]
        known = {name: statistics_of(table) for name, table in self._scanned.items()}
        key = plan_cache.key_of(["mlir", self._source, self._resume_after, parts, known, target.key()])
        with in_settings(programs.setting_texts(self._options.settings)):
            return programs.load(
                key,
                lambda: compiled(self._source, self._queries, target, known, self._resume_after),
                persistent=all(query.clock.lasting for query in bound),
                settings=target.settings(),
            )

    @property
    def plan_json(self) -> str:
        return self._loaded.compiled.plan_json

    @property
    def text(self) -> str:
        """The tables and tasks of the plan."""
        return self._loaded.compiled.plan_text

    @property
    def queries(self) -> tuple[tuple[int, QueryTensor], ...]:
        """The arguments that are columns of queries, by their positions."""
        return self._queries

    @property
    def source(self) -> str:
        """The text of its function."""
        return self._source

    def explain(self, *, analyze: bool = False, runner_up: bool = False, tasks: bool = False) -> str:
        """What was decided and why, as a tree of operators.

        analyze: with what the last run took. runner_up, tasks: as in `headrace.explain`.
        """
        profile = self._loaded.handle.profile() if analyze else ""
        if analyze and profile == "{}":
            raise HeadraceError("analyze shows the last run: call the program first")
        return explained(self.plan_json, runner_up=runner_up, tasks=tasks, profile=profile)

    def cost(self, *, rows: Mapping[str, float] | None = None, skew: str | Sequence[str] = ()) -> Cost:
        """The predicted cost of the program, in parts; `rows` and `skew` as in `headrace.cost`."""
        options = self._options
        counts = {**dict.fromkeys(self._parameters, 1.0), **(rows or {})}
        return cost_of(self.plan_json, options.target(), options.threads, counts, skew=skew)

    @property
    def profile(self) -> dict[str, Any]:
        """Of the last run: time and bytes per task."""
        return json.loads(self._loaded.handle.profile() or "{}")

    def results(self, arrays: tuple[object, ...]) -> list[Any]:
        """Runs it; the results as NumPy arrays, or those that stay on the ranks, or the one that is a table
        as a pyarrow.Table. In a cluster None but on rank 0; all ranks have those that stay.
        """
        made = self._options.on_all_ranks(
            f"program {self._source}",
            lambda: self.run(arrays),
            in_memory(self._tables),
            arrays,
            self._layouts is not None,
        )
        return list(made.arrays) if isinstance(made, KeptResults) else made

    def run(self, arrays: tuple[object, ...]) -> Any:
        """Of who leads: the results, or `KeptResults`."""
        if len(arrays) != len(self._parameters):
            raise HeadraceError(f"the program takes {len(self._parameters)} arrays, got {len(arrays)}")
        check_residents(arrays)
        named = zip(self._parameters.items(), arrays, strict=True)
        bindings = {**self._tables, **{name: _fit(name, layout, given) for (name, layout), given in named}}
        options = self._options
        run = programs.run_options(
            ranks_of(options.ranks, options.mesh),
            options.threads,
            options.memory,
            self._loaded.settings,
            options.settings,
        )
        if stop := stopper(options.timeout, None):
            stop()
            run["poll"] = stop
        done = programs.run(self._loaded, bindings, run)
        if self._layouts is not None:
            return KeptResults.of_result(done, self._layouts, self._options.gather)
        if self._gives_table:
            import pyarrow as pa

            return [pa.table(done)]
        return list(done.tensors)

    def __call__(self, *arrays: object) -> Any:
        results = self.results(arrays)
        if results is None:
            return None
        return results[0] if len(results) == 1 else tuple(results)


def _fit(name: str, layout: Layout | None, given: object) -> object:
    """What the runtime is given for an argument, which the program has in this layout, or whole."""
    lies = layout_of(given) if isinstance(given, ResidentArray) else None
    if lies != layout:
        wanted, found = (
            f"one that lies on the ranks ({each.text} of {each.mesh_text})" if each else "one of NumPy"
            for each in (layout, lies)
        )
        raise UserError(
            f"the program is for another array as '{name}': compile it for {found}, it takes {wanted}"
        )
    return here(given) if isinstance(given, ResidentArray) else given


def in_memory(bindings: Mapping[str, Any]) -> dict[str, Any]:
    """Of what the runtime reads tables from, what is no path."""
    return {name: data for name, data in bindings.items() if not isinstance(data, (str, list))}


def _bound(tables: Mapping[str, Table]) -> dict[str, Any]:
    from headrace._src.query.compiled_query import bindings_of

    return bindings_of(tables)


@checked
def mlir(
    text: str,
    *,
    tables: TablesArgument | None = None,
    ranks: int = 1,
    threads: int | None = None,
    memory: int | str | None = None,
    topology: str | Path | None = None,
    layout_seed: int | None = None,
    settings: Mapping[str, object] | None = None,
    mesh: Mesh | None = None,
    resume_after: str = "import",
) -> Program:
    """Compiles a program written in MLIR: a function on ranked tensors of linalg, tensor, arith, math, or one
    of the dialect frame that scans tables (`headrace.lower` shows such of queries).

    tables: what its scans read, as in `headrace.sql`.
    resume_after: the phase that made the text, as `headrace.lower` and `Lowered.phases` show it (import,
        optimize, shard, form or schedule); compilation goes on behind it. From shard on the text is for its
        number of ranks.

    The other options are those of `jit`. Call the result with the function's arrays, in their order; it gives
    arrays, or a pyarrow.Table if that is its result.
    """
    options = Options(ranks_of(ranks, mesh), threads, memory, topology, layout_seed, settings, mesh)
    scanned = _scanned(text, resolve(tables)) if tables is not None else None
    return Program(text, options, tables=scanned, resume_after=resume_after)


def _scanned(text: str, tables: dict[str, Table]) -> dict[str, Table]:
    """Of the tables those that the text names."""
    return {name: table for name, table in tables.items() if f'"{name}"' in text}
