"""Medians and quantiles of frames that move, beside DuckDB; their memory and time grow as the rows do."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import answer, check, same

_ROWS = 120
_ROUNDS = int(os.environ.get("HEADRACE_RANDOM_QUANTILES", "12"))
#: Values made of a small whole number v, which may be NULL.
_TYPES = {
    "tinyint": "v::tinyint",
    "integer": "v::integer",
    "bigint": "v::bigint * 1000000007",
    "hugeint": "v::hugeint * 100000000000000000000",
    "ubigint": "(v + 100)::ubigint",
    "uhugeint": "(v + 100)::uhugeint * 100000000000000000000",
    "decimal(4, 1)": "(v / 10)::decimal(4, 1)",
    "decimal(15, 3)": "(v * 1.007)::decimal(15, 3)",
    "decimal(18, 2)": "(v * 123456789012345.67)::decimal(18, 2)",
    "decimal(38, 2)": "v::decimal(38, 2) * 1234567890123456789012.34::decimal(38, 2)",
    "float": "(v / 3)::float",
    "double": "case when v = 3 then 'nan'::double when v = 5 then '-inf'::double else v / 3 end",
    "date": "date '2024-01-31' + v::integer",
    "time": "time '12:00:00' + to_microseconds(v * 100000001)",
    "timestamp": "timestamp '2024-01-31 12:00:00' + to_microseconds(v * 100000001)",
    "timestamp of ms": "(timestamp '2024-01-31 12:00:00' + to_hours(v))::timestamp_ms",
    "timestamp with a zone": "timestamptz '2024-01-31 12:00:00+00' + to_minutes(v * 11)",
    "interval": "to_hours(v * 7)",
    "text": "'a text that is long ' || v::varchar",
    "boolean": "v > 4",
    "uuid": "('00000000-0000-0000-0000-0000000000' || (v + 20)::varchar)::uuid",
    "list": "[v, v // 2]",
    "struct": "{'a': v // 2, 'b': v}",
}
#: Of these there is something between two values.
_BETWEEN = {
    name
    for name in _TYPES
    if name.split("(")[0] not in ("text", "boolean", "uuid", "list", "struct", "interval")
}
_FRAMES = [
    "order by k rows between 6 preceding and 2 following",
    "partition by g order by k rows between 11 preceding and current row exclude current row",
    "partition by g order by k desc rows between 3 following and 20 following",
    "order by k range between 30 preceding and 10 following",
    "order by k range between current row and h % 5 + 4 following exclude ties",
    "partition by g order by h groups between 2 preceding and 1 following exclude group",
    "order by k rows between h % 7 + 7 preceding and current row",
    "order by k",
    "partition by g order by k rows between current row and unbounded following",
]


def _table(seed: int) -> dict[str, pa.Table]:
    chance = random.Random(seed)
    keys = chance.sample(range(4 * _ROWS), _ROWS)
    values = [None if chance.random() < 0.15 else chance.randint(-9, 9) for _ in keys]
    groups, peers = ([chance.randint(0, 2) for _ in keys], [chance.randint(0, 9) for _ in keys])
    return {"t": pa.table({"k": keys, "v": pa.array(values, pa.int64()), "g": groups, "h": peers})}


def _share(chance: random.Random) -> str:
    return chance.choice(("0", "0.0", "1", "0.5", "0.25", "0.1", "0.999", "1/3", "0.7::double"))


def _call(chance: random.Random, name: str) -> str:
    functions = ["quantile_disc", "quantile"]
    if name in _BETWEEN:
        functions += ["quantile_cont", "quantile_cont", "median"]
    functions += ["median"] if name in ("interval", "text") else []
    function = chance.choice(functions)
    distinct = chance.choice(("", "", "", "distinct "))
    filtered = chance.choice(("", "", " filter (where v % 3 <> 1)"))
    if function == "median":
        return f"median({distinct}x){filtered}"
    shares = _share(chance)
    if chance.random() < 0.3:
        signs = [share for share in ("0.5", "0.05", "1", "0.9", "0.3") if chance.random() < 0.7]
        shares = f"[{', '.join(signs or ['0.5'])}]"
    return f"{function}({distinct}x, {shares}){filtered}"


def _columns(chance: random.Random, name: str, count: int) -> str:
    """Calls over w; of moments with a zone, which DuckDB calls otherwise, as texts."""
    cast = "::varchar" if "zone" in name else ""
    return ", ".join(f"({_call(chance, name)} over w){cast} as c{i}" for i in range(count))


@pytest.mark.parametrize("name", _TYPES)
def test_quantiles_of_every_type(name: str) -> None:
    chance = random.Random(name)
    tables = _table(chance.randrange(1000))
    source = f"(select *, {_TYPES[name]} as x from t)"
    for frame in chance.sample(_FRAMES, 2):
        columns = _columns(chance, name, 3)
        check(f"select k, {columns} from {source} window w as ({frame})", tables, ranks=chance.randint(1, 3))


@pytest.mark.parametrize("seed", range(_ROUNDS))
def test_random_quantiles(seed: int) -> None:
    chance = random.Random(seed)
    name, frame, ranks = chance.choice(list(_TYPES)), chance.choice(_FRAMES), chance.randint(1, 3)
    columns = _columns(chance, name, chance.randint(1, 3))
    query = f"select k, {columns} from (select *, {_TYPES[name]} as x from t) window w as ({frame})"
    check(query, _table(seed), ranks=ranks)


def test_no_row_that_counts_gives_null() -> None:
    query = """select k, median(v) filter (where v > 100) over w as a,
        quantile_disc(v, [0.5, 1]) filter (where v > 100) over w as b,
        median(distinct v) filter (where v > 100) over w as c
        from t window w as (order by k rows 3 preceding)"""
    check(query, _table(1))
    assert set(hr.sql(query, _table(1)).column("b").to_pylist()) == {None}


def test_intervals_that_are_too_long_have_none_between_them() -> None:
    table = pa.table({"k": [1, 2], "m": [2**31 - 1, 1]})
    query = "select median(to_months(m)) over (order by k rows 1 preceding) as a from t"
    with pytest.raises(
        hr.errors.DataError, match="intervals of more than 64 bits have no interval between them"
    ):
        hr.sql(query, {"t": table})


def _moving(rows: int, call: str) -> tuple[str, dict[str, pa.Table]]:
    """Frames of half of the rows."""
    chance = random.Random(3)
    table = pa.table({"k": range(rows), "x": [chance.random() for _ in range(rows)]})
    over = f"(order by k rows between {rows // 2} preceding and current row)"
    return f"select sum(m) as s from (select {call} over {over} as m from t)", {"t": table}


@pytest.mark.parametrize("call", ["median(x)", "quantile_disc(x, 0.9)", "median(distinct x)"])
def test_memory_is_of_the_rows_and_not_of_the_frames(call: str) -> None:
    query, tables = _moving(40_000, call)  # lists of all frames would have 6 GB
    found = hr.sql(query, tables, memory="64MB")
    same(
        found, answer(query.replace("distinct ", ""), tables)
    )  # all are different, which DuckDB does not know


_PROGRAM = """
import resource, sys
sys.path.insert(0, {folder!r})
import headrace as hr
from test_moving_quantiles import _moving
hr.sql(*_moving(1000, {call!r}), threads=1)
query, tables = _moving({rows}, {call!r})
before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
hr.sql(query, tables, threads=1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_utime - before)
"""


def _seconds(rows: int, call: str) -> float:
    program = _PROGRAM.format(folder=os.path.dirname(__file__), rows=rows, call=call)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(run.stdout)


@pytest.mark.alone
@pytest.mark.parametrize("call", ["median(x)", "median(distinct x)"])
def test_twice_the_rows_take_about_twice_the_time(call: str) -> None:
    rows, ratio = 100_000, 3.0  # of the processor; frames are twice as long too, quadratic is 4
    found = [_seconds(2 * rows, call) / _seconds(rows, call) for _ in range(3)]
    assert min(found) < ratio, f"took {found} times as long"
