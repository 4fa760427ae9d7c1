"""PREPARE, EXECUTE and DEALLOCATE in sessions, beside DuckDB."""

from __future__ import annotations

import duckdb
import headrace as hr
import pyarrow as pa
import pytest

#: One after the other.
_STATEMENTS = [
    "create table t as select range as a, range::varchar as s from range(10)",
    "PREPARE p AS select a, $1 as x, typeof($1) as k from t where a < 3",
    "execute p(3)",
    "execute P(1.5)",
    "execute p('it''s, so');",
    "execute p(date '2020-01-01')",
    "execute p([1, 2]) -- a list",
    "execute p(5::tinyint)",
    "execute p(-2)",
    "execute p(null)",
    "execute p({'a': 1::bigint, 'b': [true]})",
    "execute p(')') ;",
    "prepare q as insert into t values (?, ?)",
    "execute q(11, 'x')",
    "execute q(1 + 11, null)",
    "from t",
    "prepare n as select $low + 1 as l, count(*) as n from t where a between $low and $high",
    "execute n(high := 7, low := 2)",
    'prepare "My count" as select count(*) as n from t',
    'execute "my count"',
    'execute "my count"()',
    "deallocate prepare p",
    "deallocate nothing_of_the_kind",
    "prepare p as from range(10) r(a) limit $1",
    "execute p(2)",
]


@pytest.mark.parametrize("ranks", [1, 3])
def test_as_duckdb(ranks: int) -> None:
    session = hr.connect(ranks=ranks)
    with duckdb.connect() as connection:
        for text in _STATEMENTS:
            connection.execute(text)
            described = [name for name, *_ in connection.description or ()]
            expected = [dict(zip(described, row, strict=True)) for row in connection.fetchall()]
            found = session.sql(text).arrow().to_pylist()
            assert sorted(map(str, found)) == sorted(map(str, expected)), text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("execute nope(1)", "no such prepared statement: nope"),
        ("prepare q(int) as select $1", r"PREPARE q takes no list of types: cast its parameters"),
        ("prepare q as select 1; select 2", "PREPARE is of one statement, and is no part of a script"),
        ("execute p(a)", "EXECUTE takes constants: not a constant: a"),
        ("execute p(1, b := 2)", "the values of EXECUTE are all named, or none is"),
        ("execute p()", r"no value for the parameter \$1: give it by number"),
        ("execute p(1); execute p(2)", "only queries are supported, got EXECUTE"),
        ("execute p(1, 2)", "no parameter of the query takes this value: 2"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    session = hr.connect({"t": pa.table({"a": [1, 2]})})
    session.sql("prepare p as select a, $1 as x from t")
    with pytest.raises(hr.HeadraceError, match=message):
        session.sql(text).arrow()


def test_values_of_the_text() -> None:
    session = hr.connect()
    session.sql("prepare p as select $1 as x")
    assert session.sql("execute p(?)", [5]).arrow().to_pylist() == [{"x": 5}]
    with pytest.raises(hr.errors.UserError, match="PREPARE takes no values: EXECUTE does"):
        session.sql("prepare p as select $1 as x", [5])
