"""`headrace.sql`: a query over Parquet files or Arrow tables, compiled and run in this process."""

from __future__ import annotations

import inspect
import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._src import programs
from headrace._src.arguments import check_options, checked
from headrace._src.cluster import current
from headrace._src.errors import (
    HeadraceError,
    InputOutputError,
    MemoryLimitError,
    UnsupportedError,
    UserError,
    reason,
)
from headrace._src.explain import explained
from headrace._src.part_files import ResultFolder, output_of
from headrace._src.programs import LoadedProgram, Mesh, Target
from headrace._src.query import plan_cache
from headrace._src.query.bound_query import schemas_of
from headrace._src.query.commit_points import CommitPoints
from headrace._src.query.compiled_query import (
    answer_of,
    load_part,
    load_query,
    predicted_seconds,
    run_query,
)
from headrace._src.query.copy_to import Copy, copy_of, rows_for, with_formats
from headrace._src.query.dataset import Dataset, Parts
from headrace._src.query.named_files import names_rows, with_named_files
from headrace._src.query.pivots import with_pivot_values
from headrace._src.query.profile import Profile, profile_of, remember
from headrace._src.query.pruned_files import pruned_tables
from headrace._src.query.recursion import Run, described, may_recur, unrolled
from headrace._src.query.seeds import settings_of_round
from headrace._src.query.statistics import documents_for
from headrace._src.query.tables import (
    ArrowTable,
    FileTable,
    Table,
    TablesArgument,
    is_in_memory,
    resolve,
)
from headrace._src.query.temporary_files import in_settings
from headrace._src.query.uuid_texts import batches_with_texts, table_with_texts
from headrace._src.result_output import ResultFile
from headrace._src.sql.catalogue import BoundPlan, bound_plan, catalogue_rows
from headrace._src.sql.clock import clock_of
from headrace._src.sql.collations import in_collation
from headrace._src.sql.script import Kind, Script, gives_rows, may_not_be_rows, script_of
from headrace._src.sql.zones import batches_in_zone, current_zone, in_zone, table_in_zone
from headrace._src.stop import Cancel, stopper, stopping

if TYPE_CHECKING:
    import pyarrow as pa


