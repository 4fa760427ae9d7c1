"""FOREIGN KEY of sessions' tables, beside DuckDB.

Sources: sql/foreign_keys.py, session/references.py.
"""
# ruff: noqa: E501

from __future__ import annotations

import random

import headrace as hr
import pytest
from statements_beside import Beside

CATALOGUE = (
    "select table_name, constraint_type, constraint_text, constraint_column_names, referenced_table, referenced_column_names from duckdb_constraints()",
    "select sql from duckdb_tables()",
    "select table_name, constraint_type from information_schema.table_constraints",
    "select * exclude (constraint_name, unique_constraint_name) from information_schema.referential_constraints",
)
FILLED = (
    "create table p (k int primary key, u varchar unique, x int, l int[])",
    "create table c (i int primary key, pk int references p(k), pu varchar references p(u), y int)",
    "insert into p values (1, 'a', 0, [1]), (2, 'b', 0, [1]), (3, NULL, 0, [1]), (4, 'd', 0, NULL)",
    "insert into c values (1, 1, 'a', 0), (2, NULL, 'b', 0), (3, 2, NULL, 0)",
)
SCRIPTS = {
    "children": [
        *FILLED,
        "insert into c values (4, 9, 'a', 0)",
        "insert into c values (4, 1, 'zz', 0)",
        "insert into c select i + 10, pk + 1, pu, y from c where pk = 1",
        "insert into c select i + 20, pk + 8, pu, y from c",
        "update c set pk = 9 where i = 1",
        "update c set pk = 4 where i = 1",
        "update c set y = y + 1",
        "insert or replace into c values (1, 99, 'b', 4)",
        "insert into c values (1, 99, 'b', 4) on conflict (i) do update set y = 5",
        "insert into c values (77, 99, 'b', 4) on conflict (i) do update set y = 5",
        "insert into c values (1, 99, 'b', 4) on conflict (i) do nothing",
        "merge into c using (select 1 as n) as q on c.i = q.n when matched then update set pk = 99",
        "merge into c using (select 8 as n) as q on c.i = q.n when not matched then insert (i, pk) values (8, 98)",
        "merge into c using (select 8 as n) as q on c.i = q.n when not matched then insert (i, pk) values (8, 3)",
        "from c",
    ],
    "parents": [
        *FILLED,
        "delete from p where k = 1",
        "delete from p where k = 3",
        "update p set x = 5",
        "update p set k = 7 where k = 1",
        "update p set u = u where k = 1",
        "update p set l = [2] where k = 1",
        "update p set l = [2], k = 5 where k = 4",
        "truncate p",
        "insert into p values (1, 'zz', 1, NULL) on conflict (k) do update set x = 8",
        "insert into p values (1, 'zz', 1, NULL) on conflict (k) do update set u = 'changed'",
        "insert into p values (5, 'zz', 1, NULL) on conflict (k) do update set u = 'changed'",
        "merge into p using (select 1 as n) as q on p.k = q.n when matched then delete",
        "merge into p using (select 5 as n) as q on p.k = q.n when matched then delete",
        "delete from c where pk = 2",
        "delete from p where k = 2",
        "delete from c where pu = 'b'",
        "delete from p where k = 2",
        "from p",
    ],
    "itself": [
        "create table self (k int primary key, up int references self(k))",
        "insert into self values (1, NULL), (2, 1)",
        "insert into self values (5, 5)",
        "insert into self values (1, NULL)",
        "insert into self values (2, 1), (3, 1)",
        "insert into self values (4, 2)",
        "delete from self where k in (2, 4)",
        "delete from self where k = 4",
        "update self set up = 3 where k = 2",
        "update self set up = 2 where k = 2",
        "update self set k = 20, up = 20 where k = 2",
        "update self set up = NULL where k = 3",
        "delete from self",
        "from self",
    ],
    "several columns": [
        "create table two (a int, b varchar, c int, primary key (a, b))",
        "create table twos (y varchar, x int, foreign key (x, y) references two)",
        "insert into two values (1, 'a', 1)",
        "insert into twos values ('a', 1), (NULL, 1), ('q', NULL)",
        "insert into twos values ('b', 1)",
        "update two set c = 4",
        "delete from two",
        "delete from twos where x = 1 and y = 'a'",
        "delete from two",
    ],
    "tables": [
        *FILLED,
        "create table d (i int, foreign key (i) references p)",
        "create table e (x int references nope(k))",
        "create table e (x int references p(x))",
        "create table e (x varchar references p(k))",
        "create table e (x int references p(k) on delete cascade)",
        "drop table p",
        "drop table p cascade",
        "create or replace table p (k int)",
        "alter table p add column z int default 4",
        "alter table p drop column x",
        "alter table p alter x set default 3",
        "alter table c rename y to yy",
        "alter table c drop column pk",
        "alter table c alter yy type bigint",
        "alter table c rename to c2",
        "insert into c2 values (9, 99, NULL, 1)",
        "insert into c2 values (9, 3, NULL, 1)",
        "describe c2",
        "drop table c2",
        "create or replace table d (i int)",
    ],
    "schemas": [
        "create schema s",
        "create table p (k int primary key)",
        "create table s.c (i int references main.p(k))",
        "create table s.p (k int primary key)",
        "create table s.d (i int references s.p(k))",
        "insert into p values (1); insert into s.p values (2)",
        "insert into s.d values (1)",
        "insert into s.d values (2)",
        "use s",
        "delete from p",
        "create table e (i int references p)",
        "insert into e values (2)",
        "drop table d",
        "delete from main.p",
        "use main",
        "drop schema s cascade",
        "from p",
    ],
    "transactions": [
        *FILLED,
        "begin",
        "insert into p values (11, 'n', 0, NULL)",
        "insert into c values (11, 11, 'n', 0)",
        "delete from c where i = 11",
        "delete from p where k = 11",
        "insert into p values (11, 'n', 0, NULL)",
        "commit",
        "insert into c values (11, 11, 'n', 0)",
        "begin; delete from c; rollback",
        "delete from p where k = 11",
    ],
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_foreign_keys_hold_as_in_duckdb(script: str) -> None:
    both = Beside(ranks=len(script) % 3 + 1, threads=2)
    for text in SCRIPTS[script]:
        both.say(text)
    for text in CATALOGUE:
        both.ask(text)


@pytest.mark.parametrize("seed", range(4))
def test_random_families(seed: int) -> None:
    draw = random.Random(seed)
    both = Beside(ranks=draw.choice([1, 2, 3]), threads=2)
    both.say("create table p (k int primary key, s varchar unique)")
    both.say("create table c (i int unique, k int references p, s varchar references p(s))")
    both.say(
        "insert into p select range, 's' || range from range(3000); insert into c select range, range * 3, 's' || range from range(1000)"
    )
    for _ in range(40):
        number = draw.randrange(3200)
        both.say(
            draw.choice(
                [
                    f"insert into p values ({number}, 's{number}')",
                    f"insert or ignore into p select range + {number}, 's' || (range + {number}) from range(3)",
                    f"delete from p where k between {number} and {number + 2}",
                    f"update p set s = 'n{number}' where k = {number}",
                    f"insert into c values ({number}, {number}, NULL)",
                    f"insert into c (i, s) select {number} + range, 's' || ({number} + range) from range(2)",
                    f"insert into c values ({number}, {number}, 'n{number}') on conflict (i) do update set k = {number} + 1",
                    f"update c set k = k + 1 where i % 50 = {number % 50}",
                    f"delete from c where i between {number} and {number + 40}",
                    f"merge into p using (select {number} as n) as q on p.k = q.n when matched then delete when not matched then insert values (n, NULL)",
                ]
            )
        )
    both.ask("from p")
    both.ask("from c")


def test_rows_of_one_transaction_that_go_together() -> None:
    """DuckDB refuses this, as it counts rows that are gone until the transaction ends."""
    session = hr.connect()
    session.sql("create table p (k int primary key); create table c (k int references p)")
    session.sql(
        "insert into p values (1); insert into c values (1); begin; delete from c; delete from p; commit"
    )
    assert session.sql("from p").arrow().num_rows == 0


REFUSED = (
    ("insert into c values (9)", hr.errors.ConstraintError, 'key "k: 9" of a foreign key is not in table p'),
    ("delete from p", hr.errors.ConstraintError, 'key "k: 1" is referred to by a foreign key of table c'),
    ("drop table p", hr.errors.UserError, "table c has a foreign key to p: DROP TABLE of it comes first"),
    ("alter table c alter k type bigint", hr.errors.UserError, "a column of a foreign key stays as it is: k"),
    (
        "alter table self rename to other",
        hr.errors.UserError,
        "a table that refers to itself is not renamed: self",
    ),
)


@pytest.mark.parametrize("text, kind, message", REFUSED)
def test_what_is_refused_and_why(text: str, kind: type[Exception], message: str) -> None:
    session = hr.connect()
    session.sql("create table p (k int primary key); create table c (k int references p)")
    session.sql("create table self (k int primary key, up int references self)")
    session.sql("insert into p values (1); insert into c values (1)")
    with pytest.raises(kind, match=message):
        session.sql(text)


def test_changes_of_parent_and_child_meet() -> None:
    session = hr.connect()
    session.sql(
        "create table p (k int primary key); create table c (k int references p); insert into p values (1)"
    )
    beside = session._beside()
    for mine, others, name in (
        ("insert into c values (1)", "delete from p", "p"),
        ("delete from p", "insert into c values (1)", "c"),
    ):
        beside.sql(f"begin; {mine}")
        session.sql(f"begin; {others}; commit")
        with pytest.raises(hr.errors.TransactionError, match=f"meanwhile: {name}; do it again"):
            beside.sql("commit")
        session.sql("delete from c; insert or ignore into p values (1)")
