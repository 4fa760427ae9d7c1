"""The command `headrace`: sql, explain, cost, compile, lower, serve, tune, calibrate, doctor."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings

from headrace._src.command_parser import CommandParser
from headrace._src.counted import counted
from headrace._src.errors import HeadraceError
from headrace._src.given_text import given_text
from headrace._src.phases import PHASES
from headrace._src.query.copy_to import rows_for
from headrace._src.query.tables import TABLES_HELP, TABLES_METAVAR
from headrace._src.result_output import SHOWN_ROWS, ResultFile, print_rows
from headrace._src.settings_options import add_log, add_settings, add_threads, given_settings
from headrace._src.sql.clock import Uses, clock_of
from headrace._src.sql.script import Kind, kind_of


def _parser() -> CommandParser:
    parser = CommandParser(prog="headrace", description="compile and run programs over tables and tensors")
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", required=True)
    summaries = {
        "sql": "run a query and print its result",
        "explain": "show a query's plan and why",
        "cost": "show the predicted cost of a query, in parts",
        "compile": "compile a query to a folder that headrace-run runs",
        "lower": "show a query as MLIR, at any level of the compiler",
    }
    for name, summary in summaries.items():
        command = commands.add_parser(name, help=summary, description=summary)
        command.add_argument("text", help="one SQL query; @FILE reads it from a file")
        command.add_argument(
            "--tables",
            default=[],
            action="append",
            metavar=TABLES_METAVAR,
            help=f"{TABLES_HELP} (default: the files that the query names)",
        )
        command.add_argument(
            "--ranks", type=int, default=1, help="ranks of this process that share the work (default: 1)"
        )
        command.add_argument(
            "--topology",
            metavar="FILE|NAME",
            help="a topology file, or the name of a shipped one (default: machine, this one)",
        )
        command.add_argument(
            "--mesh",
            metavar="AXIS:SIZE,...",
            help="ranks along several axes, such as node:2,gpu:4, or nodes: those of the topology "
            "(default: one axis of all ranks)",
        )
        command.add_argument(
            "--layout-seed",
            type=int,
            metavar="K",
            help="take a random layout and order of tasks (default: the cheapest)",
        )
        if name == "compile":
            command.add_argument("--output", required=True, metavar="NAME.plan", help="the folder to write")
            command.add_argument(
                "--device",
                choices=("cpu", "cuda"),
                default="cpu",
                help="cuda: also kernels for GPUs, for headrace-run --device cuda (default: cpu)",
            )
        if name == "lower":
            command.add_argument(
                "--stop-after",
                choices=tuple(PHASES),
                default="optimize",
                metavar="PHASE",
                help="the last phase that runs; in order: "
                + ", ".join(f"{phase} ({level})" for phase, level in PHASES.items())
                + " (default: optimize)",
            )
        if name in ("sql", "explain"):
            add_settings(command)
        else:
            add_log(command)
        if name in ("sql", "explain"):
            add_threads(command)
            command.add_argument(
                "--memory",
                metavar="BYTES",
                help="memory limit of all ranks together, such as 4GB (default: 70 %% of the machine's)",
            )
        if name == "explain":
            command.add_argument(
                "--analyze",
                action="store_true",
                help="run the query too, and show rows and time beside the estimates",
            )
            command.add_argument(
                "--runner-up", action="store_true", help="also the cheapest other way of each decision"
            )
            command.add_argument("--tasks", action="store_true", help="also the tables and tasks of the plan")
            _add_timeout(command)
        if name == "sql":
            command.add_argument("--explain", action="store_true", help="also print what was decided and why")
            command.add_argument(
                "--profile",
                action="store_true",
                help="seconds, rows and bytes per task, as JSON, on standard error",
            )
            command.add_argument(
                "--output",
                metavar="FILE",
                help="write the result to a .parquet, .arrow or .csv file (default: print it)",
            )
            command.add_argument("--time", action="store_true", help="print the time per phase")
            _add_timeout(command)
        if name == "cost":
            add_threads(command)
            command.add_argument(
                "--memory",
                metavar="BYTES",
                help="of all ranks together; what does not fit is priced as spilled (default: all there is)",
            )
            command.add_argument(
                "--rows",
                action="append",
                default=[],
                metavar="NAME=ROWS",
                help="rows of a table over all ranks; may be repeated (default: those of its files)",
            )
            command.add_argument(
                "--skew",
                action="append",
                default=[],
                metavar="FIRST:COUNT:NAME=FACTOR[,…]",
                help="ranks unlike the others, by speed, rows and keys: 3:1:speed=0.5; may be repeated "
                "(default: all equal)",
            )
            command.epilog = "headrace-tune cost prices a plan that was written"
    from headrace._src.serving import command as serving

    summary = "answer queries of clients of Arrow Flight SQL (ADBC, JDBC, ODBC)"
    served = commands.add_parser("serve", help=summary, description=summary)
    serving.add_arguments(served)
    add_settings(served)
    from headrace._src.tuning import tune

    tune.add_arguments(
        commands.add_parser(
            "tune",
            help="search for quicker layouts and settings, and keep them",
            description="search for quicker layouts and settings, and keep them: also headrace-tune search",
        )
    )
    from headrace._src.calibration import calibrate

    summary = "measure what this machine takes, for costs and choices of later compilations"
    calibrate.add_arguments(commands.add_parser("calibrate", help=summary, description=summary))
    from headrace._src import doctor

    summary = "say what is wrong with the ranks that a launcher has started, or with this machine"
    doctor.add_arguments(commands.add_parser("doctor", help=summary, description=summary))
    for name in ("tune", "calibrate", "doctor"):
        add_log(commands.choices[name])
    return parser


def _add_timeout(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="stop the query after so long (default: never)"
    )


class _Version(argparse.Action):
    """Loads the package's binaries only when it is asked."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        import headrace

        print(f"headrace {headrace.__version__}")
        parser.exit()


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status: 2 for a user's error, 130 for Control-C, else 1."""
    arguments = _parser().read(argv)
    warnings.showwarning = _show_warning
    try:
        status = _run(arguments, given_settings(arguments))
        sys.stdout.flush()
        return status
    except HeadraceError as error:
        print(f"headrace: {error.kind} error: {error}", file=sys.stderr)
        return 2 if error.kind in ("user", "unsupported") else 1
    except KeyboardInterrupt:
        print("headrace: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # who reads, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _show_warning(message: Warning | str, *_: object) -> None:
    """Without the line of the source that raised it."""
    print(f"headrace: warning: {message}", file=sys.stderr)


def _run(arguments: argparse.Namespace, settings: dict[str, str]) -> int:
    from headrace._src.query import sql as query
    from headrace._src.query.profile import last_profile

    if arguments.command == "tune":
        from headrace._src.tuning import tune

        return tune.command(arguments)
    if arguments.command == "calibrate":
        from headrace._src.calibration import calibrate

        return calibrate.command(arguments)
    if arguments.command == "doctor":
        from headrace._src import doctor

        return doctor.command(arguments)
    if arguments.command == "serve":
        from headrace._src.serving import command as serving

        return serving.command(arguments, settings)
    text = given_text(arguments.text, "query")
    common = {
        "ranks": arguments.ranks,
        "topology": arguments.topology,
        "layout_seed": arguments.layout_seed,
        "mesh": arguments.mesh,
    }
    if arguments.command == "compile":
        clock = clock_of(text)
        query.compile_to(arguments.output, text, arguments.tables, device=arguments.device, **common)
        if clock.uses is not Uses.NOTHING:
            moment = f"{clock.moment:%Y-%m-%d %H:%M:%S} UTC"
            print(f"headrace: the plan has the clock of {moment} in it, whenever it runs", file=sys.stderr)
        return 0
    if arguments.command == "cost":
        from headrace._src.cost import cost, rows_of

        print(
            cost(
                text,
                arguments.tables,
                threads=arguments.threads,
                memory=arguments.memory,
                rows=rows_of(arguments.rows),
                skew=arguments.skew,
                **common,
            )
        )
        return 0
    if arguments.command == "lower":
        print(query.lower(text, arguments.tables, arguments.stop_after, **common))
        return 0
    if arguments.command == "explain":
        print(
            query.explain(
                text,
                arguments.tables,
                threads=arguments.threads,
                memory=arguments.memory,
                settings=settings,
                analyze=arguments.analyze,
                runner_up=arguments.runner_up,
                tasks=arguments.tasks,
                timeout=arguments.timeout,
                **common,
            )
        )
        return 0
    output = ResultFile(arguments.output) if arguments.output else None
    if output:
        output.within(arguments.memory, arguments.threads)
    if arguments.explain:
        print(query.explain(text, arguments.tables, **common))
    start = time.perf_counter()
    shown = _Progress() if sys.stderr.isatty() else None
    options = {
        "threads": arguments.threads,
        "memory": arguments.memory,
        "settings": settings,
        "progress": shown,
        "timeout": arguments.timeout,
        **common,
    }
    try:
        if output:
            with query.own_mistakes(text, arguments.tables, options):
                result = query.batches(rows_for(output.format, text), arguments.tables, **options)
        else:
            result = query.sql(text, arguments.tables, **options)
    finally:
        if shown:
            shown.clear()
    elapsed = time.perf_counter() - start
    if output:
        rows = output.write(result)
    else:
        rows = result.num_rows
        print_rows(result, SHOWN_ROWS if kind_of(text) is Kind.ROWS else rows)
    if arguments.profile:
        print(json.dumps(last_profile().run), file=sys.stderr)
    if arguments.time:
        profile = last_profile()
        print(
            f"compile {profile.compile_seconds * 1e3:.1f} ms, run {profile.run_seconds * 1e3:.1f} ms",
            file=sys.stderr,
        )
        for name, seconds in profile.phases.items():
            print(f"  {name:12} {seconds * 1e3:8.2f} ms", file=sys.stderr)
    print(f"{counted(rows, 'row')} in {elapsed:.3f} s", file=sys.stderr)
    return 0


class _Progress:
    """One line on the terminal that is written over."""

    _written = False

    def __call__(self, ended: int, tasks: int, rows: int, running: str) -> None:
        text = f"{ended} of {tasks} tasks, {rows / 1e6:,.1f} million rows, {running}"
        print(f"\r\x1b[K  {text[:100]}", end="", file=sys.stderr, flush=True)
        self._written = True

    def clear(self) -> None:
        if self._written:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
