"""Sequences of a session, beside DuckDB's.

Sources: sql/sequences.py, sql/declared.py, session/sequences.py.
"""
# ruff: noqa: E501

from __future__ import annotations

import headrace as hr
import pyarrow as pa
import pytest
from statements_beside import Beside

SCRIPTS = {
    "defaults": [
        "create sequence s; create table a (i integer primary key default nextval('s'), x integer, t varchar default 'n')",
        "create sequence r; alter table a alter t set default 'n' || nextval('r')",
        "insert into a (x) values (10), (20) returning *",
        "insert into a (x, t) select range, 't' from range(3000)",
        "insert into a values (default, 1, 'u')",
        "insert into a (x, t) values (5, 'v')",
        "insert into a (i) values (1)",
        "select nextval('s') as n",
        "select currval('s') as n",
        "create table b as select nextval('s') as k, x, -x as y from a where x < 3",
        "update b set k = nextval('s') where y = -1",
        "select max(i) - min(i) as d, count(distinct i) as n from a",
        "alter table a rename to c; insert into c (x, t) values (7, 'w'); alter table c rename to a",
        "alter table a drop t",
        "create sequence q; alter table a add column z bigint default nextval('q')",
        "insert into a (x) values (8)",
        "drop sequence s",
        "create or replace sequence s",
        "drop table a; drop sequence s",
        "select nextval('s')",
    ],
    "queries": [
        "create sequence s start 5 increment 3; create temp sequence d increment -2 start -1 maxvalue 0 minvalue -5",
        "select nextval('s')",
        "select nextval('s') + 1 as n, upper('x') as x, nextval('d') as d",
        "select nextval('s') as n, range as r from range(5000) where range % 2 = 0",
        "with c as (select 7 as x) select nextval('s') as n, x from c",
        "select n from (values (nextval('s')), (nextval('s') * 2), (nextval('s'))) as v (n)",
        "select nextval('d')",
        "select nextval('d')",
        "select currval('d'), currval('s')",
        "select nextval('s') as a, currval('s') as b, nextval('s') as c, currval('s') as d",
        "create sequence if not exists s; select nextval('s')",
        "create sequence s",
        "drop sequence if exists nope",
        "drop sequence nope",
        "create sequence x increment 0",
        "select nextval('nope')",
        "select nextval(x) from (values ('s')) as t (x)",
        "create table s as select 1 as x; select nextval('s') as n, x from s",
    ],
    "values": [
        "create sequence s; create sequence d; create table a (i bigint, j bigint)",
        "insert into a values (nextval('s'), nextval('s')), (nextval('s') + 100, nextval('d'))",
        "insert into a values (nextval('s'), currval('d'))",
        "insert into a (j) select nextval('d') from a",
        "from a",
        "select nextval('d') as d, nextval('s') as s",
    ],
    "conflicts": [
        "create sequence s; create table a (i bigint default nextval('s'), x varchar unique, n integer default 0)",
        "insert into a (x) values ('p'), ('q') on conflict (x) do update set n = n + 1 returning i, x",
        "insert into a (x) values ('p'), ('r'), ('p') on conflict (x) do update set n = n + 1 returning i, x",
        "insert or ignore into a (x) values ('r'), (NULL), ('t')",
        "insert into a values (nextval('s'), 'p', 3), (nextval('s'), 'v', 4) on conflict do nothing",
        "insert into a (x) values ('w')",
        "from a",
        "create or replace table a (i bigint primary key default nextval('s'), x integer)",
        "insert into a (x) values (1), (2) on conflict do nothing",
        "select nextval('s') as n",
    ],
    "names": [
        'create temp sequence d; create sequence "Q ""r"',
        """create table w (i integer default nextval('d'), j integer default nextval('"Q ""r"'), x integer)""",
        "insert into w (x) values (3), (4)",
        "insert into w (x, i) select x, nextval('D') from w returning *",
        """select nextval('main."Q ""r"') as n, nextval('d') as m""",
        "alter table w rename x to y",
        "insert into w (y) values (3) returning *",
        'drop sequence "Q ""r"',
        'drop table w; drop sequence "Q ""r"',
    ],
    "transactions": [
        "create sequence s; create table a (i bigint default nextval('s'), x integer not null)",
        "begin; insert into a (x) values (1); select nextval('s')",
        "rollback",
        "insert into a (x) values (2)",
        "from a",
        "begin; create sequence r; select nextval('r')",
        "rollback",
        "select nextval('r')",
        "begin read only",
        "select currval('s') as c",
        "select nextval('s')",
        "rollback",
    ],
}  # fmt: skip


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("script", SCRIPTS)
def test_gives_the_numbers_of_duckdb(script: str, ranks: int) -> None:
    both = Beside(ranks=ranks, threads=2)
    for text in SCRIPTS[script]:
        both.say(text)
    both.ask("select 1 as one")


