"""Tables of a session that statements change, beside DuckDB.

Sources: session/changes.py, sql/alteration.py, session/kept_table.py, session/names.py, sql/changes.py, sql/stored_types.py,
query/kept_rows.py, sql/plan_text.py, session/appended_files.py.
"""
# ruff: noqa: E501

from __future__ import annotations

import os
import random
import threading
from pathlib import Path
from typing import Any

import adbc_driver_flightsql.dbapi as dbapi
import duckdb
import headrace as hr
import pyarrow as pa
import pytest
from headrace._src.session import changes

T = pa.table({"k": [1, 2, 2, 3, None], "s": ["x", "y", "z", None, "w"]})
#: Texts of statements, each behind the one before; a query that tells is asked behind each of them.
SCRIPTS = {
    "values": [
        "create table a (i integer, s varchar, d decimal(5, 2))",
        "insert into a values (1, 'x', 1.5), ('2', NULL, '2.25')",
        "insert into a (d, i) values (-3.125, 3)",
        "insert into a by name select 4 as i, 'n' as s",
        "insert into a default values",
        "insert into a select k, s, k / 3 from t where k > 1",
        "with c as (select k from t) insert into a (i) select c.k + 10 from c, c as e",
    ],
    "as query": [
        "create table a as select k, count(*) as n, sum(k) as h from t group by k",
        "create or replace table a as select k + 1 as k, n, h from a where n = 1",
        "create table if not exists a as select 'never' as x",
        "create or replace table a (k, m) as select 1, 2",
        "drop table a",
        "create or replace temp table a as select * from range(5000) as r(x) with no data",
        "insert into a select range * 2 from range(5000)",
        "insert into a select x + 1 from a",
        "drop table a",
        "create table a as (select 7 as x) -- and no more",
    ],
    "defaults": [
        "create table a (i integer not null default 7, s varchar default upper('abc'), n bigint)",
        "insert into a (n) values (1), (2)",
        "insert into a values (default, default, 3), (1, 'q', default)",
        "insert into a (n) select k from t",
        "update a set i = default where n = 3",
    ],
    "alters": [
        "create table a (i integer not null default 7, s varchar, e enum('x', 'y'), \"q r\" uuid)",
        "insert into a values (1, 'u', 'y', '44100c25-7586-4d6e-b629-1c8b65f6c8e8'), (2, NULL, 'x', NULL)",
        "alter table a rename column s to S2; ",
        'alter table a rename "q r" to u',
        "alter table a alter S2 set default upper('abc')",
        "insert into a (e) values ('x')",
        "alter table a alter column S2 drop default",
        "insert into a (i) values (4)",
        "alter table main.a alter i drop not null",
        "update a set i = NULL where i = 4",
        "delete from a where i is null or S2 is null",
        "alter table a alter column S2 set not null",
        "alter table a drop column e",
        "alter table a drop if exists e",
        "alter table if exists nope drop e",
        "insert into a select k, coalesce(s, '-'), NULL::uuid from t",
        "alter table a rename to b; alter table b rename to a",
        "delete from a where i = 2",
        "alter table a add column n bigint",
        "alter table a add f double default 0.5 + 1",
        "alter table a add column if not exists f integer",
        "insert into a (i, S2) values (40, 'after')",
        "alter table a alter i type decimal(9, 2)",
        "alter table a alter column S2 set data type integer using length(a.S2) * 2",
        "alter table a alter n type varchar",
        "alter table a alter i type decimal(9, 2) using i + 1",  # the type that it has
        "update a set n = i::varchar || 'n' where i > 1",
    ],
    "deletes": [
        "create table a as select range as x, range % 7 as y from range(20000)",
        "delete from a where y = 3",
        "delete from a where x in (select k from t)",
        "delete from a using t where a.x = t.k + 4",
        "delete from a where x > 19000 or y is null",
        "truncate a",
        "insert into a values (1, 2)",
        "delete from a",
    ],
    "updates": [
        "create table a as select range as x, range % 7 as y, [range] as l, 's' || range as s from range(10000)",
        "update a set y = y + 10 where x % 3 = 0",
        "update a set y = 0, s = NULL where x < 5",
        "update a set l = [x, y] where y > 12",
        "update a set y = t.k, s = t.s from t where a.x = t.k * 100 and t.k <> 2",
        "update a set x = -x",
        "update a set y = 1 where false",
    ],
    "definitions": [
        "create table a (m integer); insert into a values (1); insert into a select m + 1 from a",
        "create macro f(x) as x * 2; insert into a select f(m) from a; insert into a values (f(50))",
        "create table b as select 1 as one; create view v as select m + one as n from a, b; drop table b;"
        " create table b as select 2 as one",
        "insert into a select n from v",
        "drop view v; drop table if exists b; drop table if exists b",
    ],
    "types": [
        "create type mood as enum ('sad', 'ok', 'happy'); create table a (m mood, h hugeint, u uuid, j json,"
        " b blob, i interval, z timestamptz, f float, t time, n timestamp_ns, y utinyint)",
        """insert into a values ('ok', 170141183460469231731687303715884105, '00000000-0000-0000-0000-000000000001',
        '{"a": 1}', '\\xAA'::blob, interval '1 month 2 days', '2024-01-01 10:00:00+02', 0.1, '10:00', '2024-01-01', 200)""",
        "insert into a (m) values ('happy'), ('sad'), (NULL)",
        "insert into a (m, h) select m, h * 10 from a where m < 'happy'::enum('sad', 'ok', 'happy')",
        "update a set m = 'happy' where m = 'sad'",
        "delete from a where m > 'ok' and h is not null",
        "create or replace table a as select m, {'h': h, 'm': m} as s, [m] as l, [[h]] as ll, map {'a': h} as p"
        " from a",
        "insert into a by name select m, {'h': 5, 'm': 'sad'} as s from a limit 1",
        "create or replace table a as select min(m) as least, max(m) as most, sum(s.h) as h, max(s) as s from a",
    ],
}


