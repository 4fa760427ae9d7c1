"""DuckDB's types as the Arrow types of results, and back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from headrace._src.errors import UnsupportedError
from headrace._src.sql.brackets import split_at_commas
from headrace._src.sql.tables import unquoted

if TYPE_CHECKING:
    import pyarrow as pa

# DuckDB's name -> Arrow's
_NAMES = {
    "BOOLEAN": "bool",
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INTEGER": "int32",
    "BIGINT": "int64",
    "UTINYINT": "uint8",
    "USMALLINT": "uint16",
    "UINTEGER": "uint32",
    "UBIGINT": "uint64",
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "DATE": "date32",
    "TIME": "time64[us]",
    "TIME_NS": "time64[ns]",
    "VARCHAR": "string",
    "JSON": "string",
    "BLOB": "binary",
    "UUID": "string",
    "INTERVAL": "month_day_nano_interval",
    '"NULL"': "int32",
}
_TIMESTAMPS = {
    "TIMESTAMP_S": ("s", None),
    "TIMESTAMP_MS": ("ms", None),
    "TIMESTAMP": ("us", None),
    "TIMESTAMP_NS": ("ns", None),
    "TIMESTAMP WITH TIME ZONE": ("us", "UTC"),
    "TIMESTAMPTZ_NS": ("ns", "UTC"),
}
#: A list, or an array with its size; the last brackets are the outermost.
_LIST = re.compile(r"(.*)\[(\d*)\]", re.DOTALL)
_NESTED = re.compile(r"(STRUCT|TUPLE|MAP)\((.*)\)", re.DOTALL)
#: A field with its name, which may be quoted.
_FIELD = re.compile(r'("(?:[^"]|"")*"|\w+) (.+)', re.DOTALL)
_DECIMALS = {"HUGEINT": (38, 0), "UHUGEINT": (38, 0)}
_ENUM = re.compile(r"ENUM\((.*)\)", re.DOTALL)
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")


def arrow_type(name: str) -> pa.DataType:
    """The type of a result's column that DuckDB calls so. Raises UnsupportedError for one that has none."""
    import pyarrow as pa

    if name in _NAMES:
        return pa.type_for_alias(_NAMES[name])
    if name in _TIMESTAMPS:
        unit, zone = _TIMESTAMPS[name]
        return pa.timestamp(unit, zone)
    if listed := _LIST.fullmatch(name):
        return pa.list_(arrow_type(listed[1]), int(listed[2] or -1))
    if nested := _NESTED.fullmatch(name):
        return _nested_type(nested[1], [part.strip() for part in split_at_commas(nested[2])])
    if listed := _ENUM.fullmatch(name):
        count = len(split_at_commas(listed[1]))
        index = pa.uint8() if count < 1 << 8 else pa.uint16() if count < 1 << 16 else pa.uint32()
        return pa.dictionary(index, pa.string())
    match = _DECIMAL.fullmatch(name)
    if match:
        return pa.decimal128(int(match[1]), int(match[2]))
    if name in _DECIMALS:
        return pa.decimal128(*_DECIMALS[name])
    raise UnsupportedError(f"unsupported type of a column: {name}")


def _nested_type(kind: str, parts: list[str]) -> pa.DataType:
    """Of a struct with its fields, a tuple with their types, or a map with those of keys and values."""
    import pyarrow as pa

    if kind == "MAP":
        return pa.map_(*map(arrow_type, parts))
    if kind == "TUPLE":
        return pa.struct([(f"element{n}", arrow_type(part)) for n, part in enumerate(parts, 1)])
    fields = []
    for part in parts:
        if not (field := _FIELD.fullmatch(part)):
            # no test: DuckDB writes none without a name
            raise UnsupportedError(f"unsupported field of a struct: {part}")
        fields.append((unquoted(field[1]), arrow_type(field[2])))
    return pa.struct(fields)
