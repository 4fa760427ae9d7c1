"""Random queries over all types: integers of 128 bits, aggregates, windows, ASOF joins, nested casts.

Written from docs/semantics.md and docs/reference/functions.md. A query is a list of items, by which a failing
one is told. What comes first where DuckDB leaves it open is never asked: orders end in a column of which all
values differ.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from random import Random

import pyarrow as pa
from type_matrix import Kind

_HUGE = (0, 1, -1, 7, -300, 2**64, -(2**90) + 1, 10**38, -(10**38), 2**127 - 1, -(2**127), 5 * 10**18)
_UNSIGNED = (0, 1, 7, 255, 2**64 - 1, 2**64, 10**38, 2**127 - 1, 2**127, 2**127 + 5, 2**128 - 1)
_DAY = datetime.date(2024, 1, 29)
_MOMENT = datetime.datetime(2024, 2, 28, 12)


def _moments(zone: datetime.tzinfo | None) -> tuple[datetime.datetime, ...]:
    steps = (0, 1, 86_399_999_999, 86_400 * 10**6, -3_600_000_000, 30 * 86_400 * 10**6, -(10**15))
    return tuple((_MOMENT + datetime.timedelta(microseconds=step)).replace(tzinfo=zone) for step in steps)


_TEXTS = (
    *(
        "",
        "a",
        "ab",
        "b",
        "A text of more than sixteen bytes",
        "Žluťoučký kůň",
        "abcdefgh",
        "abcdefgH",
        "ABCDEFGž",
    ),
    *("ße", "e\u0301", "👩\u200d👩\u200d👧 x", "🇨🇿🇩🇪z", "12", "-7", "3.5", "true", "2024-02-29", "10:11:12"),
)
KINDS = {
    "ti": Kind("tinyint", pa.int8(), (0, 1, -1, 7, -128, 127)),
    "i": Kind("integer", pa.int32(), (0, 1, 2, 3, -3, 7, 40, -(2**31), 2**31 - 1)),
    "l": Kind("bigint", pa.int64(), (0, 1, 5, -2, 2**40, -(2**63), 2**63 - 1)),
    "ub": Kind("ubigint", pa.uint64(), (0, 1, 7, 2**63, 2**64 - 1)),
    "h": Kind("hugeint", pa.string(), _HUGE, is_wide=True),
    "u": Kind("uhugeint", pa.string(), _UNSIGNED, is_wide=True),
    "f": Kind("float", pa.float32(), (0.0, 0.5, -1.25, 2.0, float("nan"), float("inf"), 1e30)),
    "x": Kind("double", pa.float64(), (0.0, 0.5, -1.25, 3.0, float("nan"), float("-inf"), 1e20, 1e-20)),
    "p": Kind(
        "decimal(9, 2)", pa.decimal128(9, 2), tuple(map(Decimal, ("0.00", "0.30", "2.50", "-1.25", "7.77")))
    ),
    "q": Kind(
        "decimal(38, 3)",
        pa.decimal128(38, 3),
        tuple(map(Decimal, ("0.000", "1.500", "-2.001", "9" * 35 + ".999", "-" + "9" * 35 + ".999"))),
    ),
    "d": Kind(
        "date", pa.date32(), tuple(_DAY + datetime.timedelta(days=n) for n in (0, 1, 2, 31, -40000, 9))
    ),
    "t": Kind("timestamp", pa.timestamp("us"), _moments(None)),
    "z": Kind("timestamptz", pa.timestamp("us", "UTC"), _moments(datetime.UTC)),
    "c": Kind(
        "time",
        pa.time64("us"),
        tuple(map(datetime.time.fromisoformat, ("00:00", "10:11:12", "23:59:59.999999"))),
    ),
    "v": Kind(
        "interval",
        pa.string(),
        ("1 month", "1 day", "31 days", "-5 hours", "00:00:00.000001", "0 days", "2 years"),
        is_wide=True,
    ),
    "s": Kind("varchar", pa.string(), _TEXTS),
    "b": Kind("blob", pa.binary(), (b"", b"\0", b"a", b"a\0", b"ab", b"\xff\xfe")),
    "e": Kind(
        "uuid",
        pa.uuid(),
        tuple(bytes([byte]) + bytes([end] * 15) for byte in (0, 127, 128, 255) for end in (0, 7)),
    ),
    "o": Kind("boolean", pa.bool_(), (True, False)),
    "a": Kind("integer[]", pa.list_(pa.int32()), ([], [1], [1, None], [1, 2], [None], [-5, 2, 3])),
    "r": Kind(
        "struct(y integer, w varchar)",
        pa.struct([("y", pa.int32()), ("w", pa.string())]),
        tuple({"y": y, "w": w} for y in (1, None, 2) for w in ("a", None)),
    ),
}
_INTEGERS = ("ti", "i", "l", "ub", "h", "u")
_NUMBERS = (*_INTEGERS, "f", "x", "p", "q")
_MOMENTS = ("d", "t", "z", "c")
_SIMPLE = (*_NUMBERS, *_MOMENTS, "v", "s", "b", "e", "o")
_NESTED = ("a", "r")


@dataclass(frozen=True)
class Query:
    """`SELECT` items of what follows; whether DuckDB's failing is the answer, too."""

    items: tuple[str, ...]
    rest: str
    fails_alike: bool = False

    def text(self) -> str:
        named = ", ".join(f"{item} as c{index}" for index, item in enumerate(self.items))
        return f"select {named} {self.rest}"

    def single(self) -> list[Query]:
        """It with each of its items alone."""
        return [Query((item,), self.rest, self.fails_alike) for item in self.items]


