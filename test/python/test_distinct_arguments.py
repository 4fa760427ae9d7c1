"""DISTINCT of all arguments together: pairs, quantiles, and lists in an order of their own, beside DuckDB.

Sources: passes/import/duckdb/window_aggregates.cpp
"""

from __future__ import annotations

import random
from fractions import Fraction

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import check


def _table(rows: int = 140) -> pa.Table:
    chance = random.Random(17)

    def some(values: list[object]) -> list[object]:
        return [None if chance.random() < 0.2 else chance.choice(values) for _ in range(rows)]

    groups = [chance.choice([1, 2, 3, None]) for _ in range(rows - 4)] + [7, 7, 7, 8]
    columns = {
        "i": some([-3, 0, 1, 2, 7, 40, 2**31 - 1, -(2**31)]),
        "l": some([2**63 - 1, -(2**63), 0, 5]),
        "x": some([0.0, -0.0, 0.5, 1.5, -2.0, 3.25]),
        "y": some([2.0, -0.25, 4.5, 31.0]),
        "n": some([1.0, float("nan"), float("inf"), -float("inf"), 0.0, -0.0]),
        "s": some(["", "a", "ä", "a text of more than twelve bytes"]),
        "k": some([1, 2, 3]),
    }
    for values in columns.values():
        values[-4:-1] = [None] * 3  # group 7 has no values, group 8 one row
    return pa.table(
        {
            "id": pa.array(chance.sample(range(1000), rows), pa.int32()),
            "u": pa.array(chance.sample(range(1000), rows), pa.int64()),
            "g": pa.array(groups, pa.int32()),
            "i": pa.array(columns["i"], pa.int32()),
            "l": pa.array(columns["l"], pa.int64()),
            "x": columns["x"],
            "y": columns["y"],
            "n": columns["n"],
            "s": columns["s"],
            "k": pa.array(columns["k"], pa.int8()),
            "d": pa.array(columns["y"], pa.float64()).cast(pa.decimal128(20, 2)),
        }
    )


_TABLES = {"t": _table()}
_PAIRS = ["x, y", "y, x", "k, x", "i, 1", "d, k"]
_OF_PAIRS = [
    "covar_pop", "covar_samp", "corr", "regr_count", "regr_avgx", "regr_avgy", "regr_sxx", "regr_syy",
    "regr_sxy", "regr_slope", "regr_intercept", "regr_r2",
]  # fmt: skip
#: One value for each pair, so that it does not matter which of equal ones comes first.
_FEW = [
    "arg_max(distinct i, (u % 40, i), 3)",
    "arg_min(distinct s, (u % 40, s), 2) filter (where k > 1)",
    "arg_min(distinct k % 2, [k, u % 5, k % 2], 9)",
    "arg_max_nulls_last(distinct k, u % 9 * 10 + k, 2)",
    "max(distinct k, 2)",
]
_QUANTILES = [
    "median(distinct i)", "median(distinct x)", "median(distinct n)", "quantile_cont(distinct l, 0.3)",
    "quantile_cont(distinct d, 0.9)", "quantile_disc(distinct s, 0.7)", "quantile_disc(distinct n, 0.5)",
    "quantile_cont(distinct y, [0.25, 0.5, 1])", "quantile_disc(distinct s, [0.9, 0.1])",
    "quantile_cont(distinct x, 0.4) filter (where k > 1)", "median(distinct [k])",
    "quantile_disc(distinct i, -0.2)", "median(distinct date '2020-01-01' + k)",
    "median(distinct to_days(k::int))",
]  # fmt: skip
_FIRST = [
    "mode(distinct k order by k)",
    "mode(distinct s order by s desc)",
    "mode(distinct i order by i nulls first) filter (where k > 1)",
    "arg_max(distinct s, k order by s)",
    "arg_min(distinct i, k order by i desc) filter (where k > 1)",
]
_FRAMES = [
    "partition by g",
    "",
    "partition by g order by id",
    "order by id",
    "partition by g order by id rows between unbounded preceding and unbounded following",
    "order by id rows between 6 preceding and 3 following",
    "partition by g order by id rows between 4 preceding and 2 preceding",
    "partition by g order by id groups between 5 preceding and current row exclude current row",
    "order by id range between 90 preceding and 50 following exclude ties",
    "order by id rows between (u % 7) preceding and current row",
]


def _listed(calls: list[str]) -> str:
    return ", ".join(f"{call} as c{place}" for place, call in enumerate(calls))


