"""Window functions against DuckDB, on several ranks.

Sources: passes/import/{Interpolation,WindowBuilder}.cpp
"""

from __future__ import annotations

import math
import random
from pathlib import Path

import headrace as hr
import pyarrow as pa
import pyarrow.compute
import pytest
from headrace._src.query.sql import lower
from interpreter_tool import interpret, value_of, write_table
from sql_oracle import Answer, Oracle, difference

_TEXTS = ("a", "b", "a long text in common", "a long text")


def _table(rows: int) -> pa.Table:
    draw = random.Random(5)

    def some(make: object) -> list[object]:
        return [None if draw.random() < 0.1 else make() for _ in range(rows)]  # type: ignore[operator]

    keys = list(range(rows))
    draw.shuffle(keys)
    return pa.table(
        {
            "k": pa.array(keys, pa.int32()),
            "g": pa.array(some(lambda: draw.randint(0, 40)), pa.int32()),
            "x": pa.array(some(lambda: draw.randint(0, 300)), pa.int64()),
            "s": pa.array(some(lambda: draw.choice(_TEXTS)), pa.string()),
            "d": pa.array(some(lambda: draw.random()), pa.float64()),
        }
    )


def _gaps() -> dict[str, pa.Table]:
    """Few values among many missing ones, and values that are not finite."""
    far = [-1.7e308, math.nan, 0.25, math.inf, 1.6e308, -math.inf, None, 3.0]
    days = ["2020-01-01", None, "infinity", "2020-01-04", None, "-infinity", None, "2021-12-31"]
    return {
        "few": pa.table(
            {
                "g": pa.array([*range(40), None], pa.int16()),
                "x": pa.array(
                    [None, None, 3, None, 100, 7, None, *[None] * 23, -9, *[None] * 9, 5], pa.int8()
                ),
            }
        ),
        "infinite": pa.table(
            {
                "k": pa.array([3, None, 5, None, 8, None, 13, None], pa.int64()),
                "n": pa.array(range(8), pa.int32()),
                "far": pa.array(far, pa.float64()),
                "y": pa.array([None, 2.5, None, math.inf, None, 4.0, math.nan, None], pa.float32()),
                "d": pa.array(days, pa.string()),
            }
        ),
    }


#: Enough rows for several ranges and morsels.
ORACLE = Oracle({"t": _table(60_000), "one": _table(1), "nothing": _table(0), **_gaps()})

