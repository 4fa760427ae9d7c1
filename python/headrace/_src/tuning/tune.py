"""`headrace.tune` and the command `headrace tune`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._src.arguments import checked, shown
from headrace._src.array.program import Program
from headrace._src.counted import counted
from headrace._src.errors import HeadraceError
from headrace._src.given_text import given_text
from headrace._src.programs import Target
from headrace._src.query.tables import TABLES_HELP, TABLES_METAVAR
from headrace._src.settings_options import add_threads
from headrace._src.tuning.search import INTERRUPTED, Budget, Outcome, search
from headrace._src.tuning.subject import ProgramSubject, SqlSubject, Subject

if TYPE_CHECKING:
    from headrace._src.array.queries import QueryTensor
    from headrace._src.query.tables import TablesArgument


@checked
def tune(
    program: Any,
    tables: TablesArgument | None = None,
    *,
    arrays: Sequence[Any] | None = None,
    ranks: int = 1,
    threads: int | None = None,
    memory: int | str | None = None,
    topology: str | Path | None = None,
    seconds: float = Budget.seconds,
    measure: bool | None = None,
) -> Outcome:
    """Searches for layouts, sizes of chunks and algorithms that are faster than the compiler's own choice.

    program: a query, or a compiled array program.
    tables: the tables of a query.
    arrays: the arguments of an array program that are no columns of queries (default: made up).
    memory: limit of all ranks together, in bytes or as "4GB", for plans and runs.
    topology: a cluster for which candidates are simulated and not run.
    measure: True if the topology is this machine's (CPUs of one node, as many as here), so that candidates
        are run as well.
    seconds: how long to search.

    The result is kept in the folder HEADRACE_HOME. Later compilations of the program for this topology use
    it, and `explain` says so. Progress goes to standard error. Control-C ends the search and keeps what was
    found. Print the result for a table.
    """
    if isinstance(program, str):
        if tables is None:
            raise HeadraceError("a query is tuned over tables: give tables=")
        from headrace._src.query.tables import resolve

        subject: Subject = SqlSubject(program, resolve(tables), memory)
    elif not isinstance(program, Program):
        raise HeadraceError(f"tune takes a query or a compiled program, got {shown(program)}")
    else:
        given = None if arrays is None else tuple(arrays)
        subject = ProgramSubject(program.source, given, program.queries, memory)
    target = _target(ranks, topology, memory)
    return search(subject, target, threads=threads, budget=Budget(seconds=seconds), measure=measure)


def _target(ranks: int, topology: str | Path | None, memory: int | str | None) -> Target:
    target = Target.of(ranks, topology, None)
    return target if memory is None else target.within(memory)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "program", help="one SQL query, @FILE with one, or FILE.mlir with a function of tensors"
    )
    parser.add_argument(
        "--tables", action="append", metavar=TABLES_METAVAR, help=f"{TABLES_HELP} (default: none)"
    )
    parser.add_argument(
        "--query",
        action="append",
        default=[],
        metavar="ARGUMENTS:SQL",
        help="arguments of FILE.mlir that are columns of a query: '0=x,y;2=z: select …' or '0=x:@FILE' "
        "(default: none)",
    )
    parser.add_argument(
        "--ranks", default="1", metavar="N,N", help="numbers of ranks to search for (default: 1)"
    )
    parser.add_argument(
        "--topology",
        metavar="FILE|NAME",
        help="simulate for this cluster, a file or the name of a shipped one (default: measure here)",
    )
    parser.add_argument(
        "--measure", action="store_true", help="the topology is this machine's: measure as well"
    )
    add_threads(parser)
    parser.add_argument(
        "--memory",
        metavar="BYTES",
        help="memory limit of all ranks together, such as 4GB (default: 70 %% of the machine's)",
    )
    parser.add_argument(
        "--seconds", type=float, default=Budget.seconds, help="for each number of ranks (default: 30)"
    )
    parser.add_argument(
        "--alternatives", type=int, default=Budget.alternatives, help="layouts to look at (default: 48)"
    )
    parser.add_argument(
        "--measured", type=int, default=Budget.measured, help="layouts to measure (default: 6)"
    )


def command(arguments: argparse.Namespace) -> int:
    """Searches for every number of ranks and prints what was found: also if Control-C ends it (130)."""
    subject = _subject(arguments)
    try:
        counts = sorted({int(part) for part in arguments.ranks.split(",")})
    except ValueError:
        raise HeadraceError(f"expected numbers of ranks such as 1,2,4, got {arguments.ranks}") from None
    if arguments.measured < 1 or arguments.alternatives < 0 or not arguments.seconds > 0:
        raise HeadraceError("--measured and --seconds must be positive, and --alternatives not negative")
    budget = Budget(arguments.seconds, arguments.alternatives, arguments.measured)
    outcomes = []
    for ranks in counts:
        target = _target(ranks, arguments.topology, arguments.memory)
        outcomes.append(
            search(
                subject, target, threads=arguments.threads, budget=budget, measure=arguments.measure or None
            )
        )
        if sys.stderr.isatty():
            print(file=sys.stderr)
        print(outcomes[-1])
        if outcomes[-1].stopped == INTERRUPTED:
            break
    if len(outcomes) > 1:
        best = min(outcomes, key=_seconds)
        print(f"quickest with {counted(best.ranks, 'rank')}")
    return 130 if outcomes[-1].stopped == INTERRUPTED else 0


def _seconds(outcome: Outcome) -> float:
    least = outcome.best.least if outcome.best.least is not None else outcome.best.predicted
    return float("inf") if least is None else least


def _subject(arguments: argparse.Namespace) -> Subject:
    from headrace._src.query.tables import resolve

    is_mlir = arguments.program.endswith(".mlir")
    text = given_text("@" + arguments.program.removeprefix("@") if is_mlir else arguments.program, "program")
    if (arguments.query or not is_mlir) and arguments.tables is None:
        raise HeadraceError("a query is tuned over tables: give --tables")
    if is_mlir:
        queries = [part for given in arguments.query for part in _query(given, arguments.tables)]
        return ProgramSubject(text, queries=tuple(queries), memory=arguments.memory)
    if arguments.query:
        raise HeadraceError("--query is for arguments of a FILE.mlir")
    return SqlSubject(text, resolve(arguments.tables), arguments.memory)


def _query(given: str, tables: list[str]) -> list[tuple[int, QueryTensor]]:
    """`0=x,y;2=z: select …`: arguments of a function and the columns that they are."""
    from headrace._src.array.queries import query

    heading, colon, text = given.partition(":")
    pairs = [group.partition("=") for group in heading.split(";")]
    if not colon or not all(index.strip().isdigit() and columns for index, _, columns in pairs):
        raise HeadraceError(f"expected arguments and a query such as '0=x,y: select …', got {given}")
    groups = [[name.strip() for name in columns.split(",")] for _, _, columns in pairs]
    tensors = query(given_text(text.strip(), "query"), tables).to_tensors(*groups)
    return [(int(index), tensor) for (index, _, _), tensor in zip(pairs, tensors, strict=True)]
