"""Every aggregate beside DuckDB: FILTER, DISTINCT, windows, NULL, NaN, no rows, 1 to 3 ranks.

Sources: passes/import/{AggregateBuilder,Deviations,MeasureParts,MeasureRows}.cpp
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable

import headrace as hr
import pyarrow as pa
import pytest
from dev.aggregate_functions import Aggregate, table
from duckdb_oracle import check

_ROWS = 600


def _tables() -> dict[str, pa.Table]:
    rng = random.Random(7)

    def some(values: Iterable[object], nulls: float = 0.2) -> list[object]:
        known = list(values)
        return [None if rng.random() < nulls else rng.choice(known) for _ in range(_ROWS)]

    # `id` decides every order; group 5 has no values, group 6 only one row.
    groups = [rng.choice([0, 1, 2, 3, None]) for _ in range(_ROWS - 4)] + [5, 5, 5, 6]
    schema = pa.schema(
        [
            pa.field("id", pa.int32(), nullable=False),
            pa.field("g", pa.int32()),
            pa.field("i", pa.int32()),
            pa.field("l", pa.int64()),
            pa.field("n", pa.int32(), nullable=False),
            pa.field("x", pa.float64()),
            pa.field("y", pa.float64()),
            pa.field("w", pa.float64()),
            pa.field("d", pa.decimal128(12, 2)),
            pa.field("b", pa.bool_()),
            pa.field("s", pa.string()),
        ]
    )
    columns = {
        "id": rng.sample(range(10 * _ROWS), _ROWS),
        "g": groups,
        "i": some(range(-9, 30)),
        "l": some([-(2**63), 2**63 - 1, -1, 0, 1, 12345678901234, 255]),
        "n": [rng.randrange(1, 9) for _ in range(_ROWS)],
        "x": some([0.5, 1.5, -2.0, 3.25, 1.0, -1.0]),
        "y": some([2.0, -0.25, 4.5, 1.0, 0.75]),
        "w": some([1.0, float("nan"), float("inf"), -0.0, 0.0, -5.5]),
        "d": [None if v is None else v / 4 for v in some(range(-40, 40))],
        "b": some([True, False]),
        "s": some(
            ["", "a", "ab", "ä", "zz", "a long text of more than twelve bytes", "a long text of its own"]
        ),
    }
    for name in ("i", "l", "x", "y", "w", "d", "b", "s"):
        for row in range(_ROWS - 4, _ROWS - 1):
            columns[name][row] = None
    columns["d"] = pa.array(columns["d"], pa.float64()).cast(pa.decimal128(12, 2))
    return {
        "t": pa.table({field.name: pa.array(columns[field.name], field.type) for field in schema}, schema)
    }


_TABLES = _tables()
#: But for those that DuckDB estimates.
_AGGREGATES = [
    aggregate for aggregate in table() if aggregate.arguments > 0 and not aggregate.kind.startswith("EXACT")
]
#: Some of one kind at a time: a query takes longer to compile than to run.
_BATCHES = [
    same_kind[start : start + 4]
    for kind in (
        "AGGREGATE",
        "ANY",
        "ROW_OF",
        "ROW_OF_ANY",
        "ROW_OF_ALL",
        "MOST",
        "QUANTILE",
        "DEVIATIONS",
        "POWERS",
    )
    for same_kind in [[aggregate for aggregate in _AGGREGATES if aggregate.kind == kind]]
    for start in range(0, len(same_kind), 4)
]
_FOR_BITS = ("i", "l", "n")


def _names(aggregates: list[Aggregate]) -> str:
    return "-".join(aggregate.duckdb[0] for aggregate in aggregates)


def _columns(aggregate: Aggregate) -> list[tuple[str, ...]]:
    """Arguments of all types that the function takes."""
    name = aggregate.duckdb[0]
    if name.startswith("bool_") or name == "count_if":
        return [("b",), ("i > 3",)]
    if name.startswith("bit_"):
        return [(column,) for column in _FOR_BITS]
    if name == "product":
        return [("x",), ("n",), ("d",), ("w",)]
    if aggregate.kind.startswith("ROW_OF"):  # one x for each y, so that the row does not matter
        return [
            ("id", "id"),
            ("i", "100 * id + i"),
            ("s", "id"),
            ("d", "s || id"),
            ("b", "-id"),
            ("x", "d * 10000 + id"),
        ]
    if aggregate.arguments == 2:
        return [("y", "x"), ("i", "n"), ("d", "x"), ("n", "1")]
    numbers = [("i",), ("n",), ("x",), ("d",)]
    if name in ("sum", "avg") or aggregate.kind in ("DEVIATIONS", "POWERS"):
        return numbers
    if name == "mode":  # one that is the most frequent
        return [("case when n > 2 then i > 3 end",), ("case when n > 3 then 'most' else s end",), ("g",)]
    if name in ("median", "quantile_cont"):
        return [*numbers, ("w",), ("l",)]
    if aggregate.kind == "ANY":  # what is the same in a group
        return [("coalesce(g, 9)",), ("'g' || coalesce(g, 0)",)]
    return [*numbers, ("l",), ("w",), ("b",), ("s",)]


def _calls(aggregate: Aggregate, *, distinct: bool = False) -> list[str]:
    by_name = [
        aggregate.call(*_columns(aggregate)[0], name=name, distinct=distinct) for name in aggregate.duckdb
    ]
    return by_name + [aggregate.call(*columns, distinct=distinct) for columns in _columns(aggregate)[1:]]


def _listed(calls: Iterable[str]) -> str:
    return ", ".join(f"{call} as c{index}" for index, call in enumerate(calls))


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("aggregates", _BATCHES, ids=_names)
def test_groups(aggregates: list[Aggregate], ranks: int) -> None:
    calls = [call for aggregate in aggregates for call in _calls(aggregate)]
    filtered = [f"{_calls(aggregate)[-1]} filter (where n % 3 = 1)" for aggregate in aggregates]
    check(f"select g, {_listed(calls + filtered)} from t group by g", _TABLES, ranks=ranks)
    if aggregates[0].kind != "ANY":
        check(f"select {_listed(calls + filtered)} from t", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [2])
@pytest.mark.parametrize("aggregates", [batch for batch in _BATCHES if batch[0].of_distinct], ids=_names)
def test_distinct(aggregates: list[Aggregate], ranks: int) -> None:
    calls = [_calls(aggregate, distinct=True)[-1] for aggregate in aggregates]
    filtered = [f"{calls[-1]} filter (where n < 5)", "count(*)", "sum(n)"]
    check(f"select g, {_listed(calls + filtered)} from t group by g", _TABLES, ranks=ranks)
    if aggregates[0].kind != "ANY":
        check(f"select {_listed(calls + filtered)} from t", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [2])
@pytest.mark.parametrize("where", ["false", "g = 5", "g = 6"])
def test_no_values(where: str, ranks: int) -> None:
    calls = [call for aggregate in _AGGREGATES for call in _calls(aggregate)[:2]]
    check(f"select {_listed(calls)} from t where {where}", _TABLES, ranks=ranks)
    check(f"select n, {_listed(calls)} from t where {where} group by n", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [3])
@pytest.mark.parametrize("aggregates", [batch for batch in _BATCHES if batch[0].in_windows], ids=_names)
def test_windows(aggregates: list[Aggregate], ranks: int) -> None:
    frames = [
        "partition by g",
        "partition by g order by id rows between 3 preceding and 1 following",
        "partition by g order by id rows between unbounded preceding and current row exclude current row",
    ]
    asked = [call for aggregate in aggregates for call in _calls(aggregate)[-2:]]
    calls = [f"{call} over ({frame})" for call in asked for frame in frames]
    if aggregates[0].kind != "ANY":
        calls.append(f"{asked[0]} filter (where n > 3) over (partition by g order by id)")
    check(f"select id, {_listed(calls)} from t", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [2])
def test_windows_of_distinct_values(ranks: int) -> None:
    functions = ("count", "sum", "avg", "min", "max", "bit_and", "bit_or")
    frames = ("partition by g", "partition by g order by id rows between 5 preceding and current row")
    calls = [f"{function}(distinct i) over ({frame})" for function in functions for frame in frames]
    check(f"select id, {_listed(calls)} from t", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [2])
@pytest.mark.parametrize("sets", ["rollup (g, n % 3)", "grouping sets ((g), (n % 3), ())"])
def test_grouping_sets(sets: str, ranks: int) -> None:
    calls = [_calls(aggregate)[-1] for aggregate in _AGGREGATES if aggregate.kind not in ("ANY", "COLLECT")]
    calls += ["avg(distinct i)", "stddev(distinct i)", "bit_xor(distinct n)"]
    check(
        f"select g, n % 3 as m, grouping(g) as k, {_listed(calls)} from t group by {sets}",
        _TABLES,
        ranks=ranks,
    )


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_first_of_an_order(ranks: int) -> None:
    calls = [
        f"{function}({column} order by {order}){condition}"
        for function in ("first", "last", "any_value", "arbitrary")
        for column in ("i", "s")
        for order in ("id", "id desc", "g desc nulls first, -id")
        for condition in ("", " filter (where n > 4)")
    ]
    check(f"select g, {_listed(calls)} from t group by g", _TABLES, ranks=ranks)
    check(f"select {_listed(calls[:8])} from t", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 3])
def test_first_of_a_window(ranks: int) -> None:
    """NULL, too, but for any_value; without ORDER BY in the call, in the window's order."""
    windows = [
        "order by id",
        "partition by g order by id desc",
        "partition by g order by id rows between 2 preceding and 1 following",
        "order by id rows between 1 following and 3 following exclude current row",
    ]
    calls = [
        f"{function}({column}) over ({window})"
        for function in ("first", "last", "any_value", "arbitrary")
        for column in ("i", "s")
        for window in windows
    ]
    check(f"select id, {_listed(calls)} from t", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 3])
