"""Structs beside DuckDB: made, taken apart, as keys, in order, in lists, Arrow and Parquet; 1 to 3 ranks.

Sources: passes/import/duckdb/struct_functions.cpp
"""

from __future__ import annotations

import datetime
import random
import time
from decimal import Decimal
from pathlib import Path

import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import answer, check, same

_ROWS = 300
_POINT = pa.struct([("x", pa.float64()), ("y", pa.int32())])
#: A struct of every type, a nested one, and lists of structs.
_TYPES: dict[str, pa.DataType] = {
    "s": pa.struct([("a", pa.int32()), ("b", pa.string())]),
    "w": pa.struct(
        [
            ("b", pa.bool_()),
            ("i", pa.int8()),
            ("u", pa.uint64()),
            ("f", pa.float32()),
            ("d", pa.decimal128(9, 2)),
            ("e", pa.decimal128(38, 3)),
            ("day", pa.date32()),
            ("m", pa.timestamp("us")),
            ("o", pa.time64("us")),
            ("s", pa.string()),
        ]
    ),
    "n": pa.struct([("p", _POINT), ("l", pa.list_(pa.int32())), ("Name of", pa.string())]),
    "l": pa.list_(_POINT),
}


def _value(rng: random.Random, kind: pa.DataType) -> object:
    if rng.random() < 0.15:
        return None
    if pa.types.is_struct(kind):
        return {field.name: _value(rng, field.type) for field in kind}
    if pa.types.is_list(kind):
        return [_value(rng, kind.value_type) for _ in range(rng.randrange(3))]
    choices: dict[pa.DataType, list[object]] = {
        pa.bool_(): [True, False],
        pa.int8(): [-128, 127, 0],
        pa.int32(): [-(2**31), 2**31 - 1, 0, 7],
        pa.uint64(): [0, 2**64 - 1],
        pa.float32(): [1.5, -2.25],
        pa.float64(): [0.1, -1e300, 2.0],
        pa.decimal128(9, 2): [Decimal("1.25"), Decimal("-9999999.99")],
        pa.decimal128(38, 3): [Decimal("1.125"), Decimal(10) ** 34],
        pa.date32(): [datetime.date(2024, 2, 29), datetime.date(1, 1, 1)],
        pa.timestamp("us"): [datetime.datetime(2024, 2, 29, 12, 30, 45, 123456)],
        pa.time64("us"): [datetime.time(1, 2, 3, 4)],
        pa.string(): ["", "a", "it's", "ä, b", "null", "a long text of more than twelve bytes", "{x: 1}"],
    }
    return rng.choice(choices[kind])


def _tables() -> dict[str, pa.Table]:
    rng = random.Random(5)
    columns = {"k": pa.array(range(_ROWS), pa.int32())}
    columns["g"] = pa.array([rng.choice([0, 1, 2, None]) for _ in range(_ROWS)], pa.int32())
    columns["t"] = pa.array([rng.choice(["x", "y", None]) for _ in range(_ROWS)], pa.string())
    for name, kind in _TYPES.items():
        columns[name] = pa.array([_value(rng, kind) for _ in range(_ROWS)], kind)
    return {"t": pa.table(columns)}


_TABLES = _tables()


@pytest.mark.parametrize("ranks", [1, 3])
def test_pass_through(ranks: int) -> None:
    check(f"select k, {', '.join(_TYPES)} from t where k % 3 <> 1", _TABLES, ranks=ranks)