ERRORS = [
    ("select nextval('s') as n, nextval('s') as m from t", hr.errors.UnsupportedError, "a sequence gives each row one number: s is asked twice"),
    ("select k from t where k < nextval('s')", hr.errors.UnsupportedError, "nextval and currval stand in columns of what is inserted or selected, without conditions around them: not in CASE, subqueries, WHERE, below LIMIT and its like, nor in actions of MERGE INTO"),
    ("select case when k = 1 then nextval('s') end from t", hr.errors.UnsupportedError, "nextval and currval stand in columns"),
    ("select [x + nextval('s') for x in [k]] from t", hr.errors.UnsupportedError, "nextval and currval stand in columns"),
    ("select nextval('s') from t limit 1", hr.errors.UnsupportedError, "nextval and currval stand in columns"),
    ("select (select nextval('s')) from t", hr.errors.UnsupportedError, "nextval and currval stand in columns"),
    ("merge into a using t on k = x when not matched then insert (x) values (k)", hr.errors.UnsupportedError, "nextval and currval stand in columns"),
    ("select nextval('s') from t union all select nextval('s') from t", hr.errors.UnsupportedError, "a sequence gives each row one number: s is asked twice"),
    ("select nextval('s') union all select nextval('s')", hr.errors.UnsupportedError, "a sequence gives each row one number: s is asked twice"),
    ("select currval('s')", hr.errors.DataError, "currval of a sequence that has given no number yet: s"),
    ("select nextval('m') from t", hr.errors.DataError, "a sequence has no number left: m"),
    ("create sequence s", hr.errors.UserError, "there is a sequence of this name: s; CREATE OR REPLACE makes it anew"),
    ("create or replace sequence s", hr.errors.UserError, "table a has a default of the sequence s: DROP TABLE comes first"),
    ("drop sequence s", hr.errors.UserError, "table a has a default of the sequence s: DROP TABLE comes first"),
    ("drop sequence nope", hr.errors.UserError, "no such sequence: nope"),
    ("create sequence x increment 0", hr.errors.SqlError, "(?i)increment must not be zero"),
    ("create view v as select nextval('s') as n; from v", hr.errors.UnsupportedError, "nextval"),
    ("explain select nextval('s')", hr.errors.UnsupportedError, "nextval"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "message"), ERRORS, ids=[text for text, _, _ in ERRORS])
def test_what_is_refused_and_why(text: str, kind: type[Exception], message: str) -> None:
    session = hr.connect({"t": pa.table({"k": [1, 2, 3]})}, threads=2)
    session.sql("create sequence s; create sequence m maxvalue 2")
    session.sql("create table a (i integer primary key default nextval('s'), x integer)")
    with pytest.raises(kind, match=message):
        session.sql(text).arrow()
    assert session.sql("select nextval('s') as s, nextval('m') as m").arrow().to_pydict() == {
        "s": [1],
        "m": [1],
    }
    with pytest.raises(hr.HeadraceError, match="(?i)nextval"):
        hr.sql("create sequence s; select nextval('s')")