@checked
def sql(
    text: str,
    tables: TablesArgument = (),
    *,
    ranks: int = 1,
    threads: int | None = None,
    memory: int | str | None = None,
    device: str | None = None,
    topology: str | Path | None = None,
    layout_seed: int | None = None,
    mesh: Mesh | None = None,
    statistics: Mapping[str, Any] | None = None,
    simulation_seed: int | None = None,
    settings: Mapping[str, object] | None = None,
    progress: Callable[[int, int, int, str], None] | None = None,
    timeout: float | None = None,
    cancel: Cancel | None = None,
    verify: bool = False,
    time_zone: str | None = None,
    collation: str | None = None,
) -> pa.Table:
    """Runs one query and returns its result.

    text: a query of DuckDB's SQL, with any CREATE VIEW and CREATE MACRO in front of it. DESCRIBE and SHOW
        list the tables and their columns; EXPLAIN and EXPLAIN ANALYZE return the text of `explain`, a row for
        each line.
        COPY (query) TO 'x.parquet' (compression zstd) writes its rows, whole or not at all: .parquet, .csv,
        .json, .arrow, or a folder that all ranks write, with (format parquet, per_thread_output) or
        (format parquet, partition_by (a, b)).
        FROM may name files itself: 'x.csv', 'x.json', 'data/*.parquet', read_csv('x.txt', delim = '|').
    tables: a folder of Parquet files (one table a file or folder), a file, a pattern ("data/*.parquet"), a
        list of these, or a dict of name to Arrow table, `Dataset` or path(s), of Parquet or CSV; "~" is the
        home directory, and paths may be addresses (s3://bucket/key, https://host/path).
    ranks: the number of ranks, in this process, that share the work; in a `cluster`, that of the cluster.
    threads: workers of all ranks together (default: HEADRACE_THREADS, else the processors that this process
        may use).
    memory: limit of all ranks together, in bytes or as "4GB".
    device: "cuda" runs on the machine's first GPU what can run there, and the rest on the CPU; "auto" does so
        if there is one (default: HEADRACE_DEVICE, else "cpu").
    topology: a topology file or the name of a shipped one; default: this machine with `ranks` ranks.
    layout_seed: takes a random layout and order of tasks instead of the cheapest, for tests.
    mesh: ranks along several axes, {"node": 2, "gpu": 4} or "node:2,gpu:4", over which each part of the
        program may be divided; then the number of ranks is that of the mesh. "nodes": the axes `node` and
        `rank` of the topology, for `ranks` ranks. None: one axis; on more than 256 ranks those of the
        topology.
    statistics: by table name, documents to use instead of the statistics in the files.
    simulation_seed: runs the ranks in one thread on a simulated network, in an order that the seed
        determines.
    settings: settings of the run by name, which override the environment: {"trace": "t.json", "log": "info"}.
    progress: called twice a second with the number of tasks that have ended, the number of all tasks, the
        rows that they have read so far, and the name of a running task. An exception that it raises stops the
        query.
    timeout: seconds after which the query is stopped with QueryTimeoutError; in a `cluster`, those of
        rank 0, and the others raise CancelledError with its message.
    cancel: a `Cancel`, which stops it from another thread with CancelledError. Both end compilations too,
        but for the kernel that is compiled just then; DuckDB's binder, which computes constants however
        long that takes, goes on in a thread of its own, for which the process waits when it ends.
    verify: first reads all columns and compares them with the statistics in the files, which are trusted
        otherwise. Raises CorruptError if they do not hold.
    time_zone: the name of the zone ("Europe/Berlin") in which TIMESTAMP WITH TIME ZONE is read, taken apart,
        counted by days and written; default: UTC.
    collation: how texts are compared, ordered and grouped where the query has no COLLATE: "nocase" (whatever
        their case), "noaccent", "nfc", or several, "nocase.noaccent"; default: by their bytes.

    In a `cluster` the result is on rank 0, and None on the others.
    Raises HeadraceError with the kind of trouble and the place in the query.
    """
    options: dict[str, Any] = {
        "ranks": ranks,
        "threads": threads,
        "memory": memory,
        "device": device,
        "topology": topology,
        "layout_seed": layout_seed,
        "mesh": mesh,
        "statistics": statistics,
        "simulation_seed": simulation_seed,
        "settings": settings,
        "progress": progress,
        "timeout": timeout,
        "cancel": cancel,
        "verify": verify,
        "time_zone": time_zone,
        "collation": collation,
    }
    if copy := copy_of(text):
        return copied(copy, tables, options)
    return _query(_whole, text, tables, options)


def _whole(stream: Any) -> pa.Table:
    import pyarrow as pa

    try:
        return table_in_zone(table_with_texts(pa.table(stream)), current_zone())
    except pa.ArrowInvalid as error:  # a value that Arrow does not hold
        raise HeadraceError(str(error), "data") from None


def copied(copy: Copy, tables: TablesArgument, options: Mapping[str, Any]) -> pa.Table | None:
    """Writes the rows of a query; the answer is their number, as DuckDB's."""
    import pyarrow as pa

    settings = copy.named()
    format = settings.pop("format", "")
    dates, timestamps = settings.pop("dateformat", ""), settings.pop("timestampformat", "")
    output = output_of(copy.path, f".{format.lower()}" if format else "", **settings)
    query = copy.query
    if dates or timestamps:
        if output.format not in (".csv", ".json"):
            raise UserError(f"dateformat and timestampformat are for CSV and JSON, got {output.format[1:]}")
        plan = bound_plan(*_bindable(query, tables))
        columns = dict(zip(plan.names, plan.types, strict=True))
        query = with_formats(query, columns, dates, timestamps, nested=output.format == ".json")
    with own_mistakes(copy.query, tables, options):
        count = written(query, tables, output=output, **options)
    return None if count is None else pa.table({"Count": pa.array([count], pa.int64())})