def random_table(random: Random, rows: int, share: float = 0.15) -> pa.Table:
    """Columns k (every number once), n (counts), g (groups) and one of each kind, with few values."""
    keys = list(range(rows))
    random.shuffle(keys)
    columns = {"k": pa.array(keys, pa.int32())}
    columns["n"] = pa.array([random.choice((0, 1, 2, 3, 5)) for _ in range(rows)], pa.int32())
    groups = random.choice((1, 3, 3, 30))
    columns["g"] = pa.array([random.choice((None, *range(groups))) for _ in range(rows)], pa.int32())
    fields = [pa.field(name, column.type) for name, column in columns.items()]
    for name, kind in KINDS.items():
        pool = random.sample(kind.values, min(len(kind.values), random.choice((1, 2, 3, 4, 20))))
        drawn = [None if random.random() < share else random.choice(pool) for _ in range(rows)]
        columns[name] = kind.column(drawn)
        fields.append(kind.field(name))
    return pa.table(columns, schema=pa.schema(fields))


def _rows(random: Random) -> int:
    return random.choice((0, 1, 2, 7, 40, 200, 200, 3000 if random.random() < 0.15 else 90))


def _order(random: Random, columns: int = 1) -> str:
    """Keys of an order that ends in k."""
    names = random.sample([*_SIMPLE, *_NESTED], random.randrange(columns + 1))
    directions = ("", " desc", " nulls first", " desc nulls last")
    return ", ".join(
        [name + random.choice(directions) for name in names] + ["k" + random.choice(("", " desc"))]
    )


# Integers of 128 bits


