"""Subqueries wherever SQL allows them, and sets that keep duplicates, against DuckDB on several ranks."""

from __future__ import annotations

import itertools

import duckdb
import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import check

TABLES = {
    "t": pa.table({"a": [1, 2, 3, None, 2], "b": [10, 20, None, 40, 50]}),
    "u": pa.table({"x": [1, 1, 2, 5, None], "y": [7, 8, 9, None, 3]}),
    "w": pa.table({"z": [1, 2, 3, None], "q": [4, 5, 6, 7]}),
}

QUERIES = [
    "select a, (select y from u where x = a order by y limit 1) as f from t",
    "select a, (select y from u where x = a order by y desc limit 1 offset 1) as f from t",
    "select t.a, l.y from t left join lateral (select y from u where u.x = t.a order by y limit 1) l on true",
    "select t.a, l.y from t, lateral (select y from u where u.x <> t.a order by y limit 2) l",
    # One row for each, in the order that is asked for.
    "select distinct on (a) a, b from t order by a, b",
    "select distinct on (a) b from t order by a desc nulls last, b desc",
    "select a from (select distinct on (x, x + 1) x as a, y from u order by x, y) q where y < 9",
    # As often as on both sides, or as what is left over.
    "select a from t intersect all select x from u",
    "select x from u intersect all select a from t intersect all select x from u",
    "select a from t except all select x from u",
    "select x from u except all select a from t except all select 5",
    "select a from t union all select a from t except all select x from u",
    "select count(*) as n from (select x from u intersect all select x from u) q",
    "select a, (select max(y) from u where x=a) from t",
    # One column of the subquery is equal to several of the row.
    "select a, b, (select z from w where z = a and z = b - 8) from t",
    "select a from t where a = (select z from w where z = a and z * 10 = b and z = a)",
    "select a, (select q from w where z = a and z = a + 0 and q > a) f from t",
    "select a, exists(select 1 from u where x=a and y>7) e from t",
    "select a, a in (select x from u where y>b-5) e from t",
    "select t.a, u.y from t left join u on u.x = (select min(x) from u as v where v.y > t.a)",
    "select t.a, u.y from t join u on exists (select 1 from u as v where v.x=t.a and v.y=u.y)",
    "select t.a from t semi join u on exists (select 1 from u as v where v.x=t.a and v.y=u.y)",
    "select t.a from t anti join u on exists (select 1 from u as v where v.x=t.a and v.y=u.y) "
    "or t.b = u.y * 5",
    "select t.a, count(*) from t semi join u on exists (select 1 from u v where v.x=t.a and "
    "v.y=u.y) group by all",
    "select t.a, l.m from t, lateral (select max(y) as m from u where u.x = t.a) l",
    "select t.a, l.y from t cross join lateral (select y from u where u.x < t.a) l",
    "select t.a, l.s from t, lateral (select t.a + t.b as s) l",
    "select a, (select count(*) from u where x < a) n from t",
    "select a, (select sum(y) from u where x < a and y > (select min(b) from t as w where w.a = t.a) -"
    " 100) n from t",
    "select a, b > all(select y from u where x = a) q from t",
    "select a, case when a = 1 then (select max(y) from u) else (select min(y) from u where x = a) end"
    " k from t",
    "select (select a) from t",
    "select a from t where (select count(*) from u where u.x = t.a) = 2",
    "select a, (select (select max(y) from u where x = t.a) + 1) z from t",
    "select sum((select max(y) from u where x = a)) from t",
    "select a, sum(b) from t group by a having sum(b) > (select avg(y) from u where x = a)",
    "select a from t order by (select max(y) from u where x = a), a",
    "select t.a, v.z from t, lateral (values (t.a), (t.b)) v(z)",
    "select a from t where a in (select x from u union select y from u)",
    "select a, case a when 1 then 'one' when null then 'n' else 'o' end w from t",
    "select * from t full join u on t.a = u.x",
    "select t.a, u.x from t full join u on exists (select 1 from t s where s.a = t.a and s.b = u.y)",
    "select t.a, u.x from t full join u on u.x in (select s.x from u s where s.y = t.b)",
    "select a, b from t natural full join (select x as a, y as c from u) q",
    "select a, (select y from u where u.x = t.a) from t where a = 2",
    "select a from t where not exists (select 1 from u where u.x = t.a or u.y = t.b)",
    "select a, (select max(y) from u where u.x = t.a group by x having count(*) > 1) from t",
    "select a, (select distinct x from u where u.x = t.a) from t",
    "select a from t where a = any (select x from u where u.y > t.b)",
    "select count(*) from t, u where t.a + u.x in (select y from u as w where w.x = t.a)",
    "select t.a, l.n from t, lateral (select count(*) as n from u where u.x = t.a having count(*) > 0) l",
    "select t.a, l.c, l.d from t, lateral (select u.x as c, l2.d from u, lateral (select u.y + t.a as"
    " d) l2 where u.x = t.a) l",
    "select t.a, v.z, v.w from t, lateral (values (t.a, 1), (t.b + 1, 2), (null, t.a)) v(z, w) where v.w > 0",
    "select a, (select max(z) from (values (a), (b), (25)) q(z)) m from t",
    "select a, (select count(*) from (values (a), (b), (null)) q(z) where z > 2) m from t",
    "select a from t where exists (select 1 from (values (a), (b)) q(z), u where u.x = q.z)",
]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("query", QUERIES)
def test_answers_are_duckdbs(query: str, ranks: int) -> None:
    check(query, TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("kind", ["semi", "anti"])
@pytest.mark.parametrize("condition", ["b.id = 3", "b.flag", "a.id < b.id"])
def test_joins_that_keep_left_rows_without_a_key(kind: str, condition: str, ranks: int) -> None:
    """Few left rows would be marked by right ones, were there a key."""
    empty = pa.table({"id": pa.array([], pa.int32()), "flag": pa.array([], pa.bool_())})
    full = pa.table({"id": pa.array([1, 2, 3], pa.int32()), "flag": [True, None, False]})
    many = pa.concat_tables([full] * 40)
    for a, b in itertools.product((empty, full), (empty, full, many)):
        query = f"select 7 as x from a {kind} join b on {condition}"
        found = hr.sql(query, {"a": a, "b": b}, ranks=ranks).to_pylist()
        assert found == duckdb.sql(query).to_arrow_table().to_pylist()


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("quantifier", ["any", "all"])
@pytest.mark.parametrize("comparison", ["=", "<>", "<"])
def test_a_correlated_null_finds_no_row(comparison: str, quantifier: str, ranks: int) -> None:
    """NULL beside a column with or without NULLs, and among others: of no rows nothing is unknown."""
    keys = ([1, 2, None, 3, None], [1, 2, 2, 3, 1])
    values = ([5, None, 6, None, 7], [5, 6, 7, 7, 5])
    for ours, theirs, compared in itertools.product(keys, keys, values):
        tables = {
            "t": pa.table({"a": ours * 3, "c": [1, 2, 3] * 5, "b": [5, 6, None, 7, 8] * 3}),
            "u": pa.table({"x": theirs, "z": [1, 2, None, 3, 2], "y": compared}),
        }
        subqueries = [
            f"b {comparison} {quantifier} (select y from u where {condition})"
            for condition in ("x = a", "x = a and z = c", "x is not distinct from a", "x = a and z < c")
        ]
        check(f"select a, b, c, {', '.join(subqueries)} from t", tables, ranks=ranks)
        check(f"select a, b, c from t where not {subqueries[0]}", tables, ranks=ranks)
