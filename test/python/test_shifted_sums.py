"""Sums of one column plus constants share its sum and its count, and are exact.

Sources: passes/optimize/shared_sums.cpp
"""

from __future__ import annotations

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import check

_LEAST, _MOST = -(2**31), 2**31 - 1

_TABLES = {
    "t": pa.table(
        {
            "g": pa.array([i % 4 for i in range(1000)], pa.int32()),
            "s": pa.array(
                [None if i % 7 == 0 or i % 4 == 3 else i % 100 - 50 for i in range(1000)], pa.int16()
            ),
            "i": pa.array([[_LEAST, _MOST, 5][i % 3] for i in range(1000)], pa.int32()),
            "l": pa.array([[2**62, -(2**62)][i % 2] + i for i in range(1000)], pa.int64()),
        }
    )
}


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(
    "query",
    [
        f"select {', '.join(f'sum(s + {i}) s{i}' for i in range(30))} from t",
        "select g, sum(s) a, sum(s + 1) b, sum(1000 - s) c, sum(s - 40000) d, avg(s + 2) e,"
        " count(s) n from t group by g",
        "select g, sum(s + 1) b, sum(3 + s) c, count(*) n from t "
        "group by g having sum(s + 2) > 0 or sum(s + 2) is null",
        "select sum(i::bigint + 5) a, sum(i::bigint - 2147483648) b, sum(i) c, sum(i::bigint) d from t",
        "select sum(i + 1) a, sum(i + 2) b, sum(s + 32760::smallint) c, sum(s + 1::smallint) d from t",
        "select sum(l::hugeint + 1) a, sum(l) b, sum(l::hugeint + 2) c from t",
        "select sum(s + 1) filter (where g = 1) a, sum(s + 2) filter (where g = 1) b, sum(s + 3) c,"
        " sum(s + 4) d from t",
        "select sum(distinct s + 1) a, sum(s + 2) b, sum(s + 3) c, count(distinct s) d from t",
        "select sum(s + 1) a, sum(s + 2) b from t where g > 10",
        "select g, sum(s + 1) over (partition by g) a, sum(s + 2) over (partition by g) b from t",
        "select s, sum(s + 1) a, sum(s + 2) b from (select s + 1 as s from t) group by s",
    ],
)
def test_answers_are_those_of_duckdb(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


def test_an_addition_that_overflows_is_an_error() -> None:
    """That of a row, though the sum of all would not."""
    with pytest.raises(hr.HeadraceError, match="number out of range") as raised:
        hr.sql("select sum(l - 9223372036854775807) a, sum(l) b from t", _TABLES)
    assert raised.value.kind == "data"