def _huge(random: Random, depth: int) -> str:
    """An expression of HUGEINT; factors and divisors are literals: -2^127 and rests by -1 differ."""
    if depth == 0 or random.random() < 0.15:
        literals = (
            "170141183460469231731687303715884105727",
            "-170141183460469231731687303715884105728::hugeint",
        )
        return random.choice(
            ("h", "h", "h", "i::hugeint", "l::hugeint", "ub::hugeint", "3::hugeint", *literals)
        )
    one, two = _huge(random, depth - 1), _huge(random, depth - 1)
    odd = random.choice(
        ("3", "-7", "10", "1000003", "100000000000000000003", "99999999999999999999999999999999999999")
    )
    return random.choice(
        (
            *(
                f"({one} + {two})",
                f"({one} - {two})",
                f"({one} // {odd}::hugeint)",
                f"({one} % {odd}::hugeint)",
            ),
            *(
                f"({one} * {odd}::hugeint)",
                f"(({one} >> 66) * ({two} >> 70))",
                f"({one} & {two})",
                f"({one} | {two})",
            ),
            *(
                f"xor({one}, {two})",
                f"(~ {one})",
                f"({one} >> {random.choice((0, 1, 63, 64, 65, 127, 128, 200))})",
            ),
            *(f"(({one} >> 100) << {random.choice((0, 1, 30, 64, 90))})", f"(- {one})", f"abs({one})"),
            *(
                f"greatest({one}, {two})",
                f"least({one}, {two})",
                f"coalesce({one}, {two})",
                f"nullif({one}, {two})",
            ),
            f"case when {_truth(random, depth - 1)} then {one} else {two} end",
            f"trunc({one}, {random.choice((0, -1, -5, -19, -37, -38, -39, 2))})",
            f"round({one}, {random.choice((0, -1, -5, -19, -37, 2))})",
            *(f"gcd({one} >> 2, {two} >> 2)", f"lcm({one} >> 66, {two} >> 66)", f"sign({one})::hugeint"),
            f"[{one}, {two}, null][{random.choice((1, 2, -2))}]",
            *(
                f"list_bit_and([{one}, {two}])",
                f"list_bit_xor([{one}, {two}, null])",
                f"list_max([{one}, {two}])",
            ),
            *(f"list_sort([{one}, {two}])[1]", f"list_sum([{one} >> 3, {two} >> 3])"),
            f"try_cast({_number(random, depth - 1)} as hugeint)",
            f"({_number(random, depth - 1)})::hugeint",
            f"try_cast({_unsigned(random, depth - 1)} as hugeint)",
        )
    )


def _unsigned(random: Random, depth: int) -> str:
    """An expression of UHUGEINT, whose differences are never negative: DuckDB's may wrap around."""
    if depth == 0 or random.random() < 0.15:
        literals = (
            "340282366920938463463374607431768211455",
            "170141183460469231731687303715884105728::uhugeint",
        )
        return random.choice(("u", "u", "u", "ub::uhugeint", "3::uhugeint", *literals))
    one, two = _unsigned(random, depth - 1), _unsigned(random, depth - 1)
    some = random.choice(
        ("1", "3", "10", "1000003", "18446744073709551616", "99999999999999999999999999999999999999")
    )
    return random.choice(
        (
            *(
                f"({one} + {two})",
                f"({one} - least({one}, {two}))",
                f"({one} // {some}::uhugeint)",
                f"({one} % {some}::uhugeint)",
            ),
            *(f"({one} * {some}::uhugeint)", f"(({one} >> 66) * ({two} >> 66))", f"({one} & {two})"),
            *(f"({one} | {two})", f"xor({one}, {two})", f"(~ {one})", f"(({one} >> 66) * {two})"),
            f"({one} >> {random.choice((0, 1, 63, 64, 65, 127, 128, 200))})",
            f"(({one} >> 100) << {random.choice((0, 1, 30, 64, 99, 100))})",
            *(
                f"greatest({one}, {two})",
                f"least({one}, {two})",
                f"coalesce({one}, {two})",
                f"nullif({one}, {two})",
            ),
            f"case when {_truth(random, depth - 1)} then {one} else {two} end",
            f"trunc({one}, {random.choice((0, -1, -5, -19, -37, -38, -39))})",
            f"[{one}, {two}, null][{random.choice((1, 2, -2))}]",
            *(
                f"list_bit_and([{one}, {two}])",
                f"list_bit_xor([{one}, {two}, null])",
                f"list_max([{one}, {two}])",
            ),
            f"list_sort([{one}, {two}])[1]",
            f"try_cast({_number(random, depth - 1)} as uhugeint)",
            f"({_number(random, depth - 1)})::uhugeint",
            f"try_cast({_huge(random, depth - 1)} as uhugeint)",
        )
    )