def rows_of_plan(
    take: Callable[[pa.RecordBatchReader], Any],
    plan: BoundPlan,
    text: str,
    tables: TablesArgument,
    options: Mapping[str, Any],
) -> Any:
    """What `take` makes of the rows of a part of the statement `text`."""
    import pyarrow as pa

    def taken(stream: Any) -> Any:
        try:
            return take(pa.RecordBatchReader.from_stream(stream))
        except pa.ArrowInvalid as error:  # a value that Arrow does not hold
            raise HeadraceError(str(error), "data") from None

    return _query(taken, text, tables, dict(options), plan=plan)


def whole_of_plan(plan: BoundPlan, text: str, tables: TablesArgument, options: Mapping[str, Any]) -> pa.Table:
    """The result of a query that is bound, as `sql` gives it."""
    return _query(_whole, text, tables, dict(options), plan=plan)


@checked
def batches(text: str, tables: TablesArgument, **options: Any) -> pa.RecordBatchReader:
    """Runs one query as `sql` does, with its options, and returns its result as record batches.

    For results that are larger than memory: rows that `memory` has no room for wait on disk when the query
    has ended, and are read as the batches are asked for. They are the caller's, and count no more.
    """
    check_options(options, sql)
    found = _batches(text, tables, options)
    with in_zone(options.get("time_zone")):
        return None if found is None else batches_in_zone(batches_with_texts(found), current_zone())


def _batches(text: str, tables: TablesArgument, options: dict[str, Any]) -> pa.RecordBatchReader:
    """As the run gives them."""
    import pyarrow as pa

    return _query(pa.RecordBatchReader.from_stream, text, tables, dict(options))


@checked
def written(
    text: str, tables: TablesArgument, *, output: ResultFile | ResultFolder, **options: Any
) -> int | None:
    """Runs one query as `sql` does, with its options, and writes its rows; how many there are.

    Into a file they are written as they come to this process, into a folder by the ranks that have them. None
    on the ranks of a cluster beside rank 0.
    """
    check_options(options, sql)
    output.within(options.get("memory"), options.get("threads"))
    if isinstance(output, ResultFile):
        with own_mistakes(text, tables, options):
            found = _batches(rows_for(output.format, text), tables, options)
        return None if found is None else output.write(found)
    text = rows_for(output.format, text)
    if not gives_rows(text):
        raise UserError("a folder of files takes a query that gives rows")
    try:
        return _query(output.finish, text, tables, options, resident=(), sink=output)
    finally:
        output.abandon()


@checked
def persist(
    text: str, tables: TablesArgument = (), *, by: str | Sequence[str] = (), **options: Any
) -> Dataset | None:
    """Runs one query as `sql` does, with its options, and leaves its rows on the ranks that made them.

    by: columns by whose values rows are divided among the ranks, equal ones together: joins on them and
        groups by them need no exchange then. Such rows have no order. Default: as the plan leaves them,
        which is known too.

    The dataset is a table for later queries on these ranks, which each read what they have; nothing of it
    goes through the driver or rank 0. Where an engine's ranks have changed, its query is run again when it is
    needed; the ranks of a launcher raise InputOutputError then. None on a rank that has been started again
    during the call.
    """
    check_options(options, sql)
    if copy_of(text) or not gives_rows(text):
        raise UserError("persist takes a query that gives rows")
    lasting = {name: value for name, value in options.items() if name not in _OF_ONE_RUN}
    keys = (by,) if isinstance(by, str) else tuple(by)
    parts = _persisted(text, tables, keys, options)
    return parts and Dataset(parts, lambda stop: _persisted(text, tables, keys, lasting, stop))


#: Options that a dataset that is made again does not have.
_OF_ONE_RUN = ("progress", "timeout", "cancel")


@contextmanager
def own_mistakes(text: str, tables: TablesArgument, options: Mapping[str, Any]) -> Iterator[None]:
    """What is wrong in a text is told with its own words and places, though a text around it is run."""
    try:
        yield
    except (UserError, UnsupportedError):
        if gives_rows(text):
            known = inspect.signature(explain).parameters
            explain(text, tables, **{name: value for name, value in options.items() if name in known})
        raise


