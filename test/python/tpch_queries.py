"""The TPC-H queries of the tests, and comparison of their results with DuckDB's."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

QUERIES = Path(__file__).parents[1] / "data" / "tpch" / "queries"
#: Checked at every scale; the others at a small one.
NAMES = ["01", "03", "04", "05", "06", "09", "12", "13", "14", "18", "19"]
OTHERS = [f"{number:02}" for number in range(1, 23) if f"{number:02}" not in NAMES]


def canonical(value: object) -> object:
    """Decimals without trailing zeros, so that decimal(38, 4) and decimal(15, 2) compare by value."""
    return value.normalize() + 0 if isinstance(value, Decimal) else value


def rows(table: pa.Table) -> list[tuple[object, ...]]:
    return [tuple(canonical(value) for value in row.values()) for row in table.to_pylist()]


def close(a: object, b: object) -> bool:
    if (
        isinstance(a, (Decimal, float))
        and isinstance(b, (Decimal, float))
        and (isinstance(a, float) or isinstance(b, float))
    ):
        return float(a) == pytest.approx(float(b), rel=1e-6, abs=1e-6)
    return a == b


def plan_of(
    text: str,
    tables: Any,
    *,
    ranks: int = 1,
    topology: str | Path | None = None,
    layout_seed: int | None = None,
    statistics: Any = None,
) -> dict[str, Any]:
    """The plan of a query, as JSON says it."""
    from headrace._src.programs import Target
    from headrace._src.query.compiled_query import load_query
    from headrace._src.query.tables import resolve

    loaded = load_query(text, resolve(tables), Target.of(ranks, topology, layout_seed), statistics)
    return json.loads(loaded.compiled.plan_json)


def views(folder: Path) -> duckdb.DuckDBPyConnection:
    """DuckDB with one view for each Parquet file of a folder."""
    connection = duckdb.connect()
    for file in folder.glob("*.parquet"):
        connection.execute(f"create view {file.stem} as select * from '{file}'")
    return connection
