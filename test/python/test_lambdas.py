"""Functions with a lambda over lists beside DuckDB: elements of all types, indexes, captures, nested,"
" in errors."""

from __future__ import annotations

import datetime
import os
import random
import re
from decimal import Decimal
from pathlib import Path

import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import answer, check, same

_ROWS = 300
_DAY = datetime.date(2024, 2, 29)
#: Elements of every type, and a function of an element `x` and a value `y` of its type.
_ELEMENTS: dict[str, tuple[pa.DataType, list[object], str]] = {
    "b": (pa.bool_(), [True, False], "x and not y"),
    "y": (pa.int8(), [-127, 127, 3], "x // cast(2 as tinyint)"),
    "i": (pa.int32(), [-(2**30), 2**30 - 1, 0, 7, -7, 7], "x + y % 5"),
    "l": (pa.int64(), [-(2**63), 2**63 - 1, 5], "x // 3"),
    "u": (pa.uint64(), [2**64 - 1, 0, 9], "x // 2::ubigint"),
    "f": (pa.float32(), [1.5, -2.25, 4.0], "x * y"),
    "x": (pa.float64(), [0.1, -1e300, 16777217.0, 2.0], "x / 2 + y"),
    "d": (pa.decimal128(9, 2), [Decimal("1.25"), Decimal("-9999999.99")], "x * 2 - y"),
    "w": (pa.decimal128(38, 3), [Decimal("1.125"), Decimal(10) ** 33, -(Decimal(10) ** 33)], "x + y"),
    "day": (pa.date32(), [_DAY, datetime.date(1, 1, 1)], "x + interval 1 month"),
    "m": (pa.timestamp("us"), [datetime.datetime(2024, 2, 29, 12, 30, 45, 123456)], "x - interval 72 hours"),
    "o": (pa.time64("us"), [datetime.time(1, 2, 3, 4)], "x"),
    "s": (pa.string(), ["", "a", "it's", "ä, b", "a long text of more than twelve bytes"], "upper(x) || y"),
}
_NAMES = list(_ELEMENTS)


def _lists(rng: random.Random, values: list[object]) -> list[object]:
    rows: list[object] = [None, [], [None]]
    while len(rows) < _ROWS:
        size = rng.choice([0, 1, 2, 3, 9])
        rows.append(None if rng.random() < 0.1 else [rng.choice([*values, None]) for _ in range(size)])
    return rows


def _tables() -> dict[str, pa.Table]:
    rng = random.Random(3)
    columns = {"k": pa.array(range(_ROWS), pa.int32())}
    columns["g"] = pa.array([rng.choice([0, 1, 2, None]) for _ in range(_ROWS)], pa.int32())
    for name, (kind, values, _) in _ELEMENTS.items():
        columns[f"{name}_all"] = pa.array(_lists(rng, values), pa.list_(kind))
        columns[f"{name}_one"] = pa.array([rng.choice([*values, None]) for _ in range(_ROWS)], kind)
    inner = [value[:3] if isinstance(value, list) else None for value in _lists(rng, [1, 2, 300])]
    columns["n"] = pa.array(_lists(rng, inner), pa.list_(pa.list_(pa.int32())))
    records = [{"a": 1, "t": "one"}, {"a": None, "t": "none"}, {"a": 3, "t": None}]
    columns["r"] = pa.array(_lists(rng, records), pa.list_(pa.struct({"a": pa.int32(), "t": pa.string()})))
    return {"t": pa.table(columns)}


_TABLES = _tables()


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("name", _NAMES)
def test_elements(name: str, ranks: int) -> None:
    lists, one, computed = f"{name}_all", f"{name}_one", re.sub(r"\by\b", f"{name}_one", _ELEMENTS[name][2])
    computed = f"lambda x: {computed}"
    check(
        f"select k, list_transform({lists}, lambda x: x) as same, list_apply({lists}, {computed}) as made,"
        f" list_filter({lists}, lambda x: x = {one}) as equal, list_filter({lists}, lambda x: x is"
        f" null) as none,"
        f" array_filter({lists}, lambda x, i: i % 2 = 0 or x > {one}) as some,"
        f" list_transform({lists}, lambda x, i: {{'x': x, 'i': i}}) as pairs,"
        f" list_transform({lists}, lambda x: [x, {one}]) as lists,"
        f" list_reduce({lists}, lambda a, x: coalesce(x, a), {one}) as last,"
        f" list_reduce({lists}, lambda a, x: case when x > a then x else a end, {one}) as greatest,"
        f" list_transform({lists}, lambda x: x::varchar) as texts from t",
        _TABLES,
        ranks=ranks,
    )


