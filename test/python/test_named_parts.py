"""Parts of dates and times that each row names, beside DuckDB."""

from __future__ import annotations

import headrace as hr
import pyarrow as pa
import pytest
from dev import date_functions
from duckdb_oracle import same
from sql_oracle import Oracle

#: But for names that are functions alone in DuckDB.
_FUNCTIONS = ("nanosecond", "millenia")
_PARTS = [(part, name) for part in date_functions.parts() for name in part.names if name not in _FUNCTIONS]
_LENGTHS = [name for part, name in _PARTS if part.length]
_NAMES = [name for _, name in _PARTS]
_OF_TIME = [name for part, name in _PARTS if part.is_of_time]
_MICROS_OF_DAY = 86_400_000_000


def _table(names: list[str]) -> dict[str, pa.Table]:
    """Each name beside some moments, in capitals now and then."""
    days = [None, 0, -1, 19_782, 20_000, -800_000, 12_345]
    rows = [(name, day) for name in [*names, None] for day in days]
    moments = [
        None if day is None else day * _MICROS_OF_DAY + day * 7_777_777 % _MICROS_OF_DAY for _, day in rows
    ]
    spelt = [name if name is None or place % 3 else name.upper() for place, (name, _) in enumerate(rows)]
    later = [None if each is None else each + place * 98_765_432_109 for place, each in enumerate(moments)]
    return {
        "t": pa.table(
            {
                "i": range(len(rows)),
                "p": spelt,
                "a": pa.array(moments, pa.timestamp("us")),
                "b": pa.array(later, pa.timestamp("us")),
            }
        )
    }


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    ("call", "names"),
    [
        ("date_part(p, a)", _NAMES),
        ("datepart(p, a::date)", [name for name in _NAMES if not name.startswith("timezone")]),
        ("date_part(p, a::time)", [*_OF_TIME, "epoch"]),
        ("date_trunc(p, a)", _LENGTHS),
        ("date_trunc(p, a::timestamp_s)", _LENGTHS),
        ("datetrunc(p, a::date)", _LENGTHS),
        ("date_diff(p, a, b)", _LENGTHS),
        ("date_diff(p, a::date, b::date)", _LENGTHS),
        ("datediff(p, a::time, b::time)", _OF_TIME),
        ("date_sub(p, a, b)", _LENGTHS),
        ("datesub(p, a::time, b::time)", _OF_TIME),
        ("date_trunc(p, case when i % 2 = 0 then a else 'infinity' end)", _LENGTHS),
    ],
)
def test_names(call: str, names: list[str], ranks: int) -> None:
    oracle = Oracle(_table(names))
    assert oracle.difference(f"select i, p, {call} as x from t", ranks=ranks) is None


def test_names_and_zones() -> None:
    oracle = Oracle(_table([name for name in _LENGTHS if name != "yearweek"]))
    for call in ("date_part(p, a::timestamptz)", "date_trunc(p, a::timestamptz)::varchar"):
        assert oracle.difference(f"select i, p, {call} as x from t where year(a) > 0") is None


def test_groups_of_what_is_truncated() -> None:
    oracle = Oracle(_table(_LENGTHS))
    text = "select p, date_trunc(p, a) as x, count(*) as n from t group by all"
    assert oracle.difference(text, ranks=2) is None


@pytest.mark.parametrize(
    ("name", "call", "message"),
    [
        ("moonphase", "date_trunc(p, a)", "unknown part of a date or time"),
        ("nanosecond", "date_part(p, a)", "unknown part of a date or time"),
        ("era", "date_trunc(p, a)", "date_trunc has no such part"),
        ("timezone", "date_diff(p, a, a)", "date_diff has no such part"),
        ("timezone", "date_part(p, a::date)", "a date has no time zone"),
        ("year", "date_part(p, a::time)", "the operand of date_part has no such part"),
        ("day", "date_sub(p, a::time, a::time)", "date_sub has no such part"),
    ],
)
def test_what_there_is_not(name: str, call: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql(f"select {call} as x from t", _table([name]))


def test_null_names_nothing() -> None:
    tables = _table(["moonphase"])
    found = hr.sql("select date_trunc(null, a) as x from t", tables)
    assert found["x"].null_count == len(found)
    unknown = hr.sql("select date_trunc(p, null::timestamp) as x from t", tables)
    same(unknown, hr.sql("select null::timestamp as x from t", tables))
