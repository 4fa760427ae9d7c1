"""Rules of texts, dates and times."""

from __future__ import annotations

import re

import pyarrow as pa

from headrace._src.errors import UnsupportedError, UserError
from headrace._src.frame.scope import Scope, Value, combined, converted, floored
from headrace._src.frame.translate import rule
from headrace._src.frame.types import is_integer, is_moment, is_timestamp, sql_type
from headrace._src.sql.literals import literal

_TEXT = pa.string()
_BOOL = pa.bool_()
_COUNT = pa.int64()
#: What Polars strips: Unicode's white space.
_BLANKS = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)


def _text(value: Value, what: str) -> str:
    if value.type != _TEXT and not pa.types.is_null(value.type):
        raise UserError(f"{what} takes texts, got {value.type}")
    return value.sql


def _calls(kind: str, function: str, dtype: pa.DataType) -> None:
    @rule(kind)
    def call(scope: Scope, *values: Value) -> Value:
        arguments = ", ".join(_text(value, kind) for value in values)
        return combined(f"{function}({arguments})", dtype, *values)


for _kind, _function, _type in (
    ("len_chars", "length", _COUNT),
    ("len_bytes", "strlen", _COUNT),
    ("reverse", "reverse", _TEXT),
    ("contains", "contains", _BOOL),
    ("starts_with", "starts_with", _BOOL),
    ("ends_with", "ends_with", _BOOL),
    ("replace_all", "replace", _TEXT),
):
    _calls(_kind, _function, _type)


def _cases(kind: str, function: str, letter: str, letters: str) -> None:
    """A case, in which a common letter becomes several, as in Polars; in SQL one becomes one."""

    @rule(kind)
    def case(scope: Scope, value: Value) -> Value:
        text = f"replace({_text(value, kind)}, {literal(letter)}, {literal(letters)})"
        return combined(f"{function}({text})", _TEXT, value)


_cases("to_lowercase", "lower", "\u0130", "i\u0307")
_cases("to_uppercase", "upper", "ß", "SS")


@rule("matches")
def _matches(scope: Scope, value: Value, pattern: str) -> Value:
    return combined(f"regexp_matches({_text(value, 'contains')}, {literal(pattern)})", _BOOL, value)


@rule("replace")
def _replace(scope: Scope, of: Value, pattern: str, by: str, every: bool) -> Value:
    text, options = _text(of, "replace"), ", 'g'" if every else ""
    escaped = by.replace("\\", "\\\\")
    return combined(f"regexp_replace({text}, {literal(pattern)}, {literal(escaped)}{options})", _TEXT, of)


@rule("concat_str")
def _concat(scope: Scope, *values: Value, separator: str) -> Value:
    texts = []
    for value in values:
        if value.type != _TEXT and not is_integer(value.type):
            raise UserError(f"concat_str takes texts and integers, got {value.type}")
        texts.append(value.sql if value.type == _TEXT else f"cast({value.sql} as varchar)")
    between = f" || {literal(separator)} || " if separator else " || "
    return combined(f"({between.join(texts)})", _TEXT, *values)


@rule("strip")
def _strip(scope: Scope, value: Value, function: str, characters: str | None) -> Value:
    some = literal(_BLANKS if characters is None else characters)
    return combined(f"{function}({_text(value, 'strip_chars')}, {some})", _TEXT, value)


@rule("slice")
def _slice(scope: Scope, value: Value, offset: int, length: int | None) -> Value:
    text = _text(value, "slice")
    if length is not None and length < 0:
        raise UserError(f"a length is at least 0, got {length}")
    if offset >= 0:
        count = "" if length is None else f", {length}"
        return combined(f"substring({text}, {offset + 1}{count})", _TEXT, value)
    end = f"right({text}, {-offset})"
    if length is None:
        return combined(end, _TEXT, value)
    # Of what begins before the text only the part inside of it counts.
    value = scope.once(value)
    missing = f"greatest({-offset} - length({value.sql}), 0)"
    end = f"right({value.sql}, {-offset})"
    return combined(f"left({end}, cast(greatest({length} - {missing}, 0) as bigint))", _TEXT, value)


@rule("head")
def _head(scope: Scope, value: Value, n: int) -> Value:
    return combined(f"left({_text(value, 'head')}, {n})", _TEXT, value)


@rule("tail")
def _tail(scope: Scope, value: Value, n: int) -> Value:
    return combined(f"right({_text(value, 'tail')}, {n})", _TEXT, value)


@rule("pad")
def _pad(scope: Scope, value: Value, function: str, length: int, fill: str) -> Value:
    if len(fill) != 1:
        raise UserError(f"what pads is one character, got {fill!r}")
    value = scope.once(value)
    text = _text(value, "pad")
    padded = f"{function}({text}, {length}, {literal(fill)})"
    return combined(f"case when length({text}) < {length} then {padded} else {text} end", _TEXT, value)


@rule("text_to")
def _text_to(scope: Scope, value: Value, dtype: str) -> Value:
    kind = pa.date32() if dtype == "Date" else pa.timestamp("us")
    return combined(f"cast({_text(value, 'str.to_date')} as {sql_type(kind)})", kind, value)


# Dates and times