def rows_of(session: Any) -> list[Any]:
    """All rows of table a, in their order of values, with their types."""
    relation = session.sql("select * from a")
    names = ", ".join(f'cast("{name}" as varchar)' for name in relation.columns)
    ordered = session.sql(f"select {names} from a order by all")
    rows = (
        ordered.fetchall()
        if hasattr(ordered, "fetchall")
        else [*zip(*ordered.arrow().to_pydict().values(), strict=True)]
    )
    return [relation.columns, [str(kind) for kind in relation.types], rows]


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("script", SCRIPTS)
def test_statements_do_what_those_of_duckdb_do(script: str, ranks: int) -> None:
    session = hr.connect({"t": T}, ranks=ranks, threads=2)
    with duckdb.connect() as oracle:
        oracle.execute("set TimeZone = 'UTC'")
        oracle.register("t", T)
        for text in SCRIPTS[script]:
            answer = session.sql(text)
            said = oracle.execute(text).fetchall()
            assert [*zip(*answer.arrow().to_pydict().values(), strict=True)] == said, text
            has_table = oracle.execute(
                "select count(*) from duckdb_tables() where table_name = 'a'"
            ).fetchall()
            if has_table == [(1,)]:
                assert rows_of(session) == rows_of(oracle), text
            else:
                assert session.tables == ["t"]


def test_tables_are_seen() -> None:
    session = hr.connect({"t": T})
    texts = [
        "create type e as enum ('b', 'a'); create table k (x e not null, h hugeint default 3, d decimal(9, 2)[])",
        "create temp table w as select 1 as one",
    ]
    asked = [
        "describe k",
        "select column_name, data_type, is_nullable, column_default from information_schema.columns"
        " where table_name = 'k' order by ordinal_position",
        "select table_name, temporary, column_count from duckdb_tables() where table_name <> 't' order by all",
        "select table_name, table_type from information_schema.tables where table_name <> 't' order by all",
        "select sql from duckdb_tables() where table_name = 'k'",
        "from (describe select x, h from k)",
        "select name, type, \"notnull\", dflt_value from pragma_table_info('k')",
    ]
    with duckdb.connect() as oracle:
        for text in texts:
            session.sql(text)
            oracle.execute(text)
        for text in asked:
            found = [*zip(*session.sql(text).arrow().to_pydict().values(), strict=True)]
            assert found == oracle.execute(text).fetchall(), text
    assert session.sql("show tables").arrow().to_pydict() == {"name": ["k", "t", "w"]}
    assert session.tables == ["k", "t", "w"]
    assert session.sql("select x from k").types == ("ENUM('b', 'a')",)


