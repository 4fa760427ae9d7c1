"""Texts that are nearly dates, times and timestamps, read as DuckDB reads them.

Sources: runtime/base/moment_text.cpp
"""

from __future__ import annotations

import random

import duckdb
import headrace as hr
import pyarrow as pa
import pytest

_TIMES = (
    *("2:35:16", "2:35:160", "2:35:16x", "2:35:16 x", "2:35:16.1234567890", "02: 30:00", "02:30: 00", "2:3:"),
    *("002:30:00", "0000000002:30:00", "0000000025:30:00", "123:30:00", "2:305:00", "2:3:Z", "2:", "2:x"),
    *("24:00:00", "24:0:000", "24:00:01", "12:34", "12:34:.5", "12:34:56-5"),
)
_FRONTS = ("", "2024-10-27 ", "2024-10-27T", "2024-10-27  ", "2024-10-27\t ", "2024-10-27 \n", "2024-10-27")
_FAR = (
    "0044-03-15 (BC) 01:02:03",
    "290309-12-21 1:2:3.5",
    "2262-04-11 23:47:16.854775807",
    "0044-03-15 (BC)",
)
_TYPES = ("time", "time_ns", "date", "timestamp", "timestamp_s", "timestamp_ns", "timestamptz")


def _check(texts: list[str], ranks: int = 1) -> None:
    table = pa.table({"s": texts})
    casts = ", ".join(f"try_cast(s as {kind})::varchar as {kind}" for kind in _TYPES)
    query = f"select s, {casts} from t"
    with duckdb.connect() as connection:
        connection.execute("set TimeZone = 'UTC'")
        connection.register("t", table)
        wanted = connection.sql(query).fetchall()
    found = hr.sql(query, {"t": table}, ranks=ranks).to_pydict()
    assert [*zip(*found.values(), strict=True)] == wanted


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_times(ranks: int) -> None:
    _check([front + time for front in _FRONTS for time in _TIMES], ranks)


def test_dates_beyond_nanoseconds_have_times() -> None:
    _check(list(_FAR))
    assert hr.sql("select '0044-03-15 (BC) 01:02:03.000000004'::time_ns::varchar as t").to_pydict() == {
        "t": ["01:02:03.000000004"]
    }


@pytest.mark.parametrize("seed", range(4))
def test_random_texts(seed: int) -> None:
    """Blanks at the end, and names of zones, are read otherwise (docs/semantics.md)."""
    rng = random.Random(seed)

    def changed(text: str) -> str:
        letters = list(text)
        for _ in range(rng.choice([1, 1, 2, 3])):
            place = rng.randrange(len(letters))
            letter = rng.choice("0123456789: .+-T\t")
            letters[place : place + rng.randrange(2)] = [letter] if rng.random() < 0.7 else []
            letters = letters or ["0"]
        return "".join(letters).strip()

    times = [time for time in _TIMES if not time.endswith(("x", "Z"))]
    texts = [changed(rng.choice(_FRONTS) + rng.choice(times)) for _ in range(2000)]
    far = [changed(rng.choice(_FAR)).replace("\t", " ") for _ in range(500)]
    _check(texts + far)
