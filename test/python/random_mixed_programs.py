"""Random programs of a query and what arrays do with its rows; DuckDB says what the rows are."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import duckdb
import headrace as hr
import numpy as np
import pyarrow as pa
from bounded_arrays import Bounded
from hypothesis import strategies as st
from random_array_programs import ArrayProgram, Step, arguments, array_programs

_DTYPES = {"f32": np.float32, "f64": np.float64, "i64": np.int64}
# Text, its numeric columns, and those of whole numbers. {order}: what makes the order of the rows whole.
_QUERIES = [
    ("select k, g, x, i, d from t {order}", "k g x i d", "k g i", "order by k {way}"),
    ("select k, x, d from t where x > 0 {order}", "k x d", "k", "order by k {way}"),
    ("select k, x, i from t {order} limit 7", "k x i", "k i", "order by k {way}"),
    (
        "select g, sum(x) as s, count(*) as n, max(i) as m from t group by g {order}",
        "g s n m",
        "g n m",
        "order by g {way}",
    ),
    (
        "select t.k as k, u.k as l, t.x * u.x as p from t join u on t.g = u.g {order}",
        "k l p",
        "k l",
        "order by t.k {way}, u.k",
    ),
]


@dataclass(frozen=True)
class MixedProgram:
    """The first arguments of the program are the query's tensors, one per group of columns."""

    tables: dict[str, pa.Table]
    text: str
    groups: tuple[str | list[str], ...]
    dtype: str
    program: ArrayProgram

    def tensors(self) -> tuple:
        return hr.query(self.text, self.tables).to_tensors(*self.groups, dtype=self.dtype)

    def __repr__(self) -> str:
        tables = "\n".join(f"{name} = {table.to_pydict()}" for name, table in self.tables.items())
        return f"\n{tables}\n{self.text}\nto_tensors(*{self.groups}, dtype={self.dtype!r}){self.program!r}"


def _table(rows: int, seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    cents = random.integers(-500, 500, rows)
    return pa.table(
        {
            "k": pa.array(random.permutation(rows), pa.int64()),
            "g": pa.array(random.integers(0, 4, rows), pa.int32()),
            "x": pa.array(random.integers(-8, 9, rows) / 2, pa.float64()),
            "i": pa.array(random.integers(-100, 100, rows), pa.int32()),
            "d": pa.array([Decimal(int(value)).scaleb(-2) for value in cents], pa.decimal128(9, 2)),
        }
    )


def answer(tables: dict[str, pa.Table], text: str) -> dict[str, np.ndarray]:
    """DuckDB's."""
    connection = duckdb.connect()
    for name, table in tables.items():
        connection.register(name, table)
    found = connection.sql(text).to_arrow_table()
    return {name: np.array([float(v) for v in found[name].to_pylist()]) for name in found.column_names}


@st.composite
def mixed_programs(draw: st.DrawFn) -> MixedProgram:
    rows = draw(st.sampled_from([0, 1, 2, 3, 8, 30]))
    tables = {
        "t": _table(rows, draw(st.integers(0, 99))),
        "u": _table(min(rows, 6), draw(st.integers(0, 99))),
    }
    template, numeric, whole, order = draw(st.sampled_from(_QUERIES))
    # LIMIT without an order keeps any rows.
    ordered = "limit" in template or draw(st.booleans())
    way = draw(st.sampled_from(["", "desc"]))
    text = template.format(order=order.format(way=way) if ordered else "")
    dtype = draw(st.sampled_from(["f64", "f64", "f32", "i64"]))
    columns = (whole if dtype == "i64" else numeric).split()
    several = st.lists(st.sampled_from(columns), min_size=1, max_size=3, unique=True)
    groups = tuple(draw(st.lists(st.sampled_from(columns) | several, min_size=1, max_size=2)))
    found = answer(tables, text)
    tensors = []
    for group in groups:
        if isinstance(group, str):
            tensors.append(Bounded.exact(found[group].astype(_DTYPES[dtype]), ("n",)))
        else:
            values = np.stack([found[name] for name in group], axis=1).astype(_DTYPES[dtype])
            tensors.append(Bounded.exact(values, ("n", len(group))))
    others = draw(st.lists(arguments(dtypes=(dtype,)), max_size=1))
    program = draw(array_programs(of=st.just((*tensors, *others))))
    if not ordered:
        program = _without_rows(program)
    return MixedProgram(tables, text, groups, dtype, program)


def _without_rows(program: ArrayProgram) -> ArrayProgram:
    """Rows that come in any order are added up, so that there is one answer."""
    steps, results = list(program.steps), []
    for index, result in zip(program.results, program.bounded(), strict=True):
        axes = tuple(d for d, extent in enumerate(result.extents) if isinstance(extent, str))
        if axes:
            steps.append(Step("sum", (index,), (), {"axis": axes, "keepdims": False}))
            index = len(program.arguments) + len(steps) - 1
        results.append(index)
    return ArrayProgram(program.arguments, tuple(steps), tuple(results))