def test_a_collation_of_a_column_holds() -> None:
    session = hr.connect()
    session.sql("create table c (s varchar collate nocase); insert into c values ('A'), ('a'), ('b')")
    assert session.sql("select count(*) as n from c where s = 'a'").arrow().to_pydict() == {"n": [2]}


def test_what_a_statement_says() -> None:
    session = hr.connect()
    created = session.sql("create table a (i integer)")
    assert created.changed == -1 and created.arrow() == pa.table({"Count": pa.array([], pa.int64())})
    added = session.sql("insert into a values (1), (2)")
    assert added.changed == 2 and added.arrow().to_pydict() == {"Count": [2]}
    assert added.columns == ["Count"] and added.batches().read_all().num_rows == 1
    assert repr(added).splitlines() == ["Count", "int64", "-----", "2"]
    with pytest.raises(
        hr.errors.UserError, match="the statement has been done: it is no query that runs again"
    ):
        added.explain()
    with pytest.raises(
        hr.errors.UserError, match="the statement has been done: it is no query that runs again"
    ):
        added.write_csv("x.csv")
    assert session.sql("drop table a").arrow() == pa.table({"Success": pa.array([], pa.bool_())})
    assert session.sql("select 1").changed == -1


def test_several_statements_end_in_a_query() -> None:
    session = hr.connect()
    text = "create table a (i integer); insert into a values (?), (2); select sum(i) as s from a"
    assert session.sql(text, [40]).arrow().to_pydict() == {"s": [42]}
    assert session.sql("from a").arrow().num_rows == 2
    # Of what is in front of the one that fails everything has been done.
    with pytest.raises(hr.errors.SqlError, match=r"no such table: nope .*\(at 2:15\)"):
        session.sql("insert into a values (3);\nselect * from nope; insert into a values (4)")
    assert session.sql("select i from a order by i").arrow().to_pydict() == {"i": [2, 3, 40]}
    # Definitions in front of a query are its own; a text that changes tables makes them.
    session.sql("create view own as from a; select * from own")
    assert session.views == []
    session.sql("create view v as select i from a; insert into a values (5)")
    assert session.views == ["v"]
    session.sql("create or replace view v (j) as select i + 1 from a")
    session.sql("create view if not exists v as select 'never' as x")
    assert session.table("v").columns == ["j"]


