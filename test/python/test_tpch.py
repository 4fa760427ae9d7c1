"""TPC-H queries against DuckDB, on one to four ranks and several threads."""

from __future__ import annotations

from pathlib import Path

import duckdb
import headrace as hr
import pytest
from duckdb_oracle import same
from tpch_queries import NAMES, QUERIES, rows, views


@pytest.fixture(scope="module")
def oracle(tpch: Path) -> duckdb.DuckDBPyConnection:
    return views(tpch)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("name", NAMES)
def test_equals_duckdb(name: str, ranks: int, tpch: Path, oracle: duckdb.DuckDBPyConnection) -> None:
    text = (QUERIES / f"q{name}.sql").read_text()
    same(hr.sql(text, tpch, ranks=ranks, threads=2), oracle.sql(text).to_arrow_table())


@pytest.mark.parametrize("name", ["03", "18"])
def test_order_is_the_query_s(name: str, tpch: Path, oracle: duckdb.DuckDBPyConnection) -> None:
    text = (QUERIES / f"q{name}.sql").read_text()
    expected = rows(oracle.sql(text).to_arrow_table())
    found = rows(hr.sql(text, tpch, threads=2))
    keys = {"03": (1, 2), "18": (4, 3)}[name]
    assert [[row[key] for key in keys] for row in found] == [[row[key] for key in keys] for row in expected]
