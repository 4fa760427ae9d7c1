"""Generated columns of tables of a session, beside DuckDB's.

Sources: sql/declared.py, sql/changes.py.
"""
# ruff: noqa: E501

from __future__ import annotations

import headrace as hr
import pytest
from statements_beside import Beside

STATEMENTS = [
    "create table a (i integer, j integer generated always as (i + 1) virtual, k integer not null default 4, l varchar as (k || 'x'), h hugeint default 5, m enum ('u', 'v'), g hugeint as (h * 2), check (k < 1000))",
    "insert into a values (1, 2, 3, 'u'), (3, 4, NULL, NULL)",
    "insert into a (i) values (7)",
    "insert into a by name select 5 as i, 6 as h",
    "insert into a select range, range * 2, range, 'v' from range(500)",
    "insert into a values (1, 2, 3, 4, 5, 6, 7)",
    "insert into a (j) values (7)",
    "insert into a values (8, NULL, 3, 'u')",
    "insert into a values (8, 2000, 3, 'u') returning *",
    "insert into a values (8, 200, 3, 'u'), (9, 9, 9, 'v') returning l, j + 1 as n, g",
    "update a set k = 9 where j = 4 returning *",
    "update a set j = 3",
    "update a set k = j, h = g where l = '2x'",
    "update a set k = j * 1000",
    "delete from a where j % 4 = 3 returning i, j, l",
    "merge into a using (select range as q from range(490, 510)) as t on j = q when matched and q % 2 = 0 then delete when matched then update set k = j + 1 when not matched then insert (i, h) values (q, j) returning merge_action, *",
    "create view v as select j, count(*) as n, min(l) as l from a group by j",
    "from v",
    "create table b as from a where j < 5",
    "describe a",
    "describe b",
    "select column_name, is_generated from duckdb_columns() where table_name = 'a' order by column_index",
    "alter table a rename to c; alter table c rename to a",
    "alter table a rename j to jj",
    "alter table a add column z integer default 3",
    "alter table a drop jj",
    "alter table a drop k",
    "alter table a alter z type bigint",
    "alter table a drop l",
    "alter table a rename k to kk",
    "alter table a add column y integer generated always as (z + 1)",
    "insert into a (i) values (70)",
    "select rowid >= 0 as r, g from a where g = 10",
    "create table k (j integer as (i * 2), i integer primary key)",
    "insert into k values (4), (5)",
    "insert or replace into k values (4), (6)",
    "insert into k values (4)",
    "insert into k values (4) on conflict do update set i = excluded.i + j + 3 returning *",
    "from k",
    "create table n (i integer, j integer as (i // 0))",
    "create table n (i integer, j integer as (i), unique (j))",
    "create table n (j integer as (1))",
]  # fmt: skip


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_does_what_duckdb_does(ranks: int) -> None:
    both = Beside(ranks=ranks, threads=2)
    for text in STATEMENTS:
        both.say(text)
        names = {name for (name,) in both.oracle.execute("select table_name from duckdb_tables()").fetchall()}
        for name in names & {"a", "k"}:
            both.ask(f"select * exclude (m), m::varchar as m from {name}" if name == "a" else f"from {name}")


def test_new_rows_have_values_and_updated_ones_may_have_none() -> None:
    for text in (
        "insert into a values ('x', 1)",
        "insert into a select 'x', 1",
        "merge into a using (select 'y' as s) using (s) when not matched then insert (s) values (s)",
        "merge into a using (values ('y'), ('1')) as v(s) using (s) when matched then update set d = 9"
        " when not matched then insert (s) values (s)",
    ):
        session = hr.connect(threads=2)
        session.sql("create table a (s varchar, i integer as (s::integer), d integer default 5)")
        session.sql("insert into a values ('1', 1); insert into a select '2', 2 from range(3)")
        with pytest.raises(
            hr.errors.ConstraintError,
            match="generated column of table a has no value|Incorrect value for generated",
        ):
            session.sql(text)
        assert session.sql("from a").arrow().num_rows == 4
    both = Beside(threads=2)
    both.say("create table a (s varchar, i integer as (s::integer), d integer default 5)")
    both.say("insert into a values ('1', 1)")
    both.say("update a set s = 'y'")
    both.say("merge into a using (select 'y' as s) using (s) when matched then update set s = 'z'")
    both.say("select s from a")
    both.say("from a")
    both.say("delete from a where s = 'z'")


def test_what_is_not_stored() -> None:
    with pytest.raises(hr.errors.SqlError, match="Can not create a STORED generated column"):
        hr.connect().sql("create table n (i integer, j integer as (i) stored)")
