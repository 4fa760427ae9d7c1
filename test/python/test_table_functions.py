"""range and generate_series, beside DuckDB.

Sources: passes/import/Series.cpp, passes/import/duckdb/unnest.cpp
"""

from __future__ import annotations

import re

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import check

_TABLES = {"t": pa.table({"a": [1, 2, None, 40]})}


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    "query",
    [
        "select * from range(5)",
        "select * from generate_series(5)",
        "select i + 1 as j from range(10) s(i) where i > 3",
        "select * from range(3, 9, 2)",
        "select * from generate_series(1, 9, 2)",
        "select * from range(5, 0, -2)",
        "select * from generate_series(5, 1, -2)",
        "select x from generate_series(date '2024-01-31', date '2025-01-01', interval 1 month) s(x)",
        "select count(*) as n from range(timestamptz '2024-01-31', '2024-05-01', interval 1 hour)",
        "select x from range(timestamp '2024-03-31', timestamp '2023-01-01', interval '-1 month') s(x)",
        "select x from range(null::timestamp, date '2025-01-01', interval 1 month) s(x)",
        "select x from t, generate_series(date '2024-01-01' + a::int, date '2024-2-05', interval 9 day) s(x)",
        "select unnest(generate_series(date '2024-01-31', '2024-03-31', interval '1 month 1 hour')) as x",
        "select a, range(date '2024-01-31', date '2024-04-01', to_months(a::int)) as x from t",
        "select * from range(0)",
        "select * from range(3, 1)",
        "select * from generate_series(3, 3)",
        "select * from range(null)",
        "select * from range(9223372036854775805, 9223372036854775807)",
        "select count(*) as n from range(7)",
        "select sum(i) as s, count(*) as n, min(i) as a, max(i) as b from range(1024) s(i)",
        "select sum(i) as s, count(*) as n, min(i) as a, max(i) as b from range(1025) s(i)",
        "select sum(i) as s, count(*) as n, count(distinct i) as d from range(-5000, 60000, 3) s(i)",
        "select sum(i) as s, count(*) as n from generate_series(1048576 + 3, 1, -1) s(i)",
        "select i % 7 as k, count(*) as n from range(100000) s(i) group by k",
        "select a, i from t join range(41) s(i) on a = i",
        "select a, i from t left join range(3) s(i) on a = i",
        "select a.i as x, b.i as y from range(3) a(i), range(2) b(i) where a.i <> b.i",
        "select sum(j) as s from range(10) s(i), lateral (select i * 2 as j)",
        "select (select max(i) from range(9) s(i) where i < a) as m from t",
    ],
)
def test_series(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select * from range(1, 5, 0)", "the step of range is 0"),
        ("select * from range(date '2020-01-01', '2020-01-05', interval 0 day)", "the step of range is 0"),
        (
            "select * from range(date '2020-01-01', timestamp 'infinity', interval 1 day)",
            "a series of timestamps without an end",
        ),
        (
            "select count(*) from range(9223372036854775807)",
            "unsupported: range of more than 1099511627776 numbers",
        ),
        ("select * from repeat_row(1, num_rows = 3)", "unsupported table function: repeat_row"),
    ],
)
def test_refused(query: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=re.escape(message)):
        hr.sql(query, _TABLES)