@pytest.mark.parametrize(
    "query",
    [
        "select k, s.a as a, s['b'] as b, s['A'] as c, struct_extract(s, 'b') as d,"
        " s.a // 2 as e from t where k > 3",
        "select k, w.b as a, w.i as b, w.u as c, w.f as d, w.d as e, w.e as f, w.day as g, w.m as h from t",
        "select k, w.o as a, w.s as b, n.p.x as c, n.l[1] as d, n['Name of'] as e, n.p as f from t",
        "select k, {'a': k, 'b': t} as v, {'a': g, 'n': {'x': s.a, 'l': [k, g]}} as w from t",
        "select k, struct_pack(a := g, b := s) as v, row(k, t) as r, (g, s) as p from t",
        "select k, row(k, t)[2] as r, ({'a': k, 'b': t}).b as c, struct_extract(row(k, g), 1) as d from t",
        "select k, struct_insert(s, c := k, d := t) as v from t",
        "select k, struct_update(s, b := 'z', c := k) as v from t",
        "select k, cast(s as struct(b varchar, a bigint)) as v, cast(s as struct(a varchar)) as w from t",
        "select k, cast(row(k, t) as struct(x bigint, y varchar)) as v from t",
        "select k, cast(n as struct(l bigint[], p struct(y double))) as v from t",
        "select k, cast(l as struct(y bigint, x varchar)[]) as v, l || [{'x': 1, 'y': k}] as w from t",
        "select k, [{'a': k}, {'a': g}] as v, [s, {'a': 1, 'b': null}] as w, [s][1].b as x from t",
        "select k, l[1] as a, l[1].x as b, len(l) as c, list_reverse(l) as d, list_sort(l) as e from t",
        "select k, list_distinct(l)[1] is null as a, list_contains(l, l[1]) as b, l || l as c from t",
        "select k, case when g = 1 then s else {'a': k, 'b': 'no'} end as v, coalesce(s, {'a': 0,"
        " 'b': ''}) as w from t",
        "select k, s is null as a, s.a is null as b from t where s is not null",
        "select k, s = s as a, s = {'a': 7, 'b': 'a'} as b, s <> {'a': 7, 'b': null} as c from t",
        "select k, s < {'a': 7, 'b': 'a'} as a, s >= {'a': 0, 'b': null} as b, w < w as c,"
        " n <= n as d from t",
        "select k, s is distinct from {'a': 7, 'b': null} as a, l < [{'x': 1.0::double, 'y': 2}] as b from t",
        "select k, greatest(s, {'a': 7, 'b': 'a'}) as a, least(s, {'a': 7,"
        " 'b': 'a'}) as b from t where s is not null",
        "select {'a': 1, 'b': null, 'c': [1, null]} as v, {'x': {'y': 1.5, 'z': date '2020-01-02'}} as w",
        "select * from (values ({'a': 1, 'b': 'x'}, 1), (null, 2), ({'a': null, 'b': 'y'}, 3)) v(s, i)",
        "select unnest(s), k from t",
        "select unnest(l, recursive := true), k from t",
        "select k, unnest(l) as e from t",
        "select k, u.x, u.y from t, unnest(l) as q(u)",
    ],
)
@pytest.mark.parametrize("ranks", [1, 2])
def test_values(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


@pytest.mark.parametrize("name", ["s", "n.p", "l", "{'a': s, 'l': [t]}", "row(g, t)", "{'it''s': t}", "n.l"])
def test_as_text(name: str) -> None:
    check(f"select k, cast({name} as varchar) as v from t where k > 5 or k < 3", _TABLES)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(
    "query",
    [
        "select s, count(*) as c, sum(k) as s2 from t group by s",
        "select s.b as b, n.p as p, count(*) as c from t group by s.b, n.p",
        "select {'g': g, 't': t} as v, count(*) as c from t group by all",
        "select distinct s from t",
        "select distinct l, g from t",
        "select a.k, b.k as other from t a join t b on a.s = b.s where a.k < 40",
        "select a.k, b.k as other from t a left join t b on a.s.b = b.t and b.k < 9 where a.k < 40",
        "select count(distinct s) as c, min(g) as g from t",
        "select k from t where s in (select s from t where k % 7 = 0)",
        "select s from t where k < 60 union select s from t where k > 30",
        "select k, count(*) over (partition by s) as c, lag(s) over (order by k) as l from t",
        "select g, min(s) as a, max(s) as b, min(l) as c, max(n) as d, min(n.l) as e from t group by g",
        "select min({'a': k % 5, 'b': k}) as a, max(s) filter (k < 9) as b, arg_min(k,"
        " s) as c from t where k % 3 = 0",
        "select g, list(s order by k) as v, first(s order by k) as f from t group by g",
        "select g, arg_max(s, k) as v, any_value(s order by k) as f from t group by g",
    ],
)
def test_keys_and_aggregates(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


def test_extremes_keep_no_rows() -> None:
    tables = {
        "t": pa.table({"k": [i % 29 for i in range(60_000)], "l": [[i % 7, None, i] for i in range(60_000)]}),
        "u": pa.table({"k": [i % 29 for i in range(1500)]}),
    }
    query = "select count(*) as n, max(l) as a, min({'l': l, 'k': t.k}) as b from t join u on t.k = u.k"
    same(hr.sql(query, tables, memory="96MB", threads=1), answer(query, tables))  # 3.1 million rows of a join


@pytest.mark.alone
def test_extremes_of_frames_grow_with_their_rows() -> None:
    def seconds(rows: int) -> float:
        table = pa.table({"k": range(rows), "l": [[i * 7919 % 1009, i] for i in range(rows)]})
        query = "select max(l) over (order by k rows between 900 preceding and current row) as m from t"
        hr.sql(query, {"t": table.slice(0, 10)}, threads=1)
        before = time.process_time()
        hr.sql(query, {"t": table}, threads=1)
        return time.process_time() - before

    once, more = seconds(10_000), seconds(40_000)
    assert more < 8 * once + 0.3, (once, more)  # 4 times the rows


@pytest.mark.parametrize("name", list(_TYPES))
def test_order(name: str) -> None:
    for direction in ("asc", "desc nulls first"):
        query = f"select {name}, k from t order by {name} {direction}, k"
        same(hr.sql(query, _TABLES, ranks=2), answer(query, _TABLES), ordered=True)


@pytest.mark.parametrize("ranks", [1, 2])
def test_parquet(ranks: int, tmp_path: Path) -> None:
    table = _TABLES["t"]
    path = tmp_path / "t.parquet"
    parquet.write_table(table, path, row_group_size=90)
    names = ["k", *_TYPES]
    same(hr.sql(f"select {', '.join(names)} from t", {"t": path}, ranks=ranks), table.select(names))
    query = "select s.a as a, count(*) as c, min(n.p.x) as x from t where w.i >= 0 group by s.a"
    same(hr.sql(query, {"t": path}, ranks=ranks), answer(query, _TABLES))


def test_copy(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    hr.sql(f"copy (select k, s, n, l from t) to '{path}'", _TABLES)
    same(parquet.read_table(path), _TABLES["t"].select(["k", "s", "n", "l"]))


def test_slices_and_required_fields(tmp_path: Path) -> None:
    kind = pa.struct([pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.large_string())])
    schema = pa.schema([pa.field("s", kind, nullable=False)])
    table = pa.table({"s": pa.array([{"a": i, "b": str(i)} for i in range(5)], kind)}, schema)
    query = "select s.a as a, s.b as b from t"
    same(hr.sql(query, {"t": table.slice(1, 3)}), answer(query, {"t": table.slice(1, 3)}))
    parquet.write_table(table, tmp_path / "t.parquet")
    same(hr.sql(query, {"t": tmp_path / "t.parquet"}), answer(query, {"t": table}))


@pytest.mark.parametrize("ranks", [1, 3])
def test_try_cast(ranks: int) -> None:
    check(
        "select k, try_cast(s as struct(a tinyint)) as a,"
        " try_cast(s as struct(b int, c int, a tinyint)) as b,"
        " try_cast({'a': t, 'l': [t, k::varchar], 'k': k * 100} as struct(a int, l int[], k smallint)) as c,"
        " try_cast(row(t, k) as struct(a int, b tinyint)) as d,"
        " try_cast(w as struct(i utinyint, u int, f int, s date)) as e,"
        " try_cast(n as struct(p struct(x int, y tinyint), l varchar[])) as f,"
        " try_cast(l as struct(x float, y tinyint)[]) as g, try_cast(l as struct(y tinyint, z int)[]) as h,"
        " try_cast(s as varchar) as i from t",
        _TABLES,
        ranks=ranks,
    )


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select try_cast(s as int) from t", "unsupported cast between a list, struct or map"),
        ("select hash(row(1, 2)) from t", "unsupported function of a struct: hash"),
    ],
)
def test_refused(query: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql(query, _TABLES)
