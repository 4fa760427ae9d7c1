"""Time zones by name beside DuckDB's ICU: AT TIME ZONE, sessions in a zone; near changes of clocks.

Sources: passes/import/{DateFunctions,ZonedMoments}.cpp
"""

from __future__ import annotations

import os
import random
import struct
from functools import cache
from pathlib import Path

import duckdb
import headrace as hr
import pyarrow as pa
import pytest
import tzdata
from headrace import errors
from sql_oracle import Answer, difference

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_YEAR = 31_556_952 * _SECOND
_ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "Africa/Monrovia",
    "America/Santiago",
    "Pacific/Apia",
    "Europe/Dublin",
)
_SEEDS = int(os.environ.get("HEADRACE_RANDOM_ZONES", "6"))
#: Of `m` and `n`, moments, `l`, what clocks show, and `s`, `l` as a text.
_EXPRESSIONS = (
    "m",
    "m::varchar",
    "m::date",
    "m::timestamp",
    "m::timestamp_s",
    "m::timestamp_ns",
    "l::timestamptz",
    "l::date::timestamptz",
    "s::timestamptz",
    "try_cast(s || ' ' as timestamptz)",
    "try_cast(s || '+05:45' as timestamptz)",
    "try_cast(s || 'x' as timestamptz)",
    "year(m), quarter(m), month(m), day(m), hour(m), minute(m), second(m), millisecond(m), microsecond(m)",
    "week(m), isoyear(m), yearweek(m), dow(m), isodow(m), dayofyear(m), decade(m), century(m), era(m)",
    "timezone(m), timezone_hour(m), timezone_minute(m), epoch(m), julian(m)",
    "date_part(['year', 'hour', 'timezone', 'timezone_minute'], m)",
    "date_trunc('millennium', m), date_trunc('century', m), date_trunc('decade', m), date_trunc('year', m)",
    "date_trunc('quarter', m), date_trunc('month', m), date_trunc('week', m), date_trunc('day', m)",
    "date_trunc('isoyear', m), date_trunc('hour', m), date_trunc('minute', m), date_trunc('second', m)",
    "date_trunc('millisecond', m), date_trunc('microsecond', m)",
    "date_part(['month', 'hour', 'doy'][1 + i % 3], m)",
    "m + interval 1 day, m - interval 1 day, m + interval 1 month, m - interval 1 month",
    "m + interval 25 hours, m - interval '90 minutes', m + interval '1 year 2 months 3 days 4 hours'",
    "m + to_days(i), m + to_months(i), m - to_days(i), m + to_hours(i)",
    "m - n",
    "age(m, n)",
    "date_diff('year', m, n), date_diff('month', m, n), date_diff('week', m, n), date_diff('day', m, n)",
    "date_diff('hour', m, n), date_diff('minute', m, n), date_diff('second', m, n)",
    "date_diff('decade', m, n), date_diff('quarter', m, n), date_diff('isoyear', m, n)",
    "date_sub('day', m, n), date_sub('week', m, n), date_sub('hour', m, n), date_sub('minute', m, n)",
    "date_sub('year', m, n), date_sub('month', m, n), date_sub('quarter', m, n)",
    "dayname(m), monthname(m)",
    "strftime(m, '%Y-%m-%d %H:%M:%S.%f %z %Z %j %a %b %I %p'), strftime(m, '%c|%x|%X')",
    "epoch_ms(m), epoch_us(m), isfinite(m)",
    "make_timestamptz(year(l), month(l), day(l), hour(l), minute(l), 1.5)",
    "l::timestamptz < m, m::timestamp = l, m::date > l::date",
    "[m, n], {'m': m}, map([1], [m])",
    "time_bucket(interval 1 day, m), time_bucket(interval 7 hours, m)",
)
_OF_TIMESTAMPS = tuple(
    expression.replace("zone", zone)
    for zone in ("'{zone}'", "z")
    for expression in (
        "m at time zone zone",
        "l at time zone zone",
        "timezone(zone, l)",
        "l::timestamp_s at time zone zone",
        "(l at time zone zone) at time zone 'UTC'",
        "make_timestamptz(year(l), month(l), day(l), hour(l), minute(l), 1.5, zone)",
    )
)


