"""The tables of a catalogue: statistics documents to DuckDB's CREATE TABLE.

A column of a type that cannot be read stays in its table as a stand-in, so that the others can be queried; a
plan that reads it is refused by the compiler.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from headrace._src.errors import SqlError, UnsupportedError

if TYPE_CHECKING:
    from headrace._src.sql.foreign_keys import ForeignKey

_TYPES = {
    "i1": "BOOLEAN",
    "i8": "TINYINT",
    "i16": "SMALLINT",
    "i32": "INTEGER",
    "i64": "BIGINT",
    "i128": "HUGEINT",
    "ui8": "UTINYINT",
    "ui16": "USMALLINT",
    "ui32": "UINTEGER",
    "ui64": "UBIGINT",
    "ui128": "UHUGEINT",
    "f32": "FLOAT",
    "f64": "DOUBLE",
    "date": "DATE",
    "string": "VARCHAR",
    "binary": "BLOB",
    "interval": "INTERVAL",
    "uuid": "UUID",
}


_MOMENTS = {
    "time": {"us": "TIME", "ns": "TIME_NS"},
    "timestamp": {"s": "TIMESTAMP_S", "ms": "TIMESTAMP_MS", "us": "TIMESTAMP", "ns": "TIMESTAMP_NS"},
}
_ZONED_TIMESTAMPS = {"us": "TIMESTAMP WITH TIME ZONE", "ns": "TIMESTAMPTZ_NS"}


@dataclass(frozen=True)
class Column:
    name: str
    type: str  # DuckDB's
    nullable: bool
    #: Why it cannot be read; empty if it can.
    unsupported: str = ""
    #: What is stored where the column is a cast of it; empty: the same.
    stored: str = ""

    @property
    def definition(self) -> str:
        return f"{quoted(self.name)} {self.stored or self.type}{'' if self.nullable else ' not null'}"

    @property
    def replacement(self) -> str:
        """Of what is stored."""
        if self.stored == "BLOB" and self.type == "VARCHAR":  # whose cast would write escapes
            return f"decode({quoted(self.name)}) as {quoted(self.name)}"
        return f"cast({quoted(self.name)} as {self.type}) as {quoted(self.name)}"


@dataclass(frozen=True)
class TableSchema:
    #: With that of its schema and a point in front, if that is not main.
    name: str
    columns: tuple[Column, ...]
    #: The statement that makes it, of a table of a session; what is stored may be of `stored_type`.
    definition: str = ""
    #: Empty: main.
    schema: str = ""
    #: Those that the definition has not.
    foreign_keys: tuple[ForeignKey, ...] = ()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.name, self.columns, self.definition, self.schema))

    @property
    def own_name(self) -> str:
        """Within its schema."""
        return own_name(self.schema, self.name)

    @property
    def sql_name(self) -> str:
        return sql_name(self.schema, self.name)

    @property
    def is_cast(self) -> bool:
        return any(column.stored for column in self.columns)

    @property
    def stored_name(self) -> str:
        """Of the table of what is stored: where columns are casts, the table is a view of it."""
        return f"{self.name} as it is stored" if self.is_cast else self.name

    @staticmethod
    def declared(name: str, told: Mapping[str, Any]) -> TableSchema:
        """Of a table of a session, as `declaration` tells it."""
        columns = tuple(Column(*each) for each in told["columns"])
        return TableSchema(name, columns, told["definition"], told["schema"])

    def declaration(self) -> dict[str, Any]:
        columns = [(column.name, column.type, column.nullable) for column in self.columns]
        return {"columns": columns, "definition": self.definition, "schema": self.schema}

    def statement(self) -> str:
        """Creates the table, empty. Raises for names that DuckDB cannot tell apart."""
        if self.definition:
            return f"{schema_statement(self.schema)}\n{self.definition}" if self.schema else self.definition
        seen: dict[str, str] = {}
        for column in self.columns:
            if not column.name or "\0" in column.name:
                raise UnsupportedError(
                    f"table {self.name}: SQL has no name for a column, got {column.name!r}"
                )
            other = seen.setdefault(column.name.lower(), column.name)
            if other is not column.name:
                raise UnsupportedError(
                    f"table {self.name}: SQL cannot tell the columns apart: {other}, {column.name}"
                )
        if not self.columns:
            raise UnsupportedError(f"a table without columns cannot be queried: {self.name}")
        columns = ", ".join(column.definition for column in self.columns)
        table = f"create table {quoted(self.stored_name)} ({columns})"
        if not self.is_cast:
            return table
        casts = ", ".join(column.replacement for column in self.columns if column.stored)
        view = f"select * replace ({casts}) from {quoted(self.stored_name)}"
        return f"{table}; create view {quoted(self.name)} as {view}"


def schema_of(name: str, document: Mapping[str, Any]) -> TableSchema:
    """The schema of a statistics document: its columns in their order, then the stand-ins."""
    if declared := document.get("declared"):
        return TableSchema.declared(name, declared)
    readable = sorted(document["columns"].items(), key=lambda item: item[1]["index"])
    casts = document.get("casts", {})
    columns = []
    for column_name, column in readable:
        stored = "JSON" if column.get("json") else _type(column["type"])
        cast = casts.get(column_name)
        columns.append(Column(column_name, cast or stored, column["nullable"], stored=stored if cast else ""))
    stand_ins = [Column(name, "VARCHAR", True, reason) for name, reason in document["unsupported"].items()]
    return TableSchema(name, (*columns, *stand_ins))


def check_names(schemas: Sequence[TableSchema]) -> None:
    """Raises for tables whose names differ in case only."""
    seen: dict[str, str] = {}
    for schema in schemas:
        other = seen.setdefault(schema.name.lower(), schema.name)
        if other is not schema.name:
            raise SqlError(f"SQL cannot tell the tables apart: {other}, {schema.name}")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def named_in(schema: str, name: str) -> str:
    """What a session calls it. schema: empty: main."""
    return f"{schema}.{name}" if schema else name


def own_name(schema: str, name: str) -> str:
    """The name within its schema of what a session calls so."""
    return name[len(schema) + 1 :] if schema else name


def sql_name(schema: str, name: str) -> str:
    """As SQL names what a session calls so."""
    return f"{quoted(schema)}.{quoted(own_name(schema, name))}" if schema else quoted(name)


def schema_statement(schema: str) -> str:
    """Creates it where it is not there."""
    return f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)};"


def unquoted(name: str) -> str:
    """What a text calls so: a name, in quotes or not."""
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def qualified(said: re.Match[str], place: int) -> tuple[str | None, str]:
    """A name that is `QUALIFIED`, and that of its schema in front; place: the group of that."""
    return said[place] and unquoted(said[place]), unquoted(said[place + 1])


def logical_of(kind: str) -> dict[str, Any] | None:
    """A type of DuckDB as statistics documents have it; None for one that they have not."""
    for name, spelled in _TYPES.items():
        if spelled == kind:
            return {"kind": name}
    for name, units in _MOMENTS.items():
        for unit, spelled in units.items():
            if spelled == kind:
                return {"kind": name, "unit": unit, "zoned": False}
    if kind == "TIMESTAMP WITH TIME ZONE":
        return {"kind": "timestamp", "unit": "us", "zoned": True}
    decimal = re.fullmatch(r"DECIMAL\((\d+), ?(\d+)\)", kind)
    return decimal and {"kind": "decimal", "precision": int(decimal[1]), "scale": int(decimal[2])}


def _type(logical: Mapping[str, Any]) -> str:
    if logical["kind"] == "decimal":
        return f"DECIMAL({logical['precision']}, {logical['scale']})"
    if logical["kind"] == "list":
        return f"{_type(logical['children'][0])}[{logical.get('size', '')}]"
    if logical["kind"] == "struct":
        fields = zip(logical["names"], logical["children"], strict=True)
        return f"STRUCT({', '.join(f'{quoted(name)} {_type(field)}' for name, field in fields)})"
    if logical["kind"] == "map":
        return f"MAP({', '.join(_type(part) for part in logical['children'])})"
    if logical["kind"] in ("time", "timestamp"):
        kinds = _ZONED_TIMESTAMPS if logical["zoned"] else _MOMENTS[logical["kind"]]
        return kinds[logical["unit"]]
    return _TYPES[logical["kind"]]
