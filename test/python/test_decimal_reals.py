"""Decimals as doubles: the nearest, however many digits they have."""

from __future__ import annotations

import random
from decimal import Context, Decimal

import headrace as hr
import pyarrow as pa
import pytest


def _decimals(digits: int, scale: int) -> list[Decimal]:
    draw = random.Random(100 * digits + scale)
    limits = [10 ** draw.randint(1, digits) for _ in range(500)]
    values = [draw.randrange(-limit + 1, limit) for limit in limits]
    values += [0, 1, -1, 10**digits - 1, 1 - 10**digits, min(2**53 + 1, 10**digits - 1)]
    return [Decimal(value).scaleb(-scale, Context(prec=40)) for value in values]


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize(
    ("digits", "scale"),
    [(15, 2), (18, 2), (18, 17), (19, 4), (30, 10), (38, 2), (38, 22), (38, 23), (38, 30), (38, 38)],
)
def test_columns_and_lists(digits: int, scale: int, ranks: int) -> None:
    values = _decimals(digits, scale)
    column = pa.array([*values, None], pa.decimal128(digits, scale))
    query = "select x::double as r, [x]::double[] as l from t order by r nulls last"
    found = hr.sql(query, {"t": pa.table({"x": column})}, ranks=ranks).to_pylist()
    wanted = [{"r": real, "l": [real]} for real in sorted(map(float, values))]
    assert found == [*wanted, {"r": None, "l": [None]}]


def test_constants() -> None:
    texts = ("0.41000000000000003", "0.9999999999999999", "99999999999999999999.99999", "0.1", "-7")
    query = ", ".join(f"{text}::double as c{index}" for index, text in enumerate(texts))
    assert list(hr.sql(f"select {query}").to_pylist()[0].values()) == [float(text) for text in texts]
