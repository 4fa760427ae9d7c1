"""MERGE INTO, and ON CONFLICT of INSERT, in a session, beside DuckDB.

Sources: sql/merges.py, sql/bound_change.py, session/merged_rows.py, session/returned.py, session/constrained.py.
"""
# ruff: noqa: E501

from __future__ import annotations

import os
import random
from pathlib import Path

import headrace as hr
import pyarrow as pa
import pyarrow.parquet
import pytest
from headrace import dbapi
from headrace._src.sql.merges import writable
from statements_beside import Beside, rows_of

SETUP = (
    "create table a (i integer primary key, s varchar, d integer default 7 check (d < 1000));"
    "insert into a values (1, 'one', 1), (2, 'two', 2), (3, 'three', 3);"
    "create table t as select * from (values (1, 'x'), (1, 'y'), (9, 'z'), (9, 'w'), (2, 'q')) as r (k, v)"
)
SOURCE = "(select k as i, v as s from t where v in ('x', 'z'))"
STATEMENTS = [
    # ON CONFLICT: of rows of one key the first is taken.
    "insert or replace into a values (1, 'p', 5), (1, 'q', 6), (7, 'r', 7), (7, 's', 8)",
    "insert or ignore into a values (1, 'p', 5), (1, 'q', 6), (7, 'r', 7), (7, 's', 8)",
    "insert or replace into a (i) values (1), (8)",
    "insert or replace into a (d, i) values (5, 1), (6, 8) returning d, i, s",
    "insert or replace into a by name select 'p' as s, 1 as i returning i, s",
    "insert or ignore into a select k, v, k from t where k > 1 and v <> 'w'",
    "insert or ignore into a default values",
    "insert or ignore into a (s) values ('x')",
    "insert into a values (1, 'p', 5), (4, 'f', 5) on conflict do nothing returning *",
    "insert into a values (1, 'p', 5) on conflict (i) do update set s = excluded.s || s, d = d + excluded.d returning *",
    "insert into a values (1, 'p', 5), (2, 'q', 5), (5, 'r', 5) on conflict (i) do update set s = 'm' where d < excluded.i returning *",
    "insert into a values (1, 'p', 5) on conflict (i) do update set s = default, d = default",
    "insert into a as b values (1, 'p', 5) on conflict do update set s = b.s || excluded.s returning *",
    "insert into a by name select 'p' as s, 1 as i on conflict do update set d = d + 1 returning i, s",
    "with c as (select 3 as i union all select 30) insert into a (i) select i from c on conflict do update set d = 0",
    "insert into a values (4, 'p', 5) on conflict (i) do update set d = s::integer",
    "insert into a values (1, 'p', 5) on conflict (i) do update set d = s::integer",
    "insert into a values (1, 'p', 5) on conflict (i) do update set i = 2",
    "insert into a values (1, 'p', 5) on conflict (i) do update set i = 20 returning *",
    "insert into a values (1, 'p', 5) on conflict (i) do update set i = NULL",
    "insert into a values (1, 'p', 5) on conflict (i) do update set d = 2000",
    "insert into a values (10, 'p', 2000) on conflict (i) do nothing",
    "insert into a values (NULL, 'p', 5) on conflict (i) do nothing",
    "insert into a values (1, 'p', 5) on conflict (s) do nothing",
    "insert into a values (1, 'p', 5) on conflict (i) where i > 3 do nothing",
    "insert into a values (1, 'p', 5) on conflict do update set s = (select 'r')",
    "insert into a values (1, 'p', 5) on conflict (i) do update set nope = NULL",
    "insert into t values (1, 'p') on conflict do nothing",
    # MERGE INTO.
    "merge into a using t on a.i = t.k when matched then update set s = t.v",
    "merge into a using t on a.i = t.k when matched then delete",
    "merge into a using t on a.i = t.k when matched and v = 'x' then update set s = 'm' when matched then delete",
    "merge into a using t on a.i = t.k when matched and v = 'x' then do nothing when matched then delete",
    "merge into a using t on a.i = t.k when matched and k = 2 then delete when matched and v = 'x' then update set s = 'm' when not matched and v = 'z' then insert (s, i) values (t.v, t.k) when not matched by source then update set d = 100 returning merge_action, i, s, d",
    "merge into a using t on a.i = t.k when matched and k = 2 then delete when not matched and v = 'z' then insert values (k, v, 4) returning upper(merge_action), *, merge_action as m, i + 1",
    "merge into a using t on a.i = t.k when matched and k = 2 then delete returning i, i, merge_action -- the end\n;",
    f"merge into a using {SOURCE} using (i) when matched then update by name when not matched then insert by name returning *",
    "merge into a using (select k as i, v as s, 3 as d from t where v in ('x', 'z')) using (i) when matched then update when not matched then insert",
    f"merge into a using {SOURCE} using (i) when matched then update set * when not matched then insert *",
    f"with c as {SOURCE} merge into a using c using (i) when matched then update set s = default, d = default when not matched by target then insert values (i, default, default)",
    "with c as materialized (from t) merge into a using c on a.i = k when matched and v <> 'y' then update set s = v, d = default when not matched and k > 3 and v = 'z' then insert (d, i) values (default, k + 1) when not matched and v = 'v' then error v || k when not matched by source then delete",
    "merge into a using t on false when not matched and v = 'z' then insert values (t.k, t.v, 5) when not matched by source and i = 1 then delete",
    "merge into a using (select 1 as k) as t on a.i = t.k when matched then update set i = (select max(k) + 10 from t)",
    "merge into a using (values (1), (1)) as t(k) on a.i = t.k when matched and false then delete",
    "merge into a using (values (5)) as t(k) on a.i = t.k when not matched then insert values (1, 'z', 1) when not matched by source and i = 1 then delete returning *",
    "merge into a using (values (5)) as t(k) on a.i = t.k when not matched then insert values (8, 'z', 1) when not matched by source and i = 1 then update set i = 8",
    "merge into a using (values (5)) as t(k) on a.i = t.k when not matched then insert values (k, 'z', 1) when not matched by source and case when i = 1 then true end then update set d = case when i = 1 then 50 end",
    'merge into a using (select 1 as k, 2 as "when", 3 as "then") as t on a.i = t.k when matched and t."when" = 2 and t."then" = 3 then delete',
    "merge into a using t on a.i = t.k when matched and v::integer = 1 then delete",
    "merge into a using t on a.i = t.k when matched and v <> 'y' then delete when matched and length(v) = 1 then do nothing",
    "merge into a using t on a.i = t.k when not matched and v = 'z' then insert values (k, v::integer, 3)",
    "merge into a using t on a.i = t.k when matched then error 'no ' || v",
    "merge into a using t on a.i = t.k when matched and k = 2 then error",
    "merge into a using t on a.i = t.k when matched and k = 200 then error when matched and v = 'q' then delete",
    "merge into a using t on a.i = t.k when matched then do nothing when not matched then error",
    "merge into a using t on a.i = t.k when not matched then insert values (k, v)",
    "merge into a using t on a.i = t.k when matched then delete when matched then do nothing",
    "merge into a using t on a.i = t.k when matched and k = 2 then delete returning rowid",
    "merge into t using a on i = k when matched then update set v = s returning *, merge_action",
    "merge into t using a on i = k when matched then delete returning k, v",
    "merge into a b using t as c on b.i = c.k when matched and c.k = 2 then delete returning b.i, b.*, merge_action as m",
    "insert into a as b values (1, 'p', 5) on conflict do update set s = b.s || excluded.s returning b.s, b.d",
    "merge into nope using t on i = k when matched then delete",
    "merge into a using nope on i = k when matched then delete",
]  # fmt: skip


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("text", STATEMENTS)
def test_does_what_duckdb_does(text: str, ranks: int) -> None:
    both = Beside(ranks=ranks, threads=2)
    both.say(SETUP)
    both.say(text)
    both.ask("from a")
    both.ask("from t")


