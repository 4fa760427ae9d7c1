"""Random programs: every stage of the compiler and compiled execution against the interpreter.

HEADRACE_RANDOM_PROGRAMS: how many programs (default 200), HEADRACE_RANDOM_COMPILED: how many of them are run,
HEADRACE_RANDOM_TENSORS: how many programs of arrays;
HEADRACE_RANDOM_SEED: the first one's seed. A
failure names its seed; `random_frame_programs.random_program(seed).text` is the program.
"""

from __future__ import annotations

import os
from pathlib import Path

import headrace as hr
import numpy as np
import pytest
from compiled_programs import Case, outcomes
from interpreter_tool import Output, interpret, run_on_tensors, run_tool, value_of, write_csv
from random_frame_programs import Program, random_program
from random_tensor_programs import random_tensor_program

#: Programs that are also compiled and run, on one rank by the solver's layout and on several by a random one.
COMPILED = int(os.environ.get("HEADRACE_RANDOM_COMPILED", "60"))
#: Programs of arrays.
TENSORS = int(os.environ.get("HEADRACE_RANDOM_TENSORS", "25"))
COUNT = int(os.environ.get("HEADRACE_RANDOM_PROGRAMS", "200"))
FIRST = int(os.environ.get("HEADRACE_RANDOM_SEED", "1"))
MESHES = ("ranks:1", "ranks:2", "ranks:3", "a:2,b:2")
#: What the compiler says of programs that it cannot do, and why that is right for now.
KNOWN_LIMITS = (
    # Rows without columns: nothing that SQL makes.
    "rows without columns are not supported",
)


def _interpreted(programs: dict[int, Program], folder: Path, *arguments: str) -> dict[int, Output]:
    for program in programs.values():
        for table in program.tables:
            write_csv(folder, table.name, [column.name for column in table.columns], table.rows)
    file = folder / "programs.mlir"
    file.write_text("// -----\n".join(program.text for program in programs.values()))
    outputs = interpret(file, folder, "--check", *arguments)
    return dict(zip(programs, outputs, strict=True))


def _is_known(difference: str) -> bool:
    return any(limit in difference for limit in KNOWN_LIMITS)


def test_every_stage_equals_the_program(tmp_path: Path) -> None:
    programs = {seed: random_program(seed) for seed in range(FIRST, FIRST + COUNT)}
    meshes = [argument for mesh in MESHES for argument in ("--mesh", mesh)]
    outputs = _interpreted(programs, tmp_path, "--layouts", "3", *meshes)
    wrong = {
        seed: unknown
        for seed, output in outputs.items()
        if (unknown := [text for text in output.differences if not _is_known(text)])
    }
    assert not wrong
    compared = [output for output in outputs.values() if output.compared > 10]
    assert len(compared) > COUNT * 0.8, "most programs can be compared"
    assert sum(len(output.rows) > 1 for output in compared) > COUNT * 0.3, "many have rows"


@pytest.mark.parametrize(
    ("shard", "last"),
    [
        ("mesh=r:1", "--lower-kernels"),
        ("mesh=r:3 seed=5", "--schedule-tasks"),
        ("mesh=a:2,b:2 seed=9", "--lower-kernels"),
    ],
)
def test_every_phase_ends(shard: str, last: str, tmp_path: Path) -> None:
    """Down to tasks and to kernels; under a sanitizer, whatever it finds is an error of the tool."""
    file = tmp_path / "programs.mlir"
    file.write_text("// -----\n".join(random_program(seed).text for seed in range(FIRST, FIRST + COUNT)))
    phases = ["--optimize", f"--shard={shard}", "--form", last]
    done = run_tool("headrace-opt", str(file), "--split-input-file", *phases, "-o", os.devnull)
    lines = done.stderr.splitlines()
    assert not [line for line in lines if "error: " in line.lower() and not _is_known(line)]
    assert done.returncode == (1 if lines else 0), done.stderr[-4000:]


def _same(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or abs(a - b) <= 1e-9 * max(abs(a), abs(b)) or (a != a and b != b)
    return a == b


def test_compiled_equals_the_program(tmp_path: Path) -> None:
    programs = {seed: random_program(seed) for seed in range(FIRST, FIRST + COMPILED)}
    interpreted = _interpreted(programs, tmp_path, "--layouts", "0", "--mesh", "ranks:1")
    comparable = [seed for seed, output in interpreted.items() if not output.data_error]
    cases = [
        Case(seed, ranks, layout) for seed in comparable for ranks, layout in ((1, -1), (2 + seed % 3, seed))
    ]
    wrong, equal = [], 0
    for outcome in outcomes(cases):
        if outcome.error:
            if not _is_known(outcome.error):
                wrong.append((outcome.case, outcome.error))
            continue
        program, output = programs[outcome.case.seed], interpreted[outcome.case.seed]
        expected = [
            tuple(value_of(text, column.arrow) for text, column in zip(row, program.columns, strict=True))
            for row in output.rows
        ]
        found = sorted(outcome.rows, key=repr)
        same = len(found) == len(expected) and all(
            all(map(_same, a, b)) for a, b in zip(found, sorted(expected, key=repr), strict=True)
        )
        if same:
            equal += 1
        else:
            wrong.append((outcome.case, f"{len(found)} rows for {len(expected)}: {found[:3]}"))
    assert not wrong
    assert equal > len(cases) // 3, "many programs compile"


def _write_tensors(folder: Path, arguments: list[np.ndarray]) -> None:
    for index, array in enumerate(arguments):
        extents = " ".join(map(str, array.shape))
        elements = " ".join(map(repr, array.ravel().tolist()))
        (folder / f"arg{index}.tensor").write_text(f"{extents}\n{elements}\n")


def _assert_close(found: np.ndarray, expected: np.ndarray, seed: int) -> None:
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * scale, err_msg=f"seed {seed}")


@pytest.mark.parametrize("seed", range(FIRST, FIRST + TENSORS))
def test_tensor_programs(seed: int, tmp_path: Path) -> None:
    """Interpreted after every stage, and compiled, against NumPy."""
    program = random_tensor_program(seed)
    trace = hr.jit(program.function).trace(*program.arguments)
    expected = trace.evaluate(*program.arguments)
    _write_tensors(tmp_path, program.arguments)
    file = tmp_path / "program.mlir"
    file.write_text(trace.text)
    arguments = [
        "--check",
        "--tensors",
        str(tmp_path),
        "--layouts",
        "4",
        "--mesh",
        "r:3",
        "--mesh",
        "a:2,b:2",
    ]
    results, differences = run_on_tensors(file, *arguments)
    assert not differences
    for found, value in zip(results, expected, strict=True):
        _assert_close(np.array(found, dtype=value.dtype).reshape(value.shape), value, seed)
    ranks = 1 + seed % 4
    compiled = hr.jit(ranks=ranks, layout_seed=seed, threads=2)(program.function)(*program.arguments)
    for found, value in zip(compiled, expected, strict=True):
        _assert_close(found, value, seed)
