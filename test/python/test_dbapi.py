"""DB-API 2 over a session."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal

import headrace as hr
import pyarrow as pa
import pytest
from headrace import dbapi

T = pa.table({"a": [1, 2, 3], "s": ["x", None, "z"], "d": [date(2020, 1, day) for day in (1, 2, 3)]})


@pytest.fixture()
def cursor() -> dbapi.Cursor:
    return dbapi.connect({"t": T}, threads=2).cursor()


def test_the_module_says_what_it_is() -> None:
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 2, "qmark")
    assert hr.dbapi is dbapi
    for name in ("InterfaceError", "DatabaseError"):
        assert issubclass(getattr(dbapi, name), dbapi.Error)
    for name in ("Data", "Operational", "Integrity", "Internal", "Programming", "NotSupported"):
        assert issubclass(getattr(dbapi, f"{name}Error"), dbapi.DatabaseError)
    assert dbapi.Date(2020, 1, 2) == date(2020, 1, 2) and dbapi.Time(1, 2) == time(1, 2)
    assert dbapi.TimestampFromTicks(0) == datetime.fromtimestamp(0)
    assert dbapi.DateFromTicks(86400 * 2) == date.fromtimestamp(86400 * 2)
    assert dbapi.TimeFromTicks(0) == datetime.fromtimestamp(0).time()


def test_rows(cursor: dbapi.Cursor) -> None:
    assert cursor.description is None and cursor.rowcount == -1
    cursor.execute("select a, s, d from t where a < ? order by a", [3])
    assert cursor.description is not None
    names, types = zip(*(column[:2] for column in cursor.description), strict=True)
    assert names == ("a", "s", "d")
    assert [types[0] == dbapi.NUMBER, types[1] == dbapi.STRING, types[2] == dbapi.DATETIME] == [True] * 3
    assert types[0] != dbapi.STRING and types[0] != dbapi.BINARY
    assert cursor.fetchone() == (1, "x", date(2020, 1, 1))
    assert cursor.fetchmany(5) == [(2, None, date(2020, 1, 2))]
    assert cursor.fetchone() is None and cursor.fetchall() == []
    assert list(cursor.execute("select $x as x", {"x": "it's"})) == [("it's",)]
    assert cursor.executemany("select ? as x", [[1], [2]]).fetchall() == [(2,)]
    cursor.execute("select a from t order by a")
    cursor.arraysize = 2
    assert cursor.fetchmany() == [(1,), (2,)] and cursor.fetchmany(0) == [] and cursor.fetchall() == [(3,)]
    assert cursor.execute("select a from t").fetch_arrow_table().num_rows == 3


def test_connections() -> None:
    with dbapi.connect() as connection:
        connection.session.register("u", T)
        assert connection.execute("select count(*) from u").fetchone() == (3,)
        with connection.cursor() as cursor:
            pass
        with pytest.raises(dbapi.InterfaceError, match="the cursor is closed"):
            cursor.execute("select 1")
    with pytest.raises(dbapi.InterfaceError, match="the connection is closed"):
        connection.cursor()


def test_errors_are_those_of_the_document(cursor: dbapi.Cursor, tmp_path: object) -> None:
    with pytest.raises(dbapi.InterfaceError, match="no rows before a query is executed"):
        cursor.fetchone()
    with pytest.raises(dbapi.ProgrammingError, match="no such column: zz") as caught:
        cursor.execute("select zz from t")
    assert isinstance(caught.value.__cause__, hr.errors.SqlError)
    with pytest.raises(dbapi.DataError, match="division by zero"):
        cursor.execute("select 1 // (a - 1) from t")
    with pytest.raises(dbapi.NotSupportedError):
        cursor.execute("create index x on t (a)")
    with pytest.raises(dbapi.OperationalError):
        dbapi.connect(f"{tmp_path}/none.parquet")


def test_statements_that_change_tables(cursor: dbapi.Cursor) -> None:
    cursor.execute("create table x (a int not null, s varchar, d decimal(9, 2))")
    assert cursor.rowcount == -1 and cursor.fetchall() == []
    cursor.execute("insert into x values (?, ?, ?)", [1, "it's", 1.5])
    assert cursor.rowcount == 1 and cursor.fetchall() == [(1,)]
    many = [(each, None if each % 3 else f"s{each};", each / 4) for each in range(5000)]
    cursor.executemany("insert into x (a, s, d) values (?, ?, ?);", many)
    assert cursor.rowcount == 5000
    with pytest.raises(dbapi.InterfaceError, match="no rows before a query is executed"):
        cursor.fetchall()
    cursor.execute("select count(*), sum(a), count(s), sum(d) from x")
    assert cursor.fetchall() == [(5001, 12497501, 1668, Decimal("3124376.50"))]
    cursor.executemany("insert into x (a, s) values ($a, $s)", [{"a": 1, "s": "n"}, {"a": 2, "s": "m"}])
    # What is no constant is done one by one.
    cursor.executemany("insert into x (a) values ((select max(a) + ? from x))", [[1], [10]])
    assert cursor.rowcount == 2
    cursor.executemany("update x set s = ? where a = ?", [("u", 7), ("v", 8), ("w", -1)])
    assert cursor.rowcount == 2
    cursor.execute("select max(a), max(s) from x")
    assert cursor.fetchall() == [(5010, "v")]
    with pytest.raises(dbapi.IntegrityError, match="NOT NULL constraint failed: x.a"):
        cursor.executemany("insert into x (a) values (?)", [[1], [None]])
    with pytest.raises(dbapi.DataError, match="Could not convert string 'y'"):
        cursor.executemany("insert into x (a) values (?)", [["1"], ["y"]])
    cursor.execute("select count(*) from x")
    assert cursor.fetchall() == [(5005,)]
    assert cursor.executemany("insert into x (a) values (?)", []).rowcount == 0
