"""Schemas of sessions, beside DuckDB.

Sources: session/schemas.py.
"""
# ruff: noqa: E501

from __future__ import annotations

from pathlib import Path

import headrace as hr
import pyarrow as pa
import pytest
from statements_beside import Beside

CATALOGUE = (
    "select table_schema, table_name, table_type from information_schema.tables",
    "select schema_name, table_name, column_count, sql from duckdb_tables()",
    "select schema_name, internal from duckdb_schemas()",
    "select schema_name, view_name from duckdb_views() where not internal",
    "select schema_name from information_schema.schemata",
    "select table_schema, column_name, column_default from information_schema.columns",
)
FILLED = (
    "create schema s",
    "create table t (y int); insert into t values (2), (3)",
    "create table s.t (x int primary key, z varchar default 'd'); insert into s.t (x) values (1), (5)",
)
SCRIPTS = {
    "made and dropped": [
        "create schema s",
        "create schema if not exists S",
        "create schema if not exists main",
        "create schema memory.r",
        "create or replace schema s",
        "create or replace schema r",
        "create table r.a (i int)",
        "create or replace schema r",
        "create schema main",
        "create schema information_schema",
        "drop schema main",
        "drop schema nope",
        "drop schema if exists nope",
        "drop schema s",
        "drop schema r restrict",
        "drop schema r cascade",
        "create table s.t (i int)",
        "create view nope.t as select 1",
        "create sequence nope.q",
        "use nope",
        "drop table nope.t",
        "drop table if exists nope.t",
        'create schema "q q"',
        'create table "q q"."T t" ("a b" int)',
        'insert into "q q"."T t" values (1)',
        'select "T t"."a b" from "q q"."T t"',
    ],
    "every statement": [
        *FILLED,
        "from s.t",
        "from t",
        "select t.x, s.t.z from s.t",
        "select a.x from s.t as a join t as b on a.x + 1 = b.y",
        "with t as (select 1 as k) from t",
        "insert into s.t values (1, 'q')",
        "insert into s.t values (1, 'q') on conflict (x) do update set z = 'up'",
        "insert into s.t values (7, 'q') returning t.x, s.t.z",
        "update s.t set z = z || 'u' where x > 1",
        "update s.t as u set z = u.z || 'u' where u.x > 1 returning u.z",
        "delete from s.t where x = 5 returning *",
        "merge into s.t using (select 1 as n union all select 9) as q on t.x = q.n when matched then update set "
        "z = 'm' when not matched then insert (x) values (n) returning merge_action, x",
        "describe s.t",
        "show s.t",
        "show tables",
        "show tables from s",
        "alter table s.t add column n integer default 3",
        "alter table s.t rename z to zz",
        "alter table s.t alter x type bigint",
        "alter table s.t rename to t2",
        "alter table s.t2 rename to t",
        "from s.t",
        "create table s.u as select x + 1 as k from s.t",
        "insert into s.u select y from t",
        "create or replace table s.t as select 3 as x, 'r' as z",
        "from s.u",
        "truncate s.u",
        "drop table s.u",
        "drop table s.nope",
        "drop view s.t",
    ],
    "views": [
        *FILLED,
        "create view s.v as from t",
        "create view v as from s.v",
        "create view s.w (k) as from main.t",
        "from s.v",
        "from v",
        "from s.w",
        "create view s.t as select 1 as x",
        "create or replace view s.w as select 4 as q",
        "from s.w",
        "drop table s.t",
        "from s.w",
        "drop view s.w",
        "drop schema s",
        "drop view v",
        "drop schema s cascade",
        "from t",
    ],
    "use": [
        *FILLED,
        "use s",
        "from t",
        "from main.t",
        "from memory.main.t",
        "show tables",
        "select 4 as k from t",
        "create table w as select 4 as k",
        "from s.w",
        "create view v as from w",
        "alter table w add column n integer",
        "alter table main.t add column b varchar",
        "update t set z = 'in s'",
        "insert into t values (1, 'x')",
        "insert into t values (1, 'x') on conflict (x) do update set z = excluded.z returning x, z",
        "use main",
        "from w",
        "from s.v",
        "from t",
        "set schema = 's'",
        "delete from t where x = 5",
        "drop table w cascade",
        "reset schema",
        "from s.t",
        "use memory.s",
        "create temp table tt (i int)",
        "from tt",
        "drop schema s cascade",
        "from t",
    ],
    "sequences": [
        "create schema s",
        "create sequence s.q start 4",
        "select nextval('s.q') as n",
        "select nextval('q') as n",
        "create sequence q start 100",
        "use s",
        "select nextval('q') as n",
        "select nextval('main.q') as n",
        "create table d (i bigint default nextval('s.q'), j int)",
        "insert into d (j) values (1), (2)",
        "from d",
        "use main",
        "create or replace sequence s.q",
        "drop sequence s.q",
        "drop table s.d",
        "drop sequence s.q",
        "create table e (i bigint default nextval('q'))",
        "insert into e values (default)",
        "from e",
    ],
    "transactions": [
        "begin",
        "create schema r",
        "create table r.t (a int)",
        "use r",
        "insert into t values (4)",
        "from t",
        "rollback",
        "use main",
        "from r.t",
        "begin",
        "create schema r",
        "create table r.t (a int)",
        "commit",
        "begin; drop schema r cascade; rollback",
        "begin",
        "use nope",
        "use r",
        "rollback",
        "from r.t",
    ],
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_schemas_are_those_of_duckdb(script: str) -> None:
    both = Beside(ranks=len(script) % 3 + 1, threads=2)
    for text in SCRIPTS[script]:
        both.say(text)
    for text in CATALOGUE:
        both.ask(text)
    both.ask("select current_schema() as c")


def test_names_and_files(tmp_path: Path) -> None:
    session = hr.connect({"t": pa.table({"k": [1, 2]})})
    session.sql("create schema s; create table s.t as select k + 10 as k from t")
    assert session.tables == ["s.t", "t"]
    assert session.table("s.t").arrow().to_pydict() == {"k": [11, 12]}
    session.sql(f"copy s.t to '{tmp_path}/x.csv'; copy s.t from '{tmp_path}/x.csv'")
    session.sql("use s")
    assert session.table("t").arrow().to_pydict() == {"k": [1, 2]}
    assert session.sql("select sum(k) as k from t").arrow().to_pydict() == {"k": [46]}
    session.sql(f"copy t from '{tmp_path}/x.csv'")
    assert session.sql("select count(*) as n from s.t").arrow().to_pydict() == {"n": [6]}
    # A query has the schema in use when it was written.
    waits = session.sql("select max(k) as k from t")
    session.sql("use main")
    assert waits.arrow().to_pydict() == {"k": [12]}
    assert session.sql("from t").arrow().num_rows == 2


REFUSED = (
    ("create schema s", hr.errors.UserError, "there is a schema of this name: s"),
    ("create schema s.r", hr.errors.UnsupportedError, "a schema in another one is not supported: s"),
    ("drop schema s.r", hr.errors.UnsupportedError, "a schema in another one is not supported: s"),
    ("drop schema main", hr.errors.UserError, "the schema main is not dropped"),
    ("drop schema nope", hr.errors.UserError, "no such schema: nope"),
    ("drop schema s", hr.errors.UserError, "the schema s has s.a, s.q: DROP SCHEMA … CASCADE drops them"),
    (
        "drop schema s cascade",
        hr.errors.UserError,
        "table d has a default of the sequence s.q: DROP TABLE comes first",
    ),
    ("use nope", hr.errors.UserError, "no such schema: nope"),
    ("use x.s", hr.errors.UserError, "no such schema: x.s"),
    (
        "create macro s.f(x) as x",
        hr.errors.UnsupportedError,
        "macros and types are in the schema main, not in: s",
    ),
    (
        "use s; create type m as enum ('a')",
        hr.errors.UnsupportedError,
        "macros and types are in the schema main, not in: s",
    ),
    (
        "use s; create table e (i bigint default nextval('q'))",
        hr.errors.UnsupportedError,
        "a default in a schema names that of its sequence in front of it: q",
    ),
)


@pytest.mark.parametrize("text, kind, message", REFUSED)
def test_what_is_refused_and_why(text: str, kind: type[Exception], message: str) -> None:
    session = hr.connect()
    session.sql("create schema s; create table s.a (i int); create sequence s.q")
    session.sql("create table d (i bigint default nextval('s.q'))")
    with pytest.raises(kind, match=message):
        session.sql(text)


def test_schemas_that_meet() -> None:
    session = hr.connect()
    session.sql("create schema s")
    beside = session._beside()
    beside.sql("begin; create table s.a (i int)")
    session.sql("drop schema s")
    with pytest.raises(hr.errors.TransactionError, match="meanwhile: s; do it again"):
        beside.sql("commit")
    beside.sql("begin; create schema r")
    session.sql("create schema r")
    with pytest.raises(hr.errors.TransactionError, match="meanwhile: r; do it again"):
        beside.sql("commit")
