"""A case's columns, tensors and expected rows, as the runner reads them."""

from __future__ import annotations

import datetime
import decimal
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

#: By HrType (runtime/abi/kernel.h); 128-bit integers as (low, high), texts are written apart.
_I128, _TEXT = 5, 8
_DTYPES: list[Any] = [
    "u1",
    "i1",
    "<i2",
    "<i4",
    "<i8",
    np.dtype([("low", "<u8"), ("high", "<i8")]),
    "<f4",
    "<f8",
]
_EPOCH = datetime.date(1970, 1, 1)


@dataclass
class DataFile:
    """The bytes of all columns and tensors; each begins at a multiple of 16."""

    bytes: bytearray = field(default_factory=bytearray)

    def add(self, content: bytes) -> tuple[int, int]:
        """Where it is: offset and length."""
        self.bytes += bytes(-len(self.bytes) % 16)
        offset = len(self.bytes)
        self.bytes += content
        return offset, len(content)

    def write(self, path: Path) -> None:
        path.write_bytes(bytes(self.bytes))


def physical(value: object) -> object:
    """A value of DuckDB's as kernels have it: decimals without their point, dates as days."""
    if isinstance(value, decimal.Decimal):
        sign, digits, exponent = value.as_tuple()
        assert isinstance(exponent, int) and exponent <= 0
        return int("".join(map(str, digits))) * (-1 if sign else 1)
    if isinstance(value, datetime.date):
        return (value - _EPOCH).days
    return value


@dataclass(frozen=True)
class Column:
    """The bytes of a column: its values in a physical type; of texts offsets, and their bytes as `heap`."""

    kind: int
    rows: int
    values: bytes
    heap: bytes | None = None
    validity: bytes | None = None

    def write(self, data: DataFile, name: str) -> dict[str, object]:
        """Its entry in case.json."""
        out: dict[str, object] = {"name": name, "type": self.kind}
        out["offset"], out["bytes"] = data.add(self.values)
        for key, part in (("heap", self.heap), ("validity", self.validity)):
            if part is not None:
                out[f"{key}_offset"], out[f"{key}_bytes"] = data.add(part)
        return out


def column(kind: int, values: list[object]) -> Column:
    """A column of DuckDB's values in a physical type."""
    rows, validity = len(values), None
    if None in values:
        valid = np.array([value is not None for value in values])
        validity = np.packbits(valid, bitorder="little").tobytes()
    if kind == _TEXT:
        texts = [str(value or "").encode() for value in values]
        offsets = np.cumsum([0, *map(len, texts)]).astype("<u4")
        return Column(kind, rows, offsets.tobytes(), b"".join(texts), validity)
    plain: list[Any] = [0 if value is None else physical(value) for value in values]
    array = np.zeros(rows, _DTYPES[kind])
    if kind == _I128:
        array["low"] = [value & (1 << 64) - 1 for value in plain]
        array["high"] = [value >> 64 for value in plain]
    else:
        array[:] = plain
    return Column(kind, rows, array.tobytes(), None, validity)


def expected_value(value: object) -> object:
    """As the runner writes a value: integers and texts as texts, floats as numbers where JSON has them."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return str(physical(value))


def expected_rows(connection: duckdb.DuckDBPyConnection, sql: str) -> dict[str, object]:
    """The names of the columns that a query gives, and its rows."""
    result = connection.execute(sql)
    names = [entry[0] for entry in result.description]
    return {"columns": names, "rows": [list(map(expected_value, row)) for row in result.fetchall()]}


def tensors(data: DataFile, step: dict[str, Any]) -> list[dict[str, object]]:
    """Random inputs of the shapes given, and the value that the step's expression has over them."""
    generator = np.random.default_rng(11)
    names = "abcdefgh"
    inputs = {
        name: generator.standard_normal(shape, dtype=np.float32)
        for name, shape in zip(names, step["tensors"][:-1], strict=False)
    }
    value = eval(step["value"], {"np": np}, dict(inputs))  # the text is one of ours
    out = []
    for index, (shape, array) in enumerate(zip(step["tensors"], [*inputs.values(), value], strict=True)):
        assert list(array.shape) == shape, (step["kernel"], array.shape)
        offset, length = data.add(np.ascontiguousarray(array, np.float32).tobytes())
        is_output = index == len(step["tensors"]) - 1
        out.append({"shape": shape, "output": is_output, "offset": offset, "bytes": length})
    return out
