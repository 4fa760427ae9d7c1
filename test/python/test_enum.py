"""ENUM beside DuckDB: in order as listed, as texts in all else; results are Arrow's dictionaries."""

from __future__ import annotations

from pathlib import Path

import duckdb
import headrace as hr
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import answer, check, same

_ROWS = 200
_WORDS = ["sad", "ok", "glad", "a 'b'", "", "ž"]
_LISTED = "enum('sad', 'ok', 'glad', 'a ''b''', '', 'ž')"
_TABLES = {
    "s": pa.table(
        {
            "k": pa.array(range(_ROWS), pa.int32()),
            "g": pa.array([None if k % 11 == 5 else k % 3 for k in range(_ROWS)], pa.int32()),
            "a": pa.array([None if k % 7 == 3 else _WORDS[k * 5 % 6] for k in range(_ROWS)]),
            "b": pa.array([None if k % 9 == 4 else _WORDS[k * k % 6] for k in range(_ROWS)]),
            "v": pa.array([["ok", "none", "", None, "SAD"][k % 5] for k in range(_ROWS)]),
        }
    )
}
_TYPE = f"create type mood as {_LISTED}; "
_CAST = "with t as (select k, g, a::mood as m, b::mood as n, v from s), r as (select distinct m from t) "
_RANKS = pytest.mark.parametrize("ranks", [1, 3])


def _answer(query: str) -> pa.Table:
    with duckdb.connect() as connection:
        connection.register("s", _TABLES["s"])
        connection.execute(_TYPE)
        return connection.sql(_CAST + query).to_arrow_table()


def _check(query: str, ranks: int, *, ordered: bool = False) -> None:
    same(hr.sql(_TYPE + _CAST + query, dict(_TABLES), ranks=ranks), _answer(query), ordered=ordered)


_EXPRESSIONS = (
    "m",
    "m::varchar",
    "try_cast(v as mood)",
    "'glad'::mood",
    "try_cast('none' as mood)",
    "m = n",
    "m < n",
    "m >= n",
    "m is distinct from n",
    "m = 'ok'",
    "m < 'ok'",
    "m = v",
    "m > 'ok'::mood",
    "m between 'sad'::mood and n",
    "m in ('ok', 'none')",
    "m in (n, 'ok'::mood)",
    "m::enum('sad', 'x', 'ok', 'glad', 'a ''b''', '', 'ž')",
    "try_cast(m as enum('ok', 'sad'))",
    "case when m < n then m when k % 3 = 0 then n end",
    "case when m < n then m else 'other' end",
    "coalesce(m, n)",
    "coalesce(m, 'none')",
    "nullif(m, n)",
    "greatest(m, n)",
    "least(m, n)",
    "typeof(m)",
    "m is null",
    "m || '!'",
    "upper(m)",
    "length(m)",
    "m like '%a%'",
    "case when m <> 'ž' then m::blob end",
    "enum_first(null::mood), enum_last(m), enum_range(m)",
    "typeof(enum_range(null::mood))",
    "enum_code(m)",
    "typeof(enum_code(m))",
    "[m, n]",
    "[m, n]::varchar",
    "[m, n]::varchar[]",
    "try_cast([v] as mood[])",
    "{'a': m, 'b': k}",
    "{'a': m}::varchar",
    "map([k], [m])",
    "list_sort([m, n, 'glad'::mood])",
    "list_contains([m, n], 'ok'::mood)",
    "list_max([m, n])",
    "cast(null as mood)",
    "[null::mood]",
)


@_RANKS
@pytest.mark.parametrize("expression", _EXPRESSIONS)
def test_expressions(expression: str, ranks: int) -> None:
    columns = expression if expression.startswith("enum_first") else f"{expression} as x"
    _check(f"select k, {columns} from t", ranks)


_QUERIES = (
    "select m, count(*) as c, min(n) as a, max(n) as b, count(distinct n) as d from t group by m",
    "select g, min(m), max(m), count(m), arg_min(m, k), arg_max(k, (m, k)) from t group by g",
    "select g, first(m order by k), list(m order by k), list(distinct m order by m) from t group by g",
    "select g, any_value(m order by k), string_agg(m, ',' order by k), mode(m order by m) from t group by g",
    "select distinct m from t",
    "select t.k, r.m from t join r on t.n = r.m",
    "select t.k, r.m from t left join r on t.n < r.m",
    "select t.k from t join s on t.m = s.a and t.k = s.k",
    "select k from t where m in (select m from r where m > 'ok'::mood)",
    "select m from t union select n from t",
    "select m from t union all select v from t",
    "select k, rank() over (order by m), lag(m) over (order by k) from t",
    "select k, max(m) over (order by k rows 3 preceding) from t",
    "select m, g, count(*) from t group by grouping sets ((m), (g), ())",
    "select histogram(m) from t",
    "select quantile_disc(m, 0.5), median(m) from t",
    "select k from t where m = 'glad'",
    "select k, unnest([m, n]) as x from t",
)


