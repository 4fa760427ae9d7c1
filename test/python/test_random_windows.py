"""Random window queries against DuckDB on 1 to 4 ranks, under the cheapest layout and random ones.

HEADRACE_RANDOM_WINDOWS says how many, HEADRACE_RANDOM_SEED from which seed on.
"""

from __future__ import annotations

import os

import pytest
from random_windows import random_query
from sql_oracle import Oracle, difference

_COUNT = int(os.environ.get("HEADRACE_RANDOM_WINDOWS", "120"))
_FIRST = int(os.environ.get("HEADRACE_RANDOM_SEED", "1"))
_PARTS = 4


@pytest.mark.parametrize("part", range(_PARTS))
def test_random_windows(part: int) -> None:
    problems: list[str] = []
    for seed in range(_FIRST + part, _FIRST + _COUNT, _PARTS):
        table, query = random_query(seed)
        oracle = Oracle({"t": table})
        wanted = oracle.duckdb(query)
        if wanted.table is None and "negative" not in wanted.error and "Overflow" not in wanted.error:
            problems.append(f"seed {seed}: DuckDB refuses {query}\n  {wanted.error}")
            continue
        ranks = 1 + seed // _PARTS % 4
        layout = seed if seed % 2 else None  # small tables are cheapest on one rank
        if problem := difference(oracle.headrace(query, ranks, layout), wanted):
            problems.append(f"seed {seed}, ranks {ranks}, layout {layout}: {query}\n  {problem[:600]}")
    assert not problems, "\n".join(problems)
