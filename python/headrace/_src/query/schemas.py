"""The schemas that SQL is planned against: what the storage says that it can read, and by which types.

A column of a type that cannot be read stays in its table as a stand-in, so that the others can be
queried; a plan that reads it is refused by its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace._src.errors import HeadraceError

if TYPE_CHECKING:
    import pyarrow as pa


class Schemas:
    """The schemas of a query's tables, from their statistics documents."""

    def __init__(self, documents: Mapping[str, str]) -> None:
        self._documents = {name: json.loads(text) for name, text in documents.items()}

    def arrow(self) -> dict[str, pa.Schema]:
        """Per table: its columns in their order, then stand-ins for those that cannot be read."""
        return {name: _arrow_schema(document) for name, document in self._documents.items()}

    def refuse_unreadable(self, substrait: str) -> None:
        """Raises for a plan (Substrait JSON) that reads a column which cannot be read."""
        if any(document["unsupported"] for document in self._documents.values()):
            for read in _reads(json.loads(substrait)):
                self._refuse_read(read)

    def explain_mistake(self, text: str, message: str) -> None:
        """Raises in place of an error of the planner, if the query names a column that cannot be read."""
        for name, document in self._documents.items():
            for column, reason in document["unsupported"].items():
                if re.search(rf"\b{re.escape(column)}\b", text) and re.search(
                    rf"\b{re.escape(name)}\b", text
                ):
                    raise HeadraceError(f"{message} (table {name}, column {column}: {reason})", "unsupported")

    def _refuse_read(self, read: dict[str, Any]) -> None:
        table = read.get("namedTable", {}).get("names", [""])[-1]
        unsupported = self._documents.get(table, {}).get("unsupported", {})
        names = read.get("baseSchema", {}).get("names", [])
        selected = range(len(names))
        if "projection" in read:
            items = read["projection"].get("select", {}).get("structItems", [])
            selected = [item.get("field", 0) for item in items]
        for index in selected:
            if names[index] in unsupported:
                raise HeadraceError(
                    f"table {table}, column {names[index]}: {unsupported[names[index]]}", "unsupported"
                )


def _reads(node: Any) -> list[dict[str, Any]]:
    """All read relations of a plan."""
    if isinstance(node, list):
        return [read for child in node for read in _reads(child)]
    if not isinstance(node, dict):
        return []
    own = [node["read"]] if isinstance(node.get("read"), dict) else []
    return own + [read for child in node.values() for read in _reads(child)]


def _arrow_schema(document: dict[str, Any]) -> pa.Schema:
    import pyarrow as pa

    columns = sorted(document["columns"].items(), key=lambda item: item[1]["index"])
    fields = [pa.field(name, _arrow_type(column["type"]), column["nullable"]) for name, column in columns]
    return pa.schema(fields + [pa.field(name, pa.string()) for name in document["unsupported"]])


def _arrow_type(text: str) -> pa.DataType:
    import pyarrow as pa

    if decimal := re.fullmatch(r"decimal<(\d+), (-?\d+)>", text):
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    return {
        "i1": pa.bool_(),
        "i32": pa.int32(),
        "i64": pa.int64(),
        "f32": pa.float32(),
        "f64": pa.float64(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us"),
        "string": pa.string(),
    }[text]
