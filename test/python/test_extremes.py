"""min and max of every type, NULLs, NaN and booleans among them, equal DuckDB's on any number of ranks."""

from __future__ import annotations

import datetime
import decimal
import itertools
import math

import duckdb
import headrace as hr
import pyarrow as pa
import pytest

NAN, INF = math.nan, math.inf
#: Values from least to greatest, as semantics.md orders them.
DOMAINS: dict[str, tuple[pa.DataType, list]] = {
    "bool": (pa.bool_(), [False, True]),
    "i8": (pa.int8(), [-128, 0, 127]),
    "i16": (pa.int16(), [-32768, -1, 32767]),
    "i32": (pa.int32(), [-(2**31), 1, 2**31 - 1]),
    "i64": (pa.int64(), [-(2**63), 0, 2**63 - 1]),
    "decimal": (
        pa.decimal128(38, 2),
        [decimal.Decimal(text) for text in (f"-{'9' * 36}.99", "0.01", "9" * 36)],
    ),
    "f32": (pa.float32(), [-INF, -1.5, 0.0, INF, NAN]),
    "f64": (pa.float64(), [-INF, -1e300, 0.0, INF, NAN]),
    "date": (pa.date32(), [datetime.date(1, 1, 1), datetime.date(1970, 1, 1), datetime.date(9999, 12, 31)]),
    "string": (pa.string(), ["", "a", "a much longer text than fits into a view", "é"]),
}


def _groups(values: list) -> list[list]:
    """All small multisets, with and without NULL, and the empty one."""
    groups = [[]]
    for size in (1, 2, 3):
        groups += [list(group) for group in itertools.combinations_with_replacement([*values, None], size)]
    return groups


def _same(a: object, b: object) -> bool:
    both_nan = isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b)
    return both_nan or a == b


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("domain", DOMAINS)
def test_extremes_of_groups(domain: str, ranks: int) -> None:
    kind, values = DOMAINS[domain]
    rows = [(key, value) for key, group in enumerate(_groups(values)) for value in group]
    # Far apart, so that every rank has a part of each group.
    rows = rows[::2] + rows[1::2]
    t = pa.table({"k": [key for key, _ in rows], "v": pa.array([value for _, value in rows], kind)})
    text = "select k, min(v) as low, max(v) as high from t group by k order by k"
    expected = duckdb.sql(text).fetchall()
    result = hr.sql(text, {"t": t}, ranks=ranks).to_pydict()
    for (key, low, high), *found in zip(expected, result["k"], result["low"], result["high"], strict=True):
        assert found[0] == key
        assert _same(found[1], low), f"min of group {key}: {found[1]}, not {low}"
        assert _same(found[2], high), f"max of group {key}: {found[2]}, not {high}"


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("domain", DOMAINS)
def test_extremes_of_all(domain: str, ranks: int) -> None:
    kind, values = DOMAINS[domain]
    for group in (values, values[::-1], [None, *values], [None, None], [], [values[-1]] * 4, [values[0]] * 4):
        t = pa.table({"v": pa.array(group, kind)})
        text = "select min(v) as low, max(v) as high from t"
        ((low, high),) = duckdb.sql(text).fetchall()
        (row,) = hr.sql(text, {"t": t}, ranks=ranks).to_pylist()
        assert _same(row["low"], low) and _same(row["high"], high), f"{group}: {row}, not {low}, {high}"
        del t


@pytest.mark.parametrize("value", ["inf", "-inf", "nan"])
@pytest.mark.parametrize(
    "condition", ["v > 1e-20", "v < 1e-20", "v between -1 and 1", "v = 'inf'::double", "v <> 3"]
)
def test_conditions_on_what_is_known_to_be_infinite(condition: str, value: str) -> None:
    """Bounds of a column that are no numbers say nothing of how many rows a condition keeps."""
    tables = {"t": pa.table({"k": [1, 2, 2]})}
    oracle = duckdb.connect()
    oracle.register("t", tables["t"])
    for inner in (
        f"select '{value}'::double v from t",
        f"select k, min('{value}'::double) v from t group by k",
    ):
        query = f"select count(*) c from ({inner}) where {condition}"
        assert hr.sql(query, tables).to_pylist() == [{"c": oracle.sql(query).fetchall()[0][0]}]
    # As a key of a join, which is put among others by estimates.
    least = f"(select min('{value}'::double) from t where t.k = q.z + 1)"
    query = f"select count(*) c from (select 0::bigint z from t) q where 1e-20 < {least}"
    assert hr.sql(query, tables).to_pylist() == [{"c": oracle.sql(query).fetchall()[0][0]}]