def test_sums_of_what_is_too_large_for_its_type(ranks: int) -> None:
    tables = {
        "t": pa.table(
            {
                "s": pa.array([1, 2**15 - 1, None, -(2**15)], pa.int16()),
                "i": pa.array([1, 2**31 - 1, None, -(2**31)], pa.int32()),
                "l": pa.array([1, 2**63 - 1, None, -(2**63)], pa.int64()),
                "g": [1, 2, 1, 2],
            }
        )
    }
    calls = ["sum(s + 1)", "sum(1 + i)", "sum(l + 1)", "sum(-5 + i)"]
    check(f"select {_listed(calls)} from t", tables, ranks=ranks)
    with pytest.raises(hr.HeadraceError, match="number out of range"):
        hr.sql("select sum(i * 2) from t", tables, ranks=ranks)
    # DuckDB refuses groups of such.
    grouped = hr.sql("select g, sum(l + 1) as s from t group by g order by g", tables, ranks=ranks)
    assert [int(each) for each in grouped["s"].to_pylist()] == [2, 1]


@pytest.mark.parametrize("ranks", [1, 3])
def test_an_order_beside_what_does_not_need_one(ranks: int) -> None:
    check(
        "select g, sum(i order by id) a, arg_min(s, id order by i) c from t group by g", _TABLES, ranks=ranks
    )


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("share", ["0", "1", "0.5", "0.333", "0.9::double", "-0.25", "1e-3"])
def test_quantiles(share: str, ranks: int) -> None:
    calls = [f"quantile_cont({column}, {share})" for column in ("i", "x", "y::float", "d")]
    precise = [f"(i * 1234567890123)::decimal({digits})" for digits in ("18, 1", "38, 9")]
    calls += [f"quantile_cont({value}, {share})" for value in precise]
    calls += [f"quantile_disc({column}, {share})" for column in ("i", "s", "b", "d")]
    calls += [f"quantile_disc(date '2020-01-01' + i, {share}) filter (where n > 4)"]
    check(f"select g, {_listed(calls)} from t group by g", _TABLES, ranks=ranks)
    check(f"select {_listed(calls)} from t", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 3])