def _number(random: Random, depth: int) -> str:
    """Any number, of a type that a binder chooses, or a text."""
    one = _huge(random, depth - 1) if depth > 0 else random.choice(("h", "l"))
    two = _unsigned(random, depth - 1) if depth > 0 else "u"
    whole = random.choice((one, two))
    return random.choice(
        (
            *("ti", "i", "l", "ub", "x", "f", "p", "q", "s", "o"),
            f"try_cast({whole} as {random.choice(_CASTS)})",
            f"try_cast({whole} as {random.choice(_CASTS)})",
            *(f"({whole})::double", f"({whole})::varchar", f"({whole})::float"),
        )
    )


def _truth(random: Random, depth: int) -> str:
    pair = random.choice((_huge, _unsigned))
    one, two = pair(random, max(depth, 0)), pair(random, max(depth, 0))
    operator = random.choice(("<", "<=", "=", "<>", ">", ">=", "is distinct from", "is not distinct from"))
    return random.choice((f"{one} {operator} {two}", f"{one} in ({two}, 7)", f"({one} between 0 and {two})"))


def _wide(random: Random) -> str:
    """An item of an expression of wide integers."""
    depth = random.choice((1, 2, 2, 3))
    one = _huge(random, depth)
    two = _unsigned(random, depth)
    return random.choice(
        (
            *(one, one, f"({two})::varchar", f"({two})::varchar", _truth(random, depth)),
            *(
                f"({one})::varchar",
                f"format('{{}}-{{}}', {one}, {two})",
                f"printf('%d', {one})",
                f"bit_count({one})",
            ),
            *(
                f"({one}) + {random.choice(('i', 'l', 'ti'))}",
                f"({one} >> 80) * p",
                f"({one}) * x",
                f"({one}) < q",
            ),
            *(
                f"({one} >> 70) - q",
                f"({one}) / {random.choice(('3', 'x', 'i'))}",
                f"({two}) < x",
                f"({one}) = x",
            ),
            *(
                f"({one}) <= ub",
                f"({two})::varchar = s",
                f"sqrt(abs({one} >> 1))",
                f"({one}) is not distinct from i",
            ),
            *(f"({two})::double", f"({one})::double", f"({one})::float", f"try_cast({two} as double)"),
            *(f"try_cast({one} as {random.choice(_CASTS)})", f"try_cast({two} as {random.choice(_CASTS)})"),
            *(
                f"({_number(random, depth)})",
                f"[{one}, 1]::varchar",
                f"{{'a': {one}, 'b': [{two}]}}::varchar",
            ),
            f"map([{one}], [({two})::varchar])",
        )
    )


_CASTS = (
    *(
        "tinyint",
        "smallint",
        "integer",
        "bigint",
        "utinyint",
        "usmallint",
        "uinteger",
        "ubigint",
        "float",
        "double",
    ),
    *("decimal(38, 0)", "decimal(38, 3)", "decimal(9, 2)", "decimal(18, 0)", "varchar", "boolean"),
)


# Aggregates and windows


def _bins(random: Random, name: str) -> str:
    """A list of bins of a kind, constant, perhaps with one twice."""
    kind = KINDS[name]
    values = [v for v in kind.values if v == v]  # noqa: PLR0124  (NaN is beyond all bins)
    some = [random.choice(values) for _ in range(random.randrange(5))]
    return f"[{', '.join(_literal(name, value) for value in some)}]::{kind.sql}[]"


def _finite(name: str) -> str:
    """A column without NaN, which DuckDB counts in the first bin, and for its reservoirs is anywhere."""
    return f"nullif({name}, 'nan')" if name in ("f", "x") else name


def _literal(name: str, value: object) -> str:
    if isinstance(value, bytes):
        return f"unhex('{value.hex()}')"
    if isinstance(value, list):
        return f"{['null' if v is None else v for v in value]}".replace("'", "")
    if isinstance(value, dict):
        y, w = value["y"], value["w"]
        return f"{{'y': {'null' if y is None else y}, 'w': {'null' if w is None else repr(w)}}}"
    return f"'{value}'::{KINDS[name].sql}"