def test_sessions_over_one_database_get_different_numbers() -> None:
    session = hr.connect()
    session.sql("create sequence s; create table a (i integer default nextval('s'), x integer)")
    beside = session._beside()
    beside.sql("begin; insert into a (x) values (1), (2)")
    assert session.sql("select nextval('s') as n").arrow().to_pydict() == {"n": [3]}
    beside.sql("commit; insert into a (x) values (3)")
    assert session.sql("from a order by x").arrow().to_pydict() == {"i": [1, 2, 4], "x": [1, 2, 3]}
    for mine in ("create sequence r", "drop sequence q"):
        session.sql("create or replace sequence q")
        beside.sql(f"begin; {mine}")
        session.sql(f"create or replace sequence {mine[-1]}")
        with pytest.raises(hr.errors.TransactionError, match="sequence or schema meanwhile: "):
            beside.sql("commit")


def test_a_query_that_takes_numbers_is_done_once() -> None:
    session = hr.connect(time_zone="Europe/Berlin")
    session.sql("create sequence s")
    taken = session.sql("select nextval('s') as n, timestamptz '2024-01-01 12:00:00+00' as z")
    assert taken.arrow()["n"].to_pylist() == taken.arrow()["n"].to_pylist() == [1]
    assert taken.types == ("BIGINT", "TIMESTAMP WITH TIME ZONE") and taken.changed == -1
    assert str(taken.arrow()["z"].type) == "timestamp[us, tz=Europe/Berlin]"
    with pytest.raises(
        hr.errors.UserError, match="the statement has been done: it is no query that runs again"
    ):
        taken.explain()


@pytest.mark.parametrize("ranks", [1, 3])
def test_sequences_that_begin_again(ranks: int) -> None:
    both = Beside(ranks=ranks, threads=2)
    for number, said in enumerate(
        (
            "minvalue 2 maxvalue 6 start 4 cycle",
            "increment 3 minvalue 1 maxvalue 11 cycle",
            "increment -2 minvalue -3 maxvalue 4 start 1 cycle",
            "increment by -1 minvalue 5 maxvalue 5 cycle",
            "cycle",
        )
    ):
        both.say(f"create sequence q{number} {said}")
        both.say(f"create table t{number} (n bigint default nextval('q{number}'), i integer)")
        for count in (1, 2, 9, 5):
            both.say(f"select nextval('q{number}') as n")
            both.say(f"insert into t{number} (i) select range from range({count}) order by range")
            both.say(f"insert into t{number} (i) values (1), (2), (3)")
            both.say(f"select nextval('q{number}') as n, currval('q{number}') as c")
        both.say(f"select count(*) as n, min(n) as low, max(n) as high, sum(n) as s from t{number}")


def test_what_sequences_there_are() -> None:
    both = Beside(ranks=2, threads=2)
    both.say(
        "create schema s; create sequence q start 3 increment 2; create sequence s.q cycle maxvalue 2; create sequence r"
    )
    both.say("select nextval('q') as n, nextval('s.q') as m")
    both.say("select nextval('q') as n, nextval('s.q') as m")
    both.ask("select * exclude (database_oid, schema_oid, sequence_oid, sql, tags) from duckdb_sequences()")
    both.ask("select replace(sql, 's.q', 'q') as sql from duckdb_sequences()")
    both.ask("from pg_catalog.pg_sequences")


@pytest.mark.parametrize("ranks", [1, 3])
def test_numbers_of_rows_that_are_joined_and_left_out(ranks: int) -> None:
    both = Beside(ranks=ranks, threads=2)
    both.say("create sequence q; create table t (id bigint default nextval('q'), s varchar unique, x int)")
    for text in (
        "insert into t (s, x) select 's' || range, range from range(5)",
        "insert into t (s, x) select 's' || range, range + 10 from range(3, 8) on conflict do nothing",
        "insert into t (s, x) select 's' || range, range + 10 from range(3, 12) on conflict (s) do update set x = excluded.x",
        "insert into t (s, x) values ('s1', 4), ('new', 3) on conflict (s) do update set x = excluded.x",
        "with w as (select 's' || range as s from range(3, 20)) insert into t (s) select s from w on conflict do nothing",
        "insert into t (s) select s || 'u' from t union all select 'zzz' on conflict (s) do nothing",
        "insert into t (s) select distinct x::varchar from t where x is not null",
    ):
        both.say(text)
        both.say("select nextval('q') as n")
        # Which of the rows has which number, the order of rows says, which is nobody's.
        both.say("select count(*) as c, min(id) as low, max(id) as high from t")