def _over(calls: list[str]) -> str:
    return _listed([f"{call} over w" for call in calls])


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("calls", [_FEW, _QUANTILES, _FIRST], ids=["few", "quantiles", "first"])
def test_groups(calls: list[str], ranks: int) -> None:
    listed = _listed(calls)
    check(f"select g, {listed}, count(*) as z from t group by g", _TABLES, ranks=ranks)
    check(f"select {listed} from t", _TABLES, ranks=ranks)
    check(f"select {listed} from t where false", _TABLES, ranks=ranks)
    check(f"select g, k, {listed} from t group by rollup (g, k)", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("frame", _FRAMES)
@pytest.mark.parametrize("calls", [_FEW, _QUANTILES, _FIRST], ids=["few", "quantiles", "first"])
def test_windows(calls: list[str], frame: str, ranks: int) -> None:
    check(f"select id, {_over(calls)} from t window w as ({frame})", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("frame", _FRAMES)
def test_pairs(frame: str, ranks: int) -> None:
    calls = [f"{function}(distinct {pair})" for function, pair in zip(_OF_PAIRS, _PAIRS * 3, strict=False)]
    calls += ["corr(distinct y, k) filter (where k > 1)", "regr_count(distinct x, y) filter (where false)"]
    check(f"select id, {_over(calls)} from t window w as ({frame})", _TABLES, ranks=ranks)


def test_pairs_far_from_zero() -> None:
    """Exact where running means lose digits."""
    x, y = [1e9, 1e9 + 0.25, 1e9, 1e9 + 1, 1e9 + 0.25], [2e9, 2e9 + 3, 2e9, 2e9 - 0.5, 2e9 + 7]
    query = "select covar_pop(distinct y, x) over (order by id) as c from t order by id"
    found = hr.sql(query, {"t": pa.table({"id": range(5), "x": x, "y": y})})["c"].to_pylist()
    for rows, value in enumerate(found, start=1):
        pairs = {(Fraction(a), Fraction(b)) for a, b in zip(x[:rows], y[:rows], strict=True)}
        means = [sum(each) / len(pairs) for each in zip(*pairs, strict=True)]
        exact = sum((a - means[0]) * (b - means[1]) for a, b in pairs) / len(pairs)
        assert value == float(exact)


@pytest.mark.parametrize("pair", _PAIRS)
def test_every_function_of_pairs(pair: str) -> None:
    calls = [f"{function}(distinct {pair})" for function in _OF_PAIRS]
    frame = "partition by g order by id rows between 9 preceding and 1 preceding"
    check(f"select id, {_over(calls)} from t window w as ({frame})", _TABLES, ranks=2)
    check(f"select g, {_listed(calls)} from t group by g", _TABLES, ranks=2)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("frame", [frame for frame in _FRAMES if "order by" in frame])
def test_lists_in_an_order_of_their_own(frame: str, ranks: int) -> None:
    """Of equal values the one that is first in it; it is silent about values that are no lists."""
    calls = [
        "list(distinct s order by u)",
        "list(distinct k order by u desc) filter (where i > 0)",
        "string_agg(distinct s, '|' order by k nulls first, u)",
        "list(distinct s order by s, u)",
        "list(distinct s order by s desc nulls first)",
        "list(distinct n order by u)",
        "list(distinct [k] order by u)",
        "mode(distinct s order by u)",
        "any_value(distinct s order by u desc)",
        "arg_max(distinct s, k order by u)",
        "arg_min(distinct s, k * 1000 + u, 2 order by id)",
        "product(distinct k order by u)",
        "sum(distinct k order by u)",
        "histogram(distinct s order by u)",
        "median(distinct k order by u)",
        "quantile_cont(distinct k, [0.5, 0.1] order by u)",
        "stddev(distinct k order by u)",
        "corr(distinct y, k order by u)",
    ]
    check(f"select id, {_over(calls)} from t window w as ({frame})", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("frame", [frame for frame in _FRAMES if "order by" in frame])
def test_arbitrary_values_that_count(frame: str, ranks: int) -> None:
    """The first row for which the condition holds, whether its value is NULL or not."""
    calls = ["arbitrary(s) filter (where k > 1)", "arbitrary(i order by u) filter (where k < 3)"]
    calls += ["arbitrary([k]) filter (where i > 0)", "arbitrary(k) filter (where false)"]
    check(f"select id, {_over(calls)} from t window w as ({frame})", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_means_of_different_intervals(ranks: int) -> None:
    """Equal ones once: a month is 30 days."""
    table = {
        "t": pa.table({"g": [1, 1, 1, 1, 2, 2, 3], "d": pa.array([1, 2, 2, None, 30, 60, None], pa.int32())})
    }
    calls = "avg(distinct to_days(d)) as a, avg(distinct to_days(d)) filter (where d < 2) as b"
    check(f"select g, {calls} from t group by g", table, ranks=ranks)
    check("select g, avg(distinct to_days(d)) over (partition by g) as a from t", table, ranks=ranks)
    months = "avg(distinct case when d > 30 then to_months(1) else to_days(30) end)"
    found = hr.sql(f"select {months} = interval '30 days' as same from t where d > 9", table, ranks=ranks)
    assert found["same"].to_pylist() == [True]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "select avg(distinct to_days(k::int)) over (order by id) from t",
            "unsupported avg of distinct values in a window",
        ),
    ],
)
def test_refused(query: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql(query, _TABLES)