def _persisted(
    text: str,
    tables: TablesArgument,
    keys: tuple[str, ...],
    options: dict[str, Any],
    stop: Callable[[], None] | None = None,
) -> Any:
    return _query(Parts.of_result, text, tables, dict(options), stop=stop, resident=keys)


@checked
def profiled(text: str, tables: TablesArgument, **options: Any) -> Profile:
    """Runs one query as `sql` does, with its options, and returns what it took instead of its rows."""
    check_options(options, sql)
    profiles: list[Profile] = []
    _query(_whole, text, tables, options, profiles.append)
    return profiles[0] if profiles else Profile()


def _query(
    take: Callable[[Any], Any],
    text: str,
    tables: TablesArgument,
    options: dict[str, Any],
    told: Callable[[Profile], None] = remember,
    *,
    stop: Callable[[], None] | None = None,
    resident: tuple[str, ...] | None = None,
    sink: ResultFolder | None = None,
    plan: BoundPlan | None = None,
) -> Any:
    """What `take` makes of the result; `told` gets the profile. resident: as `Target` has it.

    sink: what ranks write the rows into that are resident otherwise. plan: of a part of the statement.
    """
    stop = stop or stopper(options.pop("timeout", None), options.pop("cancel", None), _follows())
    options["settings"] = programs.with_device(options.pop("device", None), options.get("settings"))
    with (
        stopping(stop),
        in_settings(
            programs.setting_texts(options["settings"]),
            threads=options.get("threads"),
            memory=options.get("memory"),
        ),
        in_zone(options.pop("time_zone", None)),
        in_collation(options.pop("collation", None)),
        _commit_points(stop) as commits,
    ):
        return _on_all_ranks(
            f"sql {text}" if resident is None else f"persist by {resident} {text}",
            lambda: _answer(
                take, told, text, tables, stop, commits, resident=resident, sink=sink, plan=plan, **options
            ),
            text,
            tables,
            options.get("threads"),
            options.get("memory"),
            options.get("settings"),
            stop,
            resident=resident is not None and sink is None,
        )


@contextmanager
def _commit_points(stop: Callable[[], None] | None) -> Iterator[CommitPoints | None]:
    """Those of one call; None where nothing is kept."""
    group = current()
    if group is None or group.rank or not group.commits:
        yield None
        return
    commits = CommitPoints(group.commits, 1 / (3600 * group.rank_hours), stop)
    try:
        yield commits
    finally:
        commits.end()


def _follows() -> bool:
    """Whether another rank leads what this one calls."""
    group = current()
    return group is not None and group.rank > 0


def _on_all_ranks(
    call: str,
    lead: Callable[[], Any],
    text: str,
    tables: TablesArgument,
    threads: int | None,
    memory: int | str | None,
    settings: Mapping[str, object] | None,
    stop: Callable[[], None] | None = None,
    *,
    resident: bool = False,
) -> Any:
    """What `lead` gives; in a cluster, on rank 0, while the other ranks take part.

    resident: what it gives are `Parts`, and other ranks get theirs.
    """
    group = current()
    if group is None:
        return lead()
    options = programs.run_options(1, threads, memory, None, settings)
    return group.call(
        call,
        lead,
        tables=_in_memory(text, tables),
        kept=Parts.of_note if resident else None,
        threads=options.get("threads"),
        memory=options.get("memory"),
        settings=options["settings"],
        poll=stop,
    )


def _in_memory(text: str, tables: TablesArgument) -> dict[str, Any]:
    """The tables of a query that each rank has in memory; files of JSON each reads for itself."""
    found = tables if isinstance(tables, Mapping) else {}
    found = {
        name: data.data if isinstance(data, ArrowTable) else data
        for name, data in found.items()
        if is_in_memory(data)
    }
    if names_rows(text):
        _, named = with_named_files(text, resolve(tables))
        found |= {name: table.data for name, table in named.items() if isinstance(table, ArrowTable)}
    return found