QUERIES = [
    "select k, row_number() over (partition by g order by x, k) as n from t",
    "select k, rank() over (order by x) as r, dense_rank() over (order by x) as e from t",
    "select k, row_number() over (order by s desc nulls last, k) as n from t",
    "select k, sum(x) over (partition by s order by k rows between 10 preceding and current row) as w from t",
    "select k, sum(x) over (order by k) as w, avg(d) over (partition by g) as m from t",
    "select k, min(d) over (partition by g order by k rows between 3 preceding and 3 following) as w,"
    " max(s) over (partition by g order by k rows 5 preceding) as v from t",
    "select k, lag(s) over (partition by g order by k) as b, lead(x, 2, -1) over (partition by "
    "g order by k) as a from t",
    "select k, first_value(x ignore nulls) over w as f, last_value(x) over w as l, nth_value(s,"
    " 2) over w as n"
    " from t window w as (partition by g order by k rows between 2 preceding and 2 following "
    "exclude current row)",
    "select k, g from t qualify row_number() over (partition by g order by x desc nulls last, k) = 1",
    "select k from t qualify rank() over (partition by g, s order by x) <= 2",
    "select g, sum(x) as total, rank() over (order by sum(x) desc nulls last, g) as r from t group by g",
    "select k, sum(x) over (partition by g) as a, count(*) over (partition by s) as b, ntile(5)"
    " over (order by k) as c from t",
    "select a.k, b.n from t a join (select k, count(*) over (partition by g) as n from t) b on "
    "a.k = b.k where a.k < 100",
    "select k, percent_rank() over (partition by g order by x) as p, cume_dist() over "
    "(partition by g order by x) as c from t",
    "select k, sum(x) over (partition by g order by x range between 5 preceding and 5 following"
    " exclude ties) as w from t",
    "select k, sum(x) over (partition by g order by x groups between 1 preceding and 1 "
    "following) as w from t",
    # without an order all rows of a partition are equals, wherever they are
    "select k, sum(x) over (rows between unbounded preceding and unbounded following exclude group) as a,"
    " count(*) over (rows between unbounded preceding and unbounded following exclude ties) as b,"
    " first_value(k) over (rows between 3 preceding and 3 following exclude ties) as c,"
    " last_value(s) over (rows between 2 preceding and current row exclude group) as d,"
    " count(k) over (rows between 1 following and 3 following exclude ties) as e from t",
    "select k, sum(x) over (partition by g rows between 5 preceding and current row exclude ties) as a,"
    " count(*) over (range between unbounded preceding and current row exclude ties) as b,"
    " max(k) over (partition by g range between current row and unbounded following exclude group) as c"
    " from t",
    "select * from (select k, g, row_number() over (partition by g order by k) as n from t) q "
    "where g = 3 and n < 4",
    "select count(*) as n from (select row_number() over () as r from t) q where r <= 10",
    "select max(row_number) from (select row_number() over () as row_number from nothing) q",
    "select k, row_number() over (partition by s order by g) as n, sum(x) over () as w from one",
    "select k, row_number() over (partition by g order by k) as a, sum(x) over (partition by s) as b,"
    " sum(x) over (partition by g) as c, rank() over (partition by g order by x) as d,"
    " lag(x) over (partition by g order by k, x) as e, count(distinct s) over (partition by g) as f from t",
    "select k, count(distinct s) over (order by x) as a, sum(distinct d) over (partition by g order by k rows"
    " between 2 preceding and 2 following exclude current row) as b from t",
    "select k, stddev(x) over (partition by g order by k rows 20 preceding) as w from t",
    "select k, rank(order by x) over w as a, percent_rank(order by s desc) over w as b,"
    " cume_dist(order by x nulls first) over w as c, row_number(order by d, k) over w as d,"
    " ntile(3 order by x desc, k) over w as e from t window w as (partition by g order by k)",
    "select k, lead(s order by x, k) over w as a, lag(x, 2, -1 order by d, k) over w as b,"
    " lead(d, g order by x desc, k) over w as c, lag(k, 0 order by s, k) over w as d from t"
    " window w as (partition by g order by k rows between 7 preceding and 3 following)",
    "select k, first_value(x order by s, k) over w as a, last_value(s order by d, k ignore nulls)"
    " over w as b,"
    " nth_value(k, 2 order by x nulls first, k) over w as c, any_value(x order by d desc, k) over w as d,"
    " first(d order by x, k) over w as e from t"
    " window w as (partition by g order by k rows between 4 preceding and 4 following exclude current row)",
    "select k, rank(order by s) over w as a, cume_dist(order by s) over w as b,"
    " ntile(2 order by x, k) over w as c,"
    " lead(k order by x, k) over w as d, lag(k, 1, -1 order by x, k) over w as e,"
    " percent_rank(order by s) over w as f, row_number(order by x, k) over w as g from t"
    " window w as (partition by g order by k rows between 5 following and 9 following)",
    # the order that rows have anyway, of frames that hold the row or do not
    "select k, rank(order by x) over w as a, percent_rank(order by x) over w as b,"
    " cume_dist(order by x) over w as c from t window w as (partition by g order by x)",
    "select k, row_number(order by x, k) over w as a, ntile(3 order by x, k) over w as b,"
    " lead(k order by x, k) over w as c, lag(k, 2, -1 order by x, k) over w as d,"
    " rank(order by x, k) over w as e, percent_rank(order by x, k) over w as f,"
    " cume_dist(order by x, k) over w as h, last_value(s order by x, k) over w as i from t"
    " window w as (partition by g order by x, k rows between 6 preceding and 3 preceding)",
    "select k, rank(order by x) over w as a, cume_dist(order by x, k) over w as b,"
    " lead(k order by x) over w as c,"
    " row_number(order by x, k) over w as d, ntile(2 order by x, k) over w as e from t"
    " window w as (partition by s order by x, k rows between 2 following and 40 following)",
    "select k, rank(order by x desc) over (order by k) as a, cume_dist(order by s) over (order by k) as b,"
    " first_value(k order by d, k) over (order by k rows between 900 preceding and 900 following) as c"
    " from t",
    "select k, row_number(order by k desc) over () as a, last_value(s order by k) over (partition by g) as b"
    " from t",
    "select k, rank(order by g) over w as a, ntile(2 order by g) over w as b, lead(g order by g) over w as c"
    " from one window w as (order by k rows between 3 following and 1 following)",
    "select k, rank(order by g) over (order by x) as n from nothing",
    # what is missing, by the keys of the rows that have it: numbers of all widths, dates and times
    "select k, fill(x) over (order by k) as a, fill(d) over (partition by g order by k) as b,"
    " fill(d) over (partition by s order by k desc) as c, sum(x) over (partition by g order by k) as e"
    " from t",
    "select k, fill((x % 100)::tinyint) over w as a, fill(x::usmallint) over w as b,"
    " fill((x * 10000000)::hugeint) over w as c, fill((x % 90)::decimal(7, 3)) over w as d,"
    " fill((x * 1000000007)::ubigint) over w as e, fill(x) over w as f from t"
    " window w as (partition by g order by (k::double * k) rows 2 preceding)",
    "select k, fill(x order by k * 7919 % 60013) over w as a,"
    " fill(x order by -k) over (partition by g) as b, count(*) over w as c from t"
    " window w as (partition by g order by k desc)",
    "select k, fill(x) over (order by k::decimal(9, 2) / 4) as w from one",
    "select k, fill(x) over (order by k) as w from nothing",
    "select k, mode(x) over (partition by g order by k rows unbounded preceding) as a, mode(s) over (order by"
    " k) as b, arg_min(s, k) over (partition by g order by k rows 3 preceding) as c, arg_max_null(x, k) over"
    " (order by x groups 1 preceding) as d from t",
    "select k, string_agg(distinct s, '|' order by s) over (order by k rows 4 preceding) as a,"
    " len(min(x, 2) over (partition by g order by k)) as b, array_to_string(list(distinct x % 5 order by x %"
    " 5 desc) over (partition by s order by k rows 9 preceding), ',') as c from t",
    "select k, arg_min(x, k) over () as a, mode(g) over (order by k rows between unbounded preceding and"
    " unbounded following) as b, median(x) over (partition by g) as c from t",
    "select k, array_to_string(list(distinct s order by x, k) over (order by k rows 6 preceding), ',') as a,"
    " round(corr(distinct x % 7, g) over w, 6) as b, quantile_disc(distinct s, 0.4) over w as c,"
    " array_to_string(arg_max(distinct s, g, 2) over w, ',') as d from t where g < 9"
    " window w as (partition by s order by k rows between 9 preceding and 1 following)",
    "select * from (select k, x, lag(x order by x is null, s, k ignore nulls) over w as a,"
    " lead(x, 2 order by x is null, s desc, k ignore nulls) over w as b from t"
    " window w as (partition by g order by k rows between 9 preceding and 7 following)) where x is not null",
    "select k, array_to_string(map_values(histogram(x, [k, 90] order by k + 1) over w), ',') as a from t"
    " window w as (order by k rows between 1 preceding and current row exclude current row)",
    "select g, fill(sum(x)) over (order by g) as w from t where g % 3 > 0 or x is null group by g",
    "select g, x, fill(x) over (partition by g % 4 order by g) as w from few",
    "select g, fill(x::double) over (order by g::double) as w from few where x > 3 or x is null",
    "select n, fill(y) over (order by n) as a, fill(k order by far) over () as b from infinite",
    "select n, fill(far) over (order by n) as w from infinite",
]

