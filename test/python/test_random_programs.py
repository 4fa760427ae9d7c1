"""Random programs: every stage of the compiler and compiled execution against the interpreter.

HEADRACE_RANDOM_PROGRAMS: how many programs (default 200); HEADRACE_RANDOM_SEED: the first one's seed. A
failure names its seed; `random_frame_programs.random_program(seed).text` is the program.
"""

from __future__ import annotations

import os
from pathlib import Path

from interpreter_tool import Output, interpret, write_csv
from random_frame_programs import Program, random_program

COUNT = int(os.environ.get("HEADRACE_RANDOM_PROGRAMS", "200"))
FIRST = int(os.environ.get("HEADRACE_RANDOM_SEED", "1"))
MESHES = ("ranks:1", "ranks:2", "ranks:3", "a:2,b:2")
#: What the compiler says of programs that it cannot do, and why that is right for now.
KNOWN_LIMITS = (
    "is not supported",
    # One op can only run everywhere (a full join with an aggregate without keys), the next on one rank.
    "no choice of layouts satisfies all constraints",
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
