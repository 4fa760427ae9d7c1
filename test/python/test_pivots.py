"""PIVOT whose values a query finds, beside DuckDB."""

from __future__ import annotations

import datetime

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import answer, check, same

_DAYS = [datetime.date(2024, 2, 29), datetime.date(2023, 1, 1), None]
_TABLES = {
    "t": pa.table(
        {
            "p": ["a", "b", "it's", None, "a", "b", "a"] * 3,
            "y": [9, 10, 10, 9, 11, None, 9] * 3,
            "s": list(range(21)),
            "d": _DAYS * 7,
        }
    )
}


_QUERIES = [
    "pivot t on y using sum(s)",
    "pivot t on p using sum(s), max(s) as most group by y",
    "pivot t on y, p using count(*) group by d",
    "pivot t on p || '-' || y using sum(s) group by d order by d",
    "pivot t on y in (9, 10), p using sum(s) group by d",
    "pivot t on d",
    # Of more than 20 values DuckDB makes another plan.
    "pivot t on s using count(*), first(p order by y) group by y",
    "pivot (select * from t where s > 3 and p <> 'on, using') on y / 2 using avg(s) group by p",
    "with c as (select p, y, s from t where s < 15) pivot c on y using sum(s) group by p",
    "with c as (select p, y, s from t where s < 15) from (pivot c on y using sum(s) group by p)",
    "with c as (select 42) select * from (with c as (select p, y, s from t where p <> '), (' and s > 2)"
    " select * from (pivot c on y using sum(s) group by p))",
    "select * from (pivot t on y using sum(s) group by p) where p is not null",
    'select l.p, l."9", r.a from (pivot t on y using sum(s) group by p) l,'
    " (pivot t on p using sum(s) group by y) r",
    "from t pivot (sum(s) for y in (9, 11) group by p)",
]


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("query", _QUERIES)
def test_pivots(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("query", _QUERIES)
def test_pivots_of_sessions(query: str, ranks: int) -> None:
    session = hr.connect(dict(_TABLES), ranks=ranks)
    same(session.sql(query).arrow(), answer(query, _TABLES))


def test_a_pivot_of_a_session_has_the_values_of_its_moment() -> None:
    pivot = "pivot k on y using sum(s) group by p order by p"
    session = hr.connect(dict(_TABLES), ranks=2)
    session.sql("create table k as select p, y, s from t where s < 3")
    early = session.sql(pivot)
    assert early.columns == ["p", "10", "9"]
    session.sql("insert into k values ('a', 7, 5)")
    assert early.arrow().column_names == ["p", "10", "9"]
    assert session.sql(pivot).columns == ["p", "10", "7", "9"]
    parts = "from (pivot k on y using sum(s) group by p) where p = ?"
    assert session.sql(parts, ["a"]).arrow().to_pylist() == [{"p": "a", "10": None, "7": 5, "9": 0}]
    created = f"create table later as select * from k where y = 9; {pivot.replace('pivot k', 'pivot later')}"
    assert session.sql(created).columns == ["p", "9"]


def test_a_pivot_where_each_rank_runs_the_script(monkeypatch: pytest.MonkeyPatch) -> None:
    class Group:
        runs_script_on_all = True

    monkeypatch.setattr("headrace._src.session.session.current", Group)
    session = hr.connect(dict(_TABLES))
    with pytest.raises(
        hr.errors.UnsupportedError,
        match="each rank of this cluster runs the script, and a session there has no PIVOT without a list "
        "of values: ON x IN \\(…\\); hr.sql finds them",
    ):
        session.sql("pivot t on y using sum(s)")


def test_definitions_in_front_of_a_pivot_in_one() -> None:
    # DuckDB does not see c there.
    query = (
        "with c(p, y, s) as materialized (from t), d as (pivot c on y using sum(s) group by p)"
        " select * from d"
    )
    plain = hr.sql("from (pivot t on y using sum(s) group by p) order by all", _TABLES)
    assert hr.sql(f"{query} order by all", {"t": _TABLES["t"].drop(["d"])}) == plain
    query = (
        "with a as (select 1 as x), c as (from t, a)"
        " from (with b as (from c) pivot b on y using sum(s) group by p)"
    )
    assert hr.sql(f"{query} order by all", _TABLES) == plain


@pytest.mark.parametrize("brackets", [")", "))", ")) from ("])
def test_brackets_that_close_nothing(brackets: str) -> None:
    with pytest.raises(hr.errors.SqlError, match="syntax error"):
        hr.sql(f"select 1 {brackets} pivot t on y using sum(s)", _TABLES)


def test_no_values() -> None:
    with pytest.raises(hr.errors.UnsupportedError, match="PIVOT ON y finds no values"):
        hr.sql("pivot (select * from t where s > 99) on y using sum(s)", _TABLES)


def test_without_rows_a_plan_has_no_values() -> None:
    with pytest.raises(hr.errors.UnsupportedError, match="PIVOT without a list of values"):
        hr.lower("pivot t on y using sum(s)", _TABLES)