_BYTES = {"year": 32, "isoyear": 32, "doy": 16, "millisecond": 32, "microsecond": 32}
_OF_DAY = ("hour", "minute", "second", "millisecond", "microsecond")


def _moment(value: Value, what: str) -> str:
    if not is_moment(value.type):
        raise UserError(f"dt.{what} takes dates and timestamps, got {value.type}")
    # SQL's functions take microseconds, and would round.
    return floored(value, pa.timestamp("us", getattr(value.type, "tz", None)))


def _whole_moment(value: Value, what: str) -> str:
    """One whose nanoseconds count."""
    if value.type == pa.timestamp("ns"):
        raise UnsupportedError(f"dt.{what} of nanoseconds is not supported: cast to Datetime('us')")
    return _moment(value, what)


@rule("part")
def _part(scope: Scope, value: Value, part: str) -> Value:
    is_time = pa.types.is_time(value.type) and part in _OF_DAY
    moment = value.sql if is_time else _moment(value, part)
    if part in _OF_DAY and value.type == pa.date32():
        raise UserError(f"a date has no {part}")
    # SQL counts milliseconds and microseconds of the minute.
    of = {"millisecond": 1000, "microsecond": 1_000_000}.get(part)
    sql = f"date_part('{part}', {moment})" + (f" % {of}" if of else "")
    dtype = {8: pa.int8(), 16: pa.int16(), 32: pa.int32()}[_BYTES.get(part, 8)]
    return combined(f"cast({sql} as {sql_type(dtype)})", dtype, value)


@rule("date")
def _date(scope: Scope, value: Value) -> Value:
    sql = _moment(value, "date")
    if value.type == pa.date32():
        return value
    return combined(f"cast(date_trunc('day', {sql}) as date)", pa.date32(), value)


@rule("time")
def _time(scope: Scope, value: Value) -> Value:
    if not is_timestamp(value.type):
        raise UserError(f"dt.time takes timestamps, got {value.type}")
    return combined(f"cast({_whole_moment(value, 'time')} as time)", pa.time64("us"), value)


_UNITS = {
    "us": "microsecond",
    "ms": "millisecond",
    "s": "second",
    "m": "minute",
    "h": "hour",
    "d": "day",
    "w": "week",
    "mo": "month",
    "q": "quarter",
    "y": "year",
}
_STEP = re.compile(r"(\d+)(us|ms|mo|[smhdwqy])")


@rule("truncate")
def _truncate(scope: Scope, value: Value, every: str) -> Value:
    sql = _moment(value, "truncate")
    match = _STEP.fullmatch(every)
    if not match or match[1] != "1":
        raise UnsupportedError(f"truncate to one unit, such as 1d or 1mo, got {every}")
    if value.type == pa.date32() and match[2] in ("us", "ms", "s", "m", "h"):
        return value
    return combined(
        f"cast(date_trunc('{_UNITS[match[2]]}', {sql}) as {sql_type(value.type)})", value.type, value
    )


@rule("month_start")
def _month_start(scope: Scope, value: Value) -> Value:
    sql = _whole_moment(value, "month_start")
    first = f"({sql} - to_days(cast(date_part('day', {sql}) - 1 as integer)))"
    return combined(f"cast({first} as {sql_type(value.type)})", value.type, value)


@rule("offset")
def _offset(scope: Scope, value: Value, by: str) -> Value:
    sql, back = _whole_moment(value, "offset_by"), by.startswith("-")
    steps = _STEP.findall(by.removeprefix("-"))
    if not steps or "".join(count + unit for count, unit in steps) != by.removeprefix("-"):
        raise UserError(f"an offset is a number of units, such as 3d or -1mo, got {by}")
    for count, unit in steps:
        many, name = (3 * int(count), "month") if unit == "q" else (int(count), _UNITS[unit])
        sql = f"({sql} + to_{name}s({-many if back else many}))"
    return combined(f"cast({sql} as {sql_type(value.type)})", value.type, value)


@rule("epoch")
def _epoch(scope: Scope, value: Value, unit: str) -> Value:
    sql = _moment(value, "epoch")
    if unit == "d":
        dtype = pa.int32()
        return combined(
            f"cast(date_diff('day', date '1970-01-01', cast({sql} as date)) as integer)", dtype, value
        )
    per = {"us": 1, "ms": 1000, "s": 1_000_000}
    if unit not in per:
        raise UserError(f"a unit of time is us, ms, s or d, got {unit}")
    count = converted(combined(f"epoch_us({sql})", _COUNT, value), _COUNT)
    if unit == "us":
        return count
    down = f"case when {count.sql} % {per[unit]} < 0 then 1 else 0 end"
    return combined(f"({count.sql} // {per[unit]} - {down})", _COUNT, value)


@rule("strftime")
def _strftime(scope: Scope, value: Value, format: str) -> Value:
    unknown = set(re.findall(r"%(.)", format)) - set("YmdHMSBbAajyf%")
    if unknown:
        raise UnsupportedError(f"unsupported in the format of a date: %{sorted(unknown)[0]}")
    moment = (_whole_moment if "%f" in format else _moment)(value, "strftime")
    return combined(f"strftime({moment}, {literal(format)})", _TEXT, value)
