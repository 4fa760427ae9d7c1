"""Timestamps and times through files, against DuckDB: ways to store them, statistics, row groups left out.

Sources: passes/import/{ConstantCasts,MomentDifferences,MomentFormat}.cpp
"""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import duckdb
import headrace as hr
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from duckdb_oracle import check
from headrace import errors
from sql_oracle import Answer, Oracle, difference

_ROWS = 4000
#: Arrow type, and how the file stores it.
_STORED = {
    "milliseconds": (pa.timestamp("ms"), {}),
    "microseconds": (pa.timestamp("us"), {}),
    "nanoseconds": (pa.timestamp("ns"), {}),
    "zoned-milliseconds": (pa.timestamp("ms", "UTC"), {}),
    "zoned-microseconds": (pa.timestamp("us", "Europe/Berlin"), {}),
    "zoned-nanoseconds": (pa.timestamp("ns", "UTC"), {}),
    "int96": (pa.timestamp("ns"), {"use_deprecated_int96_timestamps": True}),
    "old-microseconds": (pa.timestamp("us"), {"version": "1.0"}),
    "time-milliseconds": (pa.time32("ms"), {}),
    "time-microseconds": (pa.time64("us"), {}),
    "time-nanoseconds": (pa.time64("ns"), {}),
}
_PAGES = {
    "dictionary": {"use_dictionary": True},
    "plain": {"use_dictionary": False},
    "delta": {"use_dictionary": False, "column_encoding": {"a": "DELTA_BINARY_PACKED"}},
    "uncompressed": {"use_dictionary": False, "compression": "none", "data_page_version": "2.0"},
}
_QUERIES = (
    "select i, a from t",
    "select min(a), max(a), count(a), count(distinct a) from t",
    "select a, count(*) as n from t group by a",
    "select i, a from t order by a desc nulls last, i limit 50",
    "select l.i, r.i as j from t l join t r on l.a = r.a where l.i < 40 and r.i < 40",
    "select i, cast(a as varchar) as x from t where i % 7 = 0",
    "select i, hour(a) as h, second(a) as s from t where i % 3 = 0",
)


def _values(kind: pa.DataType) -> list[int | None]:
    """Rising, with repetitions, NULLs and moments before 1970; times within a day."""
    unit = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
    step = 86_399 * unit // _ROWS if pa.types.is_time(kind) else 40_000 * unit + unit // 7 + 1
    start = 0 if pa.types.is_time(kind) else -_ROWS // 2 * step
    return [None if i % 11 == 5 else start + (i - i % 3) * step for i in range(_ROWS)]


def _write(folder: Path, kind: pa.DataType, options: dict[str, object]) -> Path:
    table = pa.table({"i": pa.array(range(_ROWS), pa.int32()), "a": pa.array(_values(kind), kind)})
    pq.write_table(table, folder / "t.parquet", row_group_size=500, **options)
    return folder / "t.parquet"


def _answers(file: Path, query: str, ranks: int) -> tuple[Answer, Answer]:
    connection = duckdb.connect()
    connection.execute("set TimeZone = 'UTC'")
    connection.execute(f"create view t as select * from '{file}'")
    wanted = Answer(connection.sql(query).to_arrow_table())
    return Answer(hr.sql(query, {"t": str(file)}, ranks=ranks)), wanted


@pytest.mark.parametrize("stored", _STORED)
def test_stored(stored: str, tmp_path: Path) -> None:
    kind, options = _STORED[stored]
    for number, (pages, more) in enumerate(_PAGES.items()):
        if "old" in stored and pages == "delta":
            continue
        if pages == "delta" and ("int96" in stored or kind == pa.time32("ms")):
            more = _PAGES["plain"]
        file = _write(tmp_path, kind, {**options, **more})
        # DuckDB has few functions of zoned nanoseconds.
        count = 4 if "zoned-nano" in stored else len(_QUERIES) if pages == "plain" else 2
        for query in _QUERIES[:count]:
            found, wanted = _answers(file, query, 1 + number % 3)
            assert difference(found, wanted, ordered="order by" in query) is None, (pages, query)