ERRORS = [
    ("create table t (i integer)", hr.errors.UserError, "there is a table or view of this name: t; CREATE OR REPLACE TABLE makes it anew"),
    ("create table V as select 1 as a", hr.errors.UserError, "there is a table or view of this name: V; CREATE OR"),
    ("create view v as select 2 as a", hr.errors.UserError, "there is a table or view of this name: v; CREATE OR REPLACE VIEW makes it anew"),
    ("create or replace table t as select 1 as a", hr.errors.UnsupportedError, "CREATE OR REPLACE of a table that the session was given: t; statements change those that CREATE TABLE has made"),
    ("create or replace view a as select 1 as a", hr.errors.UserError, "a table is not replaced by a view: a"),
    ("create or replace table v as select 1 as a", hr.errors.SqlError, 'Existing object "v" is of type View'),
    ("insert into t values (1, 'x')", hr.errors.UnsupportedError, "INSERT of a table that the session was given: t"),
    ("delete from t", hr.errors.UnsupportedError, "DELETE of a table that the session was given: t"),
    ("truncate t", hr.errors.UnsupportedError, "DELETE of a table that the session was given: t"),
    ("update t set k = 1", hr.errors.UnsupportedError, "UPDATE of a table that the session was given: t"),
    ("drop table t", hr.errors.UnsupportedError, "DROP TABLE of a table that the session was given: t"),
    ("drop table v", hr.errors.UserError, "v is a view: DROP VIEW"),
    ("drop view a", hr.errors.UserError, "a is a table: DROP TABLE"),
    ("drop table nope", hr.errors.UserError, "no such table: nope"),
    ("drop view nope", hr.errors.UserError, "no such view: nope"),
    ("insert into v values (1)", hr.errors.SqlError, "v is not an table"),
    ("insert into nope values (1)", hr.errors.SqlError, "no such table: nope"),
    ("insert into a (zz) values (1)", hr.errors.SqlError, 'Table "a" does not have a column with name "zz"'),
    ("insert into a values (1, 2, 3)", hr.errors.SqlError, "table \"a\" has 2 columns but 3 values were supplied"),
    ("insert into a\nselect k, zz from t", hr.errors.SqlError, r"no such column: zz.*\(at 2:11\)"),
    ("insert into a\nvalues (1, 2), ('x', 3)", hr.errors.DataError, r"value cannot be cast \(at .*, 2:17\)"),
    ("insert into a select 1, 8 // (k - 2) from t", hr.errors.DataError, "division by zero"),
    ("insert into a (n) values (1)", hr.errors.ConstraintError, "NOT NULL constraint failed: a.i"),
    ("insert into a select k, 1 from t", hr.errors.ConstraintError, "NOT NULL constraint failed: a.i"),
    ("update a set i = NULL", hr.errors.ConstraintError, "NOT NULL constraint failed: a.i"),
    ("create table b as select 8 // (k - 2) as q from t", hr.errors.DataError, "division by zero"),
    ("create table b (i integer references a (i))", hr.errors.HeadraceError, "(?i)foreign key|primary key"),
    ("create table b (i integer references a (i))", hr.errors.SqlError, "there is no primary key"),
    ("create table b (x bit)", hr.errors.UnsupportedError, "unsupported type of a column: BIT"),
    ("create table b (x uuid[])", hr.errors.UnsupportedError, r"a table of a session keeps no UUIDs in lists, structs and maps, got UUID\[\]"),
    ("create table b (x nope)", hr.errors.SqlError, "no such type: nope"),
    ("create index i on a (i)", hr.errors.UnsupportedError, "CREATE INDEX is not supported: a session's tables are changed by CREATE TABLE, INSERT"),
    ("alter view v rename to w", hr.errors.UnsupportedError, "ALTER is not supported"),
    ("alter table a add column z integer not null", hr.errors.ConstraintError, "NOT NULL constraint failed: a.z"),
    ("alter table a alter n type integer using cast('x' || n as integer)", hr.HeadraceError, "x"),
    ("alter table a alter n type integer using zz", hr.errors.SqlError, "zz"),
    ("alter table a alter n set not null; alter table a drop zz", hr.errors.SqlError, "zz"),
    ("alter table a rename i to n", hr.errors.SqlError, "(?i)already exists"),
    ("alter table a rename to v", hr.errors.UserError, "there is a table or view of this name: v"),
    ("alter table t rename to z", hr.errors.UnsupportedError, "ALTER TABLE of a table that the session was given: t"),
    ("alter table v rename to z", hr.errors.UserError, "no such table: v"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "message"), ERRORS, ids=[text for text, _, _ in ERRORS])
def test_what_fails_changes_nothing(text: str, kind: type[Exception], message: str) -> None:
    session = hr.connect({"t": T}, threads=2)
    session.sql("create table a (i integer not null, n bigint); insert into a values (1, 2)")
    session.sql("create view v as select 1 as a")
    with pytest.raises(kind, match=message):
        session.sql(text)
    assert session.tables == ["a", "t", "v"]
    assert session.sql("from a").arrow().to_pydict() == {"i": [1], "n": [2]}


def test_alter_keeps_what_constraints_and_fields_say() -> None:
    session = hr.connect(threads=2)
    session.sql(
        "create table a (i integer, s struct(x integer, y integer)); insert into a (i) values (1), (NULL)"
    )
    with pytest.raises(hr.errors.ConstraintError, match="NOT NULL constraint failed: a.i"):
        session.sql("alter table a alter i set not null")
    message = "ALTER TABLE is not supported where it changes fields of a column"
    for change in ("drop column s.x", "add column s.z integer"):
        with pytest.raises(hr.errors.UnsupportedError, match=message):
            session.sql(f"alter table a {change}")
    query = session.sql("select i from a where i = 1")
    session.sql("alter table a drop s; alter table a rename i to j; alter table a rename to b")
    assert query.arrow().to_pydict() == {"i": [1]}
    assert session.sql("from b").arrow().to_pydict() == {"j": [1, None]}
    assert session.tables == ["b"]


