"""What a program of a level means: the answer of the reference interpreter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from interpreter_tool import TOOL, parse_line, run_tool, value_of, write_table
from level_programs import TABLES, LevelProgram
from mutant_worker import Outcome

#: Phases whose programs the interpreter executes.
INTERPRETED = ("import", "optimize", "shard")


class Oracle:
    """Asks the interpreter, over the tables of the programs in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name, table in TABLES.items():
            write_table(folder, name, table)

    def answer(self, program: LevelProgram, text: str, compiled: Outcome) -> Any:
        """As `LevelProgram.comparable` gives it, or the text of an error.

        compiled: what has the names and types of the columns.
        """
        file = self._folder / "mutant.mlir"
        file.write_text(text)
        for index, array in enumerate(program.arrays()):
            shape, elements = " ".join(map(str, array.shape)), " ".join(map(repr, array.ravel().tolist()))
            (self._folder / f"arg{index}.tensor").write_text(f"{shape}\n{elements}\n")
        done = run_tool(TOOL, str(file), "--tables", str(self._folder), "--tensors", str(self._folder))
        if done.returncode != 0:
            return done.stderr.strip() or f"ended with {done.returncode}"
        if not program.sql:
            blocks = (block.split("\n", 1) for block in done.stdout.split("\n\n")[:-1])
            arrays = (
                np.array([float(word) for word in rest.split()]).reshape(tuple(map(int, first.split())))
                for first, rest in blocks
            )
            return program.comparable(tuple(arrays))
        rows = [parse_line(line) for line in done.stdout.splitlines()[1:-1]]
        values = (list(map(value_of, row, compiled.types)) for row in rows)
        return program.comparable_rows(compiled.rows[0], values)