@pytest.mark.parametrize("ranks", [1, 3])
def test_types_and_rows_are_those_of_duckdb(ranks: int) -> None:
    both = Beside(ranks=ranks, threads=2)
    both.say(
        "create type mood as enum ('sad', 'ok');"
        "create table a (k bigint primary key, m mood default 'ok', h hugeint, u uuid, l integer[],"
        " p struct(x decimal(9, 2), y varchar), z timestamptz, b blob);"
        "insert into a select range, case when range % 3 = 0 then 'sad' end, range * 1000000000000000000000,"
        " NULL::uuid, [range], {'x': range / 4, 'y': 's' || range}, to_timestamp(range), 'b'::blob from range(5000);"
        "create view v as select range * 2 as k, range % 7 as r, [range, 1] as l from range(2000, 3500)"
    )
    for text in (
        "merge into a using v on a.k = v.k when matched and r = 3 then delete"
        " when matched and r < 5 then update set m = 'sad', h = h + 1, l = v.l, p = {'x': r, 'y': NULL}, u = "
        "'44100c25-7586-4d6e-b629-1c8b65f6c8e8' when not matched and r <> 2 then insert (k, l) values (v.k, v.l)"
        " when not matched by source and a.k < 50 then update set m = default, z = NULL"
        " returning merge_action, k, h::varchar as h, u::varchar as u, l, p.x, z::varchar as z, b",
        "insert into a (k, h) select k, r from v on conflict (k) do update set h = excluded.h * 2, m = 'sad'"
        " where l[1] is not null",
    ):
        told, relation = both.oracle.execute(text), both.session.sql(text)
        expected, found = told.fetchall(), relation.arrow()
        assert sorted(rows_of(found), key=repr) == sorted(expected, key=repr)
        if "returning" in text:
            assert relation.types == tuple(str(column[1]) for column in told.description)
            assert relation.changed == len(expected)
        both.ask(
            "select * exclude (m, z, h, u), m::varchar as m, z::varchar as z, h::varchar as h, u::varchar as u from a"
        )