_UNIQUE = (
    *(
        "k",
        "-k",
        "k::hugeint * 1000000000000000000000000000",
        "k::uhugeint + 170141183460469231731687303715884105727",
    ),
    *("'row ' || k", "k::double / 7", "timestamp '2024-01-01' + to_days(k)", "k::decimal(18, 3) / 1", "[k]"),
    *("{'a': k}", "nullif(k, 1)", "nullif(k, 0)::hugeint", "interval 1 day * k", "encode(k::varchar)"),
)


def _share(random: Random) -> str:
    return random.choice(("0", "1", "0.5", "0.25", "0.9", "0.333", "-0.25", "-0.5"))


def _shares(random: Random) -> str:
    return random.choice((_share(random), f"[{_share(random)}, {_share(random)}, 0.5]"))


def _aggregate(random: Random, over: str = "") -> str:
    """A call, perhaps with a FILTER, over a window if there is one."""
    name = random.choice((*_SIMPLE, *_NESTED, "h", "u", "h", "u"))
    simple = random.choice((*_SIMPLE, "h", "u"))
    number = random.choice(_NUMBERS)
    measured = random.choice((*_NUMBERS, *_MOMENTS))
    order = f" order by {_order(random)}"
    n = random.choice(("1", "2", "3", "10", "1000"))
    unique = random.choice(_UNIQUE)
    text = "{}::varchar"

    def plain(call: str, kind: str) -> tuple[str, str]:
        return call, text if kind in ("u", "z", "v") else "{}"

    choices: list[tuple[str, str]] = [
        plain(f"min({simple})", simple),
        plain(f"max({simple})", simple),
        (f"count({name})", "{}"),
        (f"count(distinct {name})", "{}"),
        plain(f"first({name}{order})", name),
        plain(f"last({name}{order})", name),
        plain(f"any_value({name}{order})", name),
        plain(f"mode({simple}{order})", simple),
        (f"list({name}{order})", text),
        plain(f"quantile_disc({simple}, {_share(random)})", simple),
        (f"quantile_disc({simple}, {_shares(random)})", text),
        (f"median({measured})", text if measured in "uz" else "{}"),
        (f"quantile_cont({measured}, {_share(random)})", text if measured in "uz" else "{}"),
        (f"histogram({simple})", text),
        (f"sum({random.choice(('ti', 'i', 'l', 'p'))})", "{}"),
        (f"sum({random.choice(('h', 'u', 'ub'))} >> 60)", "{}"),
        (f"sum({random.choice(('h', 'u', 'ub', 'q'))})", "{}"),
        (f"avg({number})", "{}"),
        plain(f"bit_{random.choice(('and', 'or', 'xor'))}({(wide := random.choice(_INTEGERS))})", wide),
        (f"histogram({_finite(simple)}, {_bins(random, simple)})", text),
        (f"string_agg(s, '|'{order})", "{}"),
        (f"mad({random.choice(('i', 'l', 'x', 'p', 'd', 't'))})", "{}"),
        (f"entropy({simple})", "round({}, 9)"),
    ]
    ordered = random.choice([each for each in (*_SIMPLE, *_NESTED) if each != "v"])  # by months there
    choices += [
        *((f"min({ordered}, {n})", text), (f"max({ordered}, {n})", text)) * 2,
        *(plain(f"{call}({name}, {unique})", name) for call in ("arg_min", "arg_max", "arg_max_null")),
        *(plain(f"{call}({name}, {unique})", name) for call in ("arg_min_nulls_last", "arg_max_nulls_last")),
        *((f"{call}({name}, {unique}, {n})", text) for call in ("arg_min", "arg_max", "min_by", "max_by")),
        (f"list(distinct {simple} order by {simple} desc nulls first)", text),
        (f"sum(distinct {random.choice(('ti', 'i', 'l', 'p'))})", "{}"),
        (f"var_samp(distinct {random.choice(('ti', 'i', 'p'))})", "{}"),
    ]
    if not over:
        choices += [
            *((f"{call}(k, {name}{order})", "{}") for call in ("arg_min", "arg_max")),
            (f"histogram_exact({_finite(simple)}, {_bins(random, simple)})", text),
            (f"histogram(distinct {_finite(simple)}, {_bins(random, simple)})", text),
            (f"reservoir_quantile({_finite(number)}, {_share(random).removeprefix('-')})", text),
            plain(f"min(distinct {simple})", simple),
        ]
    call, shown = random.choice(choices)
    return shown.replace("{}", f"({call}{_filter(random)}{over})")


