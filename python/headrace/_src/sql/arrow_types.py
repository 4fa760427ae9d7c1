"""DuckDB's types as the Arrow types of results, and back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from headrace._src.errors import UnsupportedError

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
_DECIMALS = {"HUGEINT": (38, 0)}
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")


def arrow_type(name: str) -> pa.DataType:
    """The type of a result's column that DuckDB calls so. Raises UnsupportedError for one that has none."""
    import pyarrow as pa

    if name in _NAMES:
        return pa.type_for_alias(_NAMES[name])
    if name in _TIMESTAMPS:
        unit, zone = _TIMESTAMPS[name]
        return pa.timestamp(unit, zone)
    if name.endswith("[]"):
        return pa.list_(arrow_type(name.removesuffix("[]")))
    match = _DECIMAL.fullmatch(name)
    if match:
        return pa.decimal128(int(match[1]), int(match[2]))
    if name in _DECIMALS:
        return pa.decimal128(*_DECIMALS[name])
    raise UnsupportedError(f"unsupported type of a column: {name}")