@cache
def _changes(zone: str) -> tuple[int, ...]:
    """Seconds at which clocks are changed, by the file of the zone, and by its last rules."""
    data = (Path(tzdata.__file__).parent / "zoneinfo" / zone).read_bytes()
    counts = struct.unpack(">6I", data[20:44])
    start = 44 + counts[3] * 5 + counts[4] * 6 + counts[5] + counts[2] * 8 + counts[1] + counts[0]
    number = struct.unpack(">I", data[start + 32 : start + 36])[0]
    last = [day * 86_400 + 3600 for day in (24_923, 25_140, 36_000, 500_000)]
    return (*struct.unpack(f">{number}q", data[start + 44 : start + 44 + 8 * number]), *last)


def _moment(rng: random.Random, zone: str) -> int:
    """Near a change of clocks, mostly by whole quarters of an hour, or anywhere."""
    if rng.random() < 0.15:
        return rng.randrange(-2500 * _YEAR, 8000 * _YEAR)
    near = rng.choice(_changes(zone)) * _SECOND + rng.randrange(-8, 9) * 900 * _SECOND
    exact = rng.random() < 0.7
    return near + rng.choice([-31, -1, 0, 0, 0, 1, 30]) * _DAY + (0 if exact else rng.randrange(_DAY))


def _table(rng: random.Random, zone: str, zones: list[str], count: int = 60) -> pa.Table:
    kind = pa.timestamp("us", "UTC")
    m = [None if rng.random() < 0.05 else _moment(rng, zone) for _ in range(count)]
    n = [
        None if a is None else a + rng.choice([rng.randrange(-3 * _DAY, 3 * _DAY), rng.randrange(_YEAR)])
        for a in m
    ]
    shown = pa.array([_moment(rng, zone) for _ in range(count)], pa.timestamp("us"))
    return pa.table(
        {
            "i": pa.array(range(count), pa.int32()),
            "m": pa.array(m, kind),
            "n": pa.array(n, kind),
            "l": shown,
            "s": _texts(shown),
            "z": [None if rng.random() < 0.05 else rng.choice(zones) for _ in range(count)],
        }
    )


def _texts(shown: pa.Array) -> pa.Array:
    connection = duckdb.connect()
    connection.register("t", pa.table({"l": shown}))
    return connection.sql("select l::varchar as s from t").to_arrow_table()["s"].combine_chunks()


def _query(expressions: str) -> str:
    """Python's calendar has no moments within lists before the year 1 and after 9999."""
    of_lists = expressions.startswith("[")
    where = "where n between timestamptz '0002-01-01' and timestamptz '9000-01-01'" if of_lists else ""
    return f"select i, {expressions} from t {where}"


def _wanted(query: str, table: pa.Table, zone: str = "UTC") -> Answer:
    connection = duckdb.connect()
    connection.execute(f"set TimeZone = '{zone}'")
    connection.register("t", table)
    try:
        return Answer(connection.sql(query).to_arrow_table())
    except duckdb.Error as error:
        return Answer(error=str(error))


def _found(query: str, table: pa.Table, zone: str | None = None, ranks: int = 1) -> Answer:
    try:
        return Answer(hr.sql(query, {"t": table}, ranks=ranks, time_zone=zone))
    except errors.HeadraceError as error:
        return Answer(error=str(error), kind=error.kind)


def _offsets(changes: list[tuple[str, int]]) -> tuple[Answer, Answer]:
    """What clocks show at moments."""
    moments = pa.array([moment for _, moment in changes], pa.timestamp("us", "UTC"))
    table = pa.table({"z": [zone for zone, _ in changes], "m": moments})
    query = "select z, m, m at time zone z as x from t"
    return _found(query, table), _wanted(query, table)