def _filter(random: Random) -> str:
    if random.random() < 0.75:
        return ""
    conditions = ("k % 2 = 0", "o", "h > 0", "u > 7", "n < 2", "s is not null", "false")
    return f" filter (where {random.choice(conditions)})"


def _aggregates(random: Random) -> Query:
    items = [_aggregate(random) for _ in range(random.choice((1, 2, 3)))]
    where = random.choice(("", "", "", " where k % 3 <> 1", " where h is not null", " where false"))
    kind = random.random()
    if kind < 0.3:
        return Query(tuple(items), f"from t{where}")
    keys = random.choice(
        ("g", "g", "g", "h", "u", "o", "a", "r", "s", "x", "v", "n, h", "grouping sets ((g), ())")
    )
    shown = ["g" if "g" in keys.split() or "(g)" in keys else None]
    shown = [f"({key})::varchar" for key in keys.split(", ")] if "(" not in keys else ["g"]
    return Query((*shown, *items), f"from t{where} group by {keys}")


_DISTANCES = ("0", "1", "2", "7", "n", "n + 1")


def _frame(random: Random) -> str:
    if random.random() < 0.35:
        return ""
    start = random.choice(("unbounded preceding", *(f"{d} preceding" for d in _DISTANCES), "current row"))
    end = random.choice(("unbounded following", *(f"{d} following" for d in _DISTANCES), "current row"))
    exclude = random.choice(("", "", "", " exclude current row", " exclude group", " exclude ties"))
    return f" {random.choice(('rows', 'rows', 'groups'))} between {start} and {end}{exclude}"


def _window_call(random: Random) -> str:
    name = random.choice((*_SIMPLE, *_NESTED, "h", "u"))
    order = _order(random, 2)
    free = order.rpartition(", ")[0] or random.choice(_SIMPLE)
    partition = random.choice(
        ("", "partition by g ", "partition by g ", "partition by h ", "partition by u, o ")
    )
    frame = _frame(random)
    over = f"over ({partition}order by {_order(random, 2)}{frame})"
    unexcluded = f"over ({partition}order by {_order(random, 2)}{frame.partition(' exclude')[0]})"
    text = "({})::varchar" if name in ("u", "z", "v") else "{}"
    nulls = random.choice(("", "", " ignore nulls"))
    ties = random.choice(("", ", 2", ", n", ", -1", ", 0"))
    places = (
        f"rank(order by {free}) {unexcluded}",
        f"dense_rank() {unexcluded}",
        f"percent_rank(order by {free}) {unexcluded}",
        f"cume_dist(order by {free}) {unexcluded}",
        f"row_number(order by {order}) {unexcluded}",
        f"ntile({random.choice(('1', '3', 'n + 1'))} order by {order}) {unexcluded}",
    )
    values = (
        text.format(f"{random.choice(('lag', 'lead'))}({name}{ties} order by {order}) {unexcluded}"),
        text.format(f"{random.choice(('lag', 'lead'))}({name}{ties}) {unexcluded}"),
        text.format(f"first_value({name} order by {order}{nulls}) {over}"),
        text.format(f"last_value({name} order by {order}{nulls}) {over}"),
        text.format(f"nth_value({name}, {random.choice('123n')} order by {order}{nulls}) {over}"),
        text.format(f"first_value({name}{nulls}) {over}"),
    )
    aggregates = [_aggregate(random, f" {over}") for _ in range(3)]
    return random.choice((random.choice(places), *(random.choice(values) for _ in range(2)), *aggregates))


def _windows(random: Random) -> Query:
    items = tuple(_window_call(random) for _ in range(random.choice((1, 1, 2))))
    where = random.choice(("", "", "", " where k % 3 <> 1", " where h is not null"))
    return Query(("k", *items), f"from t{where}")


