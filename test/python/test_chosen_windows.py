"""Aggregates of some rows of a frame, in an order of their own, and of different values, beside DuckDB."""

from __future__ import annotations

import random
import time

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import check


def _table(rows: int = 150) -> pa.Table:
    chance = random.Random(3)

    def some(values: list[object]) -> list[object]:
        return [None if chance.random() < 0.2 else chance.choice(values) for _ in range(rows)]

    return pa.table(
        {
            "id": pa.array(chance.sample(range(1000), rows), pa.int32()),
            "u": pa.array(chance.sample(range(1000), rows), pa.int64()),
            "g": some([1, 2, 3]),
            "i": pa.array(some([-3, 0, 1, 2, 7, 40]), pa.int32()),
            "d": pa.array(some([1.25, 25.0, 1.99, -3.1]), pa.float64()).cast(pa.decimal128(12, 2)),
            "s": some(["", "a", "ä", "a text of more than twelve bytes"]),
            "l": pa.array(some([[1], [1, None], [], [2, 3]]), pa.list_(pa.int32())),
        }
    )


_TABLES = {"t": _table()}
_FRAMES = [
    "partition by g",
    "",
    "partition by l",
    "partition by g order by id",
    "order by id",
    "partition by g order by id rows between unbounded preceding and unbounded following",
    "order by id rows between 2 preceding and 3 following",
    "partition by g order by id rows between 4 preceding and 2 preceding",
    "partition by g order by id groups between 1 preceding and current row exclude current row",
    "order by i range between 2 preceding and 1 following exclude ties",
    "order by id rows between (u % 3) preceding and current row",
]
_VALUES = {
    "of one row": "arg_min(i, u) over w as a, arg_max(s, u) over w as b, min_by(d, -u) over w as c,"
    " max_by(l, u) over w as d, argmin(s, u) filter (where i > 0) over w as e, argmax(id, u) over w as f",
    "of rows that are NULL": "arg_min_null(i, u) over w as a, arg_max_null(l, u) over w as b,"
    " arg_min_null(s, nullif(u, 5)) filter (where i > 0) over w as c, arg_min_nulls_last(i, u) over w as d,"
    " arg_max_nulls_last(s, case when i > 0 then u end) over w as e,"
    " arg_min_nulls_last(s, u) filter (where i > 1) over w as f",
    "of several rows": "min(i, 2) over w as a, max(s, 3) over w as b, min(l, 2) over w as c,"
    " arg_min(s, u, 3) over w as d, arg_max(i, u, 2) filter (where id % 2 = 0) over w as e,"
    " arg_min_nulls_last(i, u, 2) over w as f",
    "of different values": "list(distinct i order by i) over w as a, list(distinct s order by s desc) over w"
    " as b, string_agg(distinct s, '|' order by s) over w as c, array_agg(distinct d order by d nulls first)"
    " filter (where i > 0) over w as d, list_sort(list(distinct i) over w) as e,"
    " min(distinct i, 2) over w as f",
    "sums of different values": "product(distinct i) over w as a, stddev(distinct i) over w as b,"
    " bit_xor(distinct i) over w as c, fsum(distinct i) over w as d, histogram(distinct s) over w as e,"
    " entropy(distinct i) over w as f, mad(distinct i) over w as g, variance(distinct d) over w as h",
    "extremes of lists": "min(l) over w as a, max([i, id]) over w as b",
    "any": "any_value(i) filter (where i > 0) over w as a, any_value(s order by u) over w as b",
}


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("frame", _FRAMES)
@pytest.mark.parametrize("values", _VALUES)
def test_rows_of_frames(values: str, frame: str, ranks: int) -> None:
    calls = _VALUES[values]
    if "any_value(i)" in calls and ("order by" not in frame or "order by i" in frame):
        calls = "any_value(s order by u) over w as b"
    check(f"select id, {calls} from t window w as ({frame})", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(
    "frame", ["", "rows unbounded preceding", "rows between unbounded preceding and 9 following"]
)
def test_of_equally_frequent_values_the_first(frame: str, ranks: int) -> None:
    query = f"""select id, mode(i) over w as a, mode(s) filter (where id % 3 > 0) over w as b,
        mode(d) over w as c, mode(l) over w as d from t window w as (partition by g order by id {frame})"""
    check(query, _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("whole", ["partition by g order by id", "order by id", "order by id desc"])
def test_whole_partitions_have_the_first_of_equals(whole: str, ranks: int) -> None:
    query = f"""select id, mode(i) over w as a, arg_min(s, i) over w as b, arg_max(s, i, 3) over w as c,
        string_agg(s, '|') over w as d, mode(l) over w as e from t
        window w as ({whole} rows between unbounded preceding and unbounded following)"""
    query = query.replace("arg_max(s, i, 3)", "arg_max(s, u, 3)")
    check(query, _TABLES, ranks=ranks)


def test_a_mode_that_moves_is_counted() -> None:
    """Row by row by what comes and goes, in any frame."""
    for frame in (
        "rows between 6 preceding and current row",
        "rows between 3 preceding and 3 following exclude current row",
        "groups between 5 preceding and 2 preceding",
        "rows between (u % 5) preceding and (u % 3) following exclude group",
    ):
        query = f"""select id, list(i) over w as l, mode(i) over w as m from t
            window w as (partition by g order by id {frame})"""
        for row in hr.sql(query, _TABLES).to_pylist():
            known = [value for value in row["l"] or [] if value is not None]
            first = max(known, key=known.count) if known else None
            assert row["m"] == first, (frame, row)


def test_n_is_checked() -> None:
    with pytest.raises(hr.HeadraceError, match="n of min, max, arg_min, arg_max and approx_top_k must be"):
        hr.sql("select min(i, 0) over (order by id) as a from t", _TABLES)


def test_whole_partitions_are_computed_once() -> None:
    """Each row for itself would take some minutes."""
    rows = 60_000
    table = pa.table({"g": [0] * rows, "x": [row % 1000 for row in range(rows)]})
    started = time.monotonic()
    found = hr.sql(
        """select g, mode(x) over (partition by g) as a, median(x) over (partition by g) as b,
            arg_min(x, -x) over (partition by g) as c, mad(x) over (partition by g) as d from t""",
        {"t": table},
    )
    assert found.group_by(["a", "b", "c", "d"]).aggregate([]).to_pylist() == [
        {"a": 0, "b": 499.5, "c": 999, "d": 250.0}
    ]
    assert time.monotonic() - started < 60