def _answer(
    take: Callable[[Any], Any],
    told: Callable[[Profile], None],
    text: str,
    tables: TablesArgument,
    stop: Callable[[], None] | None,
    commits: CommitPoints | None,
    *,
    ranks: int = 1,
    threads: int | None = None,
    memory: int | str | None = None,
    topology: str | Path | None = None,
    layout_seed: int | None = None,
    mesh: Mesh | None = None,
    statistics: Mapping[str, Any] | None = None,
    simulation_seed: int | None = None,
    settings: Mapping[str, object] | None = None,
    progress: Callable[[int, int, int, str], None] | None = None,
    verify: bool = False,
    resident: tuple[str, ...] | None = None,
    sink: ResultFolder | None = None,
    plan: BoundPlan | None = None,
) -> Any:
    """`_query` on this process, or on rank 0 of a cluster."""
    import pyarrow as pa

    started = time.perf_counter()
    ranks = programs.ranks_of(ranks, mesh, most=programs.RUN_RANKS_MAX)
    given = text
    text, resolved = _sources(text, tables)
    if verify:
        from headrace._src.query.verify import check_statistics

        check_statistics(resolved)
    if may_not_be_rows(text):
        script = script_of(text)
        if script.kind is Kind.CATALOGUE:
            return take(catalogue_rows(script, schemas_of(documents_for(text, resolved))))
        if script.kind is not Kind.ROWS:
            return take(
                _explained(
                    script_of(given),
                    tables,
                    ranks=ranks,
                    threads=threads,
                    memory=memory,
                    topology=topology,
                    layout_seed=layout_seed,
                    mesh=mesh,
                    statistics=statistics,
                    settings=settings,
                    progress=progress,
                    stop=stop,
                )
            )
    target = Target.of(ranks, topology, layout_seed, mesh).within(memory).on(programs.device_of(settings))
    rounds = itertools.count(1)

    def rows_of(part: BoundPlan) -> Run:
        program = load_query(text, resolved, target, statistics, part)
        return lambda rows: pa.table(ran(program, {**resolved, **rows}, number=next(rounds)))

    def ran(program: LoadedProgram, tables: dict[str, Table], sink: str = "", number: int = 0) -> Any:
        if stop:
            stop()
        return run_query(
            program,
            tables,
            ranks,
            threads,
            memory,
            simulation_seed,
            settings_of_round(settings, number) if number else settings,
            progress,
            stop,
            sink,
        )

    def answered(program: LoadedProgram) -> Any:
        return ran(program, resolved, sink.begin(stop) if sink else "")

    def values_of(query: str) -> list[Any]:
        return pa.table(ran(load_query(query, resolved, target, statistics), resolved)).column(0).to_pylist()

    text = with_pivot_values(text, values_of)
    if may_recur(text):
        plan = plan or bound_plan(text, schemas_of(documents_for(text, resolved)))
        plan, rows = unrolled(plan, resolved, rows_of, in_cluster=current() is not None)
        resolved = {**resolved, **rows}
    target = replace(target, resident=resident, adjacent=tuple(sink.partition_by) if sink else ())

    def load(target: Target) -> LoadedProgram:
        return load_query(text, resolved, target, statistics, plan)

    loaded = load(target)
    compiled = time.perf_counter()
    if commits and (rest := _rest(commits, loaded, text, resolved, target, statistics, plan, ran)):
        resolved, load = rest
        loaded = load(target)
    loaded, result = _within_memory(loaded, load, answered, target)
    finished = time.perf_counter()
    profile = profile_of(loaded, compiled - started, finished - compiled)
    told(replace(profile, commit_points=len(commits.kept) if commits else 0))
    return programs.translated(lambda: take(result))