# ASOF joins


def _asof(random: Random) -> Query:
    """Of right rows with the same keys and value any one may be taken: the query's right side has none."""
    safe = random.random() < 0.4
    keys = random.sample(("g", "g", "h", "u", "s", "o", "p", "d", "x", "v"), random.choice((0, 1, 1, 1, 2)))
    if not safe and random.random() < 0.15:  # beside others, and where NULL equals NULL, DuckDB loses rows
        keys = [random.choice(("a", "r"))]
    moment = random.choice(("k", "h", "u", "x", "t", "z", "d", "p", "q", "i", "ub", "s", "v", "c", "b"))
    equal = "is not distinct from" if safe else "="
    ons = [f"l.{key} {equal} r.{key}" for key in dict.fromkeys(keys)]
    if moment in ("i", "k") and random.random() < 0.5:
        other = random.choice(("h", "l", "q", "x"))
        ons.append(f"l.{other} {random.choice(('>=', '>', '<', '<='))} r.{moment}")
    else:
        ons.append(f"l.{moment} {random.choice(('>=', '>', '<', '<='))} r.{moment}")
    kind = random.choice(("", "left ", "right ", "full ", "semi ", "anti "))
    if kind not in ("right ", "full ") and random.random() < 0.35:
        ons.append(
            random.choice(("l.k % 3 <> r.k2", "l.n < 3", "r.k2 <> 1", "(l.o or r.k2 = 1)", "l.h > r.k2"))
        )
    random.shuffle(ons)
    distinct = ", ".join(dict.fromkeys([*keys, moment]))
    aggregate = random.choice(("min(k) as k2", "max(k) % 4 as k2"))
    right = f"(select {distinct}, {aggregate} from t2 group by {distinct}) r"
    items: tuple[str, ...] = (
        ("l.k",) if kind in ("semi ", "anti ") else ("l.k", "r.k2", f"r.{moment}::varchar")
    )
    return Query(items, f"from t l asof {kind}join {right} on {' and '.join(ons)}")


# Casts of nested values


def _leaf(random: Random) -> str:
    return random.choice(
        ("i", "l", "h", "ti", "x", "p", "s", "s", "o", "u", "f", "q", "d", "t", "null", "'12'", "'x'", "300")
    )


#: What a leaf may be cast to: dates and numbers have no casts into each other.
_TARGETS = {
    **dict.fromkeys((*_NUMBERS, "s", "o", "null", "'12'", "'x'", "300"), (*_CASTS, "hugeint", "uhugeint")),
    **dict.fromkeys(("d", "t"), ("date", "timestamp", "varchar", "timestamp_s", "timestamp_ns")),
}


def _nested(random: Random, depth: int) -> tuple[str, str]:
    """A nested value, and a type that it may be cast to."""
    if depth == 0:
        leaf = _leaf(random)
        return leaf, random.choice(_TARGETS[leaf])
    kind = random.random()
    if kind < 0.5:
        one, target = _nested(random, depth - 1)
        others = random.choice(([], [one], ["null", one], ["null"]))
        if depth == 1 and random.random() < 0.5:
            more = _nested(random, 0)[0]
            others = [more] if (more in ("d", "t")) == (one in ("d", "t")) else []
        elements = [one, *others]
        random.shuffle(elements)
        size = random.choice(("", "", "", str(len(elements)), str(len(elements)), "3"))
        return f"[{', '.join(elements)}]", f"{target}[{size}]"
    if kind < 0.8:
        fields = {
            name: _nested(random, depth - 1) for name in random.sample("abcd", random.choice((1, 2, 3)))
        }
        value = ", ".join(f"'{name}': {one}" for name, (one, _) in fields.items())
        names = list(fields)
        if random.random() < 0.3:
            random.shuffle(names)
        return f"{{{value}}}", f"struct({', '.join(f'{name} {fields[name][1]}' for name in names)})"
    key, key_type = _nested(random, 0)
    value, value_type = _nested(random, depth - 1)
    if key in ("s", "'12'", "'x'"):
        return f"map([coalesce({key}, '1')], [{value}])", f"map({key_type}, {value_type})"
    keys = random.choice(_TARGETS["i"])
    return f"map([1, 2 + abs(ti::int)], [{value}, {value}])", f"map({keys}, {value_type})"