@cache
def _names() -> tuple[list[str], set[str]]:
    """Names that both know, of which the rules are the same, and those of which they are not."""
    known = set((Path(tzdata.__file__).parent / "zones").read_text().split())
    names = sorted(
        known & {name for (name,) in duckdb.sql("select name from pg_timezone_names()").fetchall()}
    )
    changes = [
        (name, second * _SECOND + beside)
        for name in names
        for second in _changes(name)
        for beside in (-1, 0)
        if abs(second) < 10**11
    ]
    rows = [set(zip(*answer.table.to_pydict().values(), strict=True)) for answer in _offsets(changes)]
    other = {name for name, _, _ in rows[0] - rows[1]}
    return [name for name in names if name not in other], other


@pytest.mark.parametrize("zone", _ZONES)
def test_a_session_in_a_zone(zone: str) -> None:
    rng = random.Random(zone)
    table = _table(rng, zone, list(_ZONES))
    for place, expressions in enumerate(_EXPRESSIONS):
        query = _query(expressions)
        found = _found(query, table, zone, ranks=1 + place % 3)
        assert difference(found, _wanted(query, table, zone)) is None, (query, zone)


@pytest.mark.parametrize("seed", range(_SEEDS))
def test_random_zones(seed: int) -> None:
    rng = random.Random(seed)
    names, _ = _names()
    zone = rng.choice(names)
    table = _table(rng, zone, [*rng.sample(names, 12), zone, zone.upper()])
    for expressions in rng.sample(_EXPRESSIONS, 6):
        query = _query(expressions)
        found = _found(query, table, zone, ranks=rng.randrange(1, 4))
        assert difference(found, _wanted(query, table, zone)) is None, (query, zone, seed)
    for expression in rng.sample(_OF_TIMESTAMPS, 4):
        query = f"select i, {expression.format(zone=zone)} as x from t"
        found = _found(query, table, ranks=rng.randrange(1, 4))
        assert difference(found, _wanted(query, table)) is None, (query, seed)


def test_all_names() -> None:
    """At and before each change of clocks; DuckDB has the rules of another year."""
    names, other = _names()
    assert len(names) > 570
    assert len(other) < 30
    assert all(name.startswith(("America/", "Brazil/")) for name in other)


def test_names_of_other_kinds() -> None:
    """In any case, with offsets, ICU's short ones, and none."""
    table = pa.table({"l": pa.array([0, 1_700_000_000 * _SECOND], pa.timestamp("us"))})
    for name in (
        "europe/berlin",
        "UTC",
        "utc",
        "Etc/UTC",
        "GMT",
        "Zulu",
        "UTC+2",
        "GMT-11",
        "Etc/GMT+5",
        "EST",
    ):
        query = f"select l at time zone '{name}' as x from t"
        assert difference(_found(query, table), _wanted(query, table)) is None, name
    for name in ("ACT", "PST", "IST", "MIT", "JST", "BST", "EAT", "CAT", "VST", "NST", "SST", "ART", "BET"):
        query = f"select l at time zone '{name}' as x from t"
        assert difference(_found(query, table), _wanted(query, table)) is None, name
    assert _found("select timezone(null, l) as x from t", table).table.column(0).to_pylist() == [None, None]
    with pytest.raises(errors.UnsupportedError, match="unknown time zone: Europe/Nowhere"):
        hr.sql("select l at time zone 'Europe/Nowhere' from t", {"t": table})
    rows = pa.table({"z": ["Europe/Nowhere"]})
    with pytest.raises(errors.HeadraceError, match="a time zone that is not known"):
        hr.sql("select timestamp '2024-01-01' at time zone z from t", {"t": rows})


def test_last_days() -> None:
    """DuckDB goes on to the next month where clocks never show its first midnight."""
    moments = pa.array([None, *range(-(10**15), 10**15, 10**13)], pa.timestamp("us", "UTC"))
    query = "select m, last_day(m) as x from t"
    table = pa.table({"m": moments})
    assert difference(_found(query, table, "Asia/Tokyo"), _wanted(query, table, "Asia/Tokyo")) is None


