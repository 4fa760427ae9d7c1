"""avg of dates, times and timestamps beside DuckDB: types, rounding, FILTER, DISTINCT, groups, windows."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from sql_oracle import Oracle

_KINDS = {
    "s": (pa.timestamp("s"), 10**10),
    "ms": (pa.timestamp("ms"), 10**13),
    "us": (pa.timestamp("us"), 10**16),
    "ns": (pa.timestamp("ns"), 10**18),
    "z": (pa.timestamp("us", "UTC"), 10**16),
    "d": (pa.date32(), 10**5),
    "t": (pa.time64("us"), 0),
}
_QUERIES = (
    "select avg({x}) as a, mean({x}) as b, avg({x}) filter (i % 3 = 0) as c from t",
    "select g, avg({x}) as a, avg(distinct {x}) as b, count({x}) as n from t group by g",
    "select g, i % 2 as h, avg({x}) as a from t group by grouping sets ((g), (h), ())",
    "select i, avg({x}) over (partition by g order by i rows 2 preceding) as a from t",
    "select i, avg({x}) over (order by i) a, avg({x}) filter (i % 2 = 0) over (partition by g) b from t",
    "select avg({x}) as a from t where i < 0",
    "select median({x}) as a, quantile_cont({x}, 0.3) as b, quantile_cont({x}, [0.1, 0.9]) as c from t",
)


def _table(seed: int) -> pa.Table:
    """Few values, near zero and far from it, with halves and thirds between them."""
    rng = random.Random(seed)
    count = 200

    def value(name: str, most: int) -> int | None:
        if rng.random() < 0.1:
            return None
        if name == "t":
            return rng.choice([rng.randrange(4), rng.randrange(86_400_000_000), 86_399_999_999])
        return rng.choice([rng.randrange(-3, 4), rng.randrange(-most, most), most - 1])

    columns = {
        name: pa.array([value(name, most) for _ in range(count)], kind)
        for name, (kind, most) in _KINDS.items()
    }
    groups = pa.array([rng.choice([*range(60), None]) for _ in range(count)], pa.int32())
    return pa.table({"i": pa.array(range(count), pa.int32()), "g": groups, **columns})


@pytest.mark.parametrize("name", _KINDS)
def test_means(name: str) -> None:
    oracle = Oracle({"t": _table(len(name))})
    for ranks, query in enumerate(_QUERIES):
        assert oracle.difference(query.format(x=name), ranks=1 + ranks % 4) is None, query


def test_of_infinite_ones() -> None:
    """The mean of the numbers that stand for them, as DuckDB has it."""
    oracle = Oracle({"t": pa.table({"s": ["infinity", "2024-01-01", "-infinity", None]})})
    for query in (
        "select avg(s::timestamp) as a, avg(s::timestamp) filter (s = 'infinity') as b from t",
        "select avg(s::timestamptz) filter (s <> '-infinity') as a from t",
        "select avg(s::date) filter (s <> 'infinity') as a from t",
    ):
        assert oracle.difference(query) is None, query
