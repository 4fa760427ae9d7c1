"""Programs of Polars with headrace as the engine of `collect`, beside Polars alone."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path
from typing import Any

import headrace as hr
import polars as pl
import pytest
from frame_programs import (
    DATA,
    MORE,
    OF_GROUPS,
    ORDERED,
    ORDERED_OF_MORE,
    PROGRAMS,
    ROWS,
    ROWS_OF_MORE,
)
from headrace._src.polars import engine as polars_engine
from polars.testing import assert_frame_equal
from tpch_polars import QUERIES, Scan

COL = pl.col


def both(frame: pl.LazyFrame, *, order: bool = False, **options: Any) -> hr.PolarsEngine:
    """Collects a frame with and without headrace: the same rows, in the same types."""
    engine = hr.polars_engine(**options)
    expected, got = frame.collect(), frame.collect(post_opt_callback=engine)
    assert_frame_equal(got, expected, check_row_order=order, rel_tol=1e-6, abs_tol=1e-9)
    return engine


def scans(folder: Path, *, floats: bool) -> Scan:
    def scan(name: str) -> pl.LazyFrame:
        frame = pl.scan_parquet(folder / f"{name}.parquet")
        return frame.with_columns(pl.selectors.decimal().cast(pl.Float64)) if floats else frame

    return scan


@pytest.mark.parametrize("name", QUERIES)
def test_tpch(name: str, tpch_small: Path) -> None:
    engine = both(QUERIES[name](scans(tpch_small, floats=True)), ranks=2)
    assert len(engine.report.ran) == 1 and not engine.report.left, engine.report


@pytest.mark.parametrize("name", ["q01", "q03", "q05", "q06", "q10", "q11", "q16", "q18", "q22"])
def test_tpch_of_decimals(name: str, tpch_small: Path) -> None:
    both(QUERIES[name](scans(tpch_small, floats=False)))


@pytest.mark.parametrize("name", ROWS)
def test_expressions(name: str) -> None:
    exprs = [expr.alias(f"e{number}") for number, expr in enumerate(ROWS[name](pl, COL))]
    assert both(DATA.lazy().unique().with_columns(pl.lit(1).alias("one")).select("n", *exprs)).report.ran


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    both(PROGRAMS[name](pl, DATA.lazy().unique()))
    both(PROGRAMS[name](pl, DATA.lazy()))


@pytest.mark.parametrize("name", ORDERED)
def test_programs_with_an_order(name: str) -> None:
    both(ORDERED[name](pl, DATA.lazy()), order=True)


#: Of rows as they are stored.
IN_ORDER: list[pl.LazyFrame] = [
    DATA.lazy().filter(COL("i") > 1).with_columns(z=COL("i") + 1),
    DATA.lazy().with_columns(z=COL("i").shift(), y=COL("s").shift(-2)),
    DATA.lazy().with_columns(z=COL("n").cum_sum(), y=COL("n").rolling_sum(3)),
    DATA.lazy().with_columns(z=COL("i").shift().over("k")),
    DATA.lazy().with_columns(z=COL("n") + 1).head(7),
    DATA.lazy().select(z=COL("n") + 1).slice(3, 5),
    DATA.lazy().unique("k", keep="first", maintain_order=True),
    DATA.lazy().unique("k", keep="last", maintain_order=True),
    DATA.lazy().sort("k", maintain_order=True),
    DATA.lazy().group_by("k", maintain_order=True).agg(pl.len(), COL("n").sum()),
    DATA.lazy().sort("n", descending=True).group_by("k", "b", maintain_order=True).agg(COL("s").first()),
    DATA.lazy().select(COL("i").first(), y=COL("s").last()),
    pl.concat([DATA.lazy().select(COL("n") + 1), DATA.lazy().select(COL("n") * 2).head(4)]),
    pl.concat([DATA.lazy().select("n", "k").sort("n", descending=True), DATA.lazy().select("n", "k")]).head(
        50
    ),
]


@pytest.mark.parametrize("name", ROWS_OF_MORE)
def test_expressions_of_more(name: str) -> None:
    # Polars plans what it does not show for these.
    hidden = ("sort_by", "element()")
    exprs = [
        expr.alias(f"e{number}")
        for number, expr in enumerate(ROWS_OF_MORE[name](pl, COL))
        if not any(each in str(expr) for each in hidden)
    ]
    engine = both(MORE.lazy().with_columns(pl.lit(1).alias("one")).select("n", *exprs), order=True)
    assert engine.report.ran and not engine.report.left, engine.report


@pytest.mark.parametrize("name", ORDERED_OF_MORE)
def test_programs_of_more(name: str) -> None:
    both(ORDERED_OF_MORE[name](pl, MORE.lazy()), order=True)


#: What frames do not have in the same words, or Polars plans otherwise.
PLANNED: list[pl.LazyFrame] = [
    MORE.lazy()
    .group_by("k", maintain_order=True)
    .agg(
        *(
            expr.alias(f"e{number}")
            for number, expr in enumerate(OF_GROUPS(pl, COL))
            if "sort_by" not in str(expr)  # Polars plans what it does not show
        )
    ),
    MORE.lazy().select((COL("i").sum() + 1).alias("x"), (COL("i").sum() + 2).alias("y")),
    MORE.lazy().select((COL("i").sum() + 1).alias("x"), (COL("i").sum() + 2).alias("y"), "n"),
    MORE.lazy().with_columns(x=COL("i").sum() + COL("n"), y=(COL("i").sum() + COL("n")) * 2),
    MORE.lazy().filter(COL("i") > 0).select(pl.len()),
    MORE.lazy().select(pl.len()),
    pl.concat([MORE.lazy(), MORE.lazy()]).head(11),
    MORE.lazy().select("n", x=pl.int_range(pl.len()) * 2),
    MORE.lazy().select(COL("i").replace({5: 6, None: 7})),
    MORE.lazy().select(COL("i").drop_nulls().first() + COL("i").last(ignore_nulls=True)),
    MORE.lazy().select(COL("i").has_nulls(), x=COL("n").has_nulls()),
    # One match a row: of several "left" promises no order.
    MORE.lazy().join(
        MORE.lazy().group_by("k").agg(z=COL("n").sum()), on="k", how="left", maintain_order="left"
    ),
    MORE.lazy().select("n", COL("s").cast(pl.Categorical)).collect().lazy().group_by("s").len().sort("s"),
    MORE.lazy()
    .select("n", x=pl.lit([1, 2]).cast(pl.Array(pl.Int64, 2)))
    .collect()
    .lazy()
    .filter(COL("n") > 2)
    .head(2),
    MORE.lazy()
    .drop_nulls("m")
    .select(COL("i").rolling_sum_by("m", "300d"), COL("n").rolling_std_by("m", "1w")),
    MORE.lazy()
    .sort("n")
    .select("n", "i")
    .join_asof(MORE.lazy().sort("n").select(n=COL("n") * 2, z="i"), on="n", strategy="nearest", tolerance=1),
]


@pytest.mark.parametrize("number", range(len(PLANNED)))
def test_what_polars_plans_otherwise(number: int) -> None:
    report = both(PLANNED[number], order=True, ranks=2).report
    assert report.ran, report


@pytest.mark.parametrize("number", range(len(IN_ORDER)))
def test_rows_come_as_they_are_stored(number: int) -> None:
    for ranks in (1, 2):
        assert both(IN_ORDER[number], order=True, ranks=ranks).report.ran


def test_the_first_of_groups() -> None:
    assert both(DATA.lazy().group_by("k").agg(COL("i").first(), y=COL("s").last())).report.ran


GROUPS = DATA.lazy().group_by("k").agg(COL("i").sum())
LEFT_TO_POLARS: list[tuple[pl.LazyFrame, str]] = [
    (DATA.lazy().filter(COL("i") > 1), "a source alone"),
    (GROUPS.with_columns(z=COL("i").shift()), r"shift\(\) needs an order of the rows"),
    (GROUPS.group_by("i").agg("k"), "a list of the rows of a group needs an order of the rows"),
    (DATA.lazy().group_by("k").agg(COL("i").skew()), "a function: skew"),
    (GROUPS.with_row_index(), "with_row_index needs an order of the rows"),
    (DATA.lazy().merge_sorted(DATA.lazy(), key="n").select("k"), "an operation that frames do not have"),
    (
        pl.LazyFrame({"a": pl.Series([1], dtype=pl.Int128)}).group_by("a").len(),
        "Invalid or unsupported format string",
    ),
    (DATA.lazy().select(COL("i").arg_sort().max()), "arg_sort"),
    (DATA.lazy().select(COL("i").fill_null(strategy="forward", limit=1)), "fill_null with a limit"),
    (
        DATA.lazy().select(COL("i").replace(COL("n").implode(), COL("i").implode())),
        "replace by columns|rows beside",
    ),
    (DATA.lazy().select(pl.int_range(3)), "int_range but of the rows"),
    (DATA.lazy().drop_nulls("m").select(COL("i").rolling_sum_by("m", "7ns")), "a length in nanoseconds"),
    (
        MORE.lazy().select(COL("l").list.contains(2, nulls_equal=False)),
        "list.contains to which nulls are not equal",
    ),
    (
        MORE.lazy().select((COL("i").sum() + 1).alias("x"), (COL("i").sum().hash()).alias("y")),
        "values for the selection above",
    ),
    (DATA.lazy().group_by("k").agg(COL("d").max() - COL("d").min()), "takes numbers, got date32"),
    (DATA.lazy().group_by("k").agg(COL("i").sum().over("b")), "."),
    (DATA.lazy().select(COL("i").hash().max()), "a function: hash"),
    (DATA.lazy().select(COL("i").is_in(COL("n").implode()).sum()), "is_in of a column|an aggregate: implode"),
    (DATA.lazy().select(COL("s").str.replace("a", "b", n=2).max()), "str.replace of 2 places"),
    (
        DATA.lazy().select(COL("s").str.replace_all("a", "$0b").max()),
        "groups in what replaces are not supported",
    ),
    (
        DATA.lazy().select(pl.concat_str("s", "t", ignore_nulls=True).max()),
        "concat_str that passes over nulls",
    ),
    (DATA.lazy().select(COL("b").any(ignore_nulls=False)), "any that does not pass over nulls"),
    (DATA.lazy().select(COL("f").nan_max()), "an aggregate: max"),
    (
        DATA.lazy().select(COL("i").cast(pl.Int8, wrap_numerical=True).max()),
        "a cast that wraps around: int64 to int8",
    ),
    (DATA.lazy().select(COL("s").str.slice(COL("n"), 1).max()), "an option that is a column"),
    (
        DATA.lazy().select(COL("s").str.to_integer(base=16, strict=False).max()),
        "str.to_integer of another base",
    ),
    (
        DATA.lazy().select(COL("n").cast(float).rolling_sum(3, weights=[1.0, 0.5, 1.0]).max()),
        "rolling with weights",
    ),
    (DATA.lazy().sort("n").select(COL("i").diff(null_behavior="drop").sum()), "diff that drops rows"),
    (
        DATA.lazy().select(pl.sum_horizontal("i", "j", ignore_nulls=False).max()),
        "sum_horizontal that does not pass",
    ),
    (
        DATA.lazy().select(COL("i").sum().over("k", mapping_strategy="explode").max()),
        "over() with another mapping".replace("()", r"\(\)"),
    ),
    (DATA.lazy().group_by("k").agg(COL("i").sort_by("n").first()), "total order"),
]


@pytest.mark.parametrize("number", range(len(LEFT_TO_POLARS)))
def test_what_is_left_to_polars(number: int) -> None:
    frame, why = LEFT_TO_POLARS[number]
    report = both(frame).report
    assert report.left and re.search(why, "\n".join(report.left)), report
    assert str(report).count("Polars:") == len(report.left)


def test_the_largest_part_below_what_is_left() -> None:
    report = both(GROUPS.with_row_index().select(COL("index").max(), COL("i", "k").sum())).report
    assert report.ran == ["GroupBy of k, i"] and len(report.left) == 1
    assert report.left[0].startswith("MapFunction: with_row_index needs an order")
    assert "headrace: GroupBy of k, i" in str(report)
    assert str(hr.polars_engine().report) == "nothing has run"


def test_a_part_that_does_not_compile_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_arguments: Any, **_options: Any) -> str:
        raise hr.errors.UnsupportedError("not today")

    monkeypatch.setattr(hr.LazyFrame, "explain", refused)
    report = both(GROUPS).report
    assert not report.ran and report.left[0] == "GroupBy: not today"


def test_fused_arithmetic() -> None:
    f, n, i = COL("f"), COL("n").cast(float), COL("i").cast(float)
    for expr in (f * n + i, i + f * n, f * n - i, i - f * n):
        assert both(DATA.lazy().group_by("k").agg(expr.sum())).report.ran


def test_other_versions_of_polars_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polars_engine, "_VERSION", (1, 0))
    assert both(GROUPS).report.left == ["all: plans of version (16, 0), known is (1, 0)"]


def test_options_and_the_streaming_engine() -> None:
    with pytest.raises(hr.errors.UserError, match="no such option: rank"):
        hr.polars_engine(rank=2)
    engine = hr.polars_engine(ranks=2, threads=2)
    rows = GROUPS.collect(post_opt_callback=engine, engine="streaming")
    assert engine.report.ran and sorted(rows["i"].to_list()) == sorted(GROUPS.collect()["i"].to_list())


def test_scans_of_files(tmp_path: Path) -> None:
    DATA.write_parquet(tmp_path / "a.parquet")
    DATA.write_parquet(tmp_path / "b.parquet")
    frame = pl.scan_parquet(tmp_path / "*.parquet").group_by("k").agg(COL("i").sum(), pl.len())
    assert both(frame).report.ran == ["GroupBy of k, i, len"]
    DATA.write_csv(tmp_path / "a.csv")
    assert both(pl.scan_csv(tmp_path / "a.csv").group_by("k").len()).report.left == ["Scan: a scan of csv"]
    some = pl.scan_parquet(tmp_path / "a.parquet", n_rows=3).group_by("k").len()
    assert "a scan with n_rows" in str(both(some).report)
    counted = pl.scan_parquet(tmp_path / "a.parquet", row_index_name="r").group_by("k").agg(COL("r").max())
    assert "a scan with row_index" in str(both(counted).report)


# Random programs


def number(draw: random.Random, depth: int = 0) -> pl.Expr:
    """A random expression of numbers."""
    if depth > 2 or draw.random() < 0.3:
        return draw.choice([COL("i"), COL("j"), COL("f"), COL("n"), pl.lit(draw.randint(-3, 3)), pl.lit(0.5)])
    one, other = number(draw, depth + 1), number(draw, depth + 1)
    return draw.choice(
        [
            lambda: one + other,
            lambda: one - other,
            lambda: one * other,
            lambda: one / other,
            lambda: one // other,
            lambda: one % other,
            lambda: pl.when(truth(draw, depth + 1)).then(one).otherwise(other),
            lambda: pl.coalesce(one, other),
            lambda: one.clip(-2, 5),
            lambda: one.abs(),
            lambda: -one,
            lambda: one.fill_null(1),
            lambda: pl.max_horizontal(one, other),
            lambda: COL("s").str.len_chars().cast(pl.Int64) + one,
            lambda: COL("d").dt.year() + one,
        ]
    )()


def truth(draw: random.Random, depth: int = 0) -> pl.Expr:
    """A random condition."""
    if depth > 2 or draw.random() < 0.2:
        return draw.choice(
            [COL("b"), COL("c"), COL("s") == "a", COL("i").is_null(), COL("s").is_in(["a", "abc"])]
        )
    one, other = number(draw, depth + 1), number(draw, depth + 1)
    return draw.choice(
        [
            lambda: one > other,
            lambda: one <= other,
            lambda: one == other,
            lambda: one.ne_missing(other),
            lambda: truth(draw, depth + 1) & truth(draw, depth + 1),
            lambda: truth(draw, depth + 1) | truth(draw, depth + 1),
            lambda: ~truth(draw, depth + 1),
            lambda: one.is_between(-2, other),
            lambda: one.is_not_null(),
        ]
    )()


def aggregate(draw: random.Random) -> pl.Expr:
    of = COL("n") + number(draw, 1).cast(pl.Float64)
    of = of.filter(truth(draw, 1)) if draw.random() < 0.3 else of
    names = ["sum", "mean", "min", "max", "count", "n_unique", "len", "null_count"]
    return getattr(of, draw.choice(names))()


def program(draw: random.Random) -> pl.LazyFrame:
    """A random program whose rows have no order that counts."""
    frame = DATA.lazy()
    for step in range(draw.randint(1, 4)):
        kind = draw.choice(["filter", "with", "join", "unique", "over", "concat"])
        if kind == "filter":
            frame = frame.filter(truth(draw))
        elif kind == "with":
            frame = frame.with_columns(number(draw).cast(pl.Float64).alias("f"), truth(draw).alias("b"))
        elif kind == "over":
            keys = draw.sample(["k", "b", "s"], draw.randint(1, 2))
            frame = frame.with_columns(aggregate(draw).over(keys).alias(f"w{step}"))
        elif kind == "unique":
            frame = frame.unique()
        elif kind == "concat":
            frame = pl.concat([frame, frame.filter(truth(draw))])
        else:
            other = DATA.lazy().filter(truth(draw)).select("k", "i", COL("n").alias(f"n{step}"))
            on: Any = draw.choice(["k", ["k", "i"]])
            how: Any = draw.choice(["inner", "left", "semi", "anti", "full", "right"])
            frame = frame.join(other, on=on, how=how, nulls_equal=draw.random() < 0.3, coalesce=True)
    keys = draw.choice([["k"], ["b"], ["k", "s"]])
    aggregates = [aggregate(draw).alias(f"a{number}") for number in range(draw.randint(1, 4))]
    return frame.group_by(keys).agg(*aggregates) if draw.random() < 0.8 else frame.select(*aggregates)


@pytest.mark.parametrize("seed", range(int(os.environ.get("HEADRACE_RANDOM_FRAMES", "60"))))
def test_random_programs(seed: int) -> None:
    frame = program(random.Random(seed))
    try:
        frame.collect(post_opt_callback=lambda *_: None)
    except pl.exceptions.PolarsError:
        return  # not a program
    engine = both(frame)
    # Polars knows of some that they have no rows.
    assert engine.report.ran or "a data frame without columns" in str(engine.report), engine.report


_NUMBERS = [
    *(
        "+1",
        "-1",
        "01",
        "1_0",
        "1.0",
        "+",
        "--",
        "--1",
        "-0",
        "+-1",
        "1e3",
        "99999999999999999999",
        "255",
        "256",
    ),
    *(
        "-128",
        "1.",
        "inf",
        "+inf",
        "-inf",
        "INF",
        "Infinity",
        "nan",
        "NaN",
        "-nan",
        ".5",
        "5.",
        "1e",
        "1E5",
        "true",
    ),
    *("1e+5", "0x10", "+1.5", "1e400", "-1e400", "1e-400", "1.5f", "1d", "e5", ".", "-.5", "1.e5"),
]


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt8, pl.Int8, pl.Float64])
def test_texts_are_numbers_as_polars_reads_them(dtype: Any) -> None:
    texts = pl.DataFrame({"s": [*_NUMBERS, "", " 1", "1 ", None]}).lazy()
    assert both(texts.select(COL("s").cast(dtype, strict=False)), order=True).report.ran
    with pytest.raises(hr.HeadraceError, match="cast|number|value"):
        texts.select(COL("s").cast(dtype)).collect(post_opt_callback=hr.polars_engine())


@pytest.mark.parametrize(
    "expression",
    [
        COL("i") ** pl.lit(0),
        COL("i8").fill_null(strategy="mean"),
        COL("f") ** 0.5,
        COL("f").quantile(0.5, "midpoint"),
    ],
    ids=["power-0", "fill-mean", "root", "midpoint"],
)
def test_expressions_that_differed(expression: pl.Expr) -> None:
    frame = pl.DataFrame(
        {
            "i": [None, 0, 3, -7],
            "i8": pl.Series([None, 3, 4, 34], dtype=pl.Int8),
            "f": [float("inf"), float("inf"), float("inf"), 4.0],
        }
    ).lazy()
    both(frame.select(expression), order=True)
    both(frame.with_columns(f=-COL("f")).select(expression), order=True)


_LEFT = pl.LazyFrame({"a": [1, 2, 3, None], "k": [1, 1, 2, 2]})
_RIGHT = pl.LazyFrame({"b": [2, 0, None], "k": [1, 2, 2], "c": [5, 6, 7]})


@pytest.mark.parametrize("how", ["inner", "left", "right", "full"])
@pytest.mark.parametrize(
    "conditions",
    [
        [COL("a") > COL("b")],
        [COL("a") >= COL("b"), COL("a") < COL("c")],
        [COL("a") > COL("b"), COL("k") == COL("k_right")],
        [(COL("a") > COL("b")) | (COL("c") == 5)],
        [COL("k") == COL("k_right"), COL("c") - COL("a") != 4],
    ],
)
def test_joins_by_conditions(how: Any, conditions: list[pl.Expr]) -> None:
    assert both(_LEFT.join_where(_RIGHT, *conditions, how=how), ranks=2).report.ran
    after = _LEFT.join_where(_RIGHT, *conditions, how=how).filter(COL("c") > 5)
    assert both(after).report.ran


def test_columns_without_a_type_are_left() -> None:
    data = pl.LazyFrame({"n": [None, None], "k": [1, 2]})
    engine = both(data.select(COL("n").sum(), x=pl.sum_horizontal("n", COL("n") + 1)))
    assert "a column without a type in an expression" in engine.report.left[0]
    assert both(data.select("n", x=COL("k") + 1)).report.ran
    engine = both(pl.LazyFrame().select(pl.Series("s", [], dtype=pl.Null)))
    assert "a series among the columns" in engine.report.left[0]


@pytest.mark.parametrize(
    "expr",
    [
        COL("n").sum().sum(),
        COL("n").len().sum(),
        pl.len().sum(),
        COL("n").max().implode(),
        (COL("n").max() - COL("n").min()).count(),
        COL("n").filter(COL("n") > 1).min().len(),
    ],
    ids=str,
)
def test_aggregates_of_aggregates_are_left(expr: pl.Expr) -> None:
    data = pl.LazyFrame({"n": [1, 2, None, 4], "k": [1, 1, 2, 2]})
    both(data.select(expr))
    engine = both(data.group_by("k").agg(expr))
    assert "of a value that is no column: it stands for one row, not for all" in engine.report.left[0]


def test_what_is_said_of_an_order_changes_no_row() -> None:
    data = pl.LazyFrame({"n": [1, 2, 4], "k": [1, 1, 2]})
    engine = both(data.set_sorted("n").with_columns(x=COL("n") + 1).filter(COL("k") > 1), order=True)
    assert not engine.report.left, engine.report


def test_a_column_without_a_name() -> None:
    data = pl.LazyFrame({"k": [1, 1, 2], "n": [3, 4, 5]})
    assert both(data.group_by("k").agg(COL("n").sum().alias(""))).report.ran
    assert both(data.group_by("k").len(name="")).report.ran


@pytest.mark.parametrize("pattern", ["(?s)^a.b$", "(?i)^ab", "(?is)B.c", "(?s)^ä.$", "(?i)[^s-u]", "^a.b"])
def test_flags_of_regular_expressions(pattern: str) -> None:
    texts = ["abc", "ABC", "a\nb", "B\nC", "ä\n", "ſ", "\N{KELVIN SIGN}", "", None]
    data = pl.LazyFrame({"s": texts}).with_columns(n=1)
    engine = both(data.select("s", x=COL("s").str.contains(pattern), n=COL("n") + 1))
    assert engine.report.ran and not engine.report.left, engine.report


@pytest.mark.parametrize("pattern", ["(?i)ΐ", "(?m)^a", "(?im)a"])
def test_other_flags_of_regular_expressions_are_left(pattern: str) -> None:
    engine = both(pl.LazyFrame({"s": ["ΐ", "a"]}).select("s", x=COL("s").str.contains(pattern)))
    assert "unsupported in a regular expression: (?" in engine.report.left[0]