def test_row_groups_are_left_out(tmp_path: Path) -> None:
    for stored in ("milliseconds", "microseconds", "zoned-microseconds", "time-microseconds"):
        kind, options = _STORED[stored]
        file = _write(tmp_path, kind, options)
        last = _values(kind)[-1]
        assert last is not None
        literal = pa.scalar(last, kind).cast(pa.string()).as_py().removesuffix("Z")
        query = f"select count(*) as n from t where a >= '{literal}'"
        found, wanted = _answers(file, query, 1)
        assert difference(found, wanted) is None, stored
        report = hr.explain(query, {"t": str(file)}, analyze=True)
        (scan,) = re.findall(r"^scan t \(a\) +rank 0 +([\d,]+) +([\d,]+) ", report, re.MULTILINE)
        assert scan == ("500", "4,000"), report  # the last of 8 row groups


def test_months_later() -> None:
    """Over years before and after 1, and the ends of all months."""
    days = pa.array([*range(-800_000, 800_000, 977), *range(19_700, 21_200)], pa.int32())
    moments = pa.array([day.as_py() * 86_400_000_000 + 43_200_000_001 for day in days], pa.timestamp("us"))
    oracle = Oracle({"t": pa.table({"d": days.cast(pa.date32()), "a": moments})})
    for months in (1, -1, 11, -12, 25, -4800):
        query = f"select d, d + interval {months} month as x, a - interval {months} month as y from t"
        assert oracle.difference(query) is None, months


@pytest.mark.parametrize("form", ["%Y", "%j", "%W", "%A", "%-d", "%n", "%c", "%H:%M", "a%fb"])
def test_formats_of_one_piece_and_of_several(form: str) -> None:
    moment = datetime.datetime(2024, 2, 29, 12, 30, 45, 123456)
    oracle = Oracle({"t": pa.table({"a": pa.array([moment, None], pa.timestamp("us"))})})
    assert oracle.difference(f"select strftime(a, '{form}') as x from t") is None


def test_the_zone_of_a_date() -> None:
    oracle = Oracle({"t": pa.table({"d": pa.array([19_000, None, -5], pa.int32()).cast(pa.date32())})})
    assert oracle.difference("select d at time zone 'UTC' as x from t") is None


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("time_bucket(interval '1 month 1 day', a)", "a width of time_bucket that is not positive"),
        ("range(a, a, interval '1 month -1 day')", "without an end, or whose step goes both ways"),
    ],
)
def test_what_has_no_value(expression: str, message: str) -> None:
    table = pa.table({"a": pa.array([0], pa.timestamp("us"))})
    with pytest.raises(errors.DataError, match=message):
        hr.sql(f"select {expression} as x from t", {"t": table})


#: Forms of strptime that say a day by its week, and texts for them.
WEEKS = (
    ("%U", "1", "30", "0", "53", "54", "x"),
    ("%W", "1", "30", "0", "53", "60"),
    ("%V", "1", "30", "0", "53", "54"),
    ("%G", "2021", "1900", "0", "20211"),
    ("%u %V", "4 1", "7 53", "8 1", "0 1"),
    ("%Y-%U-%w", "2021-19-4", "2021-0-5", "2021-0-0", "2024-53-6", "2000-1-7"),
    ("%U %w %y", "19 4 21", "0 0 00", "52 6 99"),
    ("%Y-%W-%w", "2021-19-4", "2021-0-5", "2021-0-0", "2018-1-0", "2024-53-1"),
    ("%G-%V-%u", "2021-19-4", "2020-53-5", "2021-1-5", "0000-1-1", "9999-52-7"),
    ("%Y-%m-%d %U-%w", "2021-05-12 19-4", "2021-02-30 19-4"),
    ("%Y-%m-%d %V-%u", "2021-05-12 19-4"),
    ("%b %j", "Feb 045", "Dec 366"),
    ("%j %Y", "366 2024", "366 2023", "60 1900"),
    *((form, "20 19", "2 366") for form in ("%U %W", "%U %V", "%W %j", "%V %U", "%j %V", "%U %U")),
    *((form, "2021 19", "19 2021") for form in ("%G %U", "%U %G", "%G %j", "%Y %V", "%V %Y", "%y %V")),
    ("%G %Y", "2021 1950"),
    ("%Y %G", "2021 1950"),
    ("%u %u", "1 1"),
    ("%V %V", "1 1"),
    ("%w %U", "3 3"),
)