def test_of_files_groups_and_joins(tmp_path: Path) -> None:
    """Conditions over a zone's days choose row groups by the moments that they are."""
    rng = random.Random(5)
    table = _table(rng, "Europe/Berlin", ["Asia/Tokyo"], 3000).sort_by("m")
    import pyarrow.parquet as parquet

    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=100)
    queries = (
        "select date_trunc('month', m) as x, count(*) as n, min(m), max(m) from t group by 1",
        "select count(*) as n from t where m >= '1945-04-02 03:00' and m < timestamptz '1980-04-06'",
        "select count(*) as n from t where m::date between date '1940-01-01' and date '1999-12-31'",
        "select a.i, b.i as j from t a join t b on a.m::timestamp = b.l where a.m is not null",
        "select i, m, row_number() over (partition by m::date order by m, i) as r from t",
    )
    for ranks, query in enumerate(queries):
        wanted = _wanted(query, table, "Europe/Berlin")
        found = hr.sql(
            query, {"t": str(tmp_path / "t.parquet")}, ranks=1 + ranks % 3, time_zone="Europe/Berlin"
        )
        assert difference(Answer(found), wanted) is None, query


def test_a_session_sets_its_zone() -> None:
    with_zone = hr.connect({"t": pa.table({"m": pa.array([0], pa.timestamp("us", "UTC"))})})
    query = "select m, m::varchar as s from t"
    assert with_zone.sql(query).arrow().to_pydict()["s"] == ["1970-01-01 00:00:00+00"]
    for statement, zone, text in (
        ("SET TimeZone = 'asia/tokyo'", "Asia/Tokyo", "1970-01-01 09:00:00+09"),
        ("set time zone 'America/New_York';", "America/New_York", "1969-12-31 19:00:00-05"),
        ("set session timezone to 'UTC+3'", "Etc/GMT-3", "1970-01-01 03:00:00+03"),
        ("reset timezone", "UTC", "1970-01-01 00:00:00+00"),
    ):
        assert with_zone.sql(statement).arrow().to_pydict() == {"TimeZone": [zone]}
        relation = with_zone.sql(query)
        assert relation.schema.field("m").type == pa.timestamp("us", zone)
        assert relation.arrow().to_pydict()["s"] == [text]
        assert relation.arrow().schema.field("m").type == pa.timestamp("us", zone)
        assert relation.batches().schema.field("m").type == pa.timestamp("us", zone)
    assert with_zone.sql(query, time_zone="Asia/Tokyo").arrow()["s"].to_pylist() == ["1970-01-01 09:00:00+09"]
    for text in ("set TimeZone = 'Mars/Base'", "set time zone 'x'"):
        with pytest.raises(errors.UserError, match="unknown time zone: "):
            with_zone.sql(text)
    with pytest.raises(errors.UserError, match="unknown time zone: Mars/Base"):
        hr.sql("select 1", time_zone="Mars/Base")


