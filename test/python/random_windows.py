"""Random queries with window functions over random tables.

Where the order of peers would show in an answer, the order ends in a column that has every value once.
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from random import Random

import pyarrow as pa

_KINDS = {
    "i": pa.int32(),
    "l": pa.int64(),
    "x": pa.float64(),
    "p": pa.decimal128(9, 2),
    "d": pa.date32(),
    "t": pa.timestamp("us"),
    "z": pa.timestamp("us", "UTC"),
    "s": pa.string(),
    "b": pa.bool_(),
}
_NUMBERS = "ilxp"
#: Over these, distances of RANGE: column, distances.
_DISTANCES = {
    "i": ("0", "1", "3", "k % 3"),
    "l": ("0", "2", "k % 4"),
    "p": ("0.5", "2.25"),
    "x": ("0.5", "1.0"),
    "t": ("interval 1 day", "interval 36 hour", "interval 1 month", "(k % 3) * interval 1 day"),
    "z": ("interval 90 minute", "interval 2 day"),
    "d": ("interval 1 day", "interval 2 month", "interval 0 day"),
}


def _value(random: Random, kind: str) -> object:
    if random.random() < 0.15:
        return None
    small = min(random.randrange(9), random.randrange(9))
    if kind == "i":
        return small - 3
    if kind == "l":
        return random.choice((small, small * 1000003))
    if kind == "x":
        return random.choice((small / 2, -0.0, 0.0, float("nan"), float("inf"), -1.25))
    if kind == "p":
        return Decimal(small * 75 - 100).scaleb(-2)
    if kind == "d":
        return datetime.date(2024, 1, 29) + datetime.timedelta(days=small * random.choice((1, 10)))
    if kind in "tz":
        zone = datetime.UTC if kind == "z" else None
        step = datetime.timedelta(hours=small * random.choice((1, 30, 31 * 24)), microseconds=small % 2)
        return datetime.datetime(2024, 1, 31, 12, tzinfo=zone) + step
    if kind == "s":
        return random.choice(
            ("", "a", "ab", "b", "žluť", "a text longer than sixteen bytes", "a text longer")
        )
    return small > 2


def random_table(random: Random) -> pa.Table:
    """Columns k (every number once, in any order), n (counts, NULL at times) and one of each kind."""
    rows = random.choice((0, 1, 2, 7, 40, 200, 200, 3000 if random.random() < 0.1 else 90))
    keys = list(range(rows))
    random.shuffle(keys)
    columns = {"k": pa.array(keys, pa.int32())}
    columns["n"] = pa.array([random.choice((0, 1, 2, 3, 5)) for _ in range(rows)], pa.int32())
    for name, kind in _KINDS.items():
        columns[name] = pa.array([_value(random, name) for _ in range(rows)], kind)
    return pa.table(columns)


def _order_key(random: Random, column: str) -> str:
    direction = random.choice(("", " asc", " desc"))
    return column + direction + random.choice(("", " nulls first", " nulls last"))


def _exclusion(random: Random, weight: float) -> str:
    if random.random() >= weight:
        return ""
    return " exclude " + random.choice(("current row", "group", "ties", "no others"))


def _bounds(random: Random, distances: tuple[str, ...]) -> str:
    starts = ["unbounded preceding", "current row"]
    ends = ["current row", "unbounded following"]
    starts += [f"{d} preceding" for d in distances] + [f"{d} following" for d in distances]
    ends += [f"{d} following" for d in distances] + [f"{d} preceding" for d in distances]
    if random.random() < 0.2:
        return random.choice([s for s in starts if "following" not in s])
    while True:
        start, end = random.choice(starts), random.choice(ends)
        # SQL wants the start not to be named behind the end.
        if "following" in start and end == "current row":
            continue
        if (start == "current row" or "following" in start) and "preceding" in end:
            continue
        return f"between {start} and {end}"


class _Window:
    """An OVER clause: text, and whether the order of peers shows in what goes by rows."""

    def __init__(self, random: Random) -> None:
        self.random = random
        columns = list(_KINDS)
        keys = random.sample(columns, random.choice((0, 0, 1, 1, 2)))
        if random.random() < 0.1:
            keys = ["i + 1"]
        self.partition = f"partition by {', '.join(keys)}" if keys else ""
        self.unique = random.random() < 0.5
        self.order_columns = random.sample(columns, random.choice((0, 1, 1, 2)))
        order = [_order_key(random, c) for c in self.order_columns]
        if self.unique:
            order.append(_order_key(random, "k"))
        self.order = f"order by {', '.join(order)}" if order else ""
        self.count_keys = len(order)

    def frame(self) -> str:
        """A frame whose rows are the same however peers are ordered."""
        random = self.random
        kind = random.random()
        if kind < 0.25:
            return ""
        if not self.order:  # all rows are peers, wherever they are: the row itself is left, or none
            return f"rows {_bounds(random, ('0', '1', '7', 'n'))} exclude {random.choice(('group', 'ties'))}"
        if self.unique and kind < 0.65:
            return f"rows {_bounds(random, ('0', '1', '2', '7', 'n', 'n + 1'))}" + _exclusion(random, 0.3)
        ranged = self.count_keys == 1 and (self.order_columns or ["i"])[0] in _DISTANCES
        if ranged and not self.unique and kind < 0.85:
            distances = _DISTANCES[self.order_columns[0]]
            return f"range {_bounds(random, distances)}" + _exclusion(random, 0.3)
        if self.order:
            return f"groups {_bounds(random, ('0', '1', '2', 'n'))}" + _exclusion(random, 0.3)
        return ""

    def over(self, frame: str = "") -> str:
        return f"over ({' '.join(part for part in (self.partition, self.order, frame) if part)})"


def _ordered_call(random: Random, window: _Window) -> str:
    """A function with an order of its own, in which rows are equal only where that does not show."""
    column = random.choice(list(_KINDS))
    order = ", ".join(_order_key(random, c) for c in random.sample(list(_KINDS), random.choice((0, 1, 2))))
    if random.random() < 0.2 and window.order:
        order = window.order.removeprefix("order by ")
    unique = f"{order}, k" if order else "k"
    frame = window.frame()
    if random.random() < 0.6:
        places = (
            f"rank(order by {order or 'i'})",
            f"percent_rank(order by {order or 's'})",
            f"cume_dist(order by {order or 'p'})",
            f"row_number(order by {unique})",
            f"ntile({random.choice(('1', '3', 'n + 1'))} order by {unique})",
            f"{random.choice(('lag', 'lead'))}({column}{random.choice(('', ', 2', ', n', ', -1', ', 0'))}"
            f" order by {unique})",
            f"lead(s, 1, 'none' order by {unique})",
        )
        bounds = frame.partition(" exclude")[0] if window.order else ""
        return f"{random.choice(places)} {window.over(bounds)}"
    values = (
        f"first_value({column} order by {unique}{{}})",
        f"last_value({column} order by {unique}{{}})",
        f"nth_value({column}, {random.choice('123n')} order by {unique}{{}})",
        f"list({column.replace('x', 'i')} order by {unique})",  # in lists −0 is 0
        f"string_agg(s, '|' order by {unique})",
    )
    return f"{random.choice(values).format(random.choice(('', ' ignore nulls')))} {window.over(frame)}"


def _chosen_call(random: Random, window: _Window) -> str:
    """An aggregate without a running form: of the rows that are first in an order, or of different values."""
    column = random.choice(list(_KINDS))
    element = column.replace("x", "i")  # in lists −0 is 0
    number = random.choice("ilp")
    over = window.over(window.frame())
    condition = f" filter (where {random.choice(('b', 'i > 0'))})" if random.random() < 0.2 else ""
    count = random.choice(("1", "2", "50"))
    by = random.choice(("k", "-k", "nullif(k, 3)"))
    call = random.choice(
        (
            *(f"{name}({column}, {by})" for name in ("arg_min", "arg_max", "min_by", "max_by")),
            *(f"{name}({column}, {by})" for name in ("arg_min_null", "arg_max_null")),
            *(f"{name}({column}, {by})" for name in ("arg_min_nulls_last", "arg_max_nulls_last")),
            *(f"{name}({number}, {count})" for name in ("min", "max")),
            *(f"{name}({element}, {by}, {count})" for name in ("arg_min", "arg_max")),
            f"min(distinct {number}, {count})",
            f"list(distinct {element} order by {_order_key(random, element)})",
            "string_agg(distinct s, '|' order by s)",
            "string_agg(distinct s order by s desc)",
            f"{random.choice(('stddev', 'var_pop', 'product', 'fsum'))}(distinct {number})",
            "bit_xor(distinct i)",
            f"any_value({column} order by k)",
        )
    )
    if window.unique and random.random() < 0.2:  # of a frame that loses rows DuckDB's is any of the frequent
        frame = random.choice(
            ("rows unbounded preceding", "rows between unbounded preceding and 2 following")
        )
        return f"mode({column}) {window.over(frame)}"
    return f"{call}{condition} {over}"


def _call(random: Random, window: _Window) -> str:
    if random.random() < 0.25:
        return _ordered_call(random, window)
    if random.random() < 0.3:
        return _chosen_call(random, window)
    column = random.choice(list(_KINDS))
    number = random.choice(_NUMBERS)
    ranks = ("rank()", "dense_rank()", "percent_rank()", "cume_dist()")
    if window.unique:
        ranks += (
            "row_number()",
            f"ntile({random.choice(('1', '3', '7', 'n + 1'))})",
            f"{random.choice(('lag', 'lead'))}({column}{random.choice(('', ', 2', ', n', ', -1', ', 0'))}"
            f"{random.choice(('', ' ignore nulls'))})",
            f"lag(i, {random.choice(('1', '3'))}, {random.choice(('-100', 'k', 'i + 1', 'null'))})",
            "lead(s, 1, 'none')",
        )
    if random.random() < 0.4:
        return f"{random.choice(ranks)} {window.over()}"
    frame = window.frame()
    over = window.over(frame)
    condition = ""
    if random.random() < 0.2:
        condition = f" filter (where {random.choice(('b', 'k % 2 = 0', 'i > 0'))})"
    if window.unique and random.random() < 0.35:
        value = random.choice(
            (
                f"first_value({column}{{}})",
                f"last_value({column}{{}})",
                f"nth_value({column}, {random.choice('123n')}{{}})",
            )
        )
        return f"{value.format(random.choice(('', ' ignore nulls')))} {over}"
    return random.choice(
        (
            f"sum({number}){condition} {over}",
            f"sum(l){condition} {over}",
            f"avg({number}){condition} {over}",
            f"count({column}){condition} {over}",
            f"count(*){condition} {over}",
            f"min({column}){condition} {over}",
            f"max({column}){condition} {over}",
            f"stddev(i){condition} {over}",
            f"count(distinct {column}){condition} {over}",
            f"sum(distinct {number}){condition} {over}",
        )
    )


def random_query(seed: int) -> tuple[pa.Table, str]:
    """A table `t`, and a query of it."""
    random = Random(seed)
    table = random_table(random)
    windows = [_Window(random) for _ in range(random.choice((1, 1, 2)))]
    calls = [_call(random, random.choice(windows)) for _ in range(random.choice((1, 2, 3)))]
    items = ", ".join(f"{call} as w{index}" for index, call in enumerate(calls))
    kept = random.sample(list(_KINDS), random.randrange(3))
    query = f"select {', '.join(['k', *kept])}, {items} from t"
    if random.random() < 0.2:
        query += f" where {random.choice(('i > 0', 'b', 'k % 3 = 1', 'false'))}"
    if random.random() < 0.2:
        window = windows[0]
        rank = "row_number" if window.unique else "rank"
        query += f" qualify {rank}() {window.over()} <= {random.choice('123')}"
    if random.random() < 0.15:
        counts = "count(*) as rows, count(w0) as n, min(k) as least"
        query = f"select {counts} from ({query}) q where w0 is not null"
    return table, query