def test_hr_sql_changes_nothing() -> None:
    for text in ("create table a (i integer)", "insert into a values (1)", "drop table a"):
        with pytest.raises(hr.errors.UnsupportedError, match="only queries are supported, got"):
            hr.sql(text, {"a": T})


def test_a_query_reads_what_was_there_when_it_was_written() -> None:
    session = hr.connect()
    session.sql("create table a as select * from range(1000) as r(x)")
    before = session.sql("select count(*) as n, sum(x) as s from a")
    reader = session.sql("from a").batches()
    session.sql("delete from a where x >= 10")
    session.sql("insert into a select 5 from range(7)")
    assert before.arrow().to_pydict() == {"n": [1000], "s": [499500]}
    assert sum(batch.num_rows for batch in reader) == 1000
    assert session.sql("select count(*) as n from a").arrow().to_pydict() == {"n": [17]}
    session.sql("drop table a")
    assert before.arrow().to_pydict() == {"n": [1000], "s": [499500]}


def test_threads_share_tables() -> None:
    session = hr.connect(threads=2)
    session.sql("create table a (x integer)")
    failures: list[BaseException] = []

    def add(first: int) -> None:
        try:
            for each in range(first, first + 10):
                session.sql("insert into a values (?)", [each])
                session.sql(f"create table t{each} as select count(*) as n from a")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=add, args=(100 * each,)) for each in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    found = session.sql("select x from a order by x").arrow()["x"].to_pylist()
    assert found == [100 * each + number for each in range(4) for number in range(10)]
    assert len(session.tables) == 41


def test_a_table_that_is_named_anew_meanwhile() -> None:
    session = hr.connect()
    session.sql("create table a (x hugeint)")

    def progress(*_: object) -> None:
        session.register("a", pa.table({"y": [1]}))

    with pytest.raises(hr.errors.UserError, match="there is another table of this name by now: a"):
        session.sql("insert into a select sum(range) from range(200000000)", progress=progress)
    assert session.table("a").columns == ["y"]


def test_many_inserts_stay_few_parts() -> None:
    session = hr.connect()
    session.sql("create table a (x integer)")
    for each in range(200):
        session.sql("insert into a values (?)", [each])
    table = session._names.tables["a"][1]
    assert len(table.parts) < 10 and table.num_rows == 200
    assert session.sql("select x from a").arrow()["x"].to_pylist() == list(range(200))


def test_rows_wait_where_rows_wait(tmp_path: Path) -> None:
    session = hr.connect(settings={"spillDirectory": str(tmp_path), "spillLimit": "8MB"})
    session.sql("create table a as select range as x from range(100000)")
    with pytest.raises(
        hr.HeadraceError, match="tables of sessions, and copies of files .* exceed spillLimit"
    ):
        session.sql("create table b as select range as x from range(2000000)")
    assert session.tables == ["a"]
    # What nobody has any more makes room.
    session.sql("create table c as select range as x from range(500000)")
    session.sql("drop table c")
    session.sql("create table c as select range as x from range(500000)")
    assert session.sql("select count(*) as n from a, (select 1) where x > 9").arrow().to_pydict() == {
        "n": [99990]
    }


def test_a_table_from_files_and_into_files(tmp_path: Path) -> None:
    session = hr.connect()
    (tmp_path / "x.csv").write_text("a,b\n1,x\n2,y\n")
    session.sql(f"create table a as from '{tmp_path}/x.csv'")
    session.sql(f"insert into a select a + 10, b from read_csv('{tmp_path}/x.csv')")
    session.sql(f"copy a to '{tmp_path}/a.parquet'; drop table a")
    assert hr.sql("select sum(a) as s from a", {"a": tmp_path / "a.parquet"}).to_pydict() == {"s": [26]}


def test_a_stopped_statement_changes_nothing() -> None:
    session = hr.connect()
    session.sql("create table a (x hugeint)")
    with pytest.raises(hr.errors.QueryTimeoutError):
        session.sql("insert into a select sum(range) from range(100000000000)", timeout=0.3)
    assert session.table("a").arrow().num_rows == 0


