"""What can fail fails only in rows that ask for it: in CASE, AND, OR, COALESCE, one inside another."""

from __future__ import annotations

import headrace as hr
import pyarrow as pa
import pytest

#: 0 and NULL among divisors, texts that are no numbers, products that leave 64 and 128 bits.
T = pa.table(
    {
        "a": pa.array([0, 1, 2, None, 0, 5], pa.int64()),
        "b": pa.array([1, 0, 3, 0, None, 2], pa.int64()),
        "s": ["1", "x", "3", "y", "5", None],
        "w": pa.array([2**62, 3, 2**62, 1, -(2**62), 1], pa.int64()),
    }
)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A condition is evaluated only where no earlier one was true.
        ("case when a = 0 then 0 when 10 % a > 0 then 1 else 2 end", [0, 2, 2, 2, 0, 2]),
        (
            "case when a = 0 or a is null then -1 when 10 % a = 0 then 10 % a else 9 end",
            [-1, 0, 0, -1, -1, 0],
        ),
        (
            "case when a is null then -1 when a = 0 then -2 when 7 % a = 1 then 1 end",
            [-2, None, 1, -1, -2, None],
        ),
        # One expression in several branches, and in a condition and its value.
        ("case when a > 1 then 10 % a when a = 1 then 10 % a + 1 else 0 end", [0, 1, 0, 0, 0, 0]),
        ("case when a <> 0 and 11 % a > 0 then 11 % a else -1 end", [-1, -1, 1, -1, -1, 1]),
        ("case when a = 0 or 11 % a = 0 then 0 else 11 % a end", [0, 0, 1, None, 0, 1]),
        # Inside of other CASEs, on both sides.
        (
            "case when a > 0 then case when b > 0 then a % b else b end "
            "else case when b > 0 then b else -5 end end",
            [1, 0, 2, -5, -5, 1],
        ),
        ("case when (case when a = 0 then 1 else 10 % a end) = 1 then 1 else 0 end", [1, 0, 0, 0, 1, 0]),
        # Operands after the one that decides.
        ("a <> 0 and 10 % a = 0", [False, True, True, None, False, True]),
        ("a = 0 or 10 % a = 0", [True, True, True, None, True, True]),
        ("not (a = 0 or 10 % a = 0)", [False, False, False, None, False, False]),
        ("coalesce(case when a <> 0 then 10 % a end, a, 7 % (b - 1) + a)", [0, 0, 0, None, 0, 0]),
        # What fails by itself: casts of text, 64 and 128 bits.
        ("case when s in ('x', 'y') then -1 else cast(s as int) end", [1, -1, 3, -1, 5, None]),
        ("case when w > 100 then 0 when w < -100 then -1 else w * w end", [0, 9, 0, 1, -1, 1]),
        ("case when abs(w) > 100 then 0 else w * w * w * w * w end", [0, 243, 0, 1, 0, 1]),
    ],
)
def test_guarded(text: str, expected: list, ranks: int) -> None:
    found = hr.sql(f"select {text} as x from t", {"t": T}, ranks=ranks).column("x").to_pylist()
    assert found == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("case when a = 1 then 0 when 10 % a > 0 then 1 end", "division by zero"),
        ("case when a <> 0 then 0 else 10 % a end", "division by zero"),
        ("a is not null and 10 % a = 0", "division by zero"),
        ("coalesce(a, 7 % b)", "division by zero"),
        ("case when w < 100 then 0 else w * w end", "number out of range"),
        ("case when s = 'x' then 0 else cast(s as int) end", "value cannot be cast"),
    ],
)
def test_a_row_that_asks_fails(text: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message) as error:
        hr.sql(f"select {text} as x from t", {"t": T})
    assert error.value.kind == "data"