def test_several_quantiles(ranks: int) -> None:
    calls = ["quantile_cont(i, [0.25, 0.5, 0.75])", "quantile_cont(x, [0.1]) filter (where n > 4)"]
    calls += ["quantile_disc(s, [0.5, 0.25, 1])", "quantile_cont(d, [-0.3, -0.6]) filter (where n < 0)"]
    calls += ["percentile_cont([0.3, 0.6]) within group (order by i desc)"]
    calls += ["quantile_cont(y::float, [0.9, 0])", "quantile_cont(d::decimal(20, 5), [0.7, 0.1])"]
    check(f"select g, {_listed(calls)}, count_if(true) as z from t group by g", _TABLES, ranks=ranks)
    check(f"select {_listed(calls)} from t", _TABLES, ranks=ranks)


def test_quantiles_of_an_order() -> None:
    shares = [
        f"percentile_{kind}(0.3) within group (order by i{order})"
        for kind in ("cont", "disc")
        for order in ("", " desc")
    ]
    check(f"select g, {_listed([*shares, 'median(s)', 'median(b)'])} from t group by g", _TABLES)
    check("select g from t group by g having median(i) > 9", _TABLES)


def test_of_several_rows_the_first_of_an_order() -> None:
    """As often, or as great: values and orders with NULL; `id` decides every order."""
    for order in ("id", "id desc", "w nulls first, id", "s desc nulls last, id"):
        calls = [f"mode(n % 7 order by {order})", f"mode(s order by {order}) filter (where n > 3)"]
        calls += [f"arg_max(i, n % 3 order by {order})", f"arg_min(s, b order by {order})"]
        for ranks in (1, 3):
            check(f"select g, {', '.join(calls)} from t group by g", _tables(), ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 3])
