"""Frames beside Polars: the same program is run by both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import headrace as hr
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
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
    Program,
)

#: Types of ours for those of Polars: what is counted is a number of 64 bits.
TYPES = {pl.UInt32: pl.Int64}


def beside(
    program: Program, *, order: bool = False, data: pl.DataFrame = DATA, ranks: int = 2
) -> pl.DataFrame:
    """Runs a program with both; the same rows, of the same types."""
    expected = program(pl, data.lazy()).collect()
    frame = program(hr, hr.from_arrow(data.to_arrow()))
    got = frame.to_polars(ranks=ranks)
    assert frame.columns == got.columns == expected.columns
    wanted = {
        name: pl.Decimal(38, kind.scale)
        if isinstance(kind, pl.Decimal)
        else kind
        if kind == got.schema[name]
        else TYPES.get(kind, kind)
        for name, kind in expected.schema.items()
    }
    shown = {
        name: pl.Decimal(38, kind.scale) if isinstance(kind, pl.Decimal) else kind
        for name, kind in got.schema.items()
    }
    assert shown == wanted
    expected, got = expected.cast(wanted), got.cast(wanted)
    if not order:
        names = [name for name in expected.columns if wanted[name] not in (pl.Float64, pl.Float32)]
        names += [name for name in expected.columns if name not in names]
        expected, got = (each.sort(names, nulls_last=True) for each in (expected, got))
    for name in expected.columns:
        pairs = list(zip(got[name].to_list(), expected[name].to_list(), strict=True))
        assert all(same(one, other) for one, other in pairs), (name, pairs)
    return got


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=1e-6, abs=1e-12, nan_ok=True)
    return bool(one == other)


def numbered(exprs: list[Any]) -> list[Any]:
    return [expr.alias(f"e{number}") for number, expr in enumerate(exprs)]


@pytest.mark.parametrize("name", ROWS)
def test_expressions_of_rows(name: str) -> None:
    beside(lambda m, a: a.select("n", *numbered(ROWS[name](m, m.col))))


@pytest.mark.parametrize("name", ROWS_OF_MORE)
def test_expressions_of_more_rows(name: str) -> None:
    program: Program = lambda m, a: a.select("n", *numbered(ROWS_OF_MORE[name](m, m.col)))  # noqa: E731
    beside(program, data=MORE, order=True)
    beside(program, data=MORE.head(0), order=True)


def test_lists_of_groups() -> None:
    program: Program = lambda m, a: a.group_by("k").agg(numbered(OF_GROUPS(m, m.col)))  # noqa: E731
    for ranks in (1, 3):
        beside(program, data=MORE, ranks=ranks)
    beside(program, data=MORE.head(0))


def test_expressions_of_groups() -> None:
    beside(lambda m, a: a.group_by("k").agg(numbered(ROWS["aggregates"](m, m.col))))
    beside(
        lambda m, a: a.group_by(m.col("n") % 3, z=m.col("i") > 2).agg(numbered(ROWS["aggregates"](m, m.col)))
    )


def test_aggregates_alone_are_one_row() -> None:
    assert len(beside(lambda m, a: a.select(numbered(ROWS["aggregates"](m, m.col))))) == 1
    assert (
        len(beside(lambda m, a: a.filter(m.col("n") > 9).select(numbered(ROWS["aggregates"](m, m.col))))) == 1
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    beside(PROGRAMS[name])


@pytest.mark.parametrize("name", ORDERED)
def test_programs_with_an_order(name: str) -> None:
    beside(ORDERED[name], order=True)


@pytest.mark.parametrize("name", ORDERED_OF_MORE)
def test_programs_of_more_with_an_order(name: str) -> None:
    beside(ORDERED_OF_MORE[name], order=True, data=MORE)


@pytest.mark.parametrize("how", ["inner", "left", "right", "full"])
def test_joins_that_keep_an_order(how: str) -> None:
    def program(order: str) -> Program:
        def made(m: Any, a: Any) -> Any:
            other = a.reverse().select("k", z=m.col("n")).head(6)
            return a.select("k", "i", "n").join(other, on="k", how=how, maintain_order=order)

        return made

    for order in ("left", "right", "left_right", "right_left"):
        beside(program(order), order=True)


#: Rows with times, of which some are equal.
TIMES = [
    pl.DataFrame({"t": [1, 5, 10, 5, 8, -4], "g": ["a", "a", "b", None, "b", "a"], "v": range(6)}),
    pl.DataFrame({"t": [2, 2, 5, 7, 12, 0], "g": ["a", "a", "a", "b", "b", "b"], "w": range(6)}),
]
AS_OF: list[dict[str, Any]] = [
    {},
    {"strategy": "forward"},
    {"strategy": "nearest"},
    {"by": "g"},
    {"by": "g", "strategy": "forward", "tolerance": 3},
    {"by": "g", "strategy": "nearest"},
    {"tolerance": 1},
    {"tolerance": 2, "strategy": "nearest"},
    {"allow_exact_matches": False},
    {"allow_exact_matches": False, "strategy": "forward"},
    {"coalesce": False},
]


@pytest.mark.parametrize("number", range(len(AS_OF)))
@pytest.mark.parametrize("kind", ["integers", "floats", "dates"])
@pytest.mark.filterwarnings("ignore:Sortedness")
def test_asof_joins(number: int, kind: str) -> None:
    keys = {
        "integers": pl.col("t"),
        "floats": pl.col("t") * 1.0,
        "dates": (pl.col("t") + 100).cast(pl.Int32).cast(pl.Date),
    }
    tables = [each.with_columns(keys[kind]).sort("t", maintain_order=True) for each in TIMES]
    options = dict(AS_OF[number])
    if kind == "dates" and "tolerance" in options:
        options["tolerance"] = f"{options['tolerance']}d"

    def program(m: Any, _a: Any) -> Any:
        left, right = (each.lazy() if m is pl else hr.from_arrow(each.to_arrow()) for each in tables)
        return left.join_asof(right, on="t", **options)

    beside(program, order=True)


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
def test_joins(how: str) -> None:
    def other(m: Any, a: Any) -> Any:
        return a.select("k", m.col("n").alias("i"), m.col("i").alias("z")).filter(m.col("i") > 2)

    def program(**options: Any) -> Program:
        return lambda m, a: a.select("k", "i", "n").join(other(m, a), how=how, **options)

    beside(program(on="k"))
    beside(program(on=["k", "i"], nulls_equal=True))
    beside(program(left_on="n", right_on="i", suffix="_r"))
    beside(lambda m, a: a.select("k", "i").join(other(m, a), left_on=m.col("i") + 1, right_on="i", how=how))
    beside(
        lambda m, a: a.select("f", "n").join(
            a.select("g", "s"), left_on="f", right_on=m.col("g").cast(float), how=how
        )
    )
    if how not in ("semi", "anti"):
        beside(program(on="k", coalesce=how == "full"))


def test_cross_joins() -> None:
    beside(lambda m, a: a.select("n", "s").join(a.select("n", "i"), how="cross"))


def test_files_and_sinks(tmp_path: Path) -> None:
    for number in range(2):
        DATA.slice(number * 4, 4).write_parquet(tmp_path / f"part{number}.parquet")
    for source in (tmp_path / "*.parquet", [tmp_path / "part0.parquet", tmp_path / "part1.parquet"]):
        frame = hr.scan_parquet(source)
        assert frame.schema.names == DATA.columns
        assert frame.select(hr.len()).collect().to_pydict() == {"len": [8]}
    sums = frame.with_columns(I=hr.col("i") * 2).select("i", "I").filter(hr.col("i") > 0)
    sums.sink_parquet(tmp_path / "out.parquet", ranks=2)
    assert parquet.read_table(tmp_path / "out.parquet").sort_by("i").to_pydict() == {
        "i": [2, 3, 5, 5],
        "I": [4, 6, 10, 10],
    }
    sums.sort("i").sink_csv(tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text().splitlines()[:2] == ["i,I", "2,4"]
    sums.sort("i").sink_ipc(tmp_path / "out.arrow")
    assert pa.ipc.open_file(tmp_path / "out.arrow").read_all().num_rows == 4
    (tmp_path / "with space.parquet").write_bytes((tmp_path / "part0.parquet").read_bytes())
    assert hr.scan_parquet(tmp_path / "with space.parquet").head(2).collect().num_rows == 2
    assert "scan part0" in hr.scan_parquet(tmp_path / "part0.parquet").select("i").explain()


def test_what_comes_of_a_frame() -> None:
    frame = hr.from_arrow(DATA.to_arrow()).select("i", "s")
    assert frame.columns == ["i", "s"] and frame.collect_schema() == pa.schema(
        {"i": pa.int64(), "s": pa.string()}
    )
    assert pl.DataFrame(frame).shape == (8, 2)
    assert "<td>" in frame._repr_html_()
    assert repr(frame).startswith("LazyFrame of select, test_frames.py:")
    assert frame.profile().run
    assert hr.connect({"f": frame}).sql("select count(*) as n from f").arrow().to_pydict() == {"n": [8]}
    assert "aggregate" in frame.group_by("i").len().explain(ranks=2)
    assert frame.sql().count("select") == 3


def test_functions_of_batches() -> None:
    def doubled(batch: pa.RecordBatch) -> pa.RecordBatch:
        return pa.record_batch(
            {"i": batch["i"], "twice": [(value or 0) * 2 for value in batch["i"].to_pylist()]}
        )

    frame = hr.from_arrow(DATA.to_arrow()).filter(hr.col("i") > 0)
    schema = pa.schema({"i": pa.int64(), "twice": pa.int64()})
    mapped = frame.map_batches(doubled, schema)
    assert mapped.columns == ["i", "twice"]
    assert mapped.filter(hr.col("i") > 2).select(hr.col("twice").sum()).collect().to_pydict() == {
        "twice": [26]
    }
    assert frame.map_batches(lambda batch: batch.slice(0, 0)).select(hr.len()).collect().to_pydict() == {
        "len": [0]
    }
    with pytest.raises(hr.errors.UserError, match="^map_batches gave other columns than its schema"):
        frame.map_batches(doubled).collect()
    with pytest.raises(ValueError, match="^not today$"):
        frame.map_batches(fails).filter(hr.col("i") > 2).collect()
    with pytest.raises(hr.errors.UnsupportedError, match="frames have no columns of this type"):
        frame.map_batches(doubled, pa.schema({"i": pa.float16()}))


def fails(_batch: pa.RecordBatch) -> pa.RecordBatch:
    raise ValueError("not today")


def test_functions_of_batches_in_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headrace._src.frame.batch_functions.current", object)
    with pytest.raises(Exception, match="map_batches runs in one process, not in a cluster"):
        hr.from_arrow(DATA.to_arrow()).map_batches(lambda batch: batch).collect()


def test_long_chains() -> None:
    frame = hr.from_arrow(DATA.to_arrow()).select("n")
    for _ in range(60):
        frame = frame.with_columns(n=hr.col("n") + 1)
    assert sum(frame.collect()["n"].to_pylist()) == 36 + 8 * 60


@pytest.mark.parametrize("rows", [0, 1, 3, 7])
def test_slices_that_begin_before_the_first_row(rows: int) -> None:
    frame = pl.DataFrame({"id": range(rows)})
    for offset in (-8, -4, -3, -2, -1, 0, 2):
        for length in (None, 0, 1, 2, 5):
            found = hr.from_arrow(frame.to_arrow()).slice(offset, length).collect()["id"].to_pylist()
            assert found == frame.slice(offset, length)["id"].to_list(), (offset, length)


def test_explode_keeps_lists_together_where_rows_are_equal_in_the_order() -> None:
    frame = pl.DataFrame(
        {"k": [i % 3 for i in range(60)], "l": [[4 * i + j for j in range(4)] for i in range(60)]}
    )
    for ranks in (1, 2):
        rows = hr.from_arrow(frame.to_arrow()).sort("k").explode("l").collect(ranks=ranks).to_pylist()
        assert [row["k"] for row in rows] == sorted(row["k"] for row in rows)
        lists = [[row["l"] for row in rows[at : at + 4]] for at in range(0, len(rows), 4)]
        assert sorted(lists) == frame["l"].to_list()