#: Not for the interpreter, whose results have no times.
OF_MOMENTS = [
    "select k, fill('2000-01-01'::date + x::int) over w as a,"
    " fill('2000-01-01'::timestamp + to_microseconds(x * 1000003)) over w as b,"
    " fill(make_timestamp_ns(x * 77)) over w as c, fill(x) over w as d from t"
    " window w as (partition by s, g order by '2020-01-01'::timestamp + to_seconds(k))",
    "select n, fill(d::date) over (order by n desc) as a, fill(d::timestamp) over (order by n) as b,"
    " fill(k) over (order by d::date) as c from infinite",
]


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("query", [*QUERIES, *OF_MOMENTS])
def test_windows_are_duckdbs(query: str, ranks: int) -> None:
    assert ORACLE.difference(query, ranks) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("ntile(k - k) over ()", "argument of ntile must be greater than zero"),
        ("sum(x) over (order by k rows g preceding)", "distance of a window frame is NULL"),
        ("sum(x) over (order by k rows g - 9 preceding)", "distance of a window frame is negative"),
        ("sum(x) over (order by x range -1 preceding)", "distance of a window frame is negative"),
        ("sum(k::hugeint * 1000000000000000000000000000000000000) over ()", "number out of range"),
        ("fill(if(k < 2, k, null)::decimal(1, 0)) over (order by k)", "number out of range"),
    ],
)
def test_errors_in_data(call: str, message: str) -> None:
    tables = {"t": _table(500).filter(pyarrow.compute.is_valid(pyarrow.compute.field("x")))}
    if "g - 9" in call:
        tables = {"t": tables["t"].filter(pyarrow.compute.is_valid(pyarrow.compute.field("g")))}
    with pytest.raises(hr.HeadraceError, match=message) as error:
        hr.sql(f"select {call} as w from t", tables)
    assert error.value.kind == "data"


def test_partitions_stay_on_their_ranks() -> None:
    query = "explain select k, row_number() over (partition by g order by k) as w from t"
    lines = hr.sql(query, ORACLE.tables, ranks=3).column(0).to_pylist()
    assert any("[by hash of g]" in line for line in lines), lines


#: What the reference interpreter, which looks at every pair of rows, has the time for.
SMALL = Oracle({"t": _table(150), "one": _table(1), "nothing": _table(0), **_gaps()})


@pytest.mark.parametrize("query", QUERIES)
def test_the_interpreter_agrees_at_every_stage(query: str, tmp_path: Path) -> None:
    program = tmp_path / "query.mlir"
    program.write_text(lower(query, SMALL.tables, "import", ranks=1))
    for name, table in SMALL.tables.items():
        write_table(tmp_path, name, table)
    (output,) = interpret(program, tmp_path)
    wanted = SMALL.duckdb(query).table
    assert wanted is not None
    kinds = wanted.schema.types
    rows = [tuple(value_of(cell, kind) for cell, kind in zip(row, kinds, strict=True)) for row in output.rows]
    columns = [pa.array([row[place] for row in rows], kind) for place, kind in enumerate(kinds)]
    found = pa.table(columns, names=[f"c{i}" for i in range(len(kinds))])
    assert difference(Answer(found), Answer(wanted)) is None
    (output,) = interpret(program, tmp_path, "--check", "--layouts", "2", "--mesh", "ranks:3")
    assert not output.differences