def test_clocks_of_a_session() -> None:
    """Days of `now` are those of the zone."""
    query = """select current_date = now()::date as a, today() = now()::date as b,
               current_localtimestamp() = now()::timestamp as c,
               age(date_trunc('day', now())) = interval 0 day as d,
               now()::timestamp - (now() at time zone 'UTC') as e"""
    for zone, hours in (("Pacific/Kiritimati", 14), ("Etc/GMT+12", -12)):
        row = hr.sql(query, time_zone=zone).to_pylist()[0]
        assert [row[name] for name in "abcd"] == [True] * 4
        assert (
            row["e"].nanoseconds == hours % 24 * 3_600_000_000_000
            or row["e"].nanoseconds == hours * 3_600_000_000_000
        )


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "select [m]::varchar from t",
            "unsupported cast between a text and what holds TIMESTAMP WITH TIME ZONE",
        ),
        (
            "select '[]'::timestamptz[] from t",
            "unsupported cast between a text and what holds TIMESTAMP WITH TIME",
        ),
        ("select to_json(m) from t", "unsupported JSON of TIMESTAMP WITH TIME ZONE in another zone than UTC"),
        (
            "select '1'::json::timestamptz from t",
            "unsupported JSON of TIMESTAMP WITH TIME ZONE in another zone",
        ),
        (
            "select generate_series(m, m, interval 1 day) from t",
            "unsupported range of TIMESTAMP WITH TIME ZONE in",
        ),
        ("select time_bucket(interval 1 month, m) from t", "unsupported time_bucket: of moments with a zone"),
    ],
)
def test_refused(query: str, message: str) -> None:
    table = pa.table({"m": pa.array([0], pa.timestamp("us", "UTC"))})
    with pytest.raises(errors.UnsupportedError, match=message):
        hr.sql(query, {"t": table}, time_zone="Europe/Berlin")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select m + to_days(d) from t", "a timestamp out of range"),
        ("select s::timestamptz from t", "a text that is no TIMESTAMP WITH TIME ZONE"),
    ],
)
def test_errors_of_rows(query: str, message: str) -> None:
    moments = pa.array([0], pa.timestamp("us", "UTC"))
    table = pa.table({"m": moments, "d": pa.array([200_000_000], pa.int32()), "s": ["2024-02-30"]})
    with pytest.raises(errors.HeadraceError, match=message):
        hr.sql(query, {"t": table}, time_zone="Europe/Berlin")
    assert hr.sql(
        "select try_cast(s as timestamptz) as x from t", {"t": table}, time_zone="Asia/Tokyo"
    ).to_pydict() == {"x": [None]}


def test_constant_texts_with_names() -> None:
    """Of columns they are errors."""
    table = pa.table({"i": [1]})
    for text in (
        "2024-07-01 12:00 Asia/Tokyo",
        "2024-07-01 12:00:01.5 europe/berlin",
        "1800-01-01 00:00 UTC",
    ):
        for zone in ("UTC", "America/New_York"):
            query = f"select i, timestamptz '{text}' as x from t"
            assert difference(_found(query, table, zone), _wanted(query, table, zone)) is None, text


_FINE_TEXTS = (
    *("2024-02-29 12:34:56.123456789", "2024-02-29 12:34:56.1234567891+03", "2000-01-01", "infinity"),
    *("1969-12-31 23:59:59.999999999-11:30", "2024-03-10 02:30:00.5", "2024-11-03 01:30:00.000000001"),
    *("-infinity", "2024-01-01 00:00:00.000000001+05:45", "2300-01-01", "x", None),
)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kathmandu"])
def test_texts_of_nanoseconds(zone: str, ranks: int) -> None:
    table = pa.table({"i": range(len(_FINE_TEXTS)), "s": pa.array(_FINE_TEXTS)})
    for query in (
        "select try_cast(s as timestamptz_ns)::varchar as x from t order by i",
        "select s::timestamptz_ns::varchar as x from t where i < 9 order by i",
        "select s::timestamptz_ns::varchar::timestamptz_ns = s::timestamptz_ns as x from t where i < 9",
        "select (timestamptz_ns '2024-02-29 12:34:56.123456789 Asia/Tokyo')::varchar as x from t",
        "select timestamptz_ns '2024-02-29 12:34:56.123456789+02' as x",
        "select s::timestamptz_ns as x from t where i < 9 order by i",
    ):
        found, wanted = _found(query, table, zone, ranks).table, _wanted(query, table, zone).table
        assert found is not None and wanted is not None, query
        assert found.columns == wanted.columns, query


def test_a_text_beyond_nanoseconds() -> None:
    for zone in ("UTC", "Asia/Tokyo"):
        found = _found("select s::timestamptz_ns as x from t", pa.table({"s": ["2300-01-01"]}), zone)
        assert found.kind == "data", zone
