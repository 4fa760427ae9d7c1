"""The matrix of functions, operators, casts, aggregates and keys over types and their extreme values."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID as Uuid

import moment_matrix
import pyarrow as pa
from dev import text_functions
from dev.text_functions import TextFunction

_INFINITY = float("inf")


@dataclass(frozen=True)
class Kind:
    """A type of columns: its name in SQL, in Arrow, and the values at which functions break."""

    sql: str
    arrow: pa.DataType
    values: tuple[object, ...]
    #: Arrow has no such type: columns are texts, which the Oracle casts.
    is_wide: bool = False

    def field(self, name: str, *, nullable: bool = True) -> pa.Field:
        return pa.field(name, self.arrow, nullable, {"cast": self.sql} if self.is_wide else None)

    def column(self, values: Sequence[object]) -> pa.Array:
        shown = [None if value is None else str(value) for value in values] if self.is_wide else values
        return pa.array(shown, self.arrow)

    @property
    def name(self) -> str:
        plain = self.sql.split("(")[0].lower().replace(" ", "_")
        return plain + "".join(c if c.isdigit() else "" for c in self.sql)

    @property
    def is_integer(self) -> bool:
        return self.is_wide or pa.types.is_integer(self.arrow)

    @property
    def is_float(self) -> bool:
        return pa.types.is_floating(self.arrow)

    @property
    def is_decimal(self) -> bool:
        return pa.types.is_decimal(self.arrow)

    @property
    def is_number(self) -> bool:
        return self.is_integer or self.is_float or self.is_decimal


def _integer(sql: str, arrow: pa.DataType, bits: int) -> Kind:
    return Kind(sql, arrow, (0, 1, -1, 7, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1))


def _decimal(precision: int, scale: int) -> Kind:
    # From text: arithmetic of Python's decimals rounds to 28 digits.
    largest = "9" * (precision - scale) + "." + "9" * scale
    least = "0." + "0" * (scale - 1) + "1"
    halves = ("2.5", "-3.5") if precision > scale else ("0.25", "-0.35")
    texts = ("0", least, f"-{least}", *halves, largest, f"-{largest}")
    return Kind(f"DECIMAL({precision},{scale})", pa.decimal128(precision, scale), tuple(map(Decimal, texts)))


BOOLEAN = Kind("BOOLEAN", pa.bool_(), (True, False))
TINYINT = _integer("TINYINT", pa.int8(), 8)
SMALLINT = _integer("SMALLINT", pa.int16(), 16)
INTEGER = _integer("INTEGER", pa.int32(), 32)
BIGINT = _integer("BIGINT", pa.int64(), 64)
FLOAT = Kind("FLOAT", pa.float32(), (0.0, -0.0, 1.5, -2.5, float("nan"), _INFINITY, -_INFINITY, 2.0**127))
DOUBLE = Kind(
    "DOUBLE",
    pa.float64(),
    (0.0, -0.0, 1e-20, 0.3, 0.1 + 0.2, 2.5, -3.5, 1e20, float("nan"), _INFINITY, -_INFINITY, 5e-324, 1.7e308),
)
UTINYINT = Kind("UTINYINT", pa.uint8(), (0, 1, 7, 255))
USMALLINT = Kind("USMALLINT", pa.uint16(), (0, 1, 7, 2**16 - 1))
UINTEGER = Kind("UINTEGER", pa.uint32(), (0, 1, 7, 2**32 - 1))
UBIGINT = Kind("UBIGINT", pa.uint64(), (0, 1, 7, 2**63, 2**64 - 1))
HUGEINT = Kind("HUGEINT", pa.string(), (0, 1, -1, 7, 2**64, -(2**127), 2**127 - 1), is_wide=True)
#: Results of Arrow end at 2^127.
UHUGEINT = Kind("UHUGEINT", pa.string(), (0, 1, 7, 2**64, 2**120), is_wide=True)
DECIMALS = (_decimal(9, 2), _decimal(18, 4), _decimal(38, 10))
ALL_DECIMALS = (*DECIMALS, _decimal(5, 5), _decimal(38, 1))
#: Days since 1970-01-01: 1970-01-01, 1969-12-31, 2024-02-29, 0001-01-01, 0001-12-31 (BC), 0301-02-28 (BC),
#: 9999-12-31, 10000-01-01, 2023-01-31, infinity and -infinity.
DATE = Kind(
    "DATE",
    pa.date32(),
    (0, -1, 19782, -719162, -719163, -829331, 2932896, 2932897, 19388, 2**31 - 1, -(2**31) + 1),
)
#: Microseconds since then: 1970-01-01, just before it, 2024-02-29 12:30:45.123456, 0001-01-01, just
#: before it, the end of 9999, 2023-01-31 23:59:59.5, the last and the first.
_MICROSECONDS = (
    *(0, -1, 1_709_209_845_123_456, -62_135_596_800_000_000, -62_135_596_800_000_001),
    *(253_402_300_799_999_999, 1_675_209_599_500_000, 2**63 - 2, -9_223_372_022_400_000_000),
)
#: infinity and -infinity, whatever the unit.
_INFINITE = (2**63 - 1, -(2**63) + 1)
TIMESTAMP = Kind("TIMESTAMP", pa.timestamp("us"), (*_MICROSECONDS, *_INFINITE))
# ICU, which DuckDB asks about zoned ones, has another calendar far away.
ZONED_TIMESTAMP = Kind(
    "TIMESTAMP WITH TIME ZONE",
    pa.timestamp("us", "UTC"),
    (*_MICROSECONDS[:3], *_MICROSECONDS[5:7], *_INFINITE),
)
TIMESTAMPS_OF_OTHER_UNITS = (
    Kind("TIMESTAMP_S", pa.timestamp("s"), (*(value // 10**6 for value in _MICROSECONDS[:-2]), *_INFINITE)),
    Kind("TIMESTAMP_MS", pa.timestamp("ms"), (*(value // 10**3 for value in _MICROSECONDS[:-2]), *_INFINITE)),
    Kind(
        "TIMESTAMP_NS",
        pa.timestamp("ns"),
        (0, -1, 1_709_209_845_123_456_789, 2**63 - 2, -(2**63) + 2, *_INFINITE),
    ),
)
TIME = Kind("TIME", pa.time64("us"), (0, 1, 45_045_123_456, 86_399_999_999, 36_000_000_000))
VARCHAR = Kind(
    "VARCHAR",
    pa.string(),
    (
        "",
        "a",
        "ab",
        "foo_bar",
        "fooXbar",
        "100%",
        " pad ",
        "ŽLUŤ ß",
        "12",
        "-1.5",
        "true",
        "2024-02-29",
        "NaN",
        "x" * 70,
    ),
)
BLOB = Kind(
    "BLOB",
    pa.binary(),
    (
        b"",
        b"\0",
        b"a",
        b"a\0",
        b"ab",
        b"\xff",
        b"\xff\0",
        "ß".encode(),
        b"'\"\\x41",
        b"12",
        b"\xc3" * 13,
        b"x" * 70,
    ),
)
#: No two that are equal, and in order by months first, as DuckDB's greatest and least have them.
INTERVAL = Kind(
    "INTERVAL",
    pa.month_day_nano_interval(),
    tuple(
        pa.MonthDayNano([months, days, micros * 1000])
        for months, days, micros in (
            (0, 0, 0),
            (1, 0, 0),
            (-1, 0, 0),
            (0, 1, 0),
            (0, 0, 1),
            (0, 0, -1),
            (14, 3, 5_400_000_001),
            (2**31 - 1, 0, 0),
            (-(2**31), 0, 0),
        )
    ),
)
#: Of several versions, and on both sides of the highest bit.
UUID = Kind(
    "UUID",
    pa.uuid(),
    tuple(
        Uuid(text).bytes
        for text in (
            "00000000-0000-0000-0000-000000000000",
            "00000000-0000-0000-0000-000000000001",
            "019a1234-5678-7abc-8def-0123456789ab",
            "7fffffff-ffff-1fff-bfff-ffffffffffff",
            "80000000-0000-4000-8000-000000000000",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
        )
    ),
)
KINDS = (
    BOOLEAN,
    TINYINT,
    SMALLINT,
    INTEGER,
    BIGINT,
    UTINYINT,
    USMALLINT,
    UINTEGER,
    UBIGINT,
    HUGEINT,
    UHUGEINT,
    FLOAT,
    DOUBLE,
    *ALL_DECIMALS,
    DATE,
    TIMESTAMP,
    ZONED_TIMESTAMP,
    *TIMESTAMPS_OF_OTHER_UNITS,
    TIME,
    VARCHAR,
    BLOB,
    INTERVAL,
    UUID,
)
NUMBERS = tuple(kind for kind in KINDS if kind.is_number)


def pairs(kind: Kind, other: Kind | None = None) -> pa.Table:
    """All pairs of extremes: `a`, `b` with NULLs, `m`, `n` the same without, `i` numbers the rows."""
    other = other or kind
    rows = list(itertools.product((*kind.values, None), (*other.values, None)))
    fields = [
        pa.field("i", pa.int32(), nullable=False),
        kind.field("a"),
        other.field("b"),
        kind.field("m", nullable=False),
        other.field("n", nullable=False),
    ]
    columns = [
        pa.array(range(len(rows)), pa.int32()),
        kind.column([a for a, _ in rows]),
        other.column([b for _, b in rows]),
        kind.column([kind.values[0] if a is None else a for a, _ in rows]),
        other.column([other.values[0] if b is None else b for _, b in rows]),
    ]
    return pa.table(columns, schema=pa.schema(fields))


_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_ANY_UNARY = ("a is null", "a is not null", "coalesce(a, b)", "nullif(a, b)", "m")
_ANY_BINARY = (
    "a is distinct from b",
    "a is not distinct from b",
    "a between b and n",
    "a in (b, n)",
    "a not in (b, n)",
    "greatest(a, b)",
    "least(a, b)",
    "greatest(m, n)",
    "case when a < b then a else b end",
    "case when a > b then a end",
    "case a when b then 1 when n then 2 end",
    "if(a = b, a, b)",
)
_NUMBER_UNARY = (
    "-a",
    "+a",
    "abs(a)",
    "a + 1",
    "a * 2",
    "a - 0.5",
    "a > 0",
    "a > 0.0",
    "a = 0.3",
    "a < 1e25",
    "coalesce(a, 0)",
    "coalesce(a, 0.0)",
    "a in (0, 1, 7)",
    "a * 0.1",
    "a / 2",
    "1 / a",
    "round(a)",
    "floor(a)",
    "ceil(a)",
    "sqrt(abs(a))",
    "nullif(a, 0)",
    "case when a = 0 then 0 when 10 / a > 5 then 1 else 2 end",
    "greatest(a, 0.5)",
)
_NUMBER_BINARY = (
    "a + b",
    "a - b",
    "a * b",
    "a / b",
    "a % b",
    "a % 3",
    "a % 0.7",
    "7 % a",
    "m + n",
    "m * n",
    "mod(m, n)",
)
_ROUNDED = (
    *("round(a, 1)", "round(a, -1)", "round(a, 12)", "trunc(a)"),
    *("trunc(a, 1)", "trunc(a, -1)", "trunc(a, 12)", "trunc(a, -18)", "trunc(a, -19)", "trunc(a, null)"),
)
_INTEGER_BINARY = (
    *("a // b", "a // 3", "a // -1", "a % -1", "m // n", "-7 // a"),
    *("a << b", "a << 3", "abs(m) << 1", "a << (i % 9)", "a >> b", "a >> 1", "a >> 31", "a >> 40", "a >> -1"),
    *("(-1) >> a", "null >> a", "a >> null"),
)
_BOOLEAN = (
    "not a",
    "a and b",
    "a or b",
    "not (a and not b)",
    "a is true",
    "a is not true",
    "a is false",
    "a is not false",
    "a and null",
    "a or null",
    "a and false",
    "a or true",
    "coalesce(a, true)",
    "a = true",
    "case when a then 1 else 0 end",
    "(a and b) is null",
    "a < b and b",
    "m and n",
)
_TEXT_UNARY = (
    "trim(a, 'a ')",
    "substring(a, 2)",
    "substring(a, 2, 3)",
    "substring(a, 0, 3)",
    "substring(a, -2, 2)",
    "substring(a, -3)",
    "substring(a, 0)",
    "substring(a, 4, -2)",
    "substring(a, -100, 98)",
    "substring(a, i % 9 - 4)",
    "substring(a, i % 9 - 4, i % 5 - 2)",
    "substring(a, nullif(i % 3, 0), 2)",
    "left(a, 2)",
    "left(a, -2)",
    "left(a, 0)",
    "left(a, i % 9 - 4)",
    "right(a, 2)",
    "right(a, -2)",
    "right(a, 100)",
    "right(a, i % 9 - 4)",
    "a[2:]",
    "a[:-2]",
    "a[-3:2]",
    "a[i % 9 - 4:i % 5 - 2]",
    "a[null:2]",
    "regexp_extract(a, 'o', null)",
    "regexp_extract(a, '(o)', null, 'i')",
    "a like 'foo%'",
    "a like 'foo_bar'",
    "a like '%b%'",
    "a like '100!%' escape '!'",
    "a not like '%a'",
    "a ilike '%FOO%'",
    "starts_with(a, 'foo_')",
    "starts_with(a, '')",
    "a || 'x'",
    "a || null",
    "concat(a, null, 'z')",
    "a in ('a', 'ab', null)",
    "a > 'b'",
    "a = ''",
    "case when a like '%o%' then upper(a) else a end",
    "coalesce(a, '')",
    "a like ''",
    "a like '%'",
    "a like '_'",
)
_TEXT_BINARY = (
    "starts_with(a, b)",
    "ends_with(a, b)",
    "contains(a, b)",
    "a ^@ n",
)


def _calls(function: TextFunction) -> list[str]:
    """A function of texts by all its names, of columns and of constants."""
    kinds = [each.kind for each in function.arguments]

    def call(integer: str, texts: tuple[str, ...], name: str | None = None) -> str:
        text = itertools.chain(texts, itertools.repeat("'i'"))  # a fourth is options
        return function.call(*[integer if kind == "Integer" else next(text) for kind in kinds], name=name)

    calls = [call("i % 9 - 4", ("a", "b", "n"), name) for name in function.duckdb]
    calls += [
        call(integer, ("a", text, "m")) for integer, text in (("0", "''"), ("-2", "'o'"), ("7", "'ůa'"))
    ]
    calls += [
        call("i * 37", ("m", "n", "'ab'")),
        call("null", ("a", "b", "n")),
        call("3", ("null::varchar", "b", "n")),
    ]
    if kinds[-1] == "Blanks":
        calls.append(function.call("a", *["b", "n"][: len(kinds) - 2]))
    if kinds[-1] in ("Texts", "AllBytes"):
        calls.append(function.call("a", "b", "null", "n"))
    return list(dict.fromkeys(calls))


#: Every function of the table.
_TEXT_FUNCTIONS = tuple(
    call for function in text_functions.table() if function.duckdb for call in _calls(function)
)

#: Those of bytes.
_BYTE_FUNCTIONS = tuple(
    call
    for function in text_functions.table()
    if function.duckdb and function.arguments[0].kind in ("Bytes", "AllBytes", "Binary")
    for call in _calls(function)
)

_OF_INTERVALS = (
    *("a + b", "a - b", "-a", "a * i", "i * a", "a * 0.3", "a / 3", "a / (i - 3.5)", "cast(a as VARCHAR)"),
    "cast(cast(a as VARCHAR) as INTERVAL)",
    *(f"extract({part} from a)" for part in ("year", "month", "day", "hour", "minute", "second", "epoch")),
    *(f"date_trunc('{part}', a)" for part in ("decade", "month", "week", "minute")),
    *(f"epoch_{unit}(a)" for unit in ("ms", "us", "ns")),
    *(
        "normalized_interval(a)",
        "timestamp '2024-01-31 12:00:00' + a",
        "date '1969-02-28' - a",
        "time '01:00' + a",
    ),
)

_OF_UUIDS = (
    *(
        "cast(a as VARCHAR)",
        "cast(cast(a as VARCHAR) as UUID)",
        "cast(a as BLOB)",
        "cast(cast(a as BLOB) as UUID)",
    ),
    *("cast(cast(a as UHUGEINT) as VARCHAR)", "cast(cast(a as UHUGEINT) as UUID)", "cast(a as BIGINT)"),
    *(
        "uuid_extract_version(a)",
        "uuid_extract_timestamp(a)",
        "a || 'x'",
        "md5(a::varchar)",
        "format('{}', a)",
    ),
    *("a > '80000000000000000000000000000000'", "a = '{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}'"),
)

CASTS = (
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UHUGEINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(9,2)",
    "DECIMAL(18,4)",
    "DECIMAL(38,10)",
    "DECIMAL(5,5)",
    *moment_matrix.CASTS,
    "VARCHAR",
)
#: Texts that are numbers, truth values, dates and times, and texts that are nearly.
TEXTS = (
    *("0", "-0", "7", "+5", " 12 ", "\t12\n", "127", "128", "-32768", "2147483647.4", "2147483647.5"),
    *("9223372036854775807", "9223372036854775808", "99999999999999999999999999999", "1.5", "2.5", "-2.5"),
    *("0.5", ".5", "5.", "-.5", "0.05", "0.005", "0.00499", "1e3", "1E3", "1e+3", "1.5e1", "1.45e1"),
    *("15e-1", "25e-1", "45e-2", "5e-1", "5e-2", "1e-400", "0e400", "1e400", "-1e400", "1_000", "1_0.0_5"),
    *("1__0", "_1", "1_", "1._5", "", " ", "-", "+", ".", "e5", "1e", "1e+", "1 2", "- 5", "--5", "1.2.3"),
    *("1,5", "0x10", "1d", "12x", "1e5.5", "nan", "NaN", "-nan", "inf", "-Infinity", "+inf", "INF", "nan(1)"),
    *("true", "TRUE", "t", "yes", "Y", "1", "false", "F", "no", "n", " true", "on", "off", "2"),
    *("2024-02-29", " 2024-02-29 ", "2024-2-9", "2024/02/29", "2024 02 29", "24-2-9", "0-1-1", "-1-1-1"),
    *("0044-03-15 (BC)", "0044-03-15 (bc)", "0000-01-01 (BC)", "99999-1-1", "5881580-07-10", "epoch"),
    *("2023-02-29", "2024-13-10", "2024-00-10", "2024-02-00", "2024-02", "2024", "20240229", "2024-02/29"),
    *("2024.02.29", "2024-002-9", "2024-02-009", "2024-02-29x", "2024-02-29 x", "2024-02-29 10"),
    *("2024-02-29 10:00", "2024-02-29 10:00:00", "2024-02-29T10:00:00.5", "2024-02-29 25:00:00"),
    *("2024-02-29 10:60:00", "2024-02-29 10:00:60", "290000-01-01", "300000-01-01", "x", "NULL", "٣"),
    *(
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        "{A0EEBC999C0B4EF8BB6D6BB9BD380A11}",
        "-a0eebc999c0b4ef8bb6d6bb9bd380a1--1",
    ),
    *(
        "a0eebc999c0b4ef8bb6d6bb9bd380a1",
        "a0eebc999c0b4ef8bb6d6bb9bd380a111",
        "a0eebc999c0b4ef8bb6d6bb9bd380a1g",
        "{}",
    ),
    *("{a0eebc999c0b4ef8bb6d6bb9bd380a11", " a0eebc999c0b4ef8bb6d6bb9bd380a11", "{", "-"),
    *(r"\xAA\x00b", r"\xA", r"\xGG", "\\", r"\x41\x", "'"),
    *moment_matrix.TEXTS,
)


def scalars(kind: Kind) -> list[str]:
    """The expressions over `pairs(kind)`."""
    out = [*_ANY_UNARY, *_ANY_BINARY, *(f"a {op} b" for op in _COMPARISONS), "m <= n", "not (a = b)"]
    if kind.is_number:
        out += [*_NUMBER_UNARY, *_NUMBER_BINARY]
        out += _ROUNDED if kind.is_decimal or kind.is_float else _INTEGER_BINARY
    if kind is BOOLEAN:
        out += _BOOLEAN
    out += moment_matrix.EXPRESSIONS.get(kind.sql, ())
    if kind is VARCHAR:
        out += [*_TEXT_FUNCTIONS, *_TEXT_UNARY, *_TEXT_BINARY]
    if kind.is_number:
        out += [
            f"try_cast(a as {target})" for target in CASTS if target not in (*moment_matrix.CASTS, "VARCHAR")
        ]
    if kind is INTERVAL:
        return [*out, *_OF_INTERVALS]
    if kind is UUID:
        return [*out, *_OF_UUIDS]
    if kind is BLOB:
        return [*out, *_BYTE_FUNCTIONS, "cast(a as VARCHAR)", "cast(cast(a as VARCHAR) as BLOB)", "a = ''"]
    # Of texts more is cast elsewhere.
    return out if kind is VARCHAR else out + [f"cast(a as {target})" for target in CASTS]


def mixed() -> list[tuple[Kind, Kind, tuple[str, ...]]]:
    """Expressions over two different types of numbers."""
    expressions = (
        "a + b",
        "a * b",
        "a - b",
        "a / b",
        "a < b",
        "a = b",
        "coalesce(a, b)",
        "greatest(a, b)",
        "case when a < b then a else b end",
        "a in (b, 1)",
        "a % b",
    )
    return [
        (a, b, expressions) for a, b in itertools.permutations((BIGINT, INTEGER, DOUBLE, FLOAT, *DECIMALS), 2)
    ]


def aggregates(kind: Kind) -> list[str]:
    """Aggregates of a column `a` of this type."""
    out = [
        "count(a)",
        "count(*)",
        "min(a)",
        "max(a)",
        "count(distinct a)",
        "min(m)",
        "max(m)",
        "count(*) filter (where a is null)",
        "max(a) filter (where i > 3)",
        "min(case when i > 2 then a end)",
    ]
    out += [f"{function}(a order by i)" for function in ("first", "last", "any_value")]
    out += ["arg_min(a, i)", "arg_max(a, i) filter (where i % 2 = 0)"]
    if kind is BOOLEAN:
        out += ["sum(a)", "bool_and(a)", "bool_or(a)"]
    if kind.is_number:
        out += [
            "sum(a)",
            "avg(a)",
            "sum(distinct a)",
            "avg(distinct a)",
            "stddev(distinct a)",
            "sum(a) filter (where i % 2 = 0)",
            "avg(a) filter (where i < 0)",
            "sum(case when a > 0 then a end)",
            "stddev(a)",
            "stddev_pop(a)",
            "var_samp(a)",
            "var_pop(a)",
        ]
    if kind.is_integer:
        out += [f"bit_{which}(a)" for which in ("and", "or", "xor")]
    return out


def plain_values(kind: Kind) -> tuple[object, ...]:
    """Values whose sums are defined: without the extremes that overflow, infinities and NaN."""
    if kind is BOOLEAN or not kind.is_number:
        return kind.values
    if pa.types.is_floating(kind.arrow):
        return (0.5, -1.25, 0.0, -0.0, 3.0, 100.0)
    return tuple(value for value in kind.values if abs(value) < 8) or (0,)


def grouped(kind: Kind, shape: str) -> pa.Table:
    """Rows for aggregates: `a` may be NULL, `m` not. shape: extremes, plain, empty, null or one."""
    values: list[object] = {
        "extremes": [*kind.values, None, *kind.values],
        "plain": [*plain_values(kind), None, *reversed(plain_values(kind))] * 3,
        "empty": [],
        "null": [None] * 5,
        "one": [kind.values[0]],
    }[shape]
    count = len(values)
    schema = pa.schema(
        [
            pa.field("i", pa.int32(), nullable=False),
            pa.field("g", pa.int32()),
            kind.field("a"),
            kind.field("m", nullable=False),
        ]
    )
    columns = [
        pa.array(range(count), pa.int32()),
        pa.array([None if i % 5 == 4 else i % 3 for i in range(count)], pa.int32()),
        kind.column(values),
        kind.column([kind.values[0] if value is None else value for value in values]),
    ]
    return pa.table(columns, schema=schema)


#: Queries over l and r, two tables of `grouped`, in which `a` is the key.
KEYS = (
    "select l.i, r.i as j from l join r on l.a = r.a",
    "select l.i, r.i as j from l left join r on l.a = r.a",
    "select l.i, r.i as j from l right join r on l.m = r.a",
    "select l.i, r.i as j from l full join r on l.a = r.a",
    "select l.i, r.i as j from l join r on l.a is not distinct from r.a",
    "select l.i, r.i as j from l join r on l.a = r.a and l.g = r.g",
    "select l.i, r.i as j from l join r on l.a = r.a and l.i < r.i",
    "select i from l where a in (select a from r)",
    "select i from l where a not in (select a from r)",
    "select i from l where a not in (select a from r where a is not null)",
    "select i, a in (select a from r) as x from l",
    "select i, a in (select a from r where r.g = l.g) as x from l",
    "select i from l where exists (select 1 from r where r.a = l.a)",
    "select i from l where not exists (select 1 from r where r.a = l.a and r.g <> l.g)",
    "select i, (select max(i) from r where r.a = l.a) as x from l",
    "select a, count(*) as n, min(i) as first from l group by a",
    "select a, g, count(*) as n from l group by a, g",
    "select distinct a from l",
    "select a from l union select a from r",
    "select a from l intersect select a from r",
    "select a from l except select a from r where i < 3",
    "select count(distinct a) as n from l",
    "select g, count(distinct a) as n from l group by g",
)
#: Queries over l whose rows come in an order.
ORDERS = (
    "select a from l order by a",
    "select a from l order by a desc",
    "select a, i from l order by a nulls first, i",
    "select a, i from l order by g desc nulls last, a desc, i limit 7",
    "select max(a) as top from l group by g order by top, g",
)
