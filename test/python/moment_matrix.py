"""Dates, times and timestamps of the type matrix: functions over them, and texts that are such or nearly."""

from __future__ import annotations

from dev import date_functions
from dev.date_functions import DateFunction

_NAMES = [(part, name) for part in date_functions.parts() for name in part.names]
_LENGTHS = tuple(part.names[0] for part in date_functions.parts() if part.length)


def _call(function: DateFunction, name: str) -> str:
    """A function of the table of columns `a` and `b`, and of small numbers."""
    columns = iter(("a", "b"))
    constants = {
        "Part": "'month'",
        "Format": "'%Y-%m-%d'",
        "Zone": "'UTC+2'",
        "Number": "(i % 9 + 1.25)::double",
    }
    arguments = [
        next(columns)
        if each.kind in ("Moment", "Day", "Timestamp")
        else constants.get(each.kind, "i % 12 + 1")
        for each in function.arguments
    ]
    return f"{name}({', '.join(arguments)})"


#: Every function of the table.
_FUNCTIONS = tuple(_call(function, name) for function in date_functions.table() for name in function.names)
_ELAPSED = ("second", "hour", "day", "week", "month", "quarter", "year", "century")

_FORMATTED = tuple(
    f"strftime(a, '{format}')"
    for format in (
        *("%Y-%m-%d", "%a %A %w %u, %b %B %h: %d.%-d %m.%-m %y.%-y %Y", "%j %-j %U %W %G %V", "%c|%x|%X|%T"),
        *("%H:%M:%S.%f %g %n", "%I.%-I %p %-H.%-M.%-S %% %z %Z%%d"),
    )
)

_DATE = (
    *(f"date_part('{name}', a)" for _, name in _NAMES),
    "date_part(['year', 'month', 'day', 'minute', 'julian'], a)",
    "datepart(['dow', 'isodow', 'doy', 'yearweek', 'era', 'quarter', 'hour'], a)",
    *(f"date_trunc('{part}', a)" for part in _LENGTHS),
    *(f"date_diff('{part}', a, b)" for part in _LENGTHS),
    *(f"date_sub('{part}', a, b)" for part in _ELAPSED),
    *_FORMATTED,
    *_FUNCTIONS,
    "a + interval 1 month",
    "a - interval 90 day",
    "a + interval 1 year",
    "a + interval (i % 7) day",
    "a + to_hours(i % 100)",
    "a > date '2000-01-01'",
    "a < date '1994-01-01' + interval 1 year",
    "a - date '2000-01-01'",
    "a + 1",
    "a - 1",
    "a + (i % 5)::integer",
    "a - b",
    "extract(day from age(a, b))",
    "a >= date '1970-01-01' - interval 1 day",
    "a + time '10:00:00'",
    "a = timestamp '2024-02-29 00:00:00'",
    "make_date(year(a), month(a), 1)",
)
_AGES = (
    *(f"extract({part} from age(a, b))" for part in ("year", "month", "day", "hour", "microseconds")),
    "age(a, b) > interval 1 month",
    "b + age(a, b)",
)
_TIMESTAMP = (
    *_DATE[: _DATE.index("a + interval 1 month")],
    "a + interval 1 month",
    "a - interval 90 day",
    "a + interval '1 day 02:03:04.5'",
    "a + interval (i % 7) day",
    "a - to_hours(i % 100)",
    "a + i * interval 1 minute",
    "a + i * interval 1 month",
    "a - to_years(i % 3)",
    "a + interval '3' month",
    "a > timestamp '2000-01-01 10:00:00'",
    "a between '2000-01-01' and '2030-01-01'",
    "a in ('2024-02-29 12:30:45.123456', '1970-01-01')",
    "a >= date '1970-01-01'",
    "a - b > interval 1 hour",
    "a - b = b - a",
    "a - (b - null::timestamp) * 2",
    "extract(day from a - b)",
    "extract(hour from a - b)",
    "epoch(a - b)",
    *_AGES,
    "nanosecond(a)",
    "time_bucket(interval 15 minute, a)",
    "time_bucket(interval 7 day, a)",
    "a at time zone 'UTC'",
    "a at time zone 'UTC+2'",
    "a::date = b::date",
    "a::time < b::time",
)
_TIMESTAMP_OF_OTHER_UNITS = (
    "hour(a)",
    "year(a)",
    "epoch(a)",
    "epoch_us(a)",
    "nanosecond(a)",
    "date_trunc('month', a)",
    "date_diff('day', a, b)",
    "a + interval 1 day",
    "a > timestamp '2000-01-01 10:00:00'",
    "a = '2024-02-29 12:30:45'",
    "a::timestamp < b",
)
_TIME = (
    *(f"date_part('{name}', a)" for part, name in _NAMES if part.is_of_time),
    "date_part(['hour', 'minute', 'second', 'microsecond', 'epoch'], a)",
    *(f"date_diff('{part}', a, b)" for part in ("microseconds", "second", "minute", "hour", "day")),
    "date_sub('hour', a, b)",
    *(each for each in _FUNCTIONS if not each.startswith(("date_part", "datepart"))),
    "a + interval 90 minute",
    "a - interval '1 day 25:00:00'",
    "a + to_minutes(i % 2000)",
    "a > time '10:00:00'",
    "a in ('00:00:00', '12:30:45.123456')",
    "date '2024-02-29' + a",
    "nanosecond(a)",
)

#: By the name of the type in SQL.
EXPRESSIONS = {
    "DATE": _DATE,
    "TIMESTAMP": _TIMESTAMP,
    "TIMESTAMP WITH TIME ZONE": tuple(
        each.replace("timestamp '", "timestamptz '")
        for each in _TIMESTAMP
        if each not in (*_AGES, *_FORMATTED[:-1])
    ),
    "TIMESTAMP_S": _TIMESTAMP_OF_OTHER_UNITS,
    "TIMESTAMP_MS": _TIMESTAMP_OF_OTHER_UNITS,
    "TIMESTAMP_NS": (*_TIMESTAMP_OF_OTHER_UNITS, "strftime(a, '%c.%f %g %n')", "epoch_ns(a)"),
    "TIME": _TIME,
}
CASTS = (
    *("DATE", "TIME", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"),
    "TIMESTAMP WITH TIME ZONE",
)
#: Texts that are times of day, alone and behind a date, and texts that are nearly.
_TIMES = (
    *("10:00", "1:2:3", "10:0", "10:00:00.", "10:00:00.1", "10:00:00.123456789", "10:00:00.9999999999"),
    *("10:00:00.999", "10:00:00.5+02", "10:00:00+02", "10:00:00-02:30", "10:00:00+0230", "10:00:00Z"),
    *("10:00:00 UTC", "10:00:00 gmt", "24:00:00", "24:00:01", "25:00:00", "10:60:00", "10:00:60"),
    *("+10:00:00", "10:00:00+2", "10", "100:00:00", "23:59:59.9999995"),
)
TEXTS = (
    *_TIMES,
    *(f"2024-02-29 {time}" for time in _TIMES),
    *("2024-02-29  10:00:00", "0044-03-15 (BC) 10:00:00", "1677-09-21 00:12:43.145225"),
    *(
        "1677-09-22 00:00:00",
        "2262-04-11 23:47:16.854775806",
        "2262-04-12 00:00:00",
        "294247-01-10 04:00:54.775806",
    ),
    *("294247-01-10 04:00:54.775807", "290309-12-22 (BC) 00:00:00", "290309-12-21 (BC) 23:59:59"),
)
