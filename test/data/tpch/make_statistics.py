"""Writes statistics/*.json: statistics documents of TPC-H at scale 1, for tests of the optimizer.

Run again only when the format changes: python make_statistics.py FOLDER_WITH_PARQUET
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import duckdb

HERE = Path(__file__).resolve().parent


def column_statistics(
    connection: duckdb.DuckDBPyConnection, path: Path, name: str, kind: str, rows: int
) -> dict:
    """Bounds, distinct values and mean length of one column."""
    entry: dict = {"nulls": 0, "nullable": False}
    if kind == "VARCHAR":
        query = f"select avg(strlen({name})), approx_count_distinct({name}) from '{path}'"
        length, distinct = connection.execute(query).fetchone()
        entry["average_bytes"] = round(length, 1)
    else:
        value = name
        if kind.startswith("DECIMAL"):
            value = f"cast({name} * 100 as bigint)"
        if kind == "DATE":
            value = f"date_diff('day', date '1970-01-01', {name})"
        query = f"select min({value}), max({value}), approx_count_distinct({name}) from '{path}'"
        entry["min"], entry["max"], distinct = connection.execute(query).fetchone()
    entry["distinct"] = min(distinct, rows)
    return entry


def main(folder: Path) -> None:
    connection = duckdb.connect()
    for path in sorted(folder.glob("*.parquet")):
        rows = connection.execute(f"select count(*) from '{path}'").fetchone()[0]
        described = connection.execute(f"describe select * from '{path}'").fetchall()
        columns = {
            name: column_statistics(connection, path, name, kind, rows) for name, kind, *_ in described
        }
        document = {"rows": rows, "columns": columns}
        target = HERE / "statistics" / f"{path.stem}.json"
        target.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