def _nested_cast(random: Random) -> str:
    value, target = _nested(random, random.choice((1, 1, 2)))
    cast = "try_cast" if random.random() < 0.8 else "cast"
    call = f"{cast}({value} as {target})"
    return f"({call})::varchar"  # not IS NULL: it may be known without the value


# Texts


def _text(random: Random, depth: int) -> str:
    if depth == 0:
        return random.choice(("s", "s", "s", "'Straße ǅ'", "k::varchar", "'ABCDefgh'"))
    one, two = _text(random, depth - 1), _text(random, depth - 1)
    count = random.choice(("0", "1", "2", "3", "-1", "-2", "n", "100"))
    return random.choice(
        (
            *(
                f"upper({one})",
                f"lower({one})",
                f"reverse({one})",
                f"({one} || {two})",
                f"concat({one}, {two})",
            ),
            *(f"left_grapheme({one}, {count})", f"right_grapheme({one}, {count})", f"left({one}, {count})"),
            *(
                f"substring_grapheme({one}, {random.choice('123')}, {random.choice('0123')})",
                f"repeat({one}, 3)",
            ),
            *(
                f"replace({one}, 'a', {two})",
                f"trim({one})",
                f"coalesce({one}, {two})",
                f"right({one}, {count})",
            ),
        )
    )


def _text_item(random: Random) -> str:
    one = _text(random, random.choice((1, 2, 3)))
    return random.choice(
        (one, one, f"length_grapheme({one})", f"length({one})", f"{one} = {_text(random, 1)}")
    )


def _other(random: Random) -> str:
    number = random.choice((_huge, _unsigned))(random, 1)
    least, greatest = random.choice(("0", "-5", "0.5")), random.choice(("10", "17", "100.5"))
    return random.choice(
        (
            f"binom({random.choice(('n', '60', '100', 'k % 130'))}, n)",
            f"equi_width_bins({least}, {greatest}, n + 1, {random.choice(('true', 'false'))})::varchar",
            f"date_part(['year', 'month', 'hour', 'dow', 'epoch'][n % 5 + 1], {random.choice('tzd')})",
            f"date_trunc(['year', 'month', 'hour', 'week'][n % 4 + 1], {random.choice('tz')})::varchar",
            "bar(n, 0, 5)",
            f"invoke(lambda y, w: y + w, n, {number})::varchar",
            f"list_transform([{number}], lambda y: y // 3)::varchar",
        )
    )


def _expressions(item: Callable[[Random], str]) -> Callable[[Random], Query]:
    """Queries of such items of each row: where one has no value they fail."""

    def query(random: Random) -> Query:
        items = tuple(item(random) for _ in range(random.choice((1, 2, 3))))
        return Query(("k", *items), "from t", fails_alike=True)

    return query


_FORMS = (
    (0.28, _expressions(_wide)),
    (0.28, _aggregates),
    (0.18, _windows),
    (0.1, _asof),
    (0.1, _expressions(_nested_cast)),
    (0.04, _expressions(_text_item)),
    (0.02, _expressions(_other)),
)


def random_query(seed: int) -> tuple[dict[str, pa.Table], Query]:
    """Tables `t` and `t2`, and a query."""
    random = Random(seed)
    form = random.choices([f for _, f in _FORMS], [w for w, _ in _FORMS])[0]
    query = form(random)
    rows = random.choice((0, 1, 1, 2, 4)) if query.fails_alike else _rows(random)
    if rows == 0:  # constants alone may fail there
        query = dataclasses.replace(query, fails_alike=False)
    tables = {"t": random_table(random, rows)}
    if " asof " in query.rest:
        tables["t2"] = random_table(random, _rows(random))
    return tables, query