def _rest(
    commits: CommitPoints,
    whole: LoadedProgram,
    text: str,
    tables: dict[str, Table],
    target: Target,
    statistics: Mapping[str, Any] | None,
    plan: BoundPlan | None,
    ran: Callable[[LoadedProgram, dict[str, Table], str], Any],
) -> tuple[dict[str, Table], Callable[[Target], LoadedProgram]] | None:
    """What is left of a query once the rows of its commit points are kept: its tables, and how it is loaded.

    None: it has none.
    """

    @cache
    def pruned() -> dict[str, Table]:
        return pruned_tables(text, tables)

    def cut(lost_per_second: float) -> list[tuple[str, str]]:
        clock = clock_of(text, plan.json if plan else "")
        return answer_of(text, pruned(), clock, target, "", statistics, plan, lost_per_second).parts

    def part_ran(part: str, kept: Mapping[str, FileTable], told: Callable[[], str]) -> Any:
        read, written = {**pruned(), **kept}, replace(target, resident=())

        def load(target: Target) -> LoadedProgram:
            return load_part(part, text, read, kept, target)

        return _within_memory(load(written), load, lambda program: ran(program, read, told()), written)[1]

    last = commits.last_part(target.ranks, predicted_seconds(whole), cut, part_ran)
    if last is None:
        return None
    read = {**pruned(), **commits.kept}
    return read, lambda target: load_part(last, text, read, commits.kept, target)


#: After a plan whose states were larger than estimated: plans for less memory than there is.
_PESSIMISM = (16, 1 << 62)


