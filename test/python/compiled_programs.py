"""Random programs compiled and run, each in a process of its own kind, so that a crash names the program."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from random_frame_programs import random_program


@dataclass(frozen=True)
class Case:
    """A random program, on so many ranks, under a random layout or (-1) the solver's."""

    seed: int
    ranks: int
    layout_seed: int


@dataclass
class Outcome:
    case: Case
    rows: list[tuple[Any, ...]]
    error: str = ""


_session: Any = None


def _run(case: Case) -> Outcome:
    from headrace import _compiler, _runtime

    global _session
    _session = _session or _compiler.Session()
    program = random_program(case.seed)
    request = _compiler.Request()
    request.mlir, request.ranks, request.layout_seed = program.text, case.ranks, case.layout_seed
    answer = _session.compile_mlir(request)
    if not answer.ok:
        return Outcome(case, [], answer.error)
    try:
        plan = _runtime.load_plan(answer.plan_json, answer.kernels)
        bindings = {table.name: table.arrow for table in program.tables}
        result = pa.table(plan.run(bindings, ranks=case.ranks, threads=2))
    except RuntimeError as error:
        return Outcome(case, [], str(error))
    columns = [column.to_pylist() for column in result.columns]
    return Outcome(case, list(zip(*columns, strict=True)))


def outcomes(cases: Iterable[Case]) -> Iterator[Outcome]:
    """Runs them one after the other; the process that a case ends is replaced."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(1, mp_context=context)
    for case in cases:
        try:
            yield pool.submit(_run, case).result(timeout=60)
        except BrokenProcessPool:
            yield Outcome(case, [], "the process ended")
            pool = ProcessPoolExecutor(1, mp_context=context)
    pool.shutdown()