@pytest.mark.parametrize("ranks", [1, 3])
def test_weeks_of_texts(ranks: int) -> None:
    for form, *texts in WEEKS:
        oracle = Oracle({"t": pa.table({"s": [*texts, None, ""]})})
        query = f"select s, try_strptime(s, '{form}') as x, try_strptime(s, ['%Y/%m', '{form}']) as y from t"
        assert oracle.difference(query, ranks=ranks) is None, form
        if ranks == 1:
            assert oracle.difference(f"select strptime('{texts[0]}', '{form}') as x") is None, form


def test_special_texts() -> None:
    oracle = Oracle({"t": pa.table({"s": ["infinity", " -Infinity", "epoch ", "EPOCH", None]})})
    for form in ("%m/%d/%Y", "%H", "%Y %n", "%Y %z"):
        assert oracle.difference(f"select s, strptime(s, '{form}')::varchar as x from t") is None, form
        assert oracle.difference(f"select try_strptime('infinit', '{form}') as x") is None, form


def test_formats_that_do_not_read_the_moment() -> None:
    days = pa.array([19_000, None, 2**31 - 1, -5], pa.int32()).cast(pa.date32())
    table = pa.table({"d": days, "z": pa.array([0, None, 2**63 - 1, 5], pa.timestamp("us", "UTC"))})
    oracle = Oracle({"t": table})
    for form in ("%p", "x", "x%%", "%z", "%Z|", "%Z%z"):
        query = f"select strftime(d, '{form}') as x, strftime(z, '{form}') as y from t"
        for ranks in (1, 2):
            assert oracle.difference(query, ranks=ranks) is None, form


#: Before the year 1 ICU, which DuckDB asks about zoned timestamps, counts years of their own era.
_BEFORE = (
    "0001-01-01",
    "0001-12-31 (BC)",
    "0002-06-01 (BC)",
    "0010-06-01 (BC)",
    "0011-06-01 (BC) 10:00:00",
    "0044-03-13 (BC) 09:33:41.98",
    "0101-01-01 (BC)",
    "1001-02-02 (BC)",
    "2021-05-05 05:05:05",
)
_PARTS = (
    *("millennium", "century", "decade", "year", "isoyear", "quarter", "month", "week", "yearweek"),
    *("day", "dow", "doy", "era", "julian", "epoch"),
)


@pytest.mark.parametrize("ranks", [1, 3])
def test_zoned_timestamps_before_the_year_1(ranks: int) -> None:
    oracle = Oracle({"t": pa.table({"s": [*_BEFORE, None, "infinity"]})})
    parts = ", ".join(f"date_part('{part}', s::timestamptz) as {part}" for part in _PARTS)
    assert oracle.difference(f"select s, {parts} from t", ranks=ranks) is None
    queries = (
        "date_part(['year', 'decade', 'century', 'era', 'timezone'], s::timestamptz)",
        "strftime(s::timestamptz, '%Y %y %G %V %c')",
        *(f"date_trunc('{part}', s::timestamptz)" for part in _PARTS[:-3]),
        *(f"date_diff('{part}', s::timestamptz, timestamptz '2000-02-29 10:00')" for part in _PARTS[:-3]),
        *(f"date_diff('{part}', timestamptz '1970-12-31', s::timestamptz)" for part in _PARTS[:-3]),
        "case when s <> 'infinity' then age(s::timestamptz, timestamptz '1999-05-31 12:00') end",
    )
    for query in queries:
        assert oracle.difference(f"select s, {query} as x from t", ranks=ranks) is None, query


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_zoned_timestamps_of_years(ranks: int) -> None:
    oracle = Oracle({"t": pa.table({"y": [-44, -1, 0, 1, None, 2020, -4713, 9999]})})
    for of in ("y, 3, 2, 4, 5, 6.5", "y // 10, 2, 28, 23, 59, 59.999999"):
        made = f"make_timestamptz({of})"
        query = f"select y, {made} as a, {made}::varchar as b, make_timestamp({of}) as c from t"
        assert oracle.difference(query, ranks=ranks) is None, query