def test_pragmas_and_settings() -> None:
    session = hr.connect({"t": T}, threads=2)
    with duckdb.connect() as oracle:
        oracle.execute("create table t (k bigint, s varchar)")
        oracle.execute("create table a (i integer not null default 3)")
        session.sql("create table a (i integer not null default 3)")
        for text in (
            "pragma show_tables",
            "PRAGMA table_info('t')",
            "pragma table_info(a)",
            "pragma show_databases",
            "select name from duckdb_settings() where name in ('threads', 'TimeZone', 'access_mode') and value <> ''"
            " and name <> 'access_mode' order by name",
        ):
            found = session.sql(text).arrow()
            assert [*zip(*found.to_pydict().values(), strict=True)] == oracle.sql(text).fetchall(), text
            assert found.column_names == oracle.sql(text).columns
    session.sql("pragma threads = 1; pragma memory_limit='1GB'; set temp_directory = '/var/tmp'")
    asked = "select name, value from duckdb_settings() where name in ('threads', 'memory_limit', 'temp_directory')"
    assert sorted(session.sql(asked).pl().rows()) == [
        ("memory_limit", "953.6 MiB"),
        ("temp_directory", "/var/tmp"),
        ("threads", "1"),
    ]
    with pytest.raises(hr.errors.UnsupportedError, match="only queries are supported, got PRAGMA"):
        session.sql("pragma storage_info('t')")
    with pytest.raises(hr.errors.UnsupportedError, match="a session has no setting verify_parallelism"):
        session.sql("pragma verify_parallelism = true")


@pytest.mark.parametrize(
    "text",
    [
        "from repeat(42, 3)",
        "select * from repeat('x', 4) as r(a), (select 1 as b)",
        "select count(*) as n from repeat(1.5, 1000000)",
        "select a, count(*) as n from repeat([1, 2], 5) as r(a) group by a",
        "from repeat(NULL, 2)",
        "from repeat(1, 0)",
        "select repeat('ab', 2) as s",
    ],
)
def test_a_value_repeated_in_rows(text: str) -> None:
    found = hr.sql(text, ranks=2).to_pydict()
    assert [*zip(*found.values(), strict=True)] == duckdb.sql(text).fetchall()


def test_ranks_that_each_run_the_script_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    class Launched:
        runs_script_on_all = True

    session = hr.connect({"t": T})
    monkeypatch.setattr(changes, "current", Launched)
    with pytest.raises(
        hr.errors.UnsupportedError,
        match="tables that statements change are of one process, and each rank of this cluster runs the script: hr.persist keeps rows on the ranks, COPY writes them to files",
    ):
        session.sql("create table a as select k from t")


def test_names_in_any_letters() -> None:
    session = hr.connect()
    session.sql(
        'create table Abc ("X y" integer); insert into aBC values (1); create table "d e" as from abc'
    )
    session.sql(
        'insert into "D E" select 2; create or replace table ABC as select "X Y" + 1 as z from main."d e"'
    )
    assert session.tables == ["ABC", "d e"]
    assert session.sql("from memory.main.abc order by all").arrow().to_pydict() == {"z": [2, 3]}


def test_extremes_of_types() -> None:
    session = hr.connect(time_zone="Europe/Berlin")
    session.sql("create table a (h hugeint, v interval, z timestamptz)")
    most = 2**127 - 1
    session.sql("insert into a values (?, interval '290 hours', '2024-07-01 10:00')", [most])
    session.sql("insert into a select -h, v, z + interval 1 hour from a")
    asked = "select h::varchar as h, v::varchar as v, z::varchar as z from a order by z"
    with duckdb.connect() as oracle:
        oracle.execute("set TimeZone = 'Europe/Berlin'")
        oracle.execute("create table a (h hugeint, v interval, z timestamptz)")
        oracle.execute("insert into a values (?, interval '290 hours', '2024-07-01 10:00')", [most])
        oracle.execute("insert into a select -h, v, z + interval 1 hour from a")
        assert session.sql(asked).pl().rows() == oracle.sql(asked).fetchall()
    # What Arrow has no place for is an error, and nothing else.
    for value in ("(NULL, interval '3000000 hours', NULL)",):
        with pytest.raises(hr.errors.DataError, match="interval"):
            session.sql(f"insert into a values {value}")
    session.sql("create table u (x uhugeint)")
    with pytest.raises(hr.errors.DataError):
        session.sql("insert into u values (340282366920938463463374607431768211455)")
    assert session.table("u").arrow().num_rows == 0


