"""Random queries under random memory limits: the answer or the memory error, the limit held, no file left.

HEADRACE_RANDOM_MEMORY says how many of large states, and as many of random SQL, HEADRACE_RANDOM_SEED from
which seed on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from random import Random

import duckdb
import headrace as hr
import pyarrow as pa
import pytest
import random_memory
import random_sql
from sql_oracle import Answer, Oracle, difference

_COUNT = int(os.environ.get("HEADRACE_RANDOM_MEMORY", "100"))
_FIRST = int(os.environ.get("HEADRACE_RANDOM_SEED", "1"))
_PARTS = 3
#: The least limit of a rank, and how many times as large the largest is: of large states, and of random SQL.
_LARGE = (8 << 20, 3)
_SMALL = (256 << 10, 64)


def _run(
    text: str, tables: Mapping[str, pa.Table], random: Random, limits: tuple[int, int], folder: Path
) -> tuple[pa.Table | None, str]:
    """The answer within a random limit, or none if the memory error says that there is none; what was run."""
    ranks, threads = random.choice((1, 1, 2)), random.choice((1, 2))
    least, times = limits
    memory = int(least * ranks * times ** random.random())
    said = f"memory {memory}, ranks {ranks}, threads {threads}: {text}"
    settings = {"spillDirectory": str(folder)}
    try:
        answer = hr.sql(text, tables, memory=memory, ranks=ranks, threads=threads, settings=settings)
    except hr.HeadraceError as error:
        assert error.kind in ("memory", "unsupported", "data"), f"{error}\n{said}"
        assert error.kind != "memory" or "out of host memory" in str(error), f"{error}\n{said}"
        return None, said
    finally:
        assert not list(folder.iterdir()), said
    assert sum(hr.last_profile().run["peak_bytes"]) <= memory, said
    return answer, said


def _differs(answer: pa.Table, wanted: pa.Table) -> str:
    """Whether two tables have other rows, as DuckDB compares them: large ones."""
    if answer.num_rows != wanted.num_rows:
        return f"{answer.num_rows} rows, DuckDB {wanted.num_rows}"
    both = duckdb.connect()
    both.register("answer", answer)
    both.register("wanted", wanted)
    found = both.sql("(from answer except all from wanted) limit 3").fetchall()
    return f"has rows {found}" if found else ""


@pytest.mark.parametrize("part", range(_PARTS))
def test_large_states(part: int, tmp_path: Path) -> None:
    problems, answered, spilled = [], 0, 0
    seeds = range(_FIRST + part, _FIRST + _COUNT, _PARTS)
    for seed in seeds:
        random = Random(seed)
        tables = random_memory.random_tables(random)
        text = random_memory.random_query(random)
        answer, said = _run(text, tables, random, _LARGE, tmp_path)
        if answer is None:
            continue
        answered += 1
        spilled += sum(hr.last_profile().run["spilled_bytes"]) > 0
        if problem := _differs(answer, Oracle(tables).duckdb(text).table):
            problems.append(f"seed {seed}, {said}\n  {problem}")
    assert not problems, "\n".join(problems)
    assert answered > len(seeds) * 0.5
    assert spilled > 0 or len(seeds) < 20


@pytest.mark.parametrize("part", range(_PARTS))
def test_random_sql(part: int, tmp_path: Path) -> None:
    problems = []
    for seed in range(_FIRST + part, _FIRST + _COUNT, _PARTS):
        tables, query = random_sql.random_query(seed)
        wanted = Oracle(tables).duckdb(query.text())
        if wanted.table is None:
            continue
        answer, said = _run(query.text(), tables, Random(seed), _SMALL, tmp_path)
        if answer is not None and (problem := difference(Answer(answer), wanted, ordered=query.ordered)):
            problems.append(f"seed {seed}, {said}\n  {problem}")
    assert not problems, "\n".join(problems)
