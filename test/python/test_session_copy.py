"""COPY table FROM 'file' in a session, beside DuckDB."""

from __future__ import annotations

from pathlib import Path

import duckdb
import headrace as hr
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from headrace.errors import UnsupportedError

TABLE = "create table a (i integer not null, s varchar default 'none', d decimal(5, 2), m date, c uuid)"

ROWS = "select i, s, d, m, c::varchar from a order by all"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "head.csv").write_text('x,y\n1,one\n2,\n3,"a,b"\n')
    (tmp_path / "bare.csv").write_text("4|four\n5|NULL\n")
    (tmp_path / "all.csv").write_text(
        "i;s;d;m;c\n6;six;1,5;31/12/2024;6ba7b810-9dad-11d1-80b4-00c04fd430c8\n7;;2;01/01/2025;\n"
    )
    (tmp_path / "few.json").write_text('{"s": "json", "i": 8}\n{"i": 9, "d": 1.25}\n')
    pq.write_table(pa.table({"n": [10, 11], "t": ["p", None]}), tmp_path / "some.parquet")
    return tmp_path


STATEMENTS = (
    "copy a (i, s) from '{}/head.csv'",
    "COPY main.a(\"s\", I) FROM '{}/some.parquet'",  # i is no number there: refused by both
    "COPY main.a(I, \"s\") FROM '{}/some.parquet'",
    "copy a (i, s) from '{}/bare.csv' (delimiter '|', null 'NULL', header false)",
    "copy /* all */ a from '{}/all.csv' with (format csv, delim ';', header, decimal_separator ',', "
    "dateformat '%d/%m/%Y')",
    "copy a (i, s, d) from '{}/few.json'",
    "copy a (s) from '{}/head.csv'",  # i may not be NULL
)


@pytest.mark.parametrize("ranks", [1, 2])
def test_copies_what_duckdb_copies(files: Path, ranks: int) -> None:
    session = hr.connect(ranks=ranks, threads=2)
    with duckdb.connect() as oracle:
        session.sql(TABLE)
        oracle.execute(TABLE)
        for statement in STATEMENTS:
            text = statement.format(files)
            try:
                said = oracle.execute(text).fetchall()
            except duckdb.Error:
                with pytest.raises(hr.HeadraceError):
                    session.sql(text)
            else:
                assert [(session.sql(text).changed,)] == said, text
            assert _rows(session) == oracle.execute(ROWS).fetchall(), text


def _rows(session: hr.Session) -> list[tuple[object, ...]]:
    return [*zip(*session.sql(ROWS).arrow().to_pydict().values(), strict=True)]


def test_a_copy_is_a_part_of_a_text_and_of_a_transaction(files: Path) -> None:
    session = hr.connect()
    count = f"create table b (x integer, y varchar); copy b from '{files}/head.csv'; select count(*) from b"
    assert session.sql(count).arrow().to_pydict() == {"count_star()": [3]}
    session.sql("begin")
    assert session.sql(f"copy b from '{files}/head.csv'").changed == 3
    session.sql("rollback")
    assert session.sql("select count(*) as n from b").arrow().to_pydict() == {"n": [3]}


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("copy nothing from '{}/head.csv'", "no such table: nothing"),
        ("copy a (i, zz) from '{}/head.csv'", "no column zz in table a"),
        ("copy a from '{}/head.csv' (format orc)", "COPY FROM reads csv, json and parquet, not: orc"),
        ("copy a from '{}/head.csv' (delim ';', -)", "options of COPY are a name and a value, got: -"),
        ("copy a from '{}/none.csv'", "none.csv"),
    ],
)
def test_refuses_by_name(files: Path, statement: str, message: str) -> None:
    session = hr.connect()
    session.sql(TABLE)
    with pytest.raises(hr.HeadraceError, match=message.replace("(", r"\(")):
        session.sql(statement.format(files))
    assert session.sql("select * from a").arrow().num_rows == 0


def test_is_of_sessions() -> None:
    with pytest.raises(UnsupportedError, match="in a session also COPY table FROM 'file'"):
        hr.sql("copy a from 'x.csv'", {})