def test_nanoseconds_of_zones() -> None:
    first = [1_667_089_020_000_000_001, 999, -1, 1_709_209_845_123_456_789, None, 86_399_999_999_999]
    first.append(2**63 - 1)
    last = [1_667_091_621_000_000_001, 1000, 0, -(2**63) + 2, 5, None, 7]
    kind = pa.timestamp("ns", "UTC")
    oracle = Oracle({"t": pa.table({"a": pa.array(first, kind), "b": pa.array(last, kind)})})
    units = ("microsecond", "millisecond", "second", "minute", "hour", "day", "month", "yearweek", "decade")
    for expression in (
        *(f"date_diff('{unit}', a, b)" for unit in units),
        "a at time zone 'UTC'",
        "b at time zone 'UTC+2'",
        "a::date",
        "strftime(a, '%c %f %Z')",
    ):
        assert oracle.difference(f"select a, b, {expression} as x from t") is None, expression


def test_parts_of_dates_and_times() -> None:
    days = pa.array([19_000, None, 2**31 - 1, -5], pa.int32()).cast(pa.date32())
    times = pa.array([45_045_123_456, None, 0, 86_399_999_999], pa.time64("us"))
    oracle = Oracle({"t": pa.table({"d": days, "t": times})})
    for expression in (
        "date_part(['timezone', 'timezone_hour', 'timezone_minute', 'year'], d)",
        "date_part(['epoch', 'second', 'timezone', 'timezone_hour', 'timezone_minute'], t)",
        "date_part(['timezone'], t::time_ns)",
    ):
        assert oracle.difference(f"select {expression} as x from t") is None, expression


BUCKETS = (
    "interval 1 month, a",
    "interval '7 months', a::date",
    "interval '7 months', a, timestamp '2021-03-05 10:00'",
    "interval '1 year', a::date, date '1999-12-31'",
    "interval '3 days 5 hours', a, interval '1 month 2 hours'",
    "interval '10 hours', a::date",
    "interval 1 day, a, interval 5 hours",
    "interval '1 week', a, interval '-3 days'",
    "to_days(i % 9 + 1), a, a - interval 3 days",
    "to_months(i % 9 + 1), a::timestamptz",
    "interval '-1 hour 1 day', a",
    "interval '7 hours', a::time",
    "interval '56 seconds', a::time, interval '-2 days 3 hours'",
    "interval '3 days', a::time, time '08:08:10'",
    "to_months(i % 9 + 1), a::time",
    "to_seconds(i + 1), a::time, a::time",
    "interval '1 month', timestamp '-infinity'",
    "interval '7 months', a::date + (i - 33) * 30000000",
    "interval '2 years', a::date + (i - 33) * 30000000, a::date + (i % 9 - 4) * 200000000",
    "interval '166666666 years 8 months', a::date",
    "interval '5 months', case when i % 2 = 0 then a::date + i * 10000000 else '-infinity' end, a::date",
    "interval '5 months', a::date, case when i % 2 = 0 then a::date else 'infinity' end",
    "interval '3 days', a, timestamp 'infinity'",
    "interval '3 days', case when i % 2 = 0 then a else 'infinity' end, case when i % 3 = 0 then a end",
    "interval '3 days', case when i % 2 = 0 then a else 'infinity' end, timestamp '-infinity'",
)


@pytest.mark.parametrize("ranks", [1, 3])
def test_buckets(ranks: int) -> None:
    days = [None, *range(-20_000, 30_000, 777)]
    moments = [None if day is None else day * 86_400_000_000 + day * 7_777_777 for day in days]
    oracle = Oracle({"t": pa.table({"i": range(len(days)), "a": pa.array(moments, pa.timestamp("us"))})})
    for bucket in BUCKETS:
        text = f"select i, time_bucket({bucket})::varchar as x from t"
        assert oracle.difference(text, ranks=ranks) is None, bucket


