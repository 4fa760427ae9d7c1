"""Timestamps of nanoseconds in frames, beside Polars: what takes microseconds takes those that have begun."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import headrace as hr
import polars as pl
import pytest
from polars.testing import assert_frame_equal

COL = pl.col
_SECOND = 10**9
_NANOSECONDS = [
    -1,
    0,
    1,
    999,
    1000,
    1500,
    -1500,
    1 - _SECOND,
    _SECOND - 1,
    None,
    4 * 10**18 + 1,
    -(4 * 10**18) - 1,
]
DATA = pl.DataFrame(
    {
        "n": range(len(_NANOSECONDS)),
        "t": pl.Series(_NANOSECONDS, dtype=pl.Int64).cast(pl.Datetime("ns")),
        "u": pl.Series([each and each // 1000 for each in _NANOSECONDS], dtype=pl.Int64).cast(
            pl.Datetime("us")
        ),
        "m": pl.Series([0] * len(_NANOSECONDS), dtype=pl.Int64).cast(pl.Datetime("ms")),
    }
)
_MOMENT = datetime(1970, 1, 1, 0, 0, 0, 999)


@pytest.mark.parametrize(
    "expr",
    [
        COL("t").cast(pl.Datetime("us")),
        COL("t").cast(pl.Datetime("ms")),
        COL("u").cast(pl.Datetime("ms")),
        COL("t").cast(pl.Date),
        COL("t") == COL("u"),
        COL("t") <= COL("m"),
        COL("u") > COL("m"),
        COL("u") > pl.lit(_MOMENT, dtype=pl.Datetime("ms")),
        COL("t").cast(pl.Datetime("us")).is_between(_MOMENT, datetime(1980, 1, 1)),
        COL("t") + timedelta(microseconds=3),
        COL("t") - timedelta(days=3),
        COL("t").dt.truncate("1us"),
        COL("t").dt.truncate("1s"),
        COL("t").dt.truncate("1mo"),
        COL("t").dt.date(),
        COL("t").dt.year(),
        COL("t").dt.hour(),
        COL("t").dt.second(),
        COL("t").dt.millisecond(),
        COL("t").dt.microsecond(),
        COL("t").dt.epoch("us"),
        COL("t").dt.epoch("s"),
        COL("t").dt.strftime("%Y-%m-%d %H:%M:%S"),
    ],
    ids=str,
)
def test_as_polars(expr: pl.Expr) -> None:
    engine = hr.polars_engine(ranks=2)
    frame = DATA.lazy().select("n", x=expr)
    assert_frame_equal(frame.collect(post_opt_callback=engine), frame.collect())
    assert engine.report.ran, engine.report


def test_keys_of_a_join() -> None:
    left = DATA.lazy().with_columns(k=COL("t").cast(pl.Datetime("us")))
    frame = left.join(DATA.lazy().select("u", z="n"), left_on="k", right_on="u")
    engine = hr.polars_engine()
    got = frame.collect(post_opt_callback=engine)
    assert_frame_equal(got, frame.collect(), check_row_order=False)
    assert engine.report.ran, engine.report


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        (COL("t").dt.month_start(), "dt.month_start of nanoseconds is not supported"),
        (COL("t").dt.offset_by("1d"), "dt.offset_by of nanoseconds is not supported"),
        (COL("t").dt.strftime("%S.%f"), "dt.strftime of nanoseconds is not supported"),
        # Polars makes it a comparison with 1970-01-01 00:00:00.000999999.
        (COL("t") < date(1970, 1, 1), "a literal of nanoseconds, of which Polars' plans show microseconds"),
        (COL("t") <= _MOMENT, "a literal of nanoseconds, of which Polars' plans show microseconds"),
    ],
    ids=str,
)
def test_left_to_polars(expr: pl.Expr, message: str) -> None:
    engine = hr.polars_engine()
    frame = DATA.lazy().select("n", x=expr)
    assert_frame_equal(frame.collect(post_opt_callback=engine), frame.collect())
    assert message in engine.report.left[0]


def test_times_of_day() -> None:
    message = r"dt.time of nanoseconds is not supported: cast to Datetime\('us'\)"
    with pytest.raises(hr.errors.UnsupportedError, match=message):
        hr.from_arrow(DATA).select(hr.col("t").dt.time()).collect()
