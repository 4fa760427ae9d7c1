"""The text of each phase, compiled further, gives the program's answer; one that does not fit is refused.

Sources: passes/driver/phases.cpp
"""

from __future__ import annotations

import headrace as hr
import pytest
from level_programs import PHASES, PROGRAMS, TABLES, LevelProgram


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_every_level_gives_the_answer(program: LevelProgram) -> None:
    expected = program.answer()
    assert expected
    texts = program.texts()
    for phase in PHASES:
        resumed = hr.mlir(texts[phase], tables=TABLES, threads=2, resume_after=phase, **program.target())
        assert program.comparable(resumed(*program.arrays())) == expected, phase


_QUERY = "select customer, sum(total) as total from orders group by customer"


def _error(text: str, phase: str, ranks: int = 2) -> str:
    with pytest.raises(hr.HeadraceError) as caught:
        hr.mlir(text, tables=TABLES, ranks=ranks, resume_after=phase)
    assert caught.value.kind == "user"
    return str(caught.value)


def test_a_text_is_checked_as_its_phase_leaves_it() -> None:
    texts = {phase: hr.lower(_QUERY, TABLES, phase, ranks=2, layout_seed=4) for phase in PHASES}
    assert "no such phase" in _error(texts["import"], "imported")
    assert "the program of this phase cannot be compiled further: lower" in _error(texts["form"], "lower")
    assert "must not carry layouts before shard" in _error(texts["shard"], "import")
    assert "needs topo.mesh behind the phase shard" in _error(texts["optimize"], "shard")
    assert "must be gone after form" in _error(texts["shard"], "form")
    assert "needs exactly one sched.program after schedule" in _error(texts["form"], "schedule")
    for phase in ("shard", "form", "schedule"):
        assert "the mesh ranks:2 has 2 ranks, the program has 3" in _error(texts[phase], phase, ranks=3)


def test_queries_are_put_into_imported_programs_only() -> None:
    from headrace import _compiler

    request = _compiler.Request()
    request.mlir, request.resume_after = "module {}", "form"
    request.queries = [_compiler.Query()]
    answer = _compiler.Session().compile_mlir(request)
    assert answer.error_kind == "user"
    assert "queries are put into a program of the phase import only, got form" in answer.error
