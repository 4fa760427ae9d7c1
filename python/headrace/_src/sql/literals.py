"""Python values as literals of SQL: the one place where a value becomes text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from headrace._src.errors import UserError

_ESCAPES = str.maketrans({"\\": "\\\\", "'": "''", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
#: Of DuckDB's DECIMAL.
_DIGITS_MAX = 38
#: The types of integers, the narrowest first, that DuckDB takes for what is not written as digits.
_WIDE = (
    ("bigint", -(2**63), 2**63 - 1),
    ("ubigint", 0, 2**64 - 1),
    ("hugeint", -(2**127), 2**127 - 1),
    ("uhugeint", 0, 2**128 - 1),
)

#: Constants that are plain to see: a text, a small integer.
_TEXT = re.compile(r"\s*'((?:[^']|'')*)'\s*")
_SMALL_INTEGER = re.compile(r"\s*(\d{1,9})\s*")
_BOOLEANS = {"true": True, "false": False}
_DIGITS = re.compile(rb"\d[\d_]*(?![\d_.eEx])")


class NotConstantError(ValueError):
    """An expression of SQL that is no constant."""


def value_of(constant: str) -> Any:
    """The Python value of a constant expression of SQL. Raises NotConstantError."""
    for value in _plain(constant):
        return value
    return _computed(constant, lambda relation: relation.fetchall()[0][0])


@dataclass(frozen=True)
class Typed:
    """A value that `literal` writes with its type."""

    value: Any
    #: As SQL writes it.
    type: str


def typed_value_of(constant: str) -> Any:
    """`value_of`, with the type of the expression, if that is not plain to see."""
    for value in _plain(constant):
        return value
    return _computed(
        constant, lambda relation: Typed(relation.to_arrow_table()[0][0], str(relation.types[0]))
    )


def _plain(constant: str) -> list[Any]:
    """The value, if it is plain to see."""
    if text := _TEXT.fullmatch(constant):
        return [text[1].replace("''", "'")]
    if digits := _SMALL_INTEGER.fullmatch(constant):
        return [int(digits[1])]
    word = constant.strip().lower()
    return [_BOOLEANS[word]] if word in _BOOLEANS else []


def _computed(constant: str, take: Callable[[Any], Any]) -> Any:
    import duckdb

    with duckdb.connect(config={"enable_external_access": False}) as connection:
        try:
            return take(connection.sql(f"select {constant}"))
        except duckdb.Error:
            raise NotConstantError(f"not a constant: {constant.strip()}") from None


def literal(value: Any) -> str:
    """A typed literal on one line, which no text around it can change.

    None, bool, int, float, Decimal, str, bytes, UUID, date, datetime, time, timedelta, pyarrow's
    MonthDayNano, a list or tuple of these, a dict of fields, or of lists of keys and values of a map,
    or a scalar or array of NumPy or pyarrow.
    """
    if isinstance(value, memoryview):
        value = bytes(value)
    if isinstance(value, Typed):
        plain = literal(value.value)
        return plain if plain == "NULL" else f"cast({plain} as {value.type})"
    if hasattr(value, "as_py"):
        return _scalar(value)
    if str(getattr(value, "type", "")).startswith("map<"):  # of pyarrow; its Python values are lists
        return _list(list(value))
    for unwrap in ("tolist", "to_pylist"):
        if hasattr(value, unwrap):
            value = getattr(value, unwrap)()
            break
    if value is None:
        return "NULL"
    for kind, text in _TEXTS:
        if isinstance(value, kind):
            return text(value)
    raise UserError(f"no value of SQL can be made of it: {type(value).__name__}")


def _integer(value: int) -> str:
    if abs(value) < 1 << 63:
        return f"({value})" if value < 0 else str(value)
    for type_, least, most in _WIDE:
        if least <= value <= most:
            return f"cast('{value}' as {type_})"  # its digits alone may be of another type
    raise UserError(f"an integer has at most 128 bits, got {value}")


def first_bignum(text: str) -> tuple[str, int] | None:
    """The first integer literal of more than 128 bits in a text of SQL, and its byte."""
    import duckdb

    data = text.encode()
    for position, kind in duckdb.tokenize(text):
        if kind != duckdb.token_type.numeric_const or not (match := _DIGITS.match(data, position)):
            continue
        digits = match.group().decode()
        # Python reads no integers of thousands of digits.
        value = int(digits.replace("_", "").lstrip("0")[:40] or "0")
        if value > (-_WIDE[-2][1] if data[:position].rstrip().endswith(b"-") else _WIDE[-1][2]):
            return digits, position
    return None


def _float(value: float) -> str:
    if not math.isfinite(value):
        return f"cast('{value}' as double)"
    text = repr(value)
    return f"({text})" if "e" in text else f"({text}e0)"


def _decimal(value: Decimal) -> str:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise UserError(f"a decimal must be a number, got {value}")
    scale = max(-exponent, 0)
    width = max(len(digits) + max(exponent, 0), scale, 1)
    if width > _DIGITS_MAX:
        raise UserError(f"a decimal has at most {_DIGITS_MAX} digits, got {value}")
    if len(digits) < scale < _DIGITS_MAX:  # the zero before the point is a digit to DuckDB
        width = scale + 1
    return f"cast('{value:f}' as decimal({width}, {scale}))"


def _text(value: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise UserError("a text of a query is Unicode, without surrogates")
    if "\0" in value:  # which the text of a query cannot hold
        return f"({' || chr(0) || '.join(map(_text, value.split(chr(0))))})"
    if any(character in value for character in "\n\r\t"):
        return f"E'{value.translate(_ESCAPES)}'"
    return "'" + value.replace("'", "''") + "'"


def escaped(value: bytes | bytearray) -> str:
    """Bytes as a cast to VARCHAR writes them."""
    return "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b"\\'\"" else f"\\x{byte:02X}" for byte in value
    )


def value_text(value: Any) -> str:
    """A value of a result as people read it: bytes and intervals as a cast to VARCHAR writes them."""
    if _is_interval(value):
        return _interval_text(value.months, value.days, value.nanoseconds // 1000)
    return "NULL" if value is None else escaped(value) if isinstance(value, bytes) else str(value)


def _is_interval(value: Any) -> bool:
    """Whether it is pyarrow's MonthDayNano, which is a tuple, too."""
    return type(value).__name__ == "MonthDayNano"