@pytest.mark.parametrize(
    "query",
    [
        "select k, array_transform(i_all, lambda x, i: x + i * k) as a, apply(s_all, lambda x, i: x ||"
        " i || g) as b from t",
        "select k, list_reduce(list_append(i_all, k), lambda a, x: coalesce(a, 0)::bigint + coalesce(x,"
        " 0)) as a from t",
        "select k, list_reduce(s_all || ['z'], lambda a, x, i: a || i || coalesce(x, '-')) as a from t",
        "select k, reduce(s_all, lambda a, x, i: x || a || i, 'start') as a, list_reduce(s_all, lambda"
        " a, x: x, null) as b"
        " from t",
        "select k, array_reduce(i_all, lambda a, x, i: a * 3 + i, 1::hugeint) as a from t",
        "select k, list_reduce(n, lambda a, x: list_concat(a, x), [k]) as a from t",
        "select k, list_reduce(r, lambda a, x: a + coalesce(x.a, 0), 0.5) as a from t",
        "select k, [x * 2 for x in i_all if x < 100 and x > -100] as a, [s for s in s_all] as b from t",
        "select k, [x + i for x, i in i_all if i > g and x < 100] as a from t",
        "select k, list_transform(n, lambda l: list_transform(l, lambda x: x + k)) as a from t",
        "select k, list_transform(n, lambda l, i: list_filter(l, lambda x, j: x > i + j + len(l) + g))"
        " as a from t",
        "select k, list_transform(n, lambda l: list_reduce(l, lambda a, x: a + x, k)) as a from t",
        "select k, list_filter(n, lambda l: len(list_filter(l, lambda x: x > k)) > 0) as a from t",
        "select k, list_transform(r, lambda s: s.t || s.a) as a, list_filter(r, lambda s: s.a = 1) as b"
        " from t",
        "select k, list_transform(r, lambda s, i: {'i': i, 's': s, 'l': [s.a]}) as a from t",
        "select k, list_transform(i_all, lambda x: case when x > 0 then 100 // x when x = 0 then k end)"
        " as a from t",
        "select k, list_transform(i_all, lambda x: x in (7, 0)) as a, list_filter(i_all, lambda x: x"
        " not in (7)) as b from t",
        "select k, list_transform(i_all, lambda x: x / 0) as a, list_filter(i_all, lambda x: null) as b"
        " from t",
        "select k, list_transform(i_all, lambda x: null) as a, list_transform(i_all, lambda x: k) as b"
        " from t",
        "select k, list_sum(list_transform(i_all, lambda x: x::bigint)) as a, len(list_filter(s_all,"
        " lambda x: x = 'a')) as b"
        " from t",
        "select k, list_filter(range(k), lambda x: x % 7 = 3) as a from t",
        "select k, list_transform(string_split('a b ' || k, ' '), lambda w: upper(w[1]) || substring(w,"
        " 2)) as a from t",
        "select k, list_transform(day_all, lambda d: year(d)) as a, list_filter(m_all, lambda m:"
        " hour(m) > 3) as b from t",
        "select list_transform([1, 2, null], lambda x: x + 1) as a, list_transform([], lambda x: 1) as b,"
        " list_transform(null, lambda x: x) as c, list_filter([[1], [], null], lambda x: len(x) > 0) as d,"
        " list_reduce([1, 2, 3], lambda a, x: a + x * 10000000000) as e, list_reduce([], lambda a, x:"
        " a, 5) as f",
        "select k, list_transform([1, 2], lambda x: list_transform([10, 20], lambda y: x * y + k)) as a"
        " from t",
        "select k, day_all::varchar[]::date[] as a, n::bigint[][] as b, n::varchar[] as c,"
        " m_all::date[] as d,"
        " r::struct(t varchar, a bigint, z int)[] as e, r::varchar[] as f from t",
        "select k, coalesce(list_transform(i_all, lambda x: x - 1), [k]) as a from t",
    ],
)
@pytest.mark.parametrize("ranks", [1, 2])
def test_values(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


@pytest.mark.parametrize(
    "query",
    [
        "select list_filter(i_all, lambda x: x > 0) as l, count(*) as c, sum(k) as s from t group by l",
        "select k from t where len(list_filter(i_all, lambda x: x > g)) > 1",
        "select a.k, b.k as other from t a join t b on list_transform(a.i_all, lambda x: x + 1) ="
        " b.i_all where a.k < 40",
        "select g, list(list_reduce(i_all, lambda a, x: coalesce(a, 0) * 0 + k, 0) order by k) as l"
        " from t group by g",
        "select k, row_number() over (order by list_transform(i_all, lambda x: -x::bigint), k) as n from t",
        "select k, unnest(list_transform(i_all, lambda x, i: x::bigint + i)) as e from t",
        "select g, list_transform(list(k order by k), lambda x: x + g) as l from t group by g",
        "select max(len([x for x in s_all if x like 'a%'])) as m from t",
    ],
)
@pytest.mark.parametrize(("ranks", "threads"), [(1, 1), (2, 2), (3, 1)])
def test_in_queries(query: str, ranks: int, threads: int) -> None:
    check(query, _TABLES, ranks=ranks, threads=threads)


def test_parquet(tmp_path: Path) -> None:
    parquet.write_table(_TABLES["t"], tmp_path / "t.parquet", row_group_size=70)
    query = (
        "select k, list_transform(s_all, lambda x, i: x || i) as a from t"
        " where len(list_filter(i_all, lambda x: x > 0)) > 0"
    )
    same(hr.sql(query, {"t": tmp_path / "t.parquet"}, ranks=2), answer(query, _TABLES))


def test_long_lists() -> None:
    query = (
        "select k, list_reduce(list_transform(range(k * 300), lambda x: x % 1000), lambda a, x: a + x,"
        " 0) as a,"
        " len(list_reduce(range(k * 10), lambda a, x: a || x::varchar, '')) as b,"
        " len(list_filter(range(k * 300), lambda x, i: i % 2 = 0)) as c from t"
    )
    check(query, _TABLES, ranks=2)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select list_transform(i_all, lambda x: x * 4) from t", "out of range"),
        ("select list_transform(l_all, lambda x: x - 1) from t", "out of range"),
        ("select list_transform([1, 0], lambda x: 1 // x)", "[Dd]ivision by zero"),
        (
            "select list_reduce(i_all, lambda a, x: a) from t",
            "Cannot perform list_reduce on an empty input list",
        ),
        ("select list_transform(s_all, lambda x: x::int) from t", "cast"),
        (
            "select list_transform(n, lambda l: list_transform(l, lambda x: x * 2000000000)) from t",
            "out of range",
        ),
    ],
)
def test_errors(query: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql(query, _TABLES)
    with pytest.raises(Exception):  # noqa: B017
        answer(query, _TABLES)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(
    "expression",
    [
        "invoke(lambda x: x, k)",
        "invoke(lambda x: 7, k)",
        "invoke(lambda x, y: y, k, g)",
        "invoke(lambda x, y, z: x * 100 + y * 10 + z, k % 7, g, 3)",
        "invoke(lambda x, y: x * 10 + y + g, k, coalesce(g, 5) + i_one % 10)",
        "invoke(lambda x: invoke(lambda y: y - x * g, 3), k)",
        "invoke(lambda x: invoke(lambda y, z: y * 100 + z * 10 + x, k, 4) + x, g)",
        "invoke(lambda x: list_transform(i_all, lambda y, i: y % 100 + x * 1000 + g + i), k)",
        "list_transform(i_all, lambda y: invoke(lambda x: x * 2 + y % 100 - g, k))",
        "list_filter(l_all, lambda y: invoke(lambda x, z: x > z, y, 4))",
        "invoke(lambda s, t: upper(s) || t || k, s_one, 'é')",
        "invoke(lambda l: len(l) + len(list_filter(l, lambda x: x > g)), i_all)",
        "invoke(lambda e, l: {'r': e[1].t, 'l': l, 'g': g}, r, d_all)",
        "invoke(lambda x: case when x <> 7 then 100 // (x - 7) end, k % 9)",
        "invoke(lambda x: x is null, null)",
        "invoke(lambda d, m: d + m, day_one, interval 1 month)",
        "invoke(lambda i: normalized_interval(i) = i, interval 40 days)",
        "invoke(lambda i: normalized_interval(i), to_days(k))::varchar",
        "sum(invoke(lambda x, y: x % y, k, 7)) over (partition by g order by k)",
    ],
)
def test_invoke(expression: str, ranks: int) -> None:
    check(f"select k, {expression} as a from t", _TABLES, ranks=ranks)


def test_invoke_anywhere() -> None:
    of = "invoke(lambda x, y: x % y + g, k, 5)"
    check(f"select {of} as a, count(*) as n from t where {of} > 1 group by {of}", _TABLES, ranks=2)
    check(
        "select a.k, b.k as other from t a join t b on invoke(lambda x: x + b.g, a.k) = b.k and a.k < 50",
        _TABLES,
    )
    check(f"create macro twice(x) as invoke(lambda y: y * 2 + x, x); select twice({of}) as a from t", _TABLES)


def test_long_texts_are_cut_between_characters() -> None:
    for size in range(90, 101):  # what a place in the query says of it has 200 bytes
        word = "ä" * size
        check(f"select list_transform(['x'], lambda x: x || '{word}' || k || '{word}') as a from t", _TABLES)


def test_errors_only_where_asked_for() -> None:
    check(
        "select k, case when list_max(list_transform(i_all, lambda x: abs(x::bigint))) < 100"
        " then list_transform(i_all, lambda x: x * 1000000) end as a,"
        " case when len(i_all) > 0 then list_reduce(i_all, lambda a, x: x) end as b,"
        " list_transform(i_all, lambda x: case when x < 100 and x > -100 then x * 20000000 end) as c from t",
        _TABLES,
        ranks=2,
    )


_SCALARS = [
    "x",
    "coalesce(x, 0)",
    "x + i",
    "i",
    "k",
    "g",
    "x % 7 + k",
    "case when x > g then i else k end",
    "x - g * i",
]
_CONDITIONS = ["x > 0", "x is null", "i % 2 = 1", "x < k and i > 1", "x = g or x is null", "not (x > i)"]


def _random_list(rng: random.Random, depth: int) -> str:
    base = rng.choice(["i_all", "range(k % 5)", "[k, g, 7]", "list_append(i_all, g)"])
    if depth == 0:
        return base
    source = _random_list(rng, depth - 1)
    scalar, condition = rng.choice(_SCALARS), rng.choice(_CONDITIONS)
    return rng.choice(
        [
            f"list_transform({source}, lambda x, i: ({scalar}) % 1000)",
            f"list_filter({source}, lambda x, i: {condition})",
            f"[({scalar}) % 1000 for x, i in {source} if {condition}]",
            f"list_transform({source}, lambda x, i: list_reduce([x, i, k], lambda a, y, j:"
            f" coalesce(a, j) % 100 + coalesce(y, x, 1) % 100, {rng.choice(['k', 'i', 'null'])}))",
            f"list_transform({source}, lambda x, i: len(list_filter(range(i), lambda y: y > x % 3)))",
        ]
    )


@pytest.mark.parametrize("seed", range(int(os.environ.get("HEADRACE_RANDOM_LAMBDAS", "12"))))
def test_random(seed: int) -> None:
    rng = random.Random(seed)
    columns = [f"{_random_list(rng, rng.randrange(1, 4))} as c{n}" for n in range(4)]
    query = f"select k, {', '.join(columns)} from t"
    check(query, _TABLES, ranks=rng.choice([1, 2, 3]), threads=rng.choice([1, 2]))