@pytest.mark.parametrize("seed", range(int(os.environ.get("HEADRACE_RANDOM_TABLES", "6"))))
def test_random_changes(seed: int) -> None:
    """Statements at random, on tables of several parts."""
    draw = random.Random(seed)
    session = hr.connect(ranks=draw.choice([1, 2, 3]), threads=2)
    with duckdb.connect() as oracle:

        def both(text: str) -> None:
            answer = session.sql(text)
            assert answer.arrow()["Count"].to_pylist() == [
                row[0] for row in oracle.execute(text).fetchall()
            ], text

        for name in ("a", "b"):
            both(f"create table {name} (k integer, s varchar, l integer[])")
        for _ in range(25):
            name, other = draw.choice(["ab", "ba"])
            least, count = draw.randrange(1000), draw.choice([1, 3, 100, 5000])
            condition = draw.choice(
                [
                    f"k % {draw.randrange(2, 9)} = 1",
                    f"k < {least}",
                    "s is null",
                    f"len(l) > {draw.randrange(3)}",
                    "true",
                ]
            )
            kind = draw.randrange(7)
            if kind <= 2:
                both(
                    f"insert into {name} select range + {least}, case when range % 5 > 0 then 's' || range % 50 end,"
                    f" case when range % 7 > 0 then [range, range % 3] end from range({count})"
                )
            elif kind == 3:
                both(f"insert into {name} (l, k) select l, k + 1 from {other} where {condition}")
            elif kind == 4:
                both(f"delete from {name} where {condition} and k % 3 < 2")
            elif kind == 5:
                both(f"update {name} set k = k + 1, s = s || 'u', l = list_concat(l, [k]) where {condition}")
            else:
                both(f"insert into {name} values ({least}, NULL, [NULL, {count}]), (NULL, 'it''s', NULL)")
            both(f"create or replace table c as select count(*) as n from {name}")
        for name in ("a", "b"):
            asked = f"select k, s, l::varchar as l, count(*) as n from {name} group by all order by all"
            assert session.sql(asked).pl().rows() == oracle.sql(asked).fetchall()


#: Of all types that Parquet files of DuckDB have.
ROWS = (
    "select i::integer as i, i::tinyint as t, i::ubigint as u, (i / 3)::decimal(9, 2) as d, (i / 7)::decimal(30, 9) as e,"
    " i::double as f, 's' || i as s, ('b' || i)::blob as b, date '2024-01-01' + i::integer as a, [i, NULL] as l,"
    " {'x': i, 'y': 's' || i} as r, map {'k' || i: i} as m, timestamp '2024-01-01' + interval (i) minute as z,"
    " (timestamp '2024-01-01' + interval (i) minute)::timestamp_ms as v, time '10:00' as w, i > 1 as o,"
    " ('00000000-0000-0000-0000-00000000000' || i)::uuid as g, i::float as h, (timestamptz '2024-01-01 00:00:00+00') as zz"
)


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_folder_of_files_gets_one_more(tmp_path: Path, ranks: int) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    with duckdb.connect() as oracle:
        oracle.execute("set TimeZone = 'UTC'")
        oracle.execute(f"copy ({ROWS} from range(5) as r(i)) to '{folder}/first.parquet'")
        session = hr.connect({"t": folder}, ranks=ranks)
        assert session.sql(f"insert into t {ROWS} from range(5, 9) as r(i)").changed == 4
        session.sql("insert into t (i, s) values (100, 'it''s'), (101, NULL)")
        session.sql("insert into t by name select max(i) + 1 as i from t")
        assert session.sql("insert into t select * from t where false").changed == 0
        assert sorted(os.listdir(folder)) == [
            "first.parquet",
            *(f"first_0000{each}.parquet" for each in (1, 2, 3)),
        ]
        asked = f"select * from read_parquet('{folder}/*.parquet') order by i"
        found = session.sql("select * from t order by i").arrow()
        assert found.to_pylist() == oracle.sql(asked).to_arrow_table().to_pylist()
        assert found["i"].to_pylist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 100, 101, 102]
    assert session.sql("select i from t").arrow()["i"].to_pylist() == found["i"].to_pylist()


