"""PIVOT whose values a query finds, beside DuckDB."""

from __future__ import annotations

import datetime

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import check

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


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(
    "query",
    [
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
    ],
)
def test_pivots(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


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