def _interval_text(months: int, days: int, micros: int) -> str:
    size = timedelta(microseconds=abs(micros))
    years = abs(months) // 12 * (1 if months >= 0 else -1)
    counts = {"year": years, "month": months - 12 * years, "day": days}
    words = [f"{count} {unit}{'' if abs(count) == 1 else 's'}" for unit, count in counts.items() if count]
    hours, rest = divmod(size, timedelta(hours=1))
    clock = f"{'-' if micros < 0 else ''}{hours:02}{str(rest).removeprefix('0')}"
    return " ".join([*words, *([_without_zeros(clock)] if micros or not words else [])])


def _without_zeros(clock: str) -> str:
    return clock.rstrip("0") if "." in clock else clock


def _datetime(value: datetime) -> str:
    if value.tzinfo is None:
        return f"timestamp '{value.isoformat(' ')}'"
    return f"cast('{value.astimezone(UTC).isoformat(' ')}' as timestamp with time zone)"


def _interval(value: timedelta) -> str:
    microseconds = value.seconds * 1_000_000 + value.microseconds
    parts = [f"to_days({value.days})"] if value.days or not microseconds else []
    parts += [f"to_microseconds({microseconds})"] if microseconds else []
    return f"({' + '.join(parts)})"


def _list(value: Any) -> str:
    if _is_interval(value):
        if value.nanoseconds % 1000:
            raise UserError(f"an interval has microseconds, got nanoseconds: {value.nanoseconds}")
        micros = value.nanoseconds // 1000
        return f"(to_months({value.months}) + to_days({value.days}) + to_microseconds({micros}))"
    return f"[{', '.join(map(literal, value))}]"


def _scalar(value: Any) -> str:
    """Of pyarrow: what is nested has types that its Python values do not tell."""
    import pyarrow as pa

    if not value.is_valid:
        return "NULL"
    if isinstance(value, pa.MapScalar):
        return f"map({_list(value.values.field(0))}, {_list(value.values.field(1))})"
    if isinstance(value, pa.StructScalar):
        return _fields({field.name: value[place] for place, field in enumerate(value.type)})
    if isinstance(value, (pa.ListScalar, pa.LargeListScalar, pa.FixedSizeListScalar)):
        return _list(value.values)
    return literal(value.as_py())


def _struct(value: dict[Any, Any]) -> str:
    """Or a map, of the dicts that are maps to DuckDB."""
    keys, values = value.get("key"), value.get("value")
    is_map = len(value) == 2 and isinstance(keys, list) and isinstance(values, list)
    if not value or (is_map and len(keys) == len(values)):
        return f"map({literal(keys or [])}, {literal(values or [])})"
    return _fields(value)


def _fields(value: dict[Any, Any]) -> str:
    for name in value:
        if not str(name) or any(character in str(name) for character in "\0\n\r\t"):
            raise UserError(f"a field of a struct has a name on one line, got {name!r}")
    return f"{{{', '.join(f'{_text(str(name))}: {literal(item)}' for name, item in value.items())}}}"


# bool is an int, and datetime a date: the narrower type first.
_TEXTS: tuple[tuple[type | tuple[type, ...], Callable[[Any], str]], ...] = (
    (bool, lambda value: "true" if value else "false"),
    (int, _integer),
    (float, _float),
    (Decimal, _decimal),
    (str, _text),
    ((bytes, bytearray), lambda value: f"'{escaped(value)}'::blob"),
    (UUID, lambda value: f"'{value}'::uuid"),
    (datetime, _datetime),
    (date, lambda value: f"date '{value.isoformat()}'"),
    (time, lambda value: f"time '{value.isoformat()}'"),
    (timedelta, _interval),
    ((list, tuple), _list),
    (dict, _struct),
)
