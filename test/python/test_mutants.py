"""A program with one thing changed, at each level: it is refused, or gives the right answer.

Right is the answer of the interpreter where it executes the level, and else that of the program. A sample
in every run; HEADRACE_MUTANTS=all: all of them, in an hour (HEADRACE_MUTANTS=200: so many per level)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest
from interpreter_tool import run_tool
from level_programs import PHASES, PROGRAMS, LevelProgram
from mlir_mutations import Mutant, Vocabulary, mutants_of
from mutant_oracle import INTERPRETED, Oracle
from mutant_worker import Outcome, Request, Worker

_DIALECTS = Path(__file__).parents[2] / "dialects"
#: Mutants per level.
COUNT = os.environ.get("HEADRACE_MUTANTS", "30")

#: Mutants that leave open in which order rows come: of several right answers the interpreter gives one.
_OPEN = {"frame.window order element dropped"}

#: What a program is, where no interpreter says what another one means: expressions, the columns that they
#: read, and what is asked for. Another answer is right then; a failure is not.
_MEANING = re.compile(
    r"pipe\.(literal|string_match|substring|text|date_part|number|yield|select|owns) .*"
    r"|pipe\.(filter|map) columns (another name|element dropped)"
    r"|pipe\.map names another name"
    r"|pipe\.lookup (keys another name|kind\.0 case|payload another name)"
    r"|pipe\.insert keys (another name|element dropped)"
    r"|pipe\.state (limit|offset|sort_keys|functions).*"
    r"|pipe\.state fields\.2 case"
    r"|(pipe\.stream|sched\.result) names (another name|misspelt)"
    r"|(pipe\.stream|sched\.result) logical (number|type)"  # what the user calls the values
    r"|(pipe|sched)\.to_tensor groups .*"
    r"|dist\.\w+ combine.*"
    r"|(pipe\.scan|sched\.load) (columns\.file|table) another name"
)


@dataclass
class Level:
    """The mutants of all programs after one phase."""

    phase: str
    texts: dict[str, str]
    mutants: list[tuple[LevelProgram, Mutant]]


@dataclass
class Judge:
    """Runs mutants and says what is wrong with one, or nothing."""

    worker: Worker
    oracle: Oracle
    answers: dict[str, Any] = field(default_factory=dict)

    def fault(self, level: Level, program: LevelProgram, mutant: Mutant) -> str:
        text = mutant.apply(level.texts[program.name])
        outcome = self.worker.run(Request(program.name, level.phase, text))
        if outcome.verdict == "refused":
            return ""
        if outcome.verdict == "failed":
            return outcome.message
        if mutant.kind == "unknown":
            return "is accepted"
        return "" if self._right(level, program, mutant, text, outcome) else "gives another answer"

    def _right(
        self, level: Level, program: LevelProgram, mutant: Mutant, text: str, outcome: Outcome
    ) -> bool:
        if program.name not in self.answers:
            self.answers[program.name] = program.answer()
        if outcome.rows == self.answers[program.name] and level.phase not in INTERPRETED:
            return True
        if level.phase in INTERPRETED:
            if mutant.key in _OPEN:
                return True
            meant = self.oracle.answer(program, text, outcome)
            # What the interpreter refuses has no other meaning than before.
            return outcome.rows == (self.answers[program.name] if isinstance(meant, str) else meant)
        return _MEANING.fullmatch(mutant.key) is not None


def _generic(texts: list[str], folder: Path) -> list[str]:
    file = folder / "texts.mlir"
    file.write_text("\n// -----\n".join(texts))
    done = run_tool("headrace-opt", "--split-input-file", "--mlir-print-op-generic", str(file))
    assert done.returncode == 0, done.stderr
    return done.stdout.split("// -----\n")


@pytest.fixture(scope="module")
def levels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Level]:
    folder = tmp_path_factory.mktemp("levels")
    by_program = {program.name: program.texts() for program in PROGRAMS}
    made = {}
    for phase in PHASES:
        texts = _generic([by_program[program.name][phase] for program in PROGRAMS], folder)
        vocabulary = Vocabulary.of(_DIALECTS, texts)
        pairs = list(zip(PROGRAMS, texts, strict=True))
        mutants = [(program, each) for program, text in pairs for each in mutants_of(text, vocabulary)]
        made[phase] = Level(phase, {program.name: text for program, text in pairs}, mutants)
    return made


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    with Worker() as worker:
        yield Judge(worker, Oracle(tmp_path_factory.mktemp("tables")))


@pytest.mark.parametrize("phase", PHASES)
def test_mutants_are_refused_or_right(phase: str, levels: dict[str, Level], judge: Judge) -> None:
    level = levels[phase]
    chosen = list(level.mutants)
    if COUNT != "all":
        chosen = Random(phase).sample(chosen, min(int(COUNT), len(chosen)))
    survivors = [
        f"{phase} {program.name} {mutant}: {fault}"
        for program, mutant in chosen
        if (fault := judge.fault(level, program, mutant))
    ]
    assert not survivors, "\n".join([f"{len(survivors)} of {len(chosen)} mutants survive:", *survivors])
