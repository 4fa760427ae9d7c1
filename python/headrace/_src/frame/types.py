"""The types of columns, which are Arrow's, and what Polars makes of two of them."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from headrace._src.errors import UnsupportedError, UserError

_SQL = {
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.uint8(): "utinyint",
    pa.uint16(): "usmallint",
    pa.uint32(): "uinteger",
    pa.uint64(): "ubigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.date32(): "date",
    pa.time64("us"): "time",
    pa.time64("ns"): "time_ns",
    pa.string(): "varchar",
    pa.binary(): "blob",
    pa.timestamp("s"): "timestamp_s",
    pa.timestamp("ms"): "timestamp_ms",
    pa.timestamp("us"): "timestamp",
    pa.timestamp("ns"): "timestamp_ns",
    pa.timestamp("us", "UTC"): "timestamp with time zone",
}
_INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
_UNSIGNED = [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
#: Of Polars and Python, and short ones.
_NAMES: dict[str, pa.DataType] = {
    "Boolean": pa.bool_(),
    "Int8": pa.int8(),
    "Int16": pa.int16(),
    "Int32": pa.int32(),
    "Int64": pa.int64(),
    "UInt8": pa.uint8(),
    "UInt16": pa.uint16(),
    "UInt32": pa.uint32(),
    "UInt64": pa.uint64(),
    "Float32": pa.float32(),
    "Float64": pa.float64(),
    "String": pa.string(),
    "Binary": pa.binary(),
    "Date": pa.date32(),
    "Time": pa.time64("ns"),
    "Datetime": pa.timestamp("us"),
}
_PYTHON: dict[type, pa.DataType] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    bytes: pa.binary(),
    datetime.date: pa.date32(),
    datetime.time: pa.time64("us"),
    datetime.datetime: pa.timestamp("us"),
}
#: Decimals have at most as many digits.
DIGITS_MAX = 38


def type_of(dtype: Any) -> pa.DataType:
    """The type that a pyarrow type, a Python type, a type of Polars or the name of one stands for."""
    if isinstance(dtype, pa.DataType):
        known = dtype
    elif isinstance(dtype, type) and dtype in _PYTHON:
        known = _PYTHON[dtype]
    elif type(dtype).__name__ == "Decimal" and hasattr(dtype, "scale"):
        known = pa.decimal128(dtype.precision or DIGITS_MAX, dtype.scale)
    elif type(dtype).__name__ == "Datetime" and hasattr(dtype, "time_unit"):
        known = pa.timestamp(dtype.time_unit, dtype.time_zone)
    elif type(dtype).__name__ == "List" and hasattr(dtype, "inner"):
        known = pa.list_(type_of(dtype.inner))
    else:
        name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", type(dtype).__name__)
        if name not in _NAMES:
            raise UserError(f"no type of columns: {dtype!r}")
        known = _NAMES[name]
    sql_type(known)
    return known


def sql_type(dtype: pa.DataType) -> str:
    """As SQL writes it. Raises UnsupportedError for one that it does not have."""
    if pa.types.is_decimal(dtype):
        return f"decimal({dtype.precision}, {dtype.scale})"
    if is_list(dtype):
        return f"{sql_type(dtype.value_type)}[]"
    if dtype not in _SQL:
        raise UnsupportedError(f"frames have no columns of this type: {dtype}")
    return _SQL[dtype]


def is_integer(dtype: pa.DataType) -> bool:
    return dtype in _INTEGERS or is_unsigned(dtype)


def is_unsigned(dtype: pa.DataType) -> bool:
    return dtype in _UNSIGNED


def is_list(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_list(dtype) or pa.types.is_large_list(dtype))


def is_array(dtype: pa.DataType) -> bool:
    """Whether it is a list of a fixed size, or has such lists."""
    if is_list(dtype):
        return is_array(dtype.value_type)
    return bool(pa.types.is_fixed_size_list(dtype))


def counted_in(dtype: pa.DataType) -> pa.DataType:
    """The type of sums of a type of integers."""
    return pa.int64() if dtype.bit_width < pa.int32().bit_width else dtype


def difference_of(dtype: pa.DataType) -> pa.DataType:
    """The type of the steps between values of a type."""
    return _INTEGERS[min(_UNSIGNED.index(dtype) + 1, 3)] if is_unsigned(dtype) else dtype


def is_float(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_floating(dtype))


def is_decimal(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_decimal(dtype))


def is_numeric(dtype: pa.DataType) -> bool:
    return is_integer(dtype) or is_float(dtype) or is_decimal(dtype)


def is_timestamp(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(dtype))


def is_moment(dtype: pa.DataType) -> bool:
    """Whether it has a date."""
    return dtype == pa.date32() or is_timestamp(dtype)


def type_of_value(value: Any) -> pa.DataType:
    """The type of a literal that stands alone."""
    if value is None:
        return pa.null()
    if isinstance(value, bool):
        return pa.bool_()
    if isinstance(value, int):
        return pa.int32() if -(1 << 31) <= value < 1 << 31 else pa.int64()
    if isinstance(value, Decimal):
        _, digits, exponent = value.as_tuple()
        scale = max(-int(exponent), 0)
        return pa.decimal128(max(len(digits) + max(int(exponent), 0), scale, 1), scale)
    if isinstance(value, datetime.datetime):
        return pa.timestamp("us", "UTC" if value.tzinfo else None)
    if isinstance(value, datetime.timedelta):
        return pa.duration("us")
    for kind, dtype in _PYTHON.items():
        if isinstance(value, kind):
            return dtype
    raise UserError(f"no value of a column: {value!r}")


def supertype(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """The type that holds the values of both, as Polars finds it; None if there is none."""
    if left == right:
        return left
    if pa.types.is_null(left) or pa.types.is_null(right):
        return right if pa.types.is_null(left) else left
    if left == pa.bool_() and is_numeric(right):
        return right
    if right == pa.bool_() and is_numeric(left):
        return left
    if is_list(left) and is_list(right):
        inner = supertype(left.value_type, right.value_type)
        return None if inner is None else pa.list_(inner)
    if is_integer(left) and is_integer(right):
        return _integer_of(left, right)
    if is_decimal(left) and is_decimal(right):
        scale = max(left.scale, right.scale)
        whole = max(left.precision - left.scale, right.precision - right.scale)
        return pa.decimal128(min(whole + scale, DIGITS_MAX), scale)
    if is_numeric(left) and is_numeric(right):
        if is_float(left) and is_float(right):
            return pa.float64()
        if is_decimal(left) or is_decimal(right):
            decimal, other = (left, right) if is_decimal(left) else (right, left)
            return pa.float64() if is_float(other) else pa.decimal128(DIGITS_MAX, decimal.scale)
        single = pa.float32() in (left, right)
        small = any(is_integer(each) and each.bit_width <= 16 for each in (left, right))
        return pa.float32() if single and small else pa.float64()
    if is_moment(left) and is_moment(right):
        if left == pa.date32() or right == pa.date32():
            return right if left == pa.date32() else left
        if left.tz == right.tz:
            units = ["s", "ms", "us", "ns"]
            return min(left, right, key=lambda each: units.index(each.unit))
    return None


def is_of_kind(dtype: pa.DataType, other: pa.DataType) -> bool:
    """Whether both are numbers, or the one holds the values of the other."""
    if is_numeric(dtype) or is_numeric(other):
        return is_numeric(dtype) and is_numeric(other)
    return supertype(dtype, other) == dtype


def _integer_of(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    if is_unsigned(left) == is_unsigned(right):
        return max(left, right, key=lambda each: each.bit_width)
    signed, other = (right, left) if is_unsigned(left) else (left, right)
    place = max(_INTEGERS.index(signed), _UNSIGNED.index(other) + 1)
    return _INTEGERS[place] if place < len(_INTEGERS) else None
