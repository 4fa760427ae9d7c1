"""Transactions over several statements, beside DuckDB's; of cursors, and of clients of a server.

Sources: session/transactions.py, serving/transactions.py.
"""
# ruff: noqa: E501

from __future__ import annotations

import os
import random
import threading
from pathlib import Path
from typing import Any

import adbc_driver_flightsql.dbapi as flight_dbapi
import headrace as hr
import pyarrow as pa
import pyarrow.parquet
import pytest
from headrace import dbapi
from headrace._src.serving import transactions
from statements_beside import Beside

T = pa.table({"k": [1, 2, 3]})
SCRIPTS = {
    "rollback": ["begin", "insert into a values (2)", "from a", "rollback", "from a"],
    "commit": ["start transaction", "update a set x = x + 1", "delete from a where x = 3", "commit"],
    "in one text": [
        "begin; insert into a values (5); commit; from a order by all",
        "begin transaction; insert into a values (6); from a order by all",
        "abort",
    ],
    "definitions": [
        "begin",
        "drop table a",
        "create table a as select 7 as y, 'x' as z",
        "create view v as from a",
        "create macro f(x) as x + 1",
        "create type mood as enum ('sad', 'ok')",
        "set variable kept = 3",
        "select *, f(y) as g, 'ok'::mood::varchar as m from v",
        "rollback",
        "from a",
        "from v",
        "select f(1)",
        "select 'ok'::mood",
        "select getvariable('kept') as kept",
    ],
    "definitions that stay": [
        "begin; create macro f(x) as x + 1; create macro g(x) as f(x) * 2; create view v as select g(x) as y from a",
        "create or replace macro f(x) as x + 2; drop table a; create table a (x integer); insert into a values (4)",
        "set variable kept = 5; commit",
        "select *, getvariable('kept') as kept from v",
    ],
    "a mistake": [
        "begin",
        "insert into a values (2)",
        "insert into a values (NULL)",
        "select 1 as one",
        "insert into a values (3)",
        "set threads = 1",
        "create view v as select 1 as one",
        "begin",
        "rollback",
        "from a",
        "insert into a values (4)",
    ],
    "a commit after a mistake holds nothing": [
        "begin",
        "insert into a values (2)",
        "select nope from a",
        "end",
        "from a",
    ],
    "a mistake of a run": [
        "begin",
        "insert into a values (2)",
        "select cast(x || 'x' as integer) as y from a",
        "from a",
        "commit",
        "from a",
    ],
    "a mistake of grammar": ["begin", "selec 1", "select 1 as one", "rollback"],
    "begins and ends": [
        "commit",
        "rollback",
        "begin work",
        "begin",
        "commit",
        "start",
        "end transaction",
        "begin /* of */ transaction -- this\n;",
        "abort work;",
        "begin read write",
        "commit",
        "begin immediate",
        "savepoint s",
        "rollback to savepoint s",
        "select case when x = 1 then 'one'\nend as c from a",
    ],
    "read only": [
        "begin transaction read only",
        "from a",
        "insert into a values (1)",
        "from a",
        "rollback",
        "from a",
    ],
}


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("script", SCRIPTS)
def test_transactions_do_what_those_of_duckdb_do(script: str, ranks: int) -> None:
    both = Beside(ranks=ranks, threads=2)
    both.say("create table a (x integer not null); insert into a values (1)")
    for text in SCRIPTS[script]:
        both.say(text)
    both.ask("select * from a")


