"""`headrace.ibis`: expressions of Ibis, beside the SQL that Ibis makes of them run by DuckDB."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import headrace as hr
import ibis
import pyarrow as pa
import pytest
from headrace import ibis as headrace_ibis
from headrace._src.ibis_backend import Rows
from ibis import _
from sql_oracle import Answer, difference

T = pa.table(
    {
        "k": [1, 2, 2, None, 5],
        "x": [1.5, float("nan"), None, -2.0, 0.0],
        "s": ["a", "Bc", None, "", "žlutý"],
        "d": pa.array([datetime.date(2024, 2, 29), None, *[datetime.date(1999, 12, 31)] * 3]),
        "t": pa.array([0, 1_700_000_000_123_456, None, -1, 86_400_000_000], pa.timestamp("us")),
        "m": pa.array([Decimal("1.50"), None, Decimal("-2.25"), Decimal(0), Decimal(9)], pa.decimal128(9, 2)),
        "l": [[1, 2], [], None, [None], [3]],
        "b": [True, False, None, True, False],
    }
)
U = pa.table({"k": [1, 2, 7], "w": ["one", "two", "seven"]})
Tables = Callable[[str], Any]

#: By name: of the tables of a back end.
EXPRESSIONS: dict[str, Callable[[Tables], Any]] = {
    "all": lambda t: t("t"),
    "filter": lambda t: t("t").filter(_.k > 1, ~_.b | _.b.isnull()),
    "select": lambda t: t("t").select("k", y=_.x * 2 + 1, z=_.k // 2, r=(_.m * 3).round(1)),
    "texts": lambda t: t("t").select(
        u=_.s.upper(),
        n=_.s.length(),
        c=_.s.contains("c"),
        p=_.s.replace("a", "ä"),
        x=_.s.substr(1, 2),
        f=_.s.find("c"),
        q=_.s.re_search("^[a-z]"),
        j=_.s + "!",
    ),
    "dates": lambda t: t("t").select(
        y=_.d.year(),
        w=_.t.day_of_week.index(),
        h=_.t.hour(),
        b=_.t.truncate("M"),
        f=_.d.strftime("%Y/%m"),
        n=_.d + ibis.interval(days=3),
    ),
    "cases": lambda t: t("t").select(
        a=ibis.cases((_.k == 1, "one"), (_.k == 2, "two"), else_="many"),
        c=ibis.coalesce(_.k, 0),
        n=_.k.nullif(2),
        g=ibis.greatest(_.k, 2),
        i=_.k.isin([1, 5]),
        f=_.x.fill_null(0.0),
        v=_.k.between(1, 2),
    ),
    "casts": lambda t: t("t").select(
        a=_.k.cast("string"), b=_.m.cast("float64"), c=_.b.cast("int8"), d=_.d.cast("timestamp")
    ),
    "groups": lambda t: (
        t("t")
        .group_by("k")
        .agg(
            n=_.count(),
            s=_.m.sum(),
            a=_.x.mean(),
            u=_.s.nunique(),
            lo=_.d.min(),
            hi=_.t.max(),
            w=_.m.sum(where=_.b),
        )
    ),
    "having": lambda t: t("t").group_by("d").agg(n=_.count()).filter(_.n > 1),
    "statistics": lambda t: t("t").agg(
        v=_.k.var(), s=_.k.std(how="pop"), m=_.k.median(), q=_.k.quantile(0.25)
    ),
    "join": lambda t: t("t").join(t("u"), "k").select("k", "w", "m"),
    "left join": lambda t: t("t").left_join(t("u"), "k").select("k", "w", "s"),
    "anti join": lambda t: t("u").anti_join(t("t"), "k"),
    "semi join": lambda t: t("u").semi_join(t("t"), "k"),
    "cross join": lambda t: t("u").cross_join(t("u").select(v="w")),
    "union": lambda t: t("t").select("k").union(t("u").select("k"), distinct=True),
    "except": lambda t: t("u").select("k").difference(t("t").select("k")),
    "distinct": lambda t: t("t").select("d").distinct(),
    "order": lambda t: t("t").order_by(_.k.desc(nulls_first=True), _.m).limit(3, offset=1).select("k", "m"),
    "windows": lambda t: t("t").select(
        "k",
        r=ibis.row_number().over(order_by=[_.k, _.m]),
        s=_.m.sum().over(group_by="d", order_by="m"),
        p=_.m.lag().over(order_by=[_.k, _.m]),
        c=_.m.cumsum(order_by=[_.k, _.m]),
    ),
    "unnest": lambda t: t("t").select("k", e=_.l.unnest()),
    "lists": lambda t: t("t").select(n=_.l.length(), f=_.l[0], c=_.l.contains(2)),
    "structs": lambda t: t("t").select(v=ibis.struct({"a": _.k, "b": _.s})).select(a=_.v["a"], v="v"),
    "memtable": lambda t: (
        t("t").join(ibis.memtable(pa.table({"k": [2, 5], "n": ["x", "y"]})), "k").select("k", "n")
    ),
    "subquery": lambda t: t("t").filter(_.m > t("t").m.mean()),
    "exists": lambda t: t("t").filter(_.k.isin(t("u").k)),
    "pivot": lambda t: (
        t("t")
        .select("k", "s", "m")
        .pivot_wider(names_from="s", values_from="m", values_agg="sum", names=["a", "Bc"])
    ),
}


def by_duckdb(expr: Any, tables: dict[str, Any]) -> Answer:
    """The SQL that Ibis makes of an expression, run by DuckDB."""
    connection = duckdb.connect()
    for name, table in tables.items():
        if isinstance(table, Path):
            connection.execute(f"create view {name} as select * from '{table}'")
        else:
            connection.register(name, table)
    for table in expr.op().find(ibis.expr.operations.InMemoryTable):
        connection.register(table.name, table.data.to_pyarrow(table.schema))
    rows = connection.sql(ibis.to_sql(expr, dialect="duckdb")).to_arrow_table()
    return Answer(Rows.convert_table(rows, expr.schema()))


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions(name: str) -> None:
    tables = {"t": T, "u": U}
    for ranks in (1, 3):
        expr = EXPRESSIONS[name](headrace_ibis.connect(tables, ranks=ranks).table)
        found = Answer(expr.to_pyarrow())
        assert difference(found, by_duckdb(expr, tables), ordered=name == "order") is None


def _revenue(lines: Any) -> Any:
    return lines.l_extendedprice * (1 - lines.l_discount)


def q01(t: Tables) -> Any:
    return (
        t("lineitem")
        .filter(_.l_shipdate <= ibis.date("1998-09-02"))
        .mutate(price=_revenue(_))
        .group_by("l_returnflag", "l_linestatus")
        .agg(q=_.l_quantity.sum(), p=_.price.sum(), c=(_.price * (1 + _.l_tax)).sum(), n=_.count())
        .order_by("l_returnflag", "l_linestatus")
    )


def q03(t: Tables) -> Any:
    return (
        t("customer")
        .filter(_.c_mktsegment == "BUILDING")
        .join(t("orders"), _.c_custkey == t("orders").o_custkey)
        .join(t("lineitem"), _.o_orderkey == t("lineitem").l_orderkey)
        .filter(_.o_orderdate < ibis.date("1995-03-15"), _.l_shipdate > ibis.date("1995-03-15"))
        .group_by("l_orderkey", "o_orderdate", "o_shippriority")
        .agg(revenue=_revenue(_).sum())
        .order_by(_.revenue.desc(), "o_orderdate", "l_orderkey")
        .limit(10)
    )


def q04(t: Tables) -> Any:
    late = t("lineitem").filter(_.l_commitdate < _.l_receiptdate)
    return (
        t("orders")
        .filter(_.o_orderdate >= ibis.date("1993-07-01"), _.o_orderdate < ibis.date("1993-10-01"))
        .semi_join(late, _.o_orderkey == late.l_orderkey)
        .group_by("o_orderpriority")
        .agg(n=_.count())
        .order_by("o_orderpriority")
    )


def q06(t: Tables) -> Any:
    return (
        t("lineitem")
        .filter(_.l_shipdate.year() == 1994, _.l_discount.between(0.05, 0.07), _.l_quantity < 24)
        .agg(revenue=(_.l_extendedprice * _.l_discount).sum())
    )


def q13(t: Tables) -> Any:
    orders = t("orders").filter(~_.o_comment.like("%special%requests%"))
    counts = (
        t("customer")
        .left_join(orders, _.c_custkey == orders.o_custkey)
        .group_by("c_custkey")
        .agg(orders=_.o_orderkey.count())
    )
    return counts.group_by("orders").agg(customers=_.count()).order_by(_.customers.desc(), _.orders.desc())


def q18(t: Tables) -> Any:
    large = t("lineitem").group_by("l_orderkey").agg(q=_.l_quantity.sum()).filter(_.q > 250)
    return (
        t("orders")
        .join(large, _.o_orderkey == large.l_orderkey)
        .join(t("customer"), _.o_custkey == t("customer").c_custkey)
        .select("c_name", "o_orderkey", "o_totalprice", "q")
        .order_by(_.o_totalprice.desc(), "o_orderkey")
        .limit(20)
    )


@pytest.mark.parametrize("query", [q01, q03, q04, q06, q13, q18])
def test_tpch(query: Callable[[Tables], Any], tpch_small: Path) -> None:
    expr = query(headrace_ibis.connect(tpch_small, ranks=2).table)
    wanted = by_duckdb(expr, {file.stem: file for file in tpch_small.glob("*.parquet")})
    assert difference(Answer(expr.to_pyarrow()), wanted, ordered=query is not q06) is None


def test_names() -> None:
    connection = headrace_ibis.connect({"t": T})
    assert "n" not in connection.list_tables()
    view = connection.create_view("v", connection.table("t").select("k"))
    assert view.count().to_pyarrow().as_py() == 5
    made = connection.create_table("w", connection.table("t").filter(_.k == 2).select("k", "s"))
    assert made.to_pyarrow().to_pydict() == {"k": [2, 2], "s": ["Bc", None]}
    assert connection.list_tables() == ["t", "v", "w"]
    assert connection.list_tables(like="^[tv]$") == ["t", "v"]
    connection.drop_view("v")
    connection.drop_table("w")
    connection.drop_table("w", force=True)
    assert "n" not in connection.list_tables()
    with pytest.raises(ibis.common.exceptions.TableNotFound):
        connection.drop_view("t")
    with pytest.raises(ibis.common.exceptions.TableNotFound):
        connection.table("w")


def test_rows_in_every_form(tmp_path: Path) -> None:
    connection = headrace_ibis.connect({"t": T})
    table = connection.table("t")
    batches = list(connection.to_pyarrow_batches(table, chunk_size=2))
    assert [batch.num_rows for batch in batches] == [2, 2, 1]
    assert pa.Table.from_batches(batches).to_pydict()["s"] == T["s"].to_pylist()
    assert table.k.to_pyarrow().to_pylist() == T["k"].to_pylist()
    assert table.k.sum().to_pyarrow().as_py() == 10
    assert table.limit(2).to_polars().height == 2
    least = ibis.param("int64")
    assert table.filter(_.k >= least).count().to_pyarrow(params={least: 2}).as_py() == 3
    assert connection.sql("select k * 2 as j from t").filter(_.j == 4).to_pyarrow().num_rows == 2
    assert "scan t (k)" in connection.explain(table.select("k"))
    hr.connect({"t": U}).sql("select * from t").write_csv(tmp_path / "u.csv")
    assert connection.read_csv(str(tmp_path / "u.csv")).to_pyarrow().to_pydict() == U.to_pydict()


def test_mistakes() -> None:
    session = hr.connect({"t": T})
    connection = headrace_ibis.connect(session)
    assert connection.con is session

    @ibis.udf.scalar.python
    def twice(x: int) -> int:
        return 2 * x

    for call, message in (
        (lambda: headrace_ibis.connect(session, ranks=2), "a session has its options already: ranks"),
        (lambda: connection.table("t", database="other"), "a session has no databases, got 'other'"),
        (
            lambda: connection.create_table("t", U),
            "there is a table or view of this name: t; overwrite=True replaces it",
        ),
        (lambda: connection.insert("t", T), "INSERT of a table that the session was given: t"),
        (
            lambda: connection.table("t").select(y=twice(_.k)).to_pyarrow(),
            "functions in Python are not supported: twice",
        ),
        (lambda: connection.sql("select nope from t"), "no such column: nope"),
    ):
        with pytest.raises(hr.HeadraceError, match=message):
            call()


def test_tables_are_filled_and_emptied() -> None:
    connection = headrace_ibis.connect({"t": T})
    made = connection.create_table("n", schema={"a": "int64", "s": "!string"})
    connection.insert("n", pa.table({"a": [1, 2], "s": ["x", "y"]}))
    connection.insert("n", made.mutate(a=_.a + 10))
    assert sorted(made.a.to_pyarrow().to_pylist()) == [1, 2, 11, 12]
    connection.insert("n", pa.table({"a": [3], "s": ["z"]}), overwrite=True)
    assert made.to_pyarrow().to_pydict() == {"a": [3], "s": ["z"]}
    connection.truncate_table("n")
    assert made.count().to_pyarrow().as_py() == 0
    copy = connection.create_table("t", connection.table("t").limit(1), overwrite=True, temp=True)
    connection.insert("t", copy)
    assert connection.table("t").count().to_pyarrow().as_py() == 2
    connection.drop_table("n")
    assert "n" not in connection.list_tables()
