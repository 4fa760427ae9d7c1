"""Windows whose rows, or whose partitions, are larger than memory: answers as if there were enough.

Sources: runtime/exec/window/window_merge.cpp
"""

from __future__ import annotations

import headrace as hr
import numpy as np
import pyarrow as pa
import pytest

ROWS = 600_000
#: Of a run with one worker; the rows of `t` with their windows take about 60 MB.
MEMORY = 26 << 20


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    random = np.random.default_rng(11)
    order = random.permutation(ROWS)
    value = random.integers(-1000, 1000, ROWS)
    return {
        "t": pa.table(
            {
                "k": pa.array(order, type=pa.int64()),
                # Peers: one group of a third of the rows, some of thousands, many small ones.
                "p": pa.array(np.where(order < ROWS // 3, 0, np.sqrt(order * 40.0)).astype(np.int64)),
                "few": pa.array(np.where(order % 5 == 0, None, order % 2), type=pa.int32(), from_pandas=True),
                "v": pa.array(np.where(value % 7 == 0, None, value), type=pa.int64(), from_pandas=True),
                "s": pa.array([f"text {n % 90001} of {n % 7}" if n % 11 else None for n in value * order]),
            }
        )
    }


#: Their partitions are gone through with some rows of them in memory.
WINDOWS = {
    "row_number": ["row_number() over (order by k)"],
    "ranks": [
        "rank() over (order by p)",
        "dense_rank() over (order by p)",
        "percent_rank() over (order by p)",
        "cume_dist() over (order by p)",
    ],
    "ntile": ["ntile(7) over (order by k)", "ntile(1000) over (order by k)"],
    "neighbours": [
        "lag(s) over (order by k)",
        "lead(v, 300, -1) over (order by k)",
        "lag(s, 5) over (order by k)",
    ],
    "sums": ["sum(v) over (order by k)", "count(s) over (order by k)", "max(s) over (order by k)"],
    "sums_of_peers": [
        "sum(v) over (order by p)",
        "count(*) over (order by p)",
        "min(s) over (order by p)",
    ],
    "whole": [
        "max(s) over (order by k rows between unbounded preceding and unbounded following)",
        "first_value(s) over (order by k)",
        "last_value(s) over (order by k rows between unbounded preceding and unbounded following)",
    ],
    "frames": [
        "sum(v) over (order by k rows between 10 preceding and 5 following)",
        "min(s) over (order by k rows between 3 preceding and 1 preceding)",
        "count(v) over (order by k rows between 2 following and 900 following)",
        "nth_value(s, 5) over (order by k rows between unbounded preceding and 3 following)",
    ],
    "behind": [
        "sum(v) over (order by k rows between unbounded preceding and 70 preceding)",
        "max(s) over (order by k rows between unbounded preceding and 20 following)",
    ],
    "few": [
        "sum(v) over (partition by few order by p)",
        "max(s) over (partition by few order by p)",
        "rank() over (partition by few order by p)",
    ],
    "few_neighbours": [
        "lag(s) over (partition by few order by k)",
        "lead(k, 2) over (partition by few order by k)",
    ],
    "small": ["sum(v) over (partition by p order by k)", "lag(s) over (partition by p order by k)"],
}


def _query(windows: list[str]) -> str:
    """Of all rows, but with few in the result: blocks of keys."""
    made = ", ".join(
        f"count(w{n}) as c{n}, min(w{n}) as a{n}, max(w{n}) as b{n}" for n in range(len(windows))
    )
    named = ", ".join(f"{window} as w{n}" for n, window in enumerate(windows))
    return (
        f"select k // 50 as block, {made} from (select k, {named} from t) q group by k // 50 order by block"
    )


@pytest.mark.parametrize("name", WINDOWS)
def test_a_window_larger_than_memory(name: str, tables: dict[str, pa.Table]) -> None:
    text = _query(WINDOWS[name])
    expected = hr.sql(text, tables, threads=1)
    assert hr.sql(text, tables, threads=1, memory=MEMORY).equals(expected)
    if name != "small":  # partitions that fit run in rounds
        assert sum(hr.last_profile().run["spilled_bytes"]) > ROWS * 20


@pytest.mark.parametrize(
    "window",
    [
        "sum(v) over (order by k rows between current row and unbounded following)",
        "count(distinct v) over (order by k)",
        "sum(v) over (order by k range between 5 preceding and current row)",
        "lag(v ignore nulls) over (order by k)",
        "sum(v) over (order by k rows between 5 preceding and 5 following exclude current row)",
    ],
)
def test_functions_that_need_all_of_a_partition_say_so(window: str, tables: dict[str, pa.Table]) -> None:
    text = _query([window])
    hr.sql(text, tables, threads=1)
    with pytest.raises(hr.HeadraceError, match="out of host memory: .*raise --memory") as error:
        hr.sql(text, tables, threads=1, memory=MEMORY)
    assert error.value.kind == "memory"