def test_folders_that_get_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hr.sql(f"copy (select 1 as a, 2 as b) to '{tmp_path}/parts' (format parquet, partition_by (a))")
    (tmp_path / "plain").mkdir()
    hr.sql(f"copy (select 1 as a) to '{tmp_path}/plain/x.parquet'")
    pa.parquet.write_table(
        pa.table({"a": pa.array([1.0], pa.float16()), "b": [1]}), tmp_path / "half.parquet"
    )
    (tmp_path / "half").mkdir()
    os.rename(tmp_path / "half.parquet", tmp_path / "half" / "x.parquet")
    session = hr.connect({name: tmp_path / name for name in ("parts", "plain", "half")})
    session.register("one", tmp_path / "plain" / "x.parquet")
    for text, message in (
        (
            "insert into parts values (1, 2)",
            "INSERT adds to folders of Parquet files alone, without partitions: parts",
        ),
        ("insert into half (b) values (1)", "INSERT into a table with columns that cannot be read: a"),
        ("insert into one values (1)", "INSERT of a table that the session was given: one"),
        ("delete from plain", "DELETE of a table that the session was given: plain"),
        ("drop table plain", "DROP TABLE of a table that the session was given: plain"),
    ):
        with pytest.raises(hr.errors.UnsupportedError, match=message):
            session.sql(text)
    with pytest.raises(hr.errors.DataError, match="division by zero"):
        session.sql("insert into plain select 8 // (range - 5) from range(10)")
    assert os.listdir(tmp_path / "plain") == ["x.parquet"]
    with (
        monkeypatch.context() as patched,
        pytest.raises(hr.errors.InputOutputError, match="cannot add a file to the table: .*plain: no room"),
    ):
        patched.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(28, "no room")))
        session.sql("insert into plain values (1)")
    with (
        hr.serve(session) as server,
        dbapi.connect(server.location, autocommit=True) as connection,
        connection.cursor() as cursor,
        pytest.raises(Exception, match="a server's clients add no files to a table: plain"),
    ):
        cursor.execute("insert into plain values (1)")
    assert os.listdir(tmp_path / "plain") == ["x.parquet"]


def test_macros_and_types_stay() -> None:
    session = hr.connect({"t": T})
    session.sql("create type mood as enum ('sad', 'ok'); create macro f(x) as x * 2")
    session.sql("create macro g(x, y := 1) as f(x) + y; create table a (m mood, i integer)")
    session.sql("insert into a values ('ok', f(3)), ('sad', g(1))")
    session.sql(
        "create view v as select g(i, y := 10) as n, m from a where m < 'ok'::mood; create macro w() as table from t"
    )
    assert session.sql("select n, m::varchar as m from v").arrow().to_pydict() == {"n": [16], "m": ["sad"]}
    assert session.sql("select count(*) as n from w()").arrow().to_pydict() == {"n": [5]}
    # Those of a text are its own.
    assert session.sql("create or replace macro f(x) as -x; select f(3) as f").arrow().to_pydict() == {
        "f": [-3]
    }
    assert session.sql("select f(3) as f").arrow().to_pydict() == {"f": [6]}
    session.sql("create or replace macro F(x) as x * 3; create macro if not exists f(x) as 0")
    assert session.sql("select n from v").arrow().to_pydict() == {"n": [19]}
    with pytest.raises(hr.errors.SqlError, match=r"no such column: zz.*\(at 2:10\)"):
        session.sql("select f(1),\n       f(zz) from t")
    for text, message in (
        (
            "create macro f(x) as 1",
            "there is a macro or type of this name: f; CREATE OR REPLACE makes it anew",
        ),
        ("create macro f(x) as -x; select f(3)", 'Macro Function with name "f" already exists'),
        ("create type u as nope", "no such type: nope"),
        ("drop macro nope", "no such macro: nope"),
        (
            "create table b as pivot t on s using count(*)",
            "a statement that changes tables has no PIVOT without a list of values: ON x IN",
        ),
    ):
        with pytest.raises(hr.HeadraceError, match=message):
            session.sql(text)
    session.sql("drop macro g; drop macro if exists nope; drop type mood; drop view v")
    with pytest.raises(hr.HeadraceError, match="no such scalar function: g"):
        session.sql("select g(1)")
    assert session.sql("select m from a where i = 6").types == ("ENUM('sad', 'ok')",)
