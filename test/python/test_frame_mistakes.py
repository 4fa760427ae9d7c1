"""What frames refuse, with the operation and the line of the user's program."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import headrace as hr
import polars as pl
import pyarrow as pa
import pytest
from frame_programs import DATA

LF = hr.from_arrow(DATA.to_arrow())
C = hr.col
LISTS = hr.from_arrow(pa.table({"l": [[1], []], "t": [["a"], None], "g": [[1.5], []]}))
MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: LF.filter(C("nn") > 1),
        r"no such column: nn; did you mean n\? \(at filter, test_frame_mistakes.py:\d+\)",
    ),
    (
        lambda: LF.select(C("s") + 1),
        r"\+ and - takes numbers, got string and int32 \(at select, test_frame_mistakes",
    ),
    (lambda: LF.filter(C("i") + 1), "filter takes conditions, got int64"),
    (lambda: LF.select(C("i"), C("i")), "two columns have the same name: i; alias one of them"),
    (lambda: LF.group_by("k").agg(C("i").sum().alias("k")), "two columns have the same name: k; alias"),
    (lambda: LF.with_columns(C("i").filter(C("b"))), "some of the rows, or others in their places, beside"),
    (lambda: LF.select(C("i").filter(C("b")), "n"), "columns of different rows beside each other"),
    (lambda: LF.select(C("i").sort() + C("n")), "values in another order beside others: sort the frame"),
    (lambda: LF.select(C("i").sort().over("k")), r"over\(\) of some of the rows, or of another order"),
    (lambda: LF.select("n", C("i").implode()), "lists of rows beside rows are not supported"),
    (lambda: LF.select(C("i").sort_by(C("n").sort())), r"sort_by\(\) of other rows than its own"),
    (lambda: LF.select(C("i").filter(C("b").sort())), "a filter by other rows than its own"),
    (lambda: LF.select(C("i").filter(C("b")).filter(C("c")).sum()), "a filter of some of the rows is not"),
    (lambda: LF.select(C("i").slice(0, -1)), "a length is at least 0, got -1"),
    (lambda: C("i").gather_every(0), "gather_every takes n of at least 1"),
    (lambda: LF.select(C("s").pct_change()), r"pct_change\(\) takes numbers, got string"),
    (lambda: LF.join(DATA.lazy(), on="i"), "other must be a LazyFrame, got a value of type polars.LazyFrame"),
    (lambda: C("i").fill_null(), "fill_null takes a value or a strategy"),
    (lambda: C("i").fill_null(strategy="next"), "a strategy is one of forward, backward"),
    (lambda: LF.select(C("s").fill_nan(0)), "fill_nan takes numbers, got string"),
    (lambda: LF.select(C("s").diff()), r"diff\(\) takes numbers, got string"),
    (
        lambda: LF.select(C("i").rolling_sum_by("m", "soon")),
        "takes a length such as 3d, 1h30m or 5i, got soon",
    ),
    (
        lambda: LF.select(C("i").rolling_sum_by("m", "1mo")),
        r"rolling_sum_by\(\) of timestamp\[us\] by 1mo: w, d, h, m, s, ms, us of moments, i of integers",
    ),
    (
        lambda: LF.join_asof(LF, left_on="s", right_on="s"),
        "join_asof by string and string: cast them to one type of numbers or moments",
    ),
    (lambda: LF.select(C("i").sort_by([])), "an order needs a key"),
    (
        lambda: LF.select(C("i").rolling_sum_by("i", "1i", closed="all")),
        "closed is right, left, both or none",
    ),
    (
        lambda: LF.select(C("i").rolling_sum_by(C("m").cast(pa.timestamp("ns")), "1d")),
        "windows by times in nanoseconds are not supported",
    ),
    (lambda: LF.select(C("i").rolling_std(2, ddof=3)), r"rolling_std\(\) takes ddof=0 or 1, got 3"),
    (lambda: LF.select(C("f").round(1, mode="up")), "mode is half_to_even or half_away_from_zero, got up"),
    (lambda: LF.select(C("x").round(1, mode="half_away_from_zero")), "round of decimals away from zero"),
    (lambda: LF.select(C("f").truncate(-1)), "truncate takes a number of decimals, got -1"),
    (lambda: LF.select(C("x").truncate()), "truncate of decimals is not supported: cast to a float"),
    (lambda: LF.select(-C("i").cast(pa.uint8())), "uint8 has no values below zero: cast it before -"),
    (lambda: LF.select(C("i").list.len()), "list.len takes lists, got int64"),
    (lambda: LISTS.select(C("l").list.get(1.5)), "list.get takes a whole number, got double"),
    (lambda: LISTS.select(C("t").list.sum()), "list.sum takes lists of numbers, got list"),
    (lambda: LISTS.select(C("t").list.mean()), "list.mean takes lists of numbers, got list"),
    (lambda: LISTS.select(C("g").list.max()), "list.max of floats is not supported"),
    (lambda: LISTS.select(C("l").list.contains(1.5)), "list.contains of double in list"),
    (lambda: LISTS.select(C("l").list.slice(0, -1)), "a length is at least 0, got -1"),
    (lambda: LISTS.select(C("l").list.concat(C("t"))), "list.concat of list"),
    (lambda: LISTS.select(C("l").list.join("-")), "list.join takes lists of texts, got list"),
    (lambda: LF.explode("i"), "explode takes lists, got i of int64"),
    (lambda: LF.explode(), "explode needs a column of lists"),
    (lambda: LF.with_row_index("i"), "two columns have the same name: i; choose another name"),
    (lambda: LF.with_row_index(offset=-1), "with_row_index counts from at least 0, got -1"),
    (lambda: LF.join(LF, on="k", maintain_order="both"), "maintain_order is none, left, right"),
    (lambda: LF.join_asof(LF), "join_asof needs on, or left_on and right_on"),
    (lambda: LF.join_asof(LF, on="n", strategy="next"), "strategy is backward, forward or nearest, got next"),
    (
        lambda: LF.join_asof(LF, on="n", by_left=["k"], by_right=[]),
        "as many columns in by_left as in by_right",
    ),
    (lambda: LF.join_asof(LF, left_on="n", right_on="s"), "join_asof by int64 and string: cast them"),
    (
        lambda: LF.join_asof(LF, on="n", strategy="nearest", allow_exact_matches=False),
        "the nearest key that is not equal is not supported",
    ),
    (lambda: LF.join_asof(LF, on="m", tolerance=5), "a tolerance of moments is a length such as 3d, got 5"),
    (
        lambda: LF.select("n", i_right="i", i="j").join_asof(LF.select("n", "i"), on="n"),
        "two columns have the same name: i_right; choose another suffix",
    ),
    (lambda: hr.concat([LF, LF], how="horizontal"), "two columns have the same name: n; rename one of them"),
    (
        lambda: LF.group_by("k").agg(hr.len().shift()),
        r"shift\(\) inside of agg\(\) beside aggregates needs an aggregate around it",
    ),
    (lambda: LF.group_by("i").len().select(C("i").shift()), r"shift\(\) needs an order of the rows"),
    (lambda: LF.select(C("s") == 1), "= of string and int32: cast one of them"),
    (
        lambda: LF.select(C("s").str.contains(r"a\d")),
        "unsupported in a regular expression: .*for a text say literal",
    ),
    (lambda: C("s").str.contains(C("t")), "a regular expression must be a text, no column"),
    (lambda: C("s").str.replace(C("t"), "a"), "what replaces, and what is replaced, must be a text"),
    (lambda: C("s").str.replace("[a", "b"), "a regular expression is wrong: "),
    (lambda: C("s").str.replace("[a]", "$0"), "groups in what replaces are not supported"),
    (lambda: C("s").str.replace("a*", "b"), "a regular expression that fits an empty text replaces nothing"),
    (lambda: LF.sort("i", descending=[True, False]), "descending needs a value for each key: 1, got 2"),
    (lambda: LF.join(LF, on="k", how="outer"), "how is one of inner, left"),
    (lambda: LF.join(LF), "a join needs as many keys on the left as on the right: 0, 0"),
    (lambda: LF.join(LF, how="cross", on="k"), "a cross join has no keys"),
    (lambda: LF.join(LF, on="k", left_on="k"), "a join has on, or left_on and right_on"),
    (lambda: LF.join(LF, on=C("i").sum()), "a key of a join sees its row alone"),
    (
        lambda: LF.select("i", "i_right" and C("j").alias("i_right")).join(
            LF.select("i", "n"), left_on="i_right", right_on="n"
        ),
        "two columns have the same name: i_right; choose another suffix",
    ),
    (lambda: bool(C("i") > 1 and C("j") > 1), "an expression is neither true nor false"),
    (lambda: LF.rename({"zz": "a"}), "no such column: zz"),
    (lambda: LF.drop("zz"), "no such column: zz"),
    (lambda: LF.drop(LF.columns), "a frame has at least one column"),
    (lambda: LF.select(), "select needs a column"),
    (lambda: LF.filter(), "filter needs a condition"),
    (lambda: LF.group_by(), "group_by needs a column"),
    (lambda: LF.head(-1), "a number of rows is at least 0, got -1"),
    (
        lambda: LF.group_by("i").len("n").group_by("n", maintain_order=True).len(),
        r"group_by\(maintain_order=True\) needs an order",
    ),
    (lambda: LF.group_by("i").len().slice(2, 3), "slice needs an order of the rows"),
    (lambda: LF.unique(keep="some"), "keep is any, first, last or none"),
    (
        lambda: LF.pivot("k", [1], index="b", values="i", aggregate_function="mode"),
        "no aggregate of pivot: mode",
    ),
    (lambda: hr.concat([]), "concat needs a frame"),
    (lambda: hr.concat([LF], how="align"), "unsupported way to concat: align"),
    (lambda: hr.concat([LF, LF.drop("i")]), "concat of frames with other columns"),
    (lambda: hr.concat([LF.select("i"), LF.select(C("s").alias("i"))]), "concat of other types: column i"),
    (lambda: hr.from_arrow(5), "from_arrow takes an Arrow table, got int"),
    (lambda: hr.scan_parquet("none.parquet"), "none.parquet"),
    (lambda: LF.select(C("i").cast("text")), "no type of columns: 'text'"),
    (lambda: LF.select(C("i").cast(pa.float16())), "frames have no columns of this type: halffloat"),
    (lambda: LF.select(C("s").cast(pl.Date)), "unsupported cast of string to date32.*use str.to_date"),
    (lambda: LF.select(C("m").cast(str)), "unsupported cast of timestamp.*use dt.strftime"),
    (lambda: LF.select(hr.lit(object())), "no value of a column"),
    (lambda: LF.select(C("i") ** C("i")), "of integers by more than 8"),
    (lambda: LF.select(C("x") // 2), "// of decimals is not supported: cast to a float"),
    (lambda: LF.select(C("x") % 2), "% of decimals is not supported: cast to a float"),
    (lambda: LF.select(C("s").abs()), "abs takes numbers, got string"),
    (lambda: LF.select(C("f").round(-1)), "round takes a number of decimals, got -1"),
    (lambda: LF.select(C("i").is_between(1, 2, closed="all")), "closed is both, left, right or none"),
    (lambda: LF.select(C("s").sum()), "sum takes numbers, got string"),
    (lambda: LF.select(hr.lit(1).sum()), "of a value that is no column: it stands for one row"),
    (lambda: LF.with_columns(x=hr.lit(1).cum_sum()), "takes a column, not one value for all rows"),
    (lambda: LF.with_columns(x=C("f").sum().shift(1)), "takes a column, not one value for all rows"),
    (lambda: LF.with_columns(x=(hr.lit(1) + 2).is_unique()), "takes a column, not one value for all rows"),
    (lambda: LF.select(C("i").product()), "product of int64 is not supported: cast"),
    (lambda: LF.select(C("i").std(ddof=2)), "std takes ddof=0 or 1, got 2"),
    (lambda: LF.select(C("i").quantile(2)), "a quantile is from 0 to 1, got 2"),
    (lambda: LF.select(C("i").quantile(0.5, "best")), "interpolation is linear or nearest"),
    (lambda: LF.select(C("i").rank("best")), "method is average, min, max, dense or ordinal"),
    (lambda: LF.sort("n").select(C("s").cum_sum()), r"cum_sum\(\) takes numbers, got string"),
    (lambda: C("i").rolling_sum(2, min_samples=3), "min_samples is from 0 to window_size, got 3 of 2"),
    (lambda: LF.group_by("k").agg(C("i").sum().over("b")), r"over\(\) inside of agg\(\) is not supported"),
    (
        lambda: LF.select((C("i").filter(C("b")) + C("i").filter(C("c"))).sum()),
        "is made of values of different filters",
    ),
    (
        lambda: LF.select((C("i") + hr.all()).over("k").alias("q"), C("i").over(hr.all())),
        "several columns where one is meant|same name",
    ),
    (lambda: LF.select(C("i").str.to_lowercase()), "to_lowercase takes texts, got int64"),
    (lambda: LF.select(hr.concat_str("s", "f")), "concat_str takes texts and integers, got double"),
    (lambda: LF.select(C("s").str.slice(0, -1)), "a length is at least 0, got -1"),
    (lambda: LF.select(C("s").str.pad_start(3, "ab")), "what pads is one character, got 'ab'"),
    (lambda: LF.select(C("s").dt.year()), "dt.year takes dates and timestamps, got string"),
    (lambda: LF.select(C("d").dt.hour()), "a date has no hour"),
    (lambda: LF.select(C("d").dt.time()), "dt.time takes timestamps, got date32"),
    (lambda: LF.select(C("d").dt.truncate("2mo")), "truncate to one unit, such as 1d or 1mo, got 2mo"),
    (
        lambda: LF.select(C("d").dt.offset_by("soon")),
        "an offset is a number of units, such as 3d or -1mo, got soon",
    ),
    (lambda: LF.select(C("m").dt.epoch("h")), "a unit of time is us, ms, s or d, got h"),
    (lambda: LF.select(C("d").dt.strftime("%Q")), "unsupported in the format of a date: %Q"),
    (lambda: hr.col(1), "names of columns are texts, got"),
    (
        lambda: LF.select(C("x") * hr.lit(Decimal("1e-37"))),
        "a product of decimals with 39 digits behind the point",
    ),
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_mistakes_name_the_operation(number: int) -> None:
    call, message = MISTAKES[number]
    with pytest.raises(hr.HeadraceError, match=message):
        call()


def test_errors_of_data_name_the_operation() -> None:
    frame = (
        LF.select("s")
        .filter(hr.col("s").is_not_null())
        .with_columns(z=hr.col("s").cast(int))
        .filter(hr.col("z") > 0)
    )
    with pytest.raises(hr.errors.DataError, match=r"\(at .*with_columns, test_frame_mistakes.py:\d+\)$"):
        frame.collect()


def test_what_needs_polars_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(hr.errors.UserError, match="to_polars.. needs Polars"):
        LF.to_polars()