def test_what_is_refused_and_why(tmp_path: Path) -> None:
    session = hr.connect({"t": T})
    for text, message in (
        ("commit", "no transaction has begun that COMMIT could end"),
        ("rollback", "no transaction has begun that ROLLBACK could end"),
        ("begin; begin", "a transaction has begun already: COMMIT or ROLLBACK ends it"),
        ("select 1", "the transaction was aborted by a mistake in it: ROLLBACK ends it"),
        (
            "rollback; begin read only; create view v as from t",
            "the transaction only reads: BEGIN without READ ONLY lets it change tables",
        ),
    ):
        with pytest.raises(hr.errors.TransactionError, match=message):
            session.sql(text)
    with pytest.raises(
        hr.errors.UnsupportedError, match="only queries are supported, got TRANSACTION; a session"
    ):
        hr.sql("begin")
    # A file is there for all who read the folder.
    (tmp_path / "f").mkdir()
    pa.parquet.write_table(T, tmp_path / "f" / "x.parquet")
    session = hr.connect({"f": tmp_path / "f"})
    with pytest.raises(
        hr.errors.UnsupportedError,
        match="a file that is added cannot be rolled back: INSERT outside of a transaction into: f",
    ):
        session.sql("begin; insert into f values (4)")
    assert os.listdir(tmp_path / "f") == ["x.parquet"]


def test_names_of_python_are_part_of_it() -> None:
    session = hr.connect({"t": T})
    session.sql("begin")
    session.register("u", T)
    session.view("v", "from u")
    session.unregister("t")
    seen = session.table("v")
    assert session.tables == ["u", "v"]
    session.sql("rollback")
    assert session.tables == ["t"]
    # A query has the tables of the moment when it was written.
    assert seen.arrow().to_pydict() == T.to_pydict()


def test_a_query_written_before_the_mistake_waits_for_the_end() -> None:
    session = hr.connect({"t": T})
    session.sql("begin")
    before, wrong = session.table("t"), session.sql("select (k || 'x')::integer as i from t")
    with pytest.raises(hr.errors.DataError):
        wrong.arrow()
    with pytest.raises(hr.errors.TransactionError, match="the transaction was aborted by a mistake in it"):
        before.arrow()
    session.sql("rollback")
    assert before.arrow().to_pydict() == T.to_pydict()


def test_threads_share_the_transaction_of_their_session() -> None:
    session = hr.connect()
    session.sql("create table a (x integer); begin")
    threads = [
        threading.Thread(target=lambda n=number: session.sql(f"insert into a values ({n})"))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.sql("from a").arrow().num_rows == 8
    session.sql("rollback")
    assert session.sql("from a").arrow().num_rows == 0


def test_many_rows_at_once_are_part_of_it() -> None:
    connection = dbapi.connect()
    cursor = connection.cursor()
    cursor.execute("create table a (x integer not null)")
    connection.begin()
    cursor.executemany("insert into a values (?)", [[1], [2]])
    with pytest.raises(dbapi.IntegrityError):
        cursor.executemany("insert into a values (?)", [[3], [None]])
    with pytest.raises(dbapi.OperationalError, match="the transaction was aborted by a mistake in it"):
        cursor.executemany("insert into a values (?)", [[4], [5]])
    connection.rollback()
    assert connection.execute("select count(*) from a").fetchone() == (0,)
    connection.execute("begin read only")
    with pytest.raises(dbapi.OperationalError, match="the transaction only reads"):
        cursor.executemany("insert into a values (?)", [[4], [5]])


def test_connections_end_transactions() -> None:
    with dbapi.connect() as connection:
        connection.execute("create table a (x integer)")
        connection.commit()  # of no transaction: nothing is left to do
        with pytest.raises(dbapi.OperationalError, match="no transaction has begun that ROLLBACK could end"):
            connection.rollback()
        connection.begin()
        connection.execute("insert into a values (1)")
        connection.commit()
        connection.begin()
        connection.execute("insert into a values (2)")
        connection.rollback()
        assert connection.execute("from a").fetchall() == [(1,)]
        connection.begin()
        connection.execute("insert into a values (3)")
    # What was not committed is gone, as where a connection of DuckDB is closed.
    assert connection.session.sql("from a").arrow().to_pydict() == {"x": [1]}
    connection.close()


def test_clients_of_a_server_have_their_own() -> None:
    session = hr.connect()
    session.sql("create table a (x integer); create table b (x integer)")
    with (
        hr.serve(session) as server,
        flight_dbapi.connect(server.location) as one,
        flight_dbapi.connect(server.location, autocommit=True) as other,
    ):
        mine, others = one.cursor(), other.cursor()

        def rows(cursor: Any, text: str = "from a") -> list[tuple[Any, ...]]:
            cursor.execute(text)
            return sorted(cursor.fetchall())

        mine.execute("insert into a values (1)")
        mine.executemany("insert into a values (?)", [(2,), (3,)])
        mine.execute("select x from a where x > ?", (1,))
        assert sorted(mine.fetchall()) == [(2,), (3,)]
        assert rows(others) == []
        others.execute("insert into b values (10)")  # of another table
        assert rows(mine, "from b") == []
        one.commit()
        assert rows(others) == rows(mine) == [(1,), (2,), (3,)] and rows(mine, "from b") == [(10,)]
        mine.execute("create view v as from a; delete from a")
        one.rollback()
        assert rows(mine) == [(1,), (2,), (3,)] and session.tables == ["a", "b"]
        mine.execute("insert into a values (4)")
        others.execute("delete from a where x = 1")
        with pytest.raises(
            Exception,
            match="the transaction is rolled back, as another one has changed the same table, view, macro, type, "
            "sequence or schema meanwhile: a; do it again",
        ):
            one.commit()
        assert rows(others) == [(2,), (3,)]
        with pytest.raises(
            Exception,
            match=r"a server's clients begin and end transactions by their driver \(autocommit=False, "
            r"commit\(\)\), not by a statement",
        ):
            others.execute("begin")


def test_open_transactions_of_clients_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "TRANSACTIONS", 2)
    session = hr.connect()
    clients = transactions.ClientTransactions(session)
    first, _ = clients.begin(), clients.begin()
    with pytest.raises(hr.errors.TransactionError, match="a server has at most 2 open transactions"):
        clients.begin()
    monkeypatch.setattr(transactions, "IDLE", 0.0)  # all have been idle for so long
    third = clients.begin()
    with pytest.raises(hr.errors.TransactionError, match="the transaction has ended"):
        clients.session(first)
    clients.session(third).sql("create table a (x integer)")
    clients.end(third, holds=True)
    assert session.tables == ["a"]


