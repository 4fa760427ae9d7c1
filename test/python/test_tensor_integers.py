"""Integers of tensors: they wrap around as NumPy's, floats saturate, rows of queries fit or fail."""

from __future__ import annotations

from decimal import Decimal

import headrace as hr
import numpy as np
import pyarrow as pa
import pytest
from headrace import array as xp

LEAST, GREATEST = -(2**63), 2**63 - 1
WHOLE = np.array([LEAST, LEAST + 1, -(2**62), -1, 0, 1, 3, 2**32 + 1, 2**62, GREATEST])


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("count", [1, 3, 10, 37])
def test_integers_wrap_around(ranks: int, count: int) -> None:
    x, y = np.resize(WHOLE, count), np.resize(WHOLE[::-1], count)
    matrix = np.resize(WHOLE, (count, 3))

    @hr.jit(ranks=ranks, threads=2)
    def wrapping(x: xp.Array, y: xp.Array, m: xp.Array) -> tuple[xp.Array, ...]:
        return (
            x + y,
            x - y,
            x * y,
            -x,
            xp.abs(x),
            xp.square(x),
            xp.sum(x * x),
            x @ y,
            m.T @ m,
            xp.sum(m, axis=0),
        )

    with np.errstate(over="ignore"):
        wanted = (
            x + y,
            x - y,
            x * y,
            -x,
            abs(x),
            x * x,
            (x * x).sum(),
            x @ y,
            matrix.T @ matrix,
            matrix.sum(axis=0),
        )
    for got, value in zip(wrapping(x, y, matrix), wanted, strict=True):
        np.testing.assert_array_equal(got, value)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [1, 5, 8, 53])
def test_floats_become_the_nearest_integers_toward_zero(ranks: int, dtype: str, count: int) -> None:
    pairs = [
        (np.nan, 0),
        (np.inf, GREATEST),
        (-np.inf, LEAST),
        (2.0**63, GREATEST),
        (-(2.0**63), LEAST),
        (-(2.0**64), LEAST),
        (2.0**62, 2**62),
        (-0.0, 0),
        (0.75, 0),
        (-1.75, -1),
        (1e30, GREATEST),
        (1e-40, 0),
        (-7.0, -7),
    ]
    values = [pairs[i % len(pairs)] for i in range(count)]
    x = np.array([value for value, _ in values], dtype)
    convert = hr.jit(ranks=ranks, threads=2)(lambda x: xp.astype(x, "i64"))
    np.testing.assert_array_equal(convert(x), [whole for _, whole in values])
    # As part of a longer kernel, and of a reduction.
    total = hr.jit(ranks=ranks, threads=2)(lambda x: xp.max(xp.astype(x + 0.0, "i64") * 1))
    assert total(x) == max(whole for _, whole in values)


def test_integers_become_the_nearest_floats() -> None:
    x = np.array([2**53 + 1, 2**53 + 3, GREATEST, LEAST, 2**24 + 1])
    single, double = hr.jit(ranks=2, threads=1)(lambda x: (xp.astype(x, "f32"), xp.astype(x, "f64")))(x)
    np.testing.assert_array_equal(single, x.astype("float32"))
    np.testing.assert_array_equal(double, x.astype("float64"))


@pytest.mark.parametrize("ranks", [1, 2])
def test_whole_numbers_of_a_query(ranks: int) -> None:
    table = pa.table(
        {
            "a": pa.array([1, -2, 3], pa.int32()),
            "b": pa.array([Decimal(10) ** 18, Decimal(-5), Decimal(0)], pa.decimal128(20, 0)),
            "c": pa.array([Decimal("1.50"), Decimal("-0.25"), Decimal(0)], pa.decimal128(9, 2)),
            "d": pa.array([0.5, 1.5, 2.5]),
            "e": pa.array([Decimal(2**63), Decimal(0), Decimal(1)], pa.decimal128(20, 0)),
        }
    )

    def rows(columns: list[str], dtype: str) -> object:
        query = hr.query("select a, b, c, d, e from t order by a", {"t": table})
        return hr.jit(ranks=ranks, threads=2)(lambda x: x + 0)(query.to_tensor(columns, dtype=dtype))

    np.testing.assert_array_equal(rows(["a", "b"], "i64"), [[-2, -5], [1, 10**18], [3, 0]])
    np.testing.assert_array_equal(rows(["a", "c"], "f64"), [[-2, -0.25], [1, 1.5], [3, 0]])
    with pytest.raises(hr.HeadraceError, match="does not fit an element of i64") as caught:
        rows(["e"], "i64")
    assert caught.value.kind == "data"
    for column in ("c", "d"):
        with pytest.raises(hr.HeadraceError, match="a tensor of i64 needs whole numbers; cast the column: "):
            rows([column], "i64")
