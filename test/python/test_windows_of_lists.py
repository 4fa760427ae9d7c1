"""Windows whose frames become lists: list, string_agg, mode, median and quantiles beside DuckDB."""

from __future__ import annotations

import random

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import answer, check, same


def _table(rows: int = 160) -> pa.Table:
    chance = random.Random(11)

    def some(values: list[object]) -> list[object]:
        return [None if chance.random() < 0.2 else chance.choice(values) for _ in range(rows)]

    return pa.table(
        {
            "id": pa.array(chance.sample(range(1000), rows), pa.int32()),
            "g": some([1, 2, 3]),
            "i": pa.array(some([-3, 0, 1, 2, 7, 40]), pa.int32()),
            "x": some([0.5, -1.0, 2.25, 1e9]),
            "f": pa.array(some([0.5, -1.0, 2.25]), pa.float32()),
            "d": pa.array(some([1.25, 25.0, 1.99, -3.1]), pa.float64()).cast(pa.decimal128(12, 2)),
            "s": some(["", "a", "ä", "a text of more than twelve bytes"]),
        }
    )


_TABLES = {"t": _table()}
_FRAMES = [
    "partition by g",
    "partition by g order by id",
    "order by id rows between 2 preceding and 3 following",
    "partition by g order by id rows between 4 preceding and 2 preceding",
    "partition by g order by id desc groups between 1 preceding and current row exclude current row",
    "order by id range between 30 preceding and 10 following",
]
_VALUES = [
    "list(i) over w as a, array_agg(s) over w as b, list(x) filter (where i > 0) over w as c",
    "string_agg(s, '|') over w as a, string_agg(s) filter (where i > 0) over w as b",
    "median(i) over w as a, median(x) over w as b, median(f) over w as c, median(d) over w as d,"
    " median(s) over w as e, median(i) filter (where x > 0) over w as f",
    "quantile_cont(x, 0.3) over w as a, quantile_cont(i, 0.9) over w as b,"
    " quantile_disc(d, 0.25) over w as c, quantile_disc(s, 0.5) over w as d,"
    " quantile_disc(i, -0.1) over w as e",
    "quantile_cont(x, [0.1, 0.5, 0.9]) over w as a, quantile_disc(s, [0.5, 0.25]) over w as b,"
    " histogram(i) over w as c, histogram(s) filter (where i > 0) over w as d",
]


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("frame", _FRAMES)
@pytest.mark.parametrize("values", _VALUES)
def test_lists_of_frames(values: str, frame: str, ranks: int) -> None:
    if "list(" in values and "order by" not in frame:
        values = "list_sort(list(i) over w) as a, list_sort(array_agg(s) over w) as b"
    if "string_agg" in values and "order by" not in frame:
        values = "length(string_agg(s, '|') over w) as a"
    check(f"select id, {values} from t window w as ({frame})", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("frame", _FRAMES)
def test_lists_in_an_order(frame: str, ranks: int) -> None:
    check(
        f"""select id, list(i order by x desc, id) over w as a, string_agg(s, '|' order by d, id) over w as b,
            array_agg(s order by s nulls first, id) filter (where i > 0) over w as c,
            mode(i order by id desc) over w as d, median(i order by id) over w as e,
            sum(i order by x) over w as f, quantile_disc(i, 0.5 order by id) over w as g
        from t window w as ({frame})""",
        _TABLES,
        ranks=ranks,
    )


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_mode_is_one_of_the_most_frequent(ranks: int) -> None:
    query = """select id, list(i) over w as l, mode(i) over w as m from t
        window w as (partition by g order by id rows between 6 preceding and current row)"""
    for row in hr.sql(query, _TABLES, ranks=ranks).to_pylist():
        known = [value for value in row["l"] if value is not None]
        assert row["m"] is None if not known else known.count(row["m"]) == max(map(known.count, known))


def test_no_rows_of_a_frame_have_no_list() -> None:
    query = """select id, list(id) over w as a, string_agg(s) over w as b, median(i) over w as c,
        mode(i) over w as d from t window w as (order by id rows between 9 preceding and 8 preceding)"""
    first = hr.sql(f"select * from ({query}) order by id limit 1", _TABLES).to_pylist()[0]
    assert (first["a"], first["b"], first["c"], first["d"]) == (None, None, None, None)


def test_aggregates_of_lists() -> None:
    query = """select id, list_mode([i, i, id]) as a, list_median([i, 4, id]) as b, list_median([x, f]) as c,
        list_median([s, 'b', 'c']) as d, list_mode([]::integer[]) as e, list_median([null]::double[]) as f,
        list_histogram([i, 9, i, null]) as k, list_histogram([]::integer[]) as l,
        list_histogram([s, 'a']) as m,
        list_aggregate([i, 9], 'arbitrary') as g, list_avg([9007199254740993, 9007199254740993 + id]) as h
        from t"""
    same(hr.sql(query, _TABLES), answer(query, _TABLES), ordered=True)
