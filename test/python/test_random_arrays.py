"""Random programs of arrays against NumPy, of queries and arrays against DuckDB and NumPy, on 1 to 3 ranks.

HEADRACE_RANDOM_ARRAYS: how many of each (default 60; 10,000 take an hour on two cores). hypothesis shrinks
what fails and prints it; HEADRACE_RANDOM_SEED draws others.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import headrace as hr
import numpy as np
import pyarrow as pa
import pytest
from bounded_arrays import mismatch
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from random_array_programs import ArrayProgram, array_programs
from random_mixed_programs import MixedProgram, mixed_programs

COUNT = int(os.environ.get("HEADRACE_RANDOM_ARRAYS", "60"))
SEED = int(os.environ.get("HEADRACE_RANDOM_SEED", "1"))
RANDOM = settings(
    max_examples=COUNT,
    deadline=None,
    database=None,
    print_blob=False,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
TARGETS = st.tuples(st.integers(1, 3), st.none() | st.integers(0, 50))


def function_of(program: ArrayProgram) -> Callable:
    """jit names the arguments of what it takes."""
    names = ", ".join(f"a{index}" for index in range(len(program.arguments)))
    return eval(f"lambda {names}: body({names})", {"body": program.traced})  # noqa: S307


@seed(SEED)
@RANDOM
@given(array_programs(), TARGETS)
def test_arrays_mean_what_numpy_says(program: ArrayProgram, target: tuple[int, int | None]) -> None:
    ranks, layout_seed = target
    run = hr.jit(ranks=ranks, threads=2, layout_seed=layout_seed)(function_of(program))
    try:
        values = run(*(argument.value for argument in program.arguments))
    except hr.HeadraceError as error:
        raise AssertionError(f"{error}{program!r}") from error
    for index, (got, wanted) in enumerate(zip(values, program.bounded(), strict=True)):
        assert not (wrong := mismatch(got, wanted)), f"result {index}: {wrong}{program!r}"


@seed(SEED)
@RANDOM
@given(mixed_programs(), TARGETS)
def test_rows_of_queries_mean_what_duckdb_and_numpy_say(mixed: MixedProgram, target: tuple) -> None:
    ranks, layout_seed = target
    program = mixed.program
    run = hr.jit(ranks=ranks, threads=2, layout_seed=layout_seed)(function_of(program))
    tensors = mixed.tensors()
    others = (argument.value for argument in program.arguments[len(tensors) :])
    try:
        values = run(*tensors, *others)
    except hr.HeadraceError as error:
        raise AssertionError(f"{error}{mixed!r}") from error
    for index, (got, wanted) in enumerate(zip(values, program.bounded(), strict=True)):
        assert not (wrong := mismatch(got, wanted)), f"result {index}: {wrong}{mixed!r}"
    check_back(values[0], ranks)


def check_back(values: np.ndarray, ranks: int) -> None:
    """What arrays gave, as a table again: count and extremes, of which NaN is the greatest."""
    flat = values.reshape(-1)
    table = pa.table({"v": flat})
    found = hr.sql("select count(*) as n, min(v) as low, max(v) as high from r", {"r": table}, ranks=ranks)
    (row,) = found.to_pylist()
    ordered = np.sort(flat)  # NaN last
    assert row["n"] == len(flat)
    for name, position in (("low", 0), ("high", -1)):
        wanted = ordered[position] if len(flat) else None
        same = row[name] == wanted or (wanted is not None and row[name] != row[name] and wanted != wanted)
        assert same, (name, row[name], wanted)


def test_the_bounds_notice_a_wrong_answer() -> None:
    from bounded_arrays import Bounded, exp
    from bounded_arrays import sum as total

    x = Bounded.exact(np.random.default_rng(1).normal(size=(5, 7)).astype("float32"))
    wanted = total(exp(x), axis=0)
    assert not mismatch(np.flip(np.exp(x.value), 0).sum(axis=0), wanted)
    assert mismatch(wanted.value * np.float32(1 + 1e-4), wanted)
    assert mismatch(wanted.value.astype("float64"), wanted)
    with pytest.raises(AssertionError):
        assert not mismatch(np.where(np.arange(7) == 3, np.nan, wanted.value), wanted)
