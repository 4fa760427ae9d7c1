"""Variances and standard deviations where the values differ little beside their mean, against exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import headrace as hr

FUNCTIONS: dict[str, Callable[[list[float]], float]] = {
    "var_pop": lambda values: _variance(values, sample=False),
    "var_samp": lambda values: _variance(values, sample=True),
    "stddev_pop": lambda values: _variance(values, sample=False) ** 0.5,
    "stddev_samp": lambda values: _variance(values, sample=True) ** 0.5,
}


def _variance(values: list[float], *, sample: bool) -> float:
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    return float(sum((value - mean) ** 2 for value in exact) / (len(exact) - sample))


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(("mean", "tolerance"), [(0.0, 1e-12), (1e3, 1e-12), (1e8, 1e-8), (1e10, 1e-4)])
def test_small_spread_beside_the_mean(mean: float, tolerance: float, ranks: int) -> None:
    random = np.random.default_rng(5)
    groups = random.integers(0, 7, 5_000)
    values = mean + random.normal(0, 1e-3, 5_000)
    table = pa.table({"k": groups, "x": values})
    asked = ", ".join(f"{function}(x) as {function}" for function in FUNCTIONS)
    got = hr.sql(f"select k, {asked} from t group by k order by k", {"t": table}, ranks=ranks).to_pylist()
    for row in got:
        own = values[groups == row["k"]].tolist()
        for function, expected in FUNCTIONS.items():
            assert row[function] == pytest.approx(expected(own), rel=tolerance), (row["k"], function)
    whole = hr.sql(f"select {asked} from t", {"t": table}, ranks=ranks).to_pylist()[0]
    for function, expected in FUNCTIONS.items():
        assert whole[function] == pytest.approx(expected(values.tolist()), rel=tolerance)


def test_equal_values_have_none() -> None:
    table = pa.table({"x": [0.1] * 1_000, "i": [2**62] * 1_000})
    got = hr.sql("select stddev_pop(x) a, var_samp(x) b, stddev_samp(i) c from t", {"t": table}).to_pylist()
    assert got == [{"a": 0.0, "b": 0.0, "c": 0.0}]


@pytest.mark.parametrize("ranks", [1, 2])
def test_other_types_and_nulls_against_duckdb(tmp_path: Path, ranks: int) -> None:
    random = np.random.default_rng(6)
    numbers = random.integers(1_700_000_000, 1_700_000_100, 3_000)
    table = pa.table(
        {
            "k": random.integers(0, 5, 3_000),
            "i": pa.array(numbers, mask=random.random(3_000) < 0.3),
            "d": pa.array(numbers).cast(pa.decimal128(20, 0)).cast(pa.decimal128(24, 2)),
            "f": pa.array(numbers.astype(np.float32)),
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    text = (
        "select k, stddev(i) a, var_pop(d) b, var_samp(f) c, stddev(i) filter (where i % 2 = 0) e, "
        "sum(distinct i) g from t group by k order by k"
    )
    expected = duckdb.sql(text.replace("from t", f"from '{tmp_path}/t.parquet'")).to_arrow_table()
    got = hr.sql(text, str(tmp_path), ranks=ranks)
    assert got.schema.types == expected.schema.types
    for ours, theirs in zip(got.to_pylist(), expected.to_pylist(), strict=True):
        for name, value in theirs.items():  # DuckDB's running mean loses half of the digits
            assert float(ours[name]) == pytest.approx(float(value), rel=1e-7), name