def test_changes_that_meet() -> None:
    """Of two transactions the second to end is rolled back where both have changed one name."""
    for mine, others, name in (
        ("insert into a values (1)", "insert into a values (2)", "a"),
        ("drop table a", "insert into a values (2)", "a"),
        ("create table n (x integer)", "create view n as from a", "n"),
        ("create macro f(x) as 1", "create macro f(x) as 2", "f"),
        ("insert into a values (1)", "insert into b values (2)", ""),
        ("create macro f(x) as 1; drop table b", "create macro g(x) as 2; create view v as from a", ""),
    ):
        session = hr.connect()
        session.sql("create table a (x integer); create table b (x integer)")
        beside = session._beside()
        beside.sql(f"begin; {mine}")
        session.sql(others)
        if not name:
            beside.sql("commit")
            continue
        with pytest.raises(hr.errors.TransactionError, match=f"meanwhile: {name}; do it again"):
            beside.sql("commit")
        assert session._names is beside._names


@pytest.mark.parametrize("seed", range(int(os.environ.get("HEADRACE_RANDOM_STATEMENTS", "12"))))
def test_random_statements(seed: int) -> None:
    """Statements at random, mistakes and transactions among them."""
    draw = random.Random(seed)
    both = Beside(ranks=draw.choice([1, 2, 3]), threads=2)
    for _ in range(60):
        both.say(statement(draw))
    both.say("rollback" if draw.random() < 0.5 else "commit")
    both.say("create schema if not exists s")
    for name in ("main.a", "main.b", "s.a"):
        both.say(f"create table if not exists {name} (k integer, s varchar)")
        both.ask(f"from {name}")