def test_result_types() -> None:
    moment = datetime.datetime(2024, 2, 29, 12, 30, 45, 123456)
    table = pa.table({"a": pa.array([moment], pa.timestamp("us"))})
    query = """select a::timestamp_s as s, a::timestamp_ms as ms, a, a::timestamp_ns as ns,
               a::timestamptz as z, a::time as t, a::date as d from t"""
    found = hr.sql(query, {"t": table})
    types = [pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("ns")]
    assert found.schema.types == [*types, pa.timestamp("us", "UTC"), pa.time64("us"), pa.date32()]
    assert found.column("z")[0].as_py() == moment.replace(tzinfo=datetime.UTC)
    assert found.column("t")[0].as_py() == moment.time()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select a at time zone 'Europe/Nowhere' as x from t", "unknown time zone: Europe/Nowhere"),
        ("select strptime(w, '%Y-%Z') as x from t", "unsupported strptime: specifier %Z"),
        ("select date_diff('era', a, a) as x from t", "date_diff has no such part"),
        ("select date_sub('era', a, a) as x from t", "date_sub has no such part"),
        ("select date_part('timezone', a::date) as x from t", "a date has no time zone"),
    ],
)
def test_refused(query: str, message: str) -> None:
    columns = {"a": pa.array([0], pa.timestamp("us")), "i": pa.array([1], pa.int32()), "w": ["day"]}
    with pytest.raises(errors.UnsupportedError, match=message):
        hr.sql(query, {"t": pa.table(columns)})


def test_what_may_stand_behind_a_time() -> None:
    """Of a timestamp an offset, or a blank and the name of a zone, and blanks; of a time anything."""
    zones = (
        "| |   |Z|Z |UTC| UTC| utc |  UTC| UTC x|Z UTC|+02|+02 UTC|+02:30  | a| a  |  a| a1| a+b| a.b| a/b-c"
    )
    behind = f"{zones}| 365 Wed| é|+|-a|.x|x|é| +25:99".split("|")
    times = ("10:00", "10:00:0", "10:00:00", "10:00:00.5", "24:00:00", "10:00:60")
    texts = [f"{day}{time}{rest}" for day in ("", "2020-01-31 ") for time in times for rest in behind]
    texts = [
        "10:00:",
        *(text for text in texts if not re.fullmatch(r"\d+:\d+ +", text)),
    ]  # for DuckDB no time
    moments = pa.table({"s": texts})
    kinds = ("timestamp", "timestamp_ns", "date", "time", "time_ns")
    query = f"select s, {', '.join(f'try_cast(s as {kind}) as {kind}' for kind in kinds)} from moments"
    expected = duckdb.sql(query).to_arrow_table()
    assert hr.sql(query, {"moments": moments}).to_pylist() == expected.to_pylist()


#: Of days and timestamps of which some are infinite.
_INFINITE_QUERIES = (
    "select i, d, t from x where d = 'infinity' or t = '-inf'",
    "select i from x where d::timestamp < 'infinity'",
    "select i from x where d::timestamp >= 'infinity' or t::date = '-Infinity'",
    "select a.i, b.i as j from x a join x b on a.d::timestamp = b.t",
    "select d, count(*) as n, max(t) as m from x group by d order by d desc nulls last",
    "select year(d) as y, count(*) as n from x group by year(d)",
    "select i, d + i as a, t + interval 3 month as b, t - to_hours(i) as c, d + time '10:00' as e from x",
    "select i, list(d) over (order by d, i)::varchar as l, {'t': t, 'l': [d]}::varchar as s from x",
    "select i, count(*) over (order by t range between interval 1 day preceding and current row) as n from x",
    "select i, isfinite(d) as f, isinf(t) as g, try_cast(t as time) as c, t::timestamp_s as s from x",
    "select 'infinity'::date as d, '-inf'::timestamp + interval 1 day as t, isinf(date 'infinity') as i",
)


@pytest.mark.parametrize("query", _INFINITE_QUERIES)
def test_what_is_infinite(query: str, tmp_path: Path) -> None:
    """In files, whose statistics say whether it may be, and in tables of the script."""
    days = [*range(18_000, 18_200), 2**31 - 1, 1 - 2**31, None, 18_321]
    moments = [86_400_000_000 * day for day in range(18_000, 18_201)] + [2**63 - 1, 1 - 2**63, None]
    table = pa.table(
        {
            "i": pa.array(range(len(days)), pa.int32()),
            "d": pa.array(days, pa.int32()).cast(pa.date32()),
            "t": pa.array(moments, pa.timestamp("us")),
        }
    )
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=50)
    connection = duckdb.connect()
    connection.register("x", table)
    wanted = Answer(connection.sql(query).to_arrow_table())
    for ranks, source in ((1, table), (2, str(tmp_path / "x.parquet")), (3, table)):
        found = Answer(hr.sql(query, {"x": source}, ranks=ranks))
        assert difference(found, wanted, ordered="order by d desc" in query) is None, ranks


