"""Every function of the table of functions of numbers beside DuckDB: extremes, NaN, NULL, 1 to 3 ranks."""

from __future__ import annotations

import math

import duckdb
import headrace as hr
import pyarrow as pa
import pytest
from dev.math_functions import MathFunction, table
from duckdb_oracle import check, same

_EXTREMES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.5,
    3.7,
    1e-320,
    1e308,
    -1e308,
    710.0,
    -750.0,
    math.pi,
    float("inf"),
    float("-inf"),
    float("nan"),
    None,
]
_PAIRS = [(a, b) for a in _EXTREMES for b in (0.0, -1.0, 0.5, 3.0, float("inf"), float("nan"), None)]
_NUMBERS = pa.table(
    {
        "id": pa.array(range(len(_PAIRS)), pa.int64()),
        "x": pa.array([a for a, _ in _PAIRS], pa.float64()),
        "y": pa.array([b for _, b in _PAIRS], pa.float64()),
        "f": pa.array([a for a, _ in _PAIRS], pa.float64()).cast(pa.float32(), safe=False),
        "i": pa.array([(i * 37) % 101 - 50 if i % 7 else None for i in range(len(_PAIRS))], pa.int64()),
        "d": pa.array([None if i % 5 == 0 else i - 60 for i in range(len(_PAIRS))], pa.int64()).cast(
            pa.decimal128(19, 0)
        ),
    }
)
_FUNCTIONS = [function for function in table() if function.duckdb and not function.integers]
#: But for one that is an error of every second pair, which the matrix of types has.
_OF_INTEGERS = [
    function
    for function in table()
    if function.duckdb and function.integers and function.name != "left_shift"
]
_WHOLE = [0, 1, -1, 2, -2, 12, -18, 97, 2**31 - 1, -(2**31), None]
_INTEGERS = pa.table(
    {
        "id": pa.array(range(len(_WHOLE) ** 2), pa.int64()),
        "a": pa.array([a for a in _WHOLE for _ in _WHOLE], pa.int32()),
        "b": pa.array([b for _ in _WHOLE for b in _WHOLE], pa.int64()),
        "c": pa.array([b for _ in _WHOLE for b in _WHOLE], pa.int32()),
    }
)


def _calls(function: MathFunction) -> list[str]:
    """The function by each of its names, of columns of all types of numbers."""
    second = ["y"] if function.arguments == 2 else []
    by_name = [function.call("x", *second, name=name) for name in function.duckdb]
    return by_name + [function.call(column, *second) for column in ("f", "i", "d")]


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_integers(ranks: int) -> None:
    calls = [
        function.call(*arguments[: function.arguments], name=name)
        for function in _OF_INTEGERS
        for name in function.duckdb
        for arguments in (("a", "c"), ("a", "b"), ("b", "6"), ("-4", "a"))
    ]
    listed = ", ".join(f"{call} as c{index}" for index, call in enumerate(calls))
    check(f"select id, {listed} from t", {"t": _INTEGERS}, ranks=ranks)
    check(
        "select a & 3 as k, count(*) n, bit_xor(gcd(a, b)) x from t where lcm(a, 3) > 5 group by k",
        {"t": _INTEGERS},
        ranks=ranks,
    )


def test_constant_integers() -> None:
    calls = [
        function.call(*[x, y][: function.arguments])
        for function in _OF_INTEGERS
        for x, y in [("12", "18"), ("(-9223372036854775807 - 1)", "6"), ("0", "0"), ("null::bigint", "1")]
    ]
    calls = [call for call in calls if "lcm((-9" not in call]
    check("select " + ", ".join(f"{call} as c{index}" for index, call in enumerate(calls)), {})


@pytest.mark.parametrize("call", ["lcm(b, 9223372036854775807)", "gcd(b - 9223372036854775807 - 1, 0)"])
def test_integers_that_no_64_bits_hold(call: str) -> None:
    """Only of the rows that ask for them."""
    tables = {"t": pa.table({"b": pa.array([2, 0, 0], pa.int64())})}
    with pytest.raises(hr.errors.HeadraceError, match="out of range|overflow"):
        hr.sql(f"select {call} from t", tables)
    found = hr.sql(f"select case when b > 2 then {call} else 1 end as x from t", tables)
    assert found["x"].to_pylist() == [1, 1, 1]


def _compare(query: str, ranks: int = 1) -> None:
    connection = duckdb.connect()
    connection.register("t", _NUMBERS)
    same(hr.sql(query, {"t": _NUMBERS}, ranks=ranks), connection.sql(query).to_arrow_table())


def test_numbers_and_names_are_used_once() -> None:
    functions = table()
    assert len({function.number for function in functions}) == len(functions)
    assert len({function.name for function in functions}) == len(functions)
    calls = [(name, function.arguments) for function in functions for name in function.duckdb]
    assert len(set(calls)) == len(calls)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_columns(ranks: int) -> None:
    calls = [call for function in _FUNCTIONS for call in _calls(function)]
    listed = ", ".join(f"{call} as c{index}" for index, call in enumerate(calls))
    _compare(f"select id, {listed} from t", ranks)


def test_constants() -> None:
    """What is computed by the compiler is what a kernel computes."""
    values = ["0::double", "0.5", "-2.5", "710", "'inf'::double", "'nan'::double", "null::double"]
    calls = [
        function.call(*[value, "3"][: function.arguments]) for function in _FUNCTIONS for value in values
    ]
    _compare("select " + ", ".join(f"{call} as c{index}" for index, call in enumerate(calls)))


@pytest.mark.parametrize("ranks", [1, 3])
def test_conditions_and_groups(ranks: int) -> None:
    _compare(
        "select sign(i) s, isnan(x) n, count(*) c, sum(power(i, 2)) p from t"
        " where exp(d) < 5 or isinf(ln(abs(x))) group by all",
        ranks,
    )


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("where", ["true", "false"])
def test_count_if(where: str, ranks: int) -> None:
    _compare(
        f"select count_if(i > 0) a, countif(x is null) filter (where i < 9) b from t where {where}", ranks
    )
    _compare(f"select i % 3 k, count_if(x > 0) n from t where {where} group by all", ranks)
    conditions = [
        "i > 0 and x > 0",
        "i > 0 or x is null",
        "i in (1, 2)",
        "i between 1 and 9",
        "i = any([1, 2])",
    ]
    counts = [f"count_if({c}) a{i}, sum({c}) b{i}" for i, c in enumerate(conditions)]
    _compare(f"select i % 3 k, {', '.join(counts)} from t where {where} group by all", ranks)
    over = [f"count_if({c}) over (partition by i % 3) a{i}" for i, c in enumerate(conditions)]
    _compare(f"select i, {', '.join(over)} from t where {where}", ranks)


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_next_float_is_one_of_floats(ranks: int) -> None:
    check("select id, nextafter(f, 1::float) as a, nextafter(f, f) as b from n", {"n": _NUMBERS}, ranks=ranks)
    query = "select id, nextafter(f, 1000::float) > f as a from n where abs(f) < 1000"
    check(query, {"n": _NUMBERS}, ranks=ranks)
