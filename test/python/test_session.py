"""Sessions: names of tables and views, parameters, relations and what becomes of them."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import headrace as hr
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

T = pa.table({"a": [1, 2, 0, 4], "b": [1.0, None, 3.0, 4.0], "s": ["x", "y", "x", "<b>"]})


@pytest.fixture()
def session() -> hr.Session:
    return hr.connect({"t": T}, threads=2)


def test_a_relation_gives_rows_of_every_kind(session: hr.Session) -> None:
    relation = session.sql("select a, b from t where a > 0 order by a")
    assert relation.columns == ["a", "b"]
    assert relation.schema == pa.schema({"a": pa.int64(), "b": pa.float64()})
    rows = {"a": [1, 2, 4], "b": [1.0, None, 4.0]}
    assert relation.arrow().to_pydict() == rows
    assert relation.pl().to_dict(as_series=False) == rows
    assert pa.Table.from_batches(relation.batches()).to_pydict() == rows
    assert pl.DataFrame(relation).to_dict(as_series=False) == rows
    np.testing.assert_array_equal(relation.numpy()["b"], [1.0, np.nan, 4.0])


def test_data_frames_of_pandas_need_pandas(session: hr.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(hr.errors.UserError, match="needs pandas"):
        session.table("t").df()
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(hr.errors.UserError, match="needs Polars"):
        session.table("t").pl()


@pytest.mark.parametrize(
    "text",
    [
        "select a + 1 as i, b * 2 as f, s as t, sum(a) over () as h, a > 1 as c, null as n from t",
        "select cast(a as tinyint), cast(a as smallint), cast(a as integer), cast(b as real) from t",
        "select cast(a as decimal(9, 2)) as d from t",
        "select date '2020-01-01' as d, time '10:00' as t, now() as z, timestamp '2020-01-01 10:00:00' as m",
        "select cast(a as utinyint) as u8, cast(a as usmallint) as u16 from t",
        "select cast(a as uinteger) as u32, cast(a as ubigint) as u64 from t",
        "select cast('2020-01-01' as timestamp_s) as s, cast('2020-01-01' as timestamp_ns) as n",
        "select {'a': 1, 'b c': 'x', 't': date '2020-01-01'} as s, row(1, 'a') as r, map {'a': [1]} as m",
        "select [{'x': {'y': 1.5::double}}] as l, {'q\"x': 1, 'z': row(now())} as w",
        "show tables",
        "explain select a from t",
    ],
)
def test_the_schema_is_that_of_the_rows(session: hr.Session, text: str) -> None:
    relation = session.sql(text)
    rows = relation.arrow().schema
    assert relation.schema.names == rows.names
    assert relation.schema.types == rows.types


def test_it_prints_its_first_rows(session: hr.Session) -> None:
    shown = repr(session.sql("select s, a from t order by a, s limit 3")).splitlines()
    assert shown == ["s       a", "string  int64", "------  -----", "x       0", "x       1", "y       2"]
    assert repr(session.sql("select * from range(11)")).endswith("…")
    html = session.sql('select s, b as "b&" from t where a in (2, 4) order by a')._repr_html_()
    assert html == (
        "<table><thead><tr><th>s<br><small>string</small></th><th>b&amp;<br><small>double</small></th></tr>"
        "</thead><tbody><tr><td>y</td><td>NULL</td></tr><tr><td>&lt;b&gt;</td><td>4.0</td></tr></tbody></table>"
    )
    assert "…" in session.sql("select * from range(11)")._repr_html_()
    assert "1 rank" in repr(session.sql("create view v as select 1 as a; explain select * from v"))
    assert repr(session.sql("create macro f(x) as x + 1; select f(a) as m from t where a = 4")).endswith("5")


def test_explain_and_profile(session: hr.Session) -> None:
    relation = session.sql("select s, sum(a) as a from t group by s")
    assert "aggregate s, sum(a)" in relation.explain(runner_up=True)
    profile = relation.profile()
    assert profile.run and "aggregate" in [operator.name for operator in profile.operators()]


def test_views_are_tables_of_later_queries(session: hr.Session) -> None:
    positive = session.view("Positive", session.sql("select a, s from t where a > ?", [0]))
    assert positive.arrow().num_rows == 3
    session.view("twice", "select a * 2 as a from positive; -- of all")
    assert session.sql("select sum(a) as a from twice").arrow().to_pydict() == {"a": [14]}
    assert session.tables == ["Positive", "t", "twice"]
    # The optimiser sees through them: one scan, with the filter of the view.
    assert session.sql("select a from twice").explain().count("scan t") == 1
    # A view sees what its names mean when it is read; a relation what they meant when it was made.
    before = session.sql("select count(*) as n from twice")
    session.view("positive", "select 1 as a, '' as s")
    assert before.arrow().to_pydict() == {"n": [3]}
    assert session.table("twice").arrow().to_pydict() == {"a": [2]}
    session.unregister("POSITIVE")
    assert session.tables == ["t", "twice"]
    with pytest.raises(hr.errors.UserError, match="no such table or view: positive"):
        session.unregister("positive")


def test_views_that_name_each_other_s_columns(session: hr.Session) -> None:
    session.view("y", "select a as x from t")
    session.view("x", "select x as y from y")
    assert session.sql("select y from x where y = 4").arrow().to_pydict() == {"y": [4]}


def test_mistakes_have_their_place(session: hr.Session) -> None:
    session.view("v", "select a,\n  8 // a as q from t")
    for text, where in {
        "select zz from v": r"no such column: zz; .*\(at 1:8\)\n  select zz",
        "select *\nfrom tt": r"no such table: tt; did you mean t\? \(at 2:6\)",
        "select a\nfrom t where ? = $2": r"no value for the parameter \?: .*\(at 2:14\)",
        "select icu_sort_key(s, 'de') from v, t": r"\(at 1:8\)",
    }.items():
        with pytest.raises(hr.HeadraceError, match=f"(?s){where}"):
            session.sql(text).arrow()
    with pytest.raises(hr.errors.DataError, match=r"division by zero \(at .*, view v\)$"):
        session.sql("select sum(q) as q from v").arrow()
    with pytest.raises(hr.errors.DataError, match=r"division by zero \(at .*, 2:3\)$"):
        repr(session.sql("select a,\n  8 // a as q from t"))
    with pytest.raises(hr.errors.UserError, match="view v: it would read itself; choose another name"):
        session.view("v", "select * from v")
    session.view("w", "select * from v")
    with pytest.raises(hr.errors.UserError, match="view v: it would read itself; choose another name"):
        session.view("v", "select * from w")
    with pytest.raises(hr.errors.SqlError, match=r"the parameter \?: a text of a query is Unicode"):
        session.sql("select ? as a", ["\ud800"])
    with pytest.raises(hr.errors.UserError, match="one query, without definitions"):
        session.view("d", "create view e as select 1 as a; select * from e")
    with pytest.raises(hr.errors.UserError, match="the relation belongs to another session"):
        session.view("d", hr.connect().sql("select 1 as a"))
    with pytest.raises(hr.errors.UserError, match=r"no such option: thread; did you mean threads\?"):
        hr.connect(thread=2)
    with pytest.raises(hr.errors.UserError, match="not a path"):
        session.register("d", 5)


def test_tables_are_registered_and_replaced(session: hr.Session, tmp_path: Path) -> None:
    parquet.write_table(T, tmp_path / "sales.parquet")
    session.register("sales", tmp_path / "sales.parquet")
    assert session.sql("select count(*) as n from sales, t").arrow().to_pydict() == {"n": [16]}
    session.register("SALES", pl.DataFrame({"a": [1]}))
    assert session.tables == ["SALES", "t"]
    assert session.table("sales").arrow().to_pydict() == {"a": [1]}
    session.register("joined", session.sql("select t.s from t, sales where t.a = sales.a"))
    assert session.table("joined").arrow().to_pydict() == {"s": ["x"]}
    assert hr.connect(tmp_path).tables == ["sales"]
    # A file that cannot be read matters only to who reads it.
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    session.register("broken", str(tmp_path / "broken.parquet"))
    assert session.table("t").arrow().num_rows == 4
    with pytest.raises(hr.HeadraceError):
        session.table("broken")


VALUES = [
    *(True, 0, -1, 2**31, -(2**63), 10**20, 0.1, -1e-7, float("inf")),
    *(Decimal("-1.50"), Decimal("1e3"), Decimal("0.001"), None),
    *("it's", "", "a\n\\'b\t;--", "$1 ? :a", "'); drop table t; --", "ü🚰"),
    *(date(2020, 2, 29), datetime(2020, 2, 29, 1, 2, 3, 4), time(1, 2, 3, 4)),
    *(datetime(2020, 2, 29, 1, tzinfo=UTC), np.int64(7), np.float32(0.5), pa.scalar("s")),
    *({"a": 1, "b's": [{"c": None}, {"c": 1.5}]}, pa.scalar({"a": "x"})),
]


def test_values_of_parameters_come_back(session: hr.Session) -> None:
    names = ", ".join(f"$v{number} as c{number}" for number in range(len(VALUES)))
    rows = session.sql(f"select {names}", {f"v{number}": value for number, value in enumerate(VALUES)})
    expected = [value.as_py() if isinstance(value, pa.Scalar) else value for value in VALUES]
    assert list(rows.arrow().to_pylist()[0].values()) == expected
    assert rows.schema.field("c6").type == pa.float64()
    assert rows.schema.field("c9").type == pa.decimal128(3, 2)


@pytest.mark.parametrize(
    ("text", "values", "rows"),
    [
        ("select ? as a, ? as b, '?' as c -- ?", [1, 2], [1, 2, "?"]),
        ("select $2 as a, $1 as b, $2 + 1 as c", [1, 2], [2, 1, 3]),
        ("select :x as a, $y as b, $$:x$$ as c", {"x": 1, "y": 2}, [1, 2, ":x"]),
        ("select :x::varchar || ':x' as \":x\"", {"x": 1}, ["1:x"]),
        (
            "select date '2020-01-01' + ? as a",
            [timedelta(days=1, seconds=1)],
            [datetime(2020, 1, 2, 0, 0, 1)],
        ),
        ("select date '2020-01-01' + ? as a", [timedelta()], [datetime(2020, 1, 1)]),
        (
            "select ?.a as a, ? as m, ? as n",
            [{"a": 2}, {"key": [1], "value": ["x"]}, {}],
            [2, [(1, "x")], []],
        ),
        ("select ? as a, s = ? as b from (select 'a' || chr(0) as s)", ["\0b\0", "a\0"], ["\0b\0", True]),
        ("select ? as a, ? as b", [["a\0b", None], {"k": "\0"}], [["a\0b", None], {"k": "\0"}]),
    ],
)
def test_parameters(session: hr.Session, text: str, values: Any, rows: list[Any]) -> None:
    assert list(session.sql(text, values).arrow().to_pylist()[0].values()) == rows


@pytest.mark.parametrize(
    ("text", "values", "message"),
    [
        ("select ?", [], "no value for the parameter"),
        ("select $x", {"y": 1}, r"no value for the parameter \$x: give it by name"),
        ("select $x", [1], "give it by number"),
        ("select 1 as a", [1, 2], "no parameter of the query takes this value: 1, 2"),
        ("select ?", "1", "a list of values or a dict"),
        ("select ?", [object()], "no value of SQL can be made of it: object"),
        ("select ?", ["a\ud800"], "a text of a query is Unicode, without surrogates"),
        ("select ?", [{"a\0": 1}], "a field of a struct has a name on one line"),
        ("select ?", [{"": 1}], "a field of a struct has a name on one line, got ''"),
        ("select ?", [{"a\n": 1}], "a field of a struct has a name on one line"),
        ("select ?", [2**128], "an integer has at most 128 bits"),
        ("select ?", [-(2**127) - 1], "an integer has at most 128 bits"),
        ("select ?", [Decimal("1e40")], "a decimal has at most 38 digits"),
        ("select ?", [Decimal("NaN")], "a decimal must be a number, got NaN"),
    ],
)
def test_values_that_do_not_fit(session: hr.Session, text: str, values: Any, message: str) -> None:
    with pytest.raises(hr.errors.UserError, match=message):
        session.sql(text, values)


def test_types_without_rows_are_refused(session: hr.Session) -> None:
    with pytest.raises(hr.errors.UnsupportedError, match="unsupported type of a column: BIT"):
        assert session.sql("select '101'::bit as b").schema


def test_threads_share_a_session(session: hr.Session) -> None:
    def answer(number: int) -> bool:
        session.view(f"v{number}", f"select a + {number} as a from t")
        expected = 7 + 4 * number
        return session.sql(f"select sum(a) as a from v{number}").arrow().to_pydict() == {"a": [expected]}

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(answer, range(24)))
    assert len(session.tables) == 25


def test_views_of_files(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a\n1\n2\n")
    session = hr.connect()
    session.view("v", f"select a + 1 as b from '{tmp_path}/x.csv'")
    session.view("w", f"select b from v union all select a from read_csv('{tmp_path}/x.csv')")
    assert session.sql("select sum(b)::int as s from w").arrow().to_pylist() == [{"s": 8}]


def test_a_view_is_called_as_the_file_that_it_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pa.table({"day": pa.array([15887, 15888], pa.uint16()), "url": [b"x", None]})
    parquet.write_table(rows, tmp_path / "hits.parquet")
    monkeypatch.chdir(tmp_path)
    view = """create view hits as select * replace (make_date(day) as day)
        from read_parquet('hits.parquet', binary_as_string = True)"""
    macro = "create macro moment(t) as epoch_ms(t * 1000)"
    text = "select day, url, moment(86400) as m from hits where day >= '2013-07-01'"
    session = hr.connect()
    with duckdb.connect() as connection:
        for statement in (view, macro):
            session.sql(statement)
            connection.execute(statement)
        assert session.sql(text).arrow().to_pylist() == connection.sql(text).to_arrow_table().to_pylist()


def test_a_text_that_comes_again_means_what_is_there_now() -> None:
    session = hr.connect()
    text = "select any_value(typeof(a)) as t, max(a) as a from t"
    for statement, kind, value in (
        ("create table t as select 1 as a", "INTEGER", 1),
        ("insert into t values (5)", "INTEGER", 5),
        ("create or replace table t as select 'x' as a", "VARCHAR", "x"),
        ("drop table t; create view t as select 2::bigint as a", "BIGINT", 2),
    ):
        session.sql(statement)
        for _ in range(2):
            assert session.sql(text).arrow().to_pylist() == [{"t": kind, "a": value}]
    hour = "select extract(hour from timestamptz '2020-01-01 00:00:00+00')::int as h"
    assert session.sql(hour).arrow().to_pylist() == [{"h": 0}]
    session.sql("set TimeZone = 'Asia/Tokyo'")
    assert session.sql(hour).arrow().to_pylist() == [{"h": 9}]
    days = "select count(*) as n from range(timestamp '1970-01-01', now()::timestamp, interval 1 day)"
    assert session.sql(days).arrow()["n"][0].as_py() > 20_000
    session.sql("create macro twice(x) as x * 2")
    assert session.sql("select twice(2) as a").arrow().to_pylist() == [{"a": 4}]
    session.sql("create or replace macro twice(x) as x * 3")
    assert session.sql("select twice(2) as a").arrow().to_pylist() == [{"a": 6}]
    for number in range(70):  # more texts than are kept
        assert session.sql(f"select {number} as a").arrow().to_pylist() == [{"a": number}]


@pytest.mark.parametrize("text", ["1E-10", "-1E-2", "0E-5", "0.5", "1E+3", "123.4500", "10"])
def test_decimals_have_the_type_of_duckdb(text: str) -> None:
    value = Decimal(text)
    found = hr.connect().sql("select typeof($1) as t, $1 as v", [value]).arrow().to_pylist()
    with duckdb.connect() as connection:
        assert [tuple(found[0].values())] == connection.execute("select typeof($1), $1", [value]).fetchall()


def test_maps_of_arrow_are_maps() -> None:
    maps = pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64()))
    for value, kind in (
        (maps, "MAP(VARCHAR, INTEGER)[]"),
        (pa.chunked_array([maps]), "MAP(VARCHAR, INTEGER)[]"),
        (maps[0], "MAP(VARCHAR, INTEGER)"),
    ):
        assert hr.connect().sql("select typeof($1) as t", [value]).arrow().to_pylist() == [{"t": kind}]
    found = hr.connect().sql("select $1[1]['a'] as v, $1[2] is null as n", [maps]).arrow()
    assert found.to_pylist() == [{"v": 1, "n": True}]