@pytest.mark.parametrize(
    "query", ["select t - d::timestamp > interval 1 day as a from x", "select t::time as a from x"]
)
def test_what_infinite_timestamps_do_not_have(query: str) -> None:
    columns = {
        "d": pa.array([0], pa.int32()).cast(pa.date32()),
        "t": pa.array([2**63 - 1], pa.timestamp("us")),
    }
    with pytest.raises(
        errors.DataError, match="infinite timestamps cannot be subtracted|value cannot be cast"
    ):
        hr.sql(query, {"x": pa.table(columns)})


def test_milliseconds_of_far_dates() -> None:
    days = "('5881580-07-10'), ('5877642-06-25 (BC)'), ('infinity'), ('2020-01-01'), ('1969-12-31')"
    check(f"select s, epoch_ms(s::date) as x from (values {days}) v(s)", {})


@pytest.mark.parametrize(
    "kind", ["timestamp_s", "timestamp_ms", "timestamp", "timestamp_ns", "timestamptz", "date"]
)
def test_infinities_in_files_of_any_unit(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "x.parquet"
    with duckdb.connect() as connection:
        texts = "('-infinity'), ('infinity'), ('2020-01-01'), ('1960-01-01'), (NULL)"
        values = f"(select s::{kind} as x, [s::{kind}] as l from (values {texts}) v(s))"
        connection.execute(f"copy {values} to '{file}'")
        query = "select x::varchar as s, l::varchar as l, x > '2100-01-01' as late from '{}' order by x"
        expected = connection.execute("set timezone = 'UTC'").sql(query.format(file)).to_arrow_table()
    found = hr.sql(query.format("t").replace("'t'", "t"), {"t": str(file)})
    assert found.to_pylist() == expected.to_pylist()
    unit = {"timestamp_s": "s", "timestamp_ms": "ms"}.get(kind, "us")
    infinite = [2**63 - 1, 1 - 2**63, 0]
    zoned = {"t": pa.table({"x": pa.array(infinite, pa.timestamp(unit, "UTC"))})}
    late = hr.sql("select x::varchar as s from t where x > '2100-01-01'", zoned)
    assert late.to_pylist() == [{"s": "infinity"}]


def test_times_of_texts_with_blanks_around() -> None:
    """As DuckDB has it: nothing may stand behind minutes, or behind a date alone."""
    spelled = ["2024-02-29", "1:2", "1:2:3", "2024-02-29 1:2", "2024-02-29 1:2:3", "epoch", "x"]
    texts = [
        before + text + behind for text in spelled for before in ("", " ") for behind in ("", " ", "  ", "\t")
    ]
    table = pa.table({"i": range(len(texts)), "s": texts})
    check("select i, try_cast(s as time) as t from x order by i", {"x": table})


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    "query",
    [
        "select a from (select a, cast(a as date) as d from t)",
        "select cast(a as date) as d, cast(d as int) as i from t where a is null",
        "select try_cast(a as timestamp) as d, try_cast(c as date) as i, try_cast([a] as date[]) as l from t",
        "select case when a > 9 then cast(a as date) end as d from t",
        "select make_time(a, null, 77) as x, make_time(a, b, 1.5) as y from t",
        "select make_time(25, b, 1.5) as y from t where b is null",
    ],
)
def test_casts_that_no_value_has(query: str, ranks: int) -> None:
    rows = {
        "a": [5, None, 7],
        "b": [59, None, 0],
        "c": pa.array([datetime.time(1), None, None]),
        "d": pa.array([None, None, None], pa.date32()),
    }
    check(query, {"t": pa.table(rows)}, ranks=ranks)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("cast(a as date)", "unsupported cast between a number and a date; add days to a date, or subtract"),
        ("cast(date '2020-01-01' as int)", "unsupported cast between a number and a date"),
        ("cast([a] as date[])", "unsupported cast between a number and a date"),
        ("cast(c as date)", "unsupported cast between a time and a date"),
        ("make_time(25, a, 2)", "time out of range"),
    ],
)
def test_casts_that_no_value_has_of_a_value(value: str, message: str) -> None:
    rows = {"a": [5, None], "c": pa.array([None, datetime.time(1)])}
    with pytest.raises(hr.errors.DataError, match=message):
        hr.sql(f"select {value} as x from t", {"t": pa.table(rows)})