def test_of_values_that_are_as_frequent_the_least(ranks: int) -> None:
    table = {"t": pa.table({"g": [1, 1, 1, 1, 2, 2, 3], "v": ["b", "a", "b", "a", None, "z", None]})}
    query = "select g, mode(v) m, mode(distinct v) d, mode(v) filter (where v > 'a') f from t group by g"
    found = hr.sql(query, table, ranks=ranks).sort_by("g").to_pydict()
    assert found["m"] == ["a", "z", None]
    assert found["d"] == ["a", "z", None]
    assert found["f"] == ["b", "z", None]


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_rows_with_the_same_extreme(ranks: int) -> None:
    """Of several the least x: any of them is right, and this one is the same on any number of ranks."""
    query = "select g, arg_min(s, n) a, arg_max(i, n) b from t group by g"
    least = (
        "select g, min(s) filter (where n = low) a, min(i) filter (where n = high) b from ("
        "select *, min(n) filter (where s is not null) over (partition by g) low,"
        " max(n) filter (where i is not null) over (partition by g) high from t) group by g"
    )
    found = hr.sql(query, _TABLES, ranks=ranks).sort_by("g").to_pylist()
    assert found == hr.sql(least, _TABLES).sort_by("g").to_pylist()


@pytest.mark.parametrize("ranks", [1, 3])
def test_what_others_estimate_is_exact(ranks: int) -> None:
    query = """select g, approx_count_distinct(i) as a, approx_count_distinct(s) as b,
        approx_quantile(x, 0.25) as c, approx_quantile(n, 0.5) as d, approx_quantile(d, 0.7) as e
        from t group by g"""
    exact = """select g, count(distinct i) as a, count(distinct s) as b, quantile_cont(x, 0.25) as c,
        quantile_disc(n, 0.5) as d, quantile_cont(d, 0.7) as e from t group by g"""
    found = hr.sql(query, _TABLES, ranks=ranks).sort_by("g").to_pylist()
    assert found == hr.sql(exact, _TABLES).sort_by("g").to_pylist()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select bitstring_agg(i) from t", "unsupported aggregate function: bitstring_agg"),
    ],
)
def test_refused(query: str, message: str) -> None:
    with pytest.raises(hr.errors.HeadraceError, match=re.escape(message)):
        hr.sql(query, _TABLES)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_sums_that_are_rounded_once(ranks: int) -> None:
    """Whatever the order in which workers and ranks add; also over frames, which move."""
    draw = random.Random(3)
    values = [draw.choice([2.0**53, 1.0, -(2.0**53), 0.1, 1e-3]) for _ in range(5000)]
    given = {"t": pa.table({"id": range(5000), "x": values})}
    found = hr.sql("select fsum(x) as s, favg(x) as m, kahan_sum(distinct x) as d from t", given, ranks=ranks)
    assert found.to_pylist() == [
        {"s": math.fsum(values), "m": math.fsum(values) / 5000, "d": math.fsum(set(values))}
    ]
    frames = (
        "select fsum(x) over (order by id rows between 2 preceding and current row) as s from t order by id"
    )
    found = hr.sql(frames, given, ranks=ranks)["s"].to_pylist()
    assert found == [math.fsum(values[max(row - 2, 0) : row + 1]) for row in range(5000)]
    odd = {"t": pa.table({"g": [1, 1, 2, 2, 3], "x": [1.0, math.inf, math.inf, -math.inf, math.nan]})}
    found = hr.sql("select fsum(x) as s from t group by g order by g", odd, ranks=ranks)["s"].to_pylist()
    assert found[0] == math.inf
    assert math.isnan(found[1]) and math.isnan(found[2])