@_RANKS
@pytest.mark.parametrize("query", _QUERIES)
def test_queries(query: str, ranks: int) -> None:
    _check(query, ranks)


@_RANKS
def test_orders(ranks: int) -> None:
    for order in ("m, k", "m desc, k", "m nulls first, k", "n, m desc nulls last, k", "m::varchar, k"):
        _check(f"select k, m from t order by {order}", ranks, ordered=True)


def test_types() -> None:
    """In the text itself, and with more values than a byte counts."""
    check("select 'b'::enum('b', 'a') as x, typeof('b'::enum('b', 'a')) as t", {})
    many = ", ".join(f"'v{place}'" for place in range(300))
    query = f"select ('v' || i)::enum({many}) as x from range(300) r(i) order by x desc limit 5"
    same(hr.sql(query), answer(query, {}), ordered=True)
    relation = hr.connect().sql(query)
    assert relation.schema.field("x").type == pa.dictionary(pa.uint16(), pa.string())


_FAILURES = (
    ("select v::mood from t", "a text that is no value of the ENUM"),
    ("select 'none'::mood", "a text that is no value of the ENUM"),
    ("select 'SAD'::mood", "a text that is no value of the ENUM"),
    ("select m::int from t", "value cannot be cast"),
)


@pytest.mark.parametrize(("query", "message"), _FAILURES)
def test_failures(query: str, message: str) -> None:
    with pytest.raises(hr.errors.DataError, match=message):
        hr.sql(_TYPE + _CAST + query, dict(_TABLES), ranks=2)
    with pytest.raises(duckdb.Error):
        _answer(query)


def test_refused() -> None:
    with pytest.raises(hr.HeadraceError, match="unsupported cast to an ENUM of another type than VARCHAR"):
        hr.sql(_TYPE + _CAST + "select k::mood from t", dict(_TABLES))
    recursion = "with recursive r as (select 'ok'::mood n union all select n from r) select * from r"
    with pytest.raises(
        hr.errors.UnsupportedError, match="WITH RECURSIVE of ENUM is not supported; cast it to VARCHAR"
    ):
        hr.sql(_TYPE + recursion)
    with pytest.raises(
        hr.HeadraceError, match="before it only CREATE SCHEMA, VIEW, MACRO and TYPE, USE, and SET VARIABLE"
    ):
        hr.sql("create table x as select 1; select 1")


def test_files_and_datasets(tmp_path: Path) -> None:
    """Where rows are kept or written they are texts."""
    query = _TYPE + _CAST + "select k, m, [n] as l from t"
    kept = hr.persist(query, dict(_TABLES), by="m", ranks=3)
    found = hr.sql("select typeof(m) as t, m, count(*) as c from d group by all", {"d": kept}, ranks=3)
    wanted = _answer("select 'VARCHAR' as t, m::varchar as m, count(*) as c from t group by all")
    same(found, wanted)
    for suffix in ("parquet", "csv"):
        hr.connect(_TABLES).sql(query).__getattribute__(f"write_{suffix}")(tmp_path / f"x.{suffix}")
    assert (
        parquet.read_table(tmp_path / "x.parquet")["m"].to_pylist()
        == _answer("select m from t")["m"].to_pylist()
    )
    with duckdb.connect() as connection:
        connection.register("s", _TABLES["s"])
        connection.execute(_TYPE)
        connection.execute(f"copy ({_CAST} select k, m, [n] as l from t) to '{tmp_path}/d.csv'")
    assert sorted((tmp_path / "x.csv").read_text().splitlines()) == sorted(
        (tmp_path / "d.csv").read_text().splitlines()
    )


def test_enums_of_others_are_texts_as_duckdb_has_them(tmp_path: Path) -> None:
    words = ["sad", "ok", "glad", None, "ok"]
    with duckdb.connect() as connection:
        connection.register("w", pa.table({"x": words}))
        listed = "x::enum('sad', 'ok', 'glad') as x"
        connection.execute(f"copy (select {listed} from w) to '{tmp_path}/duckdb.parquet'")
        arrow = connection.execute(f"select {listed} from w").to_arrow_table()
    assert pa.types.is_dictionary(arrow.schema.field("x").type)
    parquet.write_table(arrow, tmp_path / "arrow.parquet")
    polars = pl.DataFrame({"x": pl.Series(words, dtype=pl.Enum(["sad", "ok", "glad"]))})
    query = "select typeof(x) as t, x from {} order by x desc nulls last"
    for name in ("duckdb", "arrow"):
        text = query.format(f"'{tmp_path}/{name}.parquet'")
        same(hr.sql(text), answer(text, {}), ordered=True)
    for table in (arrow, polars.to_arrow()):
        same(hr.sql(query.format("e"), {"e": table}), answer(query.format("e"), {"e": table}), ordered=True)
    found = hr.connect({"e": polars}).sql(query.format("e")).arrow()
    same(found, answer(query.format("e"), {"e": polars.to_arrow()}), ordered=True)
