"""NULLs of no type yet, alone and within lists, structs and maps, cast to every type, beside DuckDB."""

from __future__ import annotations

import datetime

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import check

_TABLES = {
    "t": pa.table({"i": [1, 2, 3], "s": ["a", "b", None], "d": [datetime.date(2020, 1, 1), None, None]})
}
_NULLS = "from (values (null), (null)) v(x)"
_TYPES = [
    *(
        "date",
        "time",
        "time_ns",
        "timestamp",
        "timestamp_ns",
        "interval",
        "blob",
        "uuid",
        "boolean",
        "varchar",
    ),
    *("decimal(3, 1)", "uhugeint", "json", "enum('a', 'b')", "float", "date[]", "int[2]", "struct(a date)"),
    *("map(varchar, date)", "struct(a int, b varchar[])[]"),
]


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("kind", _TYPES)
def test_a_column_of_nulls(kind: str, ranks: int) -> None:
    check(f"select x::{kind} as a, try_cast(x as {kind}) as b {_NULLS}", {}, ranks=ranks)


@pytest.mark.parametrize("kind", [kind for kind in _TYPES if kind != "json"])
def test_elements_fields_and_values(kind: str) -> None:
    check(
        f"select list_transform([null, i], lambda e: null)::{kind}[] as l,"
        f" list_transform([i], lambda e: row(null, e))::struct(a {kind}, b double)[] as r,"
        f" {{'b': i, 'a': null}}::struct(a {kind}, b varchar) as s, map {{i: null}}::map(int, {kind}) as m,"
        f" case when i > 1 then map {{}} else map {{s: [x::{kind}]}} end as e,"
        f" list_transform([null, null], lambda e: null)::{kind}[2] as f"
        " from t, (select null as x) where s is not null",
        _TABLES,
        ranks=2,
    )


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(
    "query",
    [
        "select map {}::map(integer, varchar[]) as m",
        "select map_values(case when i = 1 then map {} else map {'x': [d]} end) as m from t",
        "select map_from_entries([])::map(varchar, date) as m, map([], [])::map(date, date[]) as n from t",
        "select list_transform([null], lambda x: coalesce(x, d)) as l from t",
        "select list_filter([], lambda x: x = d)::date[] as l from t",
        "select unnest([])::date as x, i from t",
        "select x::date as y from (select unnest([null, null]) as x)",
        "select v.b, t.* from (values (null, 1), (null, 2)) v(a, b) join t on v.a = t.d",
        "select v.b, t.* from (values (null, 1), (null, 2)) v(a, b) left join t on v.a = t.d",
        f"select x {_NULLS} union select d from t",
        f"select coalesce(x, d) as c, [x] = [d] as e from t, (select x {_NULLS})",
        f"select d in (select x {_NULLS}) as c from t",
        "with recursive r(n, x) as (select 0, null union all select n + 1, x from r where n < 3)"
        " select x::date as x from r",
        f"select {{'a': x}}::varchar as s, [x]::varchar as l, map {{1: x}}::varchar as m {_NULLS}",
    ],
)
def test_queries(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


def test_an_error_has_any_type() -> None:
    with pytest.raises(hr.errors.DataError, match="boo"):
        hr.sql("select case when i = 2 then error('boo') else d end as d from t", _TABLES)


def test_integers_are_no_nulls() -> None:
    with pytest.raises(hr.errors.DataError, match="cast between a number and a date"):
        hr.sql("select [i]::date[] as l from t", _TABLES)