def statement(draw: random.Random) -> str:
    name, number = draw.choice(["a", "b", "a", "b", "s.a"]), draw.randrange(20)
    create = (
        f"create {draw.choice(['', 'or replace '])}table {name} (k integer not null default 3, s varchar)"
    )
    kinds = {
        "create schema if not exists s": 1.5,
        f"drop schema s {draw.choice(['', 'cascade'])}": 0.3,
        f"use {draw.choice(['main', 's'])}": 1.5,
        "begin": 4,
        "commit": 3,
        "rollback": 2,
        create: 2,
        f"create table if not exists {name} (k integer check (k < 25), s varchar unique)": 1,
        f"alter table {name} alter k {draw.choice(['set', 'drop'])} not null": 1,
        f"alter table {name} alter k set default {number}": 1,
        f"alter table {name} add column if not exists z integer default {number}": 0.7,
        f"alter table {name} drop column if exists z": 1.5,
        f"alter table {name} alter k type {draw.choice(['bigint', 'integer'])}": 1,
        f"alter table {name} rename {draw.choice(['k to s', 'nope to t', 'z to y', 'y to z'])}": 0.7,
        f"create table if not exists {name} as select range::integer as k, 's' as s from range({number})": 4,
        f"drop table {name}": 0.7,
        f"drop table if exists {name}": 0.7,
        f"insert into {name} values ({number}, 'x'), ({number + 1}, NULL)": 6,
        f"insert into {name} select k + {number}, s || 'i' from {draw.choice('ab')} where k % 3 = 1": 3,
        f"insert into {name} values (NULL, 'n')": 0.7,
        f"update {name} set k = k + 1, s = s || 'u' where k % 2 = {number % 2}": 4,
        f"update {name} set k = (s || 'x')::integer where k > 3": 0.5,
        f"delete from {name} where k % 5 = {number % 5}": 3,
        f"delete from {name} where k % 7 = {number % 7} returning k + 1 as k, s": 1,
        f"update {name} set s = 'r' where k = {number} returning *": 2,
        f"insert into {name} select {number}, s || '.' from {draw.choice('ab')} where k < 2 returning s, k": 1,
        f"insert or {draw.choice(['ignore', 'replace'])} into {name} values ({number}, 'x'), ({number}, 'u')": 2,
        f"insert into {name} (k, s) values ({number}, 'x') on conflict (s) do update set k = excluded.k + 1 returning k, s": 1,
        f"insert into {name} by name select {number} as k, 'xu' as s on conflict do nothing": 1,
        merge(draw, name, number): 4,
        "create sequence if not exists q start 3 increment 2": 2,
        f"create or replace table {name} (k bigint default nextval('main.q'), s varchar)": 0.7,
        f"insert into {name} (k) select nextval('q') from {draw.choice('ab')} where k > 2": 1,
        f"insert into {name} (s) values ('q'), ('{number}')": 2,
        "select nextval('q') as n": 1,
        "select currval('q') as n": 1,
        "drop sequence q": 0.3,
        f"truncate {name}": 0.5,
        f"select count(*) as n, sum(k) as k from {name}": 4,
        "select nope": 0.3,
        "selec": 0.3,
    }
    return draw.choices(list(kinds), list(kinds.values()))[0]


def merge(draw: random.Random, name: str, number: int) -> str:
    source = draw.choice([f"(select range as n from range({number}))", "(select distinct k as n from b)"])
    actions = [
        "matched and n % 3 = 0 then delete",
        "matched then update set s = s || 'm', k = k + 1",
        "not matched and n % 2 = 0 then insert (k) values (n)",
        f"not matched and n > {number} then insert (s, k) values ('n' || n, n)",
        f"not matched by source and k < {number} then update set k = k + 30",
        "not matched by source and k > 40 then delete",
        "matched and k = 7 then error 'seven'",
    ]
    chosen = sorted(draw.sample(range(len(actions)), draw.randrange(1, 4)), key=lambda place: place == 1)
    whens = " ".join(f"when {actions[place]}" for place in chosen)
    returning = draw.choice(["", " returning merge_action, k, s"])
    return f"merge into {name} using {source} as q on {name}.k = q.n {whens}{returning}"