ERRORS = [
    ("merge into a using t on i = k when matched then error", hr.errors.ConstraintError, "MERGE INTO has a row WHEN MATCHED THEN ERROR$"),
    ("merge into a using t on i = k when not matched then error 'not ' || k", hr.errors.ConstraintError, "MERGE INTO has a row WHEN NOT MATCHED BY TARGET THEN ERROR: not 9"),
    ("merge into a using t on i = k when matched then delete", hr.errors.DataError, "MERGE INTO changes a row of the table twice: several rows of the source match it; let one of them match"),
    ("merge into g using t on n = k when matched then delete", hr.errors.UnsupportedError, "MERGE INTO of a table that the session was given: g"),
    ("merge into a as b using t on i = k when matched and k = 2 then delete\nreturning b.i, b.merge_action, merge_action", hr.errors.UnsupportedError, r"(?s)RETURNING has columns of the table a alone: .*\(at 2:16\)"),
    ("merge into a using t on i = k when matched and k = 2 then delete returning rowid", hr.errors.SqlError, "no such column: rowid"),
    ("merge into a using t on i = k when matched and k = 2 then delete\nreturning merge_action, s::integer", hr.errors.DataError, r"value cannot be cast \(at .*2:26\)"),
    ("merge into a using t on i = k\nwhen matched and v::integer = 2 then delete", hr.errors.DataError, r"value cannot be cast \(at .*2:19\)"),
    ("merge into a using t on i = k\nwhen matched and zz then delete", hr.errors.SqlError, r"no such column: zz.*\(at 2:18\)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "message"), ERRORS, ids=[text for text, _, _ in ERRORS])
def test_what_fails_changes_nothing(text: str, kind: type[Exception], message: str) -> None:
    session = hr.connect({"g": pa.table({"n": [1]})}, threads=2)
    session.sql(SETUP)
    with pytest.raises(kind, match=message):
        session.sql(text)
    assert session.sql("select count(*) as n, sum(d) as d from a").arrow().to_pydict() == {"n": [3], "d": [6]}


def test_keys_are_tried_over_the_rows_as_they_are_afterwards() -> None:
    """DuckDB refuses some of these, or not, as its actions run beside each other."""
    session = hr.connect(threads=2)
    session.sql(SETUP)
    session.sql(
        "merge into a using (values (1), (2)) as t(k) on i = k when matched then update set i = 3 - i"
    )
    assert session.sql("select i, s from a order by i").arrow().to_pydict() == {
        "i": [1, 2, 3],
        "s": ["two", "one", "three"],
    }
    session.sql(
        "merge into a using (values (1), (2)) as t(k) on i = k"
        " when matched and i = 1 then update set i = 2 when matched then delete"
    )
    assert session.sql("select i, s from a order by i").arrow().to_pydict() == {
        "i": [2, 3],
        "s": ["two", "three"],
    }


def test_a_source_is_computed_once() -> None:
    session = hr.connect(threads=2)
    session.sql("create table a (i integer primary key, x double, y double)")
    session.sql("insert into a select range, 0, 0 from range(100)")
    session.sql(
        "merge into a using (select range::integer as k, random() as r from range(200)) as t on i = k"
        " when matched and r < 0.5 then update set x = r when matched then update set y = r"
        " when not matched and r < 0.5 then insert values (k, r, 0) when not matched then insert values (k, 0, r)"
    )
    told = session.sql("select count(*) as n, count(*) filter (x >= 0.5 or (y < 0.5 and x = 0)) as w from a")
    assert told.arrow().to_pydict() == {"n": [200], "w": [0]}


def test_files_are_sources(tmp_path: Path) -> None:
    for part in (1, 2):
        (tmp_path / f"p={part}").mkdir()
        pyarrow.parquet.write_table(pa.table({"k": [part, part + 10]}), tmp_path / f"p={part}" / "x.parquet")
    session = hr.connect({"f": str(tmp_path / "*" / "*.parquet")}, threads=2)
    session.sql(SETUP)
    said = session.sql(
        "merge into a using f on i = k when matched and p = 2 then delete"
        " when not matched and p = 1 then insert (i) values (k)"
    )
    assert said.changed == 2
    assert session.sql("select i from a order by i").arrow().to_pydict() == {"i": [1, 3, 11]}


def test_cursors_and_transactions() -> None:
    connection = dbapi.connect()
    cursor = connection.cursor()
    cursor.execute(SETUP)
    connection.begin()
    cursor.executemany("insert or replace into a values (?, ?, 5)", [(1, "p"), (10, "q"), (1, "r")])
    assert cursor.rowcount == 3
    cursor.execute("insert into a values (?, 'z', 0) on conflict do update set d = 77 returning s, d", [1])
    assert cursor.fetchall() == [("r", 77)]
    with pytest.raises(dbapi.DataError):
        cursor.execute("merge into a using t on i = k when matched then delete")
    connection.rollback()
    assert cursor.execute("select sum(d), count(*) from a").fetchall() == [(6, 3)]


def test_which_actions_are_deletes() -> None:
    text = (
        "merge into a using t on case when x then y end when matched and case when b then c end then delete "
        "when not matched then insert values (1) when matched then do nothing when not matched by source and t.when "
        "then delete when not matched by target then error 'then delete' /* then delete */"
    )
    told = writable(text)
    assert told.deletes == {
        "WHEN_MATCHED": [True, False],
        "WHEN_NOT_MATCHED_BY_TARGET": [False, False],
        "WHEN_NOT_MATCHED_BY_SOURCE": [True],
    }
    assert told.text.count("then error ") == 3 and len(told.text) == len(text)


@pytest.mark.parametrize("seed", range(int(os.environ.get("HEADRACE_RANDOM_MERGES", "8"))))
def test_random_merges(seed: int) -> None:
    draw = random.Random(seed)
    both = Beside(ranks=draw.choice([1, 2, 3]), threads=2)
    both.say("create table a (i integer, s varchar, d integer); create table t (k integer, v integer)")
    for _ in range(12):
        both.say(f"insert into a select range, 's' || range, range % 5 from range({draw.randrange(60)})")
        # Rows of a source are found once each: what DuckDB does with others depends on their order.
        both.say(
            f"create or replace table t as select {draw.choice(['range', 'range * 3'])} as k, range % 4 as v from range({draw.randrange(80)})"
        )
        text = f"merge into a using t on {draw.choice(['i = k', 'i = k and v > 1', 'i = k and d > 0'])}"
        for when in draw.sample(["matched", "not matched", "not matched by source"], draw.randrange(1, 4)):
            for condition in draw.sample(["v = 1", "k % 2 = 0", "k > 20", ""], 2):
                mine = condition.replace("v", "d").replace("k", "i") if "source" in when else condition
                is_last = not mine
                text += f" when {when}{' and ' + mine if mine else ''} then {action(draw, when)}"
                if is_last:
                    break
        if draw.random() < 0.5:
            text += f" returning {draw.choice(['*', 'merge_action, i', 's, merge_action, d + 1', 'i'])}"
        both.say(text)
        both.ask("from a")
        both.say("delete from a where i % 3 = 1 or d > 3")


def action(draw: random.Random, when: str) -> str:
    if when == "not matched":
        return draw.choice(
            [
                "insert values (k, 'n', v)",
                "insert (i) values (k + 100)",
                "do nothing",
                "insert default values",
            ]
        )
    value = "i * 2" if "source" in when else "k + v"
    return draw.choice(
        ["delete", f"update set d = {value}, s = s || 'u'", "do nothing", "update set s = default"]
    )


@pytest.mark.parametrize("seed", range(int(os.environ.get("HEADRACE_RANDOM_MERGES", "8"))))
def test_random_conflicts_of_several_keys(seed: int) -> None:
    draw = random.Random(seed)
    both = Beside(ranks=draw.choice([1, 2, 3]), threads=2)
    both.say("create table t (a int unique, b int unique, c varchar, d int, unique (c, d))")
    for _ in range(8):
        numbers = [
            [draw.choice([draw.randrange(20), draw.randrange(20), None]) for _ in "abd"] for _ in range(4)
        ]
        rows = ", ".join(f"({a}, {b}, '{draw.choice('xyz')}', {d})" for a, b, d in numbers).replace(
            "None", "NULL"
        )
        source = draw.choice(
            [f"values {rows}", f"from (values {rows}) as v", f"with w as (from (values {rows}) as v) from w"]
        )
        conflict = draw.choice(
            [
                "do nothing",
                "do nothing returning *",
                "(a) do nothing",
                "(b) do update set d = excluded.d + 10",
                "(c, d) do update set a = excluded.a",
            ]
        )
        both.oracle.execute("begin")
        try:
            both.say(f"insert into t {source} on conflict {conflict}")
        except hr.errors.UnsupportedError as error:
            assert "rows of an INSERT … ON CONFLICT have one value (or NULL) of a key of table t" in str(
                error
            )
            both.oracle.execute("rollback")
        else:
            both.oracle.execute("commit")
        both.ask("from t")


def test_which_of_several_rows_stays_is_refused_where_nobody_says_it() -> None:
    session = hr.connect()
    session.sql(
        "create table t (a int primary key, b int unique); insert or ignore into t values (1, 1), (1, 2), (2, 3)"
    )
    assert session.sql("from t order by a").arrow().to_pydict() == {"a": [1, 2], "b": [1, 3]}
    session.sql("insert or ignore into t values (9, 1)")
    with pytest.raises(
        hr.errors.UnsupportedError,
        match=r"a key of table t which has several: name the columns of one, ON CONFLICT \(…\), or leave such rows out",
    ):
        session.sql("insert or ignore into t select range + 5, 7 from range(2)")
    session.sql("insert or ignore into t select range + 5, range from range(2)")
    assert session.sql("select count(*) as n from t").arrow().to_pydict() == {"n": [3]}
