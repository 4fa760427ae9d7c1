"""RETURNING of INSERT, DELETE and UPDATE, beside DuckDB's.

Sources: session/changes.py, session/kept_table.py, sql/script.py.
"""
# ruff: noqa: E501

from __future__ import annotations

from pathlib import Path

import adbc_driver_flightsql.dbapi as flight_dbapi
import duckdb
import headrace as hr
import pyarrow as pa
import pyarrow.parquet
import pytest
from headrace import dbapi
from statements_beside import rows_of

TEXTS = [
    "insert into a values (1, 'x', 2.5, 'ok', 10), (2, NULL, NULL, 'sad', NULL) returning *",
    "insert into a (h, x) select range * 1000, range from range(3, 2000) returning x + 1 as y, s, h % 7 as r, m",
    "insert into a by name select 'n' as s, 5000 as x returning upper(s) || '!' as t, x, d::varchar -- the end\n;",
    "INSERT INTO a (x) VALUES (-1) RETURNING * exclude (s, m) replace (x * 2 as x)",
    "delete from a where x % 3 = 1 returning x, [x, 1] as l, m",
    "delete from a using (select 8 as q union all select 8) as b where x = q returning x, s",
    "update a set x = x + 1, s = 'u' || s where x > 5 returning x, s, case when x > 7 then 'more' end as c",
    'update a set h = 1, s = default from (select 3 as q) as b where x = q returning a.x, h, "s"',
    "with c as (select 12 as q) delete from a using c where x = q returning x",
    "update a set x = 1 where false returning *",
    "update main.a as b set s = 'b' where b.x < 12 returning b.x, s, b.* exclude (m, h, x, s)",
    'with c as (select 20 as q) delete from "a" "T t" using c where x = q returning "T t".x, "T t".s',
    "insert into a as z by name select 9000 as x returning a.x, s",
    "update a set s = 'c' from a as o where a.x = o.x + 1 and o.x < 12 returning a.x, a.s",
    "delete from a returning x",
]


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_returned_rows_are_those_of_duckdb(ranks: int) -> None:
    session, oracle = hr.connect(ranks=ranks, threads=2), duckdb.connect()
    create = (
        "create type mood as enum ('sad', 'ok');"
        "create table a (x integer not null, s varchar default 'd', d decimal(5, 2), m mood, h hugeint)"
    )
    session.sql(create)
    oracle.execute(create)
    for text in TEXTS:
        relation, told = session.sql(text), oracle.execute(text)
        expected = told.fetchall()
        assert relation.columns == [column[0] for column in told.description], text
        assert relation.types == tuple(str(column[1]) for column in told.description), text
        assert sorted(rows_of(relation.arrow()), key=repr) == sorted(expected, key=repr), text
        assert relation.changed == len(expected)
        asked = "select * exclude (m), m::varchar as m from a"
        found = rows_of(session.sql(asked).arrow())
        assert sorted(found, key=repr) == sorted(oracle.execute(asked).fetchall(), key=repr), text


def test_a_mistake_changes_nothing() -> None:
    session = hr.connect()
    session.sql("create table a (x integer, s varchar); insert into a values (1, 'x')")
    for text, kind, message in (
        ("delete from a returning nope", hr.errors.SqlError, "no such column: nope"),
        ("delete from a returning s::integer", hr.errors.DataError, "value cannot be cast"),
        ("delete from a returning sum(x)", hr.errors.SqlError, "Aggregate functions are not supported here"),
        ("delete from a returning (select 1)", hr.errors.SqlError, "SUBQUERY is not supported in returning"),
        (
            "delete from a returning rowid",
            hr.errors.UnsupportedError,
            "RETURNING has columns of the table a alone, without rowid: name them",
        ),
        (
            "delete from a as t using (select 1 as y) as b returning t.x, b.y",
            hr.errors.SqlError,
            'Referenced table "b" not found',
        ),
        ("delete from a as t returning a.x", hr.errors.SqlError, 'Referenced table "a" not found'),
        (
            "with c as (delete from a returning *) from c",
            hr.errors.UnsupportedError,
            "unsupported: LOGICAL_DELETE",
        ),
        ("insert into a values (2, 'y') returning s::integer", hr.errors.DataError, "value cannot be cast"),
    ):
        with pytest.raises(kind, match=message):
            session.sql(text).arrow()
        assert session.sql("from a").arrow().to_pydict() == {"x": [1], "s": ["x"]}, text


def test_cursors_get_the_rows() -> None:
    cursor = dbapi.connect().cursor()
    cursor.execute("create table a (x integer)")
    assert cursor.execute("insert into a values (?), (2) returning x * 10 as y", [1]).fetchall() == [
        (10,),
        (20,),
    ]
    assert cursor.rowcount == 2 and cursor.description is not None
    assert cursor.execute("delete from a where x = 1 returning x").fetchone() == (1,)


def test_where_there_is_none(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"k": [1]}), tmp_path / "x.parquet")
    session = hr.connect({"f": tmp_path})
    with pytest.raises(
        hr.errors.UnsupportedError, match="RETURNING of rows that become a file is not supported: f"
    ):
        session.sql("insert into f values (2) returning k")
    session.sql("create table a (x integer)")
    with (
        hr.serve(session) as server,
        flight_dbapi.connect(server.location, autocommit=True) as connection,
        connection.cursor() as cursor,
        pytest.raises(
            Exception,
            match="RETURNING gives a server's clients no rows: ask for them in the same transaction",
        ),
    ):
        cursor.execute("insert into a values (1) returning x")
    assert session.table("a").arrow().num_rows == 0
