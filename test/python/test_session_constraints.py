"""PRIMARY KEY, UNIQUE and CHECK of tables of sessions, beside DuckDB."""

from __future__ import annotations

import duckdb
import headrace as hr
import pytest

TABLE = (
    'create table a (i integer primary key, s varchar, "d d" integer check ("d d" > 0), unique (s, "d d"), '
    "check (i < 1000 or s is null))"
)
STATEMENTS = (
    "insert into a values (1, 'x', 1), (2, NULL, 1), (3, NULL, 1), (4, 'q', NULL)",
    "insert into a values (1, 'y', 1)",
    "insert into a values (9, 'x', 1)",
    "insert into a values (10, 'x', -1)",
    "insert into a values (NULL, 'z', 3)",
    "insert into a values (2000, 'z', 3)",
    "insert into a values (2000, NULL, 3)",
    "insert into a values (20, 'r', 5), (20, 't', 6)",
    'insert into a select i + 100, s, "d d" + 1 from a where i < 100',
    "insert into a select i, 'w', 1 from a",
    "update a set i = 2 where i = 1",
    'update a set "d d" = -1 where i = 1',
    'update a set "d d" = 7 where i = 1',
    "update a set s = 'same', \"d d\" = 1 where i < 3",
    "delete from a where i = 1",
    "insert into a values (1, 'z', 9)",
    "alter table a add column n integer default 5",
    "insert into a (i, n) values (2, 1)",
    "insert into a (i, n) values (77, 1)",
    "alter table a rename i to j",
    "insert into a (j) values (77)",
)


@pytest.mark.parametrize("ranks", [1, 2])
def test_holds_what_duckdb_holds(ranks: int) -> None:
    session = hr.connect(ranks=ranks, threads=2)
    session.sql(TABLE)
    refused = 0
    with duckdb.connect() as oracle:
        oracle.execute(TABLE)
        for text in STATEMENTS:
            try:
                said = oracle.execute(text).fetchall()
            except duckdb.ConstraintException:
                refused += 1
                with pytest.raises(hr.errors.ConstraintError):
                    session.sql(text)
            else:
                answer = session.sql(text).arrow().to_pydict().values()
                assert [*zip(*answer, strict=True)] == said, text
            rows = "select * from a order by all"
            told = session.sql(rows).arrow().to_pydict().values()
            assert [*zip(*told, strict=True)] == oracle.execute(rows).fetchall(), text
    assert refused == 12


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("insert into a values (1, 'y', 1)", 'duplicate key "i: 1" violates primary key constraint'),
        ("insert into a values (9, 'x', 1)", 'duplicate key "s: x, d d: 1" violates unique constraint'),
        ("insert into a values (10, 'x', -1)", "CHECK constraint failed on table"),
    ],
)
def test_says_what_is_broken(statement: str, message: str) -> None:
    session = hr.connect()
    session.sql(f"{TABLE}; insert into a values (1, 'x', 1)")
    with pytest.raises(hr.errors.ConstraintError, match=message):
        session.sql(statement)
    assert session.sql("select * from a").arrow().num_rows == 1
