"""Functions of texts without a value, as conditions and as keys; the matrix of types has the rest."""

from __future__ import annotations

import headrace as hr
import pyarrow as pa
import pytest
from dev.text_functions import table
from duckdb_oracle import check

_WORDS = pa.table(
    {"a": ["kůň", "", "koala", None, "a b a", "𝄞x"], "n": pa.array([1, 0, -2, 3, 8, 2], pa.int32())}
)


def test_numbers_and_names_are_used_once() -> None:
    functions = table()
    assert [function.number for function in functions] == list(range(len(functions)))
    assert len({function.name for function in functions}) == len(functions)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_conditions_and_keys(ranks: int) -> None:
    check(
        "select reverse(a) k, count(*) n, sum(length(a)) s, max(upper(a)) m from t"
        " where length(a) < 5 or a = '' group by all",
        {"t": _WORDS},
        ranks=ranks,
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("lpad(a, 9, '')", "insufficient padding in lpad"),
        ("rpad(a, 9, '')", "insufficient padding in rpad"),
        ("chr(n - 9)", "invalid code point in chr"),
        ("repeat(a, 100000000000)", "a string of more than 4 GiB"),
    ],
)
def test_without_a_value(call: str, message: str) -> None:
    """An error, but only of rows that ask for it."""
    with pytest.raises(hr.errors.HeadraceError, match=message):
        hr.sql(f"select {call} from t", {"t": _WORDS})
    found = hr.sql(f"select case when n > 9 then {call} else 'x' end as x from t", {"t": _WORDS})
    assert found["x"].to_pylist() == ["x"] * _WORDS.num_rows
