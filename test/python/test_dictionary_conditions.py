"""Conditions on texts are tried on the entries of dictionaries, once for the morsels that have the same."""

from __future__ import annotations

from pathlib import Path

import headrace as hr
import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import answer, same

#: Of a row group: several morsels.
_ROWS = 400_000
_TEXTS = 300


def _group(first: int, rng: np.random.Generator) -> pa.Table:
    """Codes mean other texts in each group: they are given in the order in which texts are first met."""
    texts = np.array([f"{'even' if i % 2 else 'odd'} {first + i}" for i in rng.permutation(_TEXTS)])
    names = np.array([f"name {i % 7}" for i in rng.permutation(_TEXTS)])
    code = rng.integers(0, _TEXTS, _ROWS)
    columns = {"a": texts[code], "b": names[code], "x": rng.integers(0, 100, _ROWS)}
    table = pa.table(columns)
    return table.cast(pa.schema([field.with_nullable(False) for field in table.schema]))


@pytest.fixture(scope="module", params=[1 << 20, 2000], ids=["codes", "codes, then plain"])
def tables(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dictionaries")
    rng = np.random.default_rng(7)
    groups = [_group(first, rng) for first in (0, 0, 100)]
    with parquet.ParquetWriter(
        folder / "t.parquet", groups[0].schema, dictionary_pagesize_limit=request.param
    ) as writer:
        for group in groups:
            writer.write_table(group, row_group_size=_ROWS)
    return folder


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "condition",
    [
        "a like '%even%'",
        "a like '%1%' and b = 'name 3'",
        "length(a) > 7 and a not like '%9' and b <> 'name 5' and x < 50",
    ],
)
def test_answers_are_those_of_duckdb(tables: Path, condition: str, threads: int) -> None:
    query = f"select count(*) c, sum(x) s, min(a) l, max(a) m, count(distinct b) d from t where {condition}"
    expected = answer(query, {"t": parquet.read_table(tables / "t.parquet")})
    same(hr.sql(query, tables, threads=threads), expected)