def _within_memory(
    first: LoadedProgram,
    load: Callable[[Target], LoadedProgram],
    run: Callable[[LoadedProgram], Any],
    target: Target,
) -> tuple[LoadedProgram, Any]:
    """A plan and its result: the first, or if its states do not fit, one that divides more of them.

    first: the plan that `load` has given for `target`. Its error if none fits.
    """
    from headrace import _runtime

    try:
        return first, run(first)
    except MemoryLimitError as refused:
        failed, error = first, refused
    for pessimism in _PESSIMISM:
        program = load(replace(target, memory=max(1, target.memory // pessimism)))
        if program.compiled.plan_json == failed.compiled.plan_json:
            continue
        _runtime.log("info", f"the query runs again, with its states in parts: {error}")
        try:
            return program, run(program)
        except MemoryLimitError:
            failed = program
    raise error


def _explained(script: Script, tables: TablesArgument, **options: Any) -> pa.Table:
    """The answer to EXPLAIN: a row for each line."""
    import pyarrow as pa

    shown = _tree(script.text, tables, analyze=script.kind is Kind.ANALYZE, **options)
    return pa.table({"explain": pa.array(shown.splitlines(), pa.string())})


@checked
def explain(
    text: str,
    tables: TablesArgument,
    *,
    ranks: int = 1,
    threads: int | None = None,
    memory: int | str | None = None,
    device: str | None = None,
    topology: str | Path | None = None,
    layout_seed: int | None = None,
    mesh: Mesh | None = None,
    statistics: Mapping[str, Any] | None = None,
    settings: Mapping[str, object] | None = None,
    progress: Callable[[int, int, int, str], None] | None = None,
    timeout: float | None = None,
    cancel: Cancel | None = None,
    time_zone: str | None = None,
    collation: str | None = None,
    analyze: bool = False,
    runner_up: bool = False,
    tasks: bool = False,
) -> str:
    """What was decided for a query and why: a tree of operators, with their estimated rows, bytes and time.

    analyze: also runs the query, with `threads`, `memory`, `settings`, `progress`, `timeout` and `cancel`,
        and shows what it took beside the estimates.
    runner_up: also shows the cheapest other way of each decision.
    tasks: also shows the tables and tasks of the plan.

    The other options are those of `sql`.
    """
    settings = programs.with_device(device, settings)
    stop = stopper(timeout, cancel, _follows())

    def shown() -> str:
        return _tree(
            text,
            tables,
            ranks=ranks,
            threads=threads,
            memory=memory,
            topology=topology,
            layout_seed=layout_seed,
            mesh=mesh,
            statistics=statistics,
            settings=settings,
            progress=progress,
            stop=stop,
            analyze=analyze,
            runner_up=runner_up,
            tasks=tasks,
        )

    told = in_settings(programs.setting_texts(settings), threads=threads, memory=memory)
    with stopping(stop), told, in_zone(time_zone), in_collation(collation):
        if not analyze:
            return shown()
        return _on_all_ranks(f"explain {text}", shown, text, tables, threads, memory, settings, stop)


def _tree(
    text: str,
    tables: TablesArgument,
    *,
    ranks: int,
    threads: int | None,
    memory: int | str | None,
    topology: str | Path | None,
    layout_seed: int | None,
    mesh: Mesh | None,
    statistics: Mapping[str, Any] | None,
    settings: Mapping[str, object] | None,
    progress: Callable[[int, int, int, str], None] | None,
    stop: Callable[[], None] | None,
    analyze: bool,
    runner_up: bool = False,
    tasks: bool = False,
) -> str:
    """`explain` on this process, or on rank 0 of a cluster."""
    if analyze:
        programs.ranks_of(ranks, mesh, most=programs.RUN_RANKS_MAX)
    named, resolved = _sources(text, tables)
    target = Target.of(ranks, topology, layout_seed, mesh).within(memory).on(programs.device_of(settings))
    if may_recur(named):
        plan = bound_plan(named, schemas_of(documents_for(named, resolved)))

        def shown(part: BoundPlan) -> str:
            compiled = load_query(named, resolved, target, statistics, part).compiled
            return explained(compiled.plan_json, runner_up=runner_up, tasks=tasks)

        if rounds := described(plan, resolved, shown, analyze=analyze):
            return rounds
    started = time.perf_counter()
    loaded = load_query(named, resolved, target, statistics)
    profile = ""
    if analyze:
        if stop:
            stop()
        compiled = time.perf_counter()
        run_query(loaded, resolved, target.ranks, threads, memory, None, settings, progress, stop)
        profile = loaded.handle.profile()
        remember(profile_of(loaded, compiled - started, time.perf_counter() - compiled))
    return explained(loaded.compiled.plan_json, runner_up=runner_up, tasks=tasks, profile=profile)


@checked
def compile_to(
    folder: str | Path,
    text: str,
    tables: TablesArgument,
    *,
    ranks: int = 1,
    device: str = "cpu",
    topology: str | Path | None = None,
    layout_seed: int | None = None,
    mesh: Mesh | None = None,
) -> None:
    """Compiles a query to a directory NAME.plan, which `headrace-run` runs without Python or LLVM.

    A plan that is there already is replaced. device: with "cuda" the plan has kernels for GPUs beside those
    for the CPU, which run where `headrace-run --device cuda` finds one. A clock in it shows this moment.
    """
    import shutil

    folder = Path(folder).expanduser()
    target = Target.of(ranks, topology, layout_seed, mesh).on(device)
    loaded = load_query(*_sources(text, tables), target)
    try:
        if (folder / "plan.json").exists():
            shutil.rmtree(folder)
        plan_cache.write(folder, loaded.compiled)
    except OSError as error:
        raise InputOutputError(f"cannot write the plan: {folder}: {reason(error)}") from None


@checked
def lower(
    text: str,
    tables: TablesArgument,
    stop_after: str = "optimize",
    *,
    ranks: int = 1,
    topology: str | Path | None = None,
    layout_seed: int | None = None,
    mesh: Mesh | None = None,
    statistics: Mapping[str, Any] | None = None,
) -> str:
    """A query as MLIR after one of the compiler's phases: import, optimize, shard, form, lower or schedule.

    The other options are those of `sql`; what a tuner found for the query is left aside.
    """
    target = Target.of(ranks, topology, layout_seed, mesh)
    named, resolved = _sources(text, tables)
    resolved = pruned_tables(named, resolved)
    answer = answer_of(named, resolved, clock_of(text), target, stop_after, statistics)
    return dict(answer.dumps)[stop_after]


def _bindable(text: str, tables: TablesArgument) -> tuple[str, Any]:
    text, resolved = _sources(text, tables)
    return text, schemas_of(documents_for(text, resolved))


def _sources(text: str, tables: TablesArgument) -> tuple[str, dict[str, Table]]:
    """The text and its tables, with the files that it names itself among them."""
    resolved = resolve(tables)
    text, named = with_named_files(text, resolved)
    return text, {**resolved, **named}
