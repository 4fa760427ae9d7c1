#!/usr/bin/env python3
"""Writes {tpch,features}/duckdb/*.json from queries/*.sql (python/ on PYTHONPATH); --check only compares.

What says nothing to the reader is left out: fields that it passes over, and those that are as it expects.
"""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._src.sql.catalogue import bound_plan
from headrace._src.sql.tables import Column, TableSchema

if TYPE_CHECKING:
    import pyarrow as pa

FOLDERS = [Path(__file__).parent / name for name in ("tpch", "features")]

# Whatever they say, the reader passes over them.
_HARMLESS = """
    expression_class query_location_length has_serialize is_operator catalog schema qualified_name total_files
    filtered_files group_index aggregate_index groupings_index distinct_validity has_index bindings
    table_filters_by_projection chunk_types bound_columns materialize ctename mark_index mark_types
    allow_out_of_order unpruned_offset constant_percentage ordinality_idx column_count is_default_cast
    check_overflow extension_info arguments
"""
HARMLESS = frozenset(_HARMLESS.split())
# What else says nothing: what is empty, and this.
DEFAULTS = {
    "state_export": "NONE",
    "source_ordinality": "WITHOUT_ORDINALITY",
    "index_type": "FULL_READ",
    "query_location": 2**64 - 1,
    "type": {"id": "INVALID"},
}


def reduced(node: Any) -> Any:
    """A plan without what its reader does not need."""
    if isinstance(node, list):
        return [reduced(child) for child in node]
    if not isinstance(node, dict):
        return node
    result = {}
    for key, value in node.items():
        # An operator's own index matters only where something refers to it.
        unused = key == "table_index" and node.get("type") != "LOGICAL_MATERIALIZED_CTE"
        if key in HARMLESS or unused:
            continue
        inner = reduced(value)
        empty = inner is None or inner is False or inner in ([], {}, "")
        if (empty and key != "value") or DEFAULTS.get(key) == inner:
            continue
        result[key] = inner
    return result


def schemas_of(tables: dict[str, pa.Schema]) -> list[TableSchema]:
    """The tables as DuckDB declares them."""
    types = {
        "int64": "BIGINT",
        "int32": "INTEGER",
        "int16": "SMALLINT",
        "double": "DOUBLE",
        "bool": "BOOLEAN",
        "date32[day]": "DATE",
        "string": "VARCHAR",
    }
    return [
        TableSchema(
            name,
            tuple(
                Column(
                    field.name,
                    types.get(str(field.type)) or str(field.type).replace("decimal128", "DECIMAL"),
                    field.nullable,
                )
                for field in schema
            ),
        )
        for name, schema in tables.items()
    ]


def plan_of(text: str, tables: dict[str, pa.Schema]) -> str:
    """The golden file of a query: a line for each operator."""
    plan = reduced(json.loads(bound_plan(text, schemas_of(tables)).json))
    text = json.dumps(plan, separators=(",", ":"), ensure_ascii=False)
    return text.replace('{"type":"LOGICAL_', '\n{"type":"LOGICAL_') + "\n"


def main() -> int:
    different = []
    for folder in FOLDERS:
        tables = runpy.run_path(str(folder / "schemas.py"))["SCHEMAS"]
        (folder / "duckdb").mkdir(exist_ok=True)
        for query in sorted((folder / "queries").glob("*.sql")):
            target = folder / "duckdb" / f"{query.stem}.json"
            plan = plan_of(query.read_text(), tables)
            if "--check" not in sys.argv:
                target.write_text(plan)
            elif not target.exists() or target.read_text() != plan:
                different.append(query.stem)
    if different:
        print(f"not what DuckDB gives now: {' '.join(different)}; run {__file__}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
