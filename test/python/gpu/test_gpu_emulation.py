"""Kernels shaped for threads, emulated on the CPU, against DuckDB and NumPy."""

from __future__ import annotations

import datetime
import random
import re
from pathlib import Path

import duckdb
import numpy as np
import pytest
from emulated_device import (
    JOIN,
    SCALAR,
    SORT,
    STRING,
    Coded,
    DeviceError,
    Heap,
    Nullable,
    Program,
    State,
    lowered,
    text_of,
)

OVERFLOW, DIVISION_BY_ZERO, MEMORY_ERROR = 1, 2, 4

LINEITEM = {
    "l_quantity": "cast(l_quantity * 100 as int)",
    "l_extendedprice": "cast(l_extendedprice * 100 as int)",
    "l_discount": "cast(l_discount * 100 as int)",
    "l_tax": "cast(l_tax * 100 as int)",
    "l_shipdate": "date_diff('day', date '1970-01-01', l_shipdate)::int",
}


@pytest.fixture(scope="session")
def database(tpch_small: Path) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for file in tpch_small.glob("*.parquet"):
        connection.execute(f"create view {file.stem} as select * from '{file}'")
    return connection


def fetch(database: duckdb.DuckDBPyConnection, table: str, columns: dict[str, str]) -> dict[str, np.ndarray]:
    wanted = ", ".join(f"{text} as {name}" for name, text in columns.items())
    return dict(database.execute(f"select {wanted} from {table}").fetchnumpy())


def coded(array: np.ndarray) -> Coded:
    values, codes = np.unique(array, return_inverse=True)
    is_text = array.dtype == object
    return Coded(codes, [str(value) for value in values] if is_text else values.astype(array.dtype))


def slices(columns: dict[str, np.ndarray], parts: int) -> list[dict[str, np.ndarray]]:
    rows = len(next(iter(columns.values())))
    edges = [rows * part // parts for part in range(parts + 1)]
    return [
        {name: array[begin:end].copy() for name, array in columns.items()}
        for begin, end in zip(edges, edges[1:], strict=False)
    ]


# ---- q06: a filter and a sum ----


@pytest.fixture(scope="module")
def q06(translate: str, formed) -> Program:
    return Program(translate, formed("q06"))


@pytest.mark.parametrize("form", ["values", "codes"])
@pytest.mark.parametrize(("blocks", "threads"), [(1, 1), (1, 256), (7, 96), (64, 256)])
def test_q06(form: str, blocks: int, threads: int, q06: Program, database: duckdb.DuckDBPyConnection) -> None:
    columns = fetch(database, "lineitem", LINEITEM)
    rows = len(columns["l_quantity"])
    total = q06.state("aggregate0", SCALAR)
    given = {name: coded(array) if form == "codes" else array for name, array in columns.items()}
    q06.launch("scan_lineitem_0", rows=rows, columns=given, states=[total], blocks=blocks, threads=threads)
    expected = database.execute(
        """select cast(sum(l_extendedprice * l_discount) * 10000 as bigint) from lineitem
           where l_shipdate >= date '1994-01-01' and l_shipdate < date '1995-01-01'
             and l_discount between 0.05 and 0.07 and l_quantity < 24"""
    ).fetchone()[0]
    assert total.rows() == [{"sum_multiply": expected}]


def test_q06_without_rows_is_null(q06: Program) -> None:
    columns = {name: np.zeros(1, np.int32) for name in LINEITEM}
    total = q06.state("aggregate0", SCALAR)
    q06.launch("scan_lineitem_0", rows=1, columns=columns, states=[total])
    assert total.rows() == [{"sum_multiply": None}]


def test_q06_partial_sums_merge(q06: Program, database: duckdb.DuckDBPyConnection) -> None:
    columns = fetch(database, "lineitem", LINEITEM)
    whole, merged = q06.state("aggregate0", SCALAR), q06.state("aggregate0", SCALAR)
    q06.launch("scan_lineitem_0", rows=len(columns["l_tax"]), columns=columns, states=[whole])
    for part in slices(columns, 3):
        state = q06.state("aggregate0", SCALAR)
        q06.launch("scan_lineitem_0", rows=len(part["l_tax"]), columns=part, states=[state])
        q06.launch("merge_aggregate0", rows=1, source=state, states=[merged])
    assert merged.rows() == whole.rows()


# ---- q01: groups with string keys, to the ordered result ----


@pytest.fixture(scope="module")
def q01(translate: str, formed) -> Program:
    return Program(translate, formed("q01"))


def q01_rows(database: duckdb.DuckDBPyConnection) -> list[tuple]:
    return database.execute(
        """select l_returnflag, l_linestatus, cast(sum(l_quantity) * 100 as bigint),
                  cast(sum(l_extendedprice) * 100 as bigint),
                  cast(sum(l_extendedprice * (1 - l_discount)) * 10000 as bigint),
                  cast(sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) * 1000000 as bigint),
                  count(*), cast(sum(l_discount) * 100 as bigint)
           from lineitem where l_shipdate <= date '1998-09-02' group by all order by all"""
    ).fetchall()


@pytest.mark.parametrize("form", ["codes", "views", "offsets"])
def test_q01(form: str, q01: Program, database: duckdb.DuckDBPyConnection) -> None:
    columns = fetch(
        database, "lineitem", LINEITEM | {name: name for name in ("l_returnflag", "l_linestatus")}
    )
    merged = q01.state("aggregate0", "group", capacity=16)
    make = {
        "codes": coded,
        "views": lambda array: [str(text) for text in array],
        "offsets": lambda array: Heap(list(array)),
    }
    for part in slices(columns, 2):
        state = q01.state("aggregate0", "group", capacity=16)
        given: dict[str, object] = dict(part)
        given |= {name: make[form](part[name]) for name in ("l_returnflag", "l_linestatus")}
        q01.launch("scan_lineitem_0", rows=len(part["l_tax"]), columns=given, states=[state])
        assert state.count() in (3, 4)
        q01.launch("merge_aggregate0", rows=state.count(), source=state, states=[merged])
    found = sorted(tuple(row.values()) for row in merged.rows())
    expected = q01_rows(database)
    assert found == expected

    order = q01.state("order0", SORT, capacity=8)
    q01.launch("groups0", rows=merged.count(), source=merged, states=[order])
    assert order.count() == len(expected)
    types = [STRING, STRING, *["<i8"] * 8]
    output = [np.zeros(8, dtype) for dtype in types]
    assert q01.launch("ordered0", rows=order.count(), source=order, output=output) == len(expected)
    for row, wanted in zip(
        sorted(
            (text_of(output[0][i]), text_of(output[1][i]), *(int(c[i]) for c in output[2:])) for i in range(4)
        ),
        expected,
        strict=True,
    ):
        flag, status, quantity, price, discounted, charge, count, discount = wanted
        averages = [value * 10000 // count for value in (quantity, price, discount)]
        assert row == (flag, status, quantity, price, discounted, charge, *averages, count)


def test_division_by_zero_has_its_row(q01: Program) -> None:
    groups = q01.state("aggregate0", "group", capacity=8)
    groups.head["rows"] = 1  # a group that counted nothing: an empty row of zeros
    order = q01.state("order0", SORT, capacity=8)
    with pytest.raises(DeviceError) as error:
        q01.launch("groups0", rows=1, source=groups, states=[order], first_row=77)
    assert (error.value.code, error.value.row) == (DIVISION_BY_ZERO, 77)


# ---- a join: build, link, probe ----

CUSTOMER = {"c_custkey": "c_custkey::int", "c_nationkey": "c_nationkey::int", "c_mktsegment": "c_mktsegment"}
ORDERS = {
    "o_custkey": "o_custkey::int",
    "o_totalprice": "cast(o_totalprice * 100 as bigint)",
    "o_orderdate": "date_diff('day', date '1970-01-01', o_orderdate)::int",
}
JOIN_FILE = "passes/lower/gpu/join.mlir"


@pytest.fixture(scope="module", params=["direct", "hashed"])
def joined(request: pytest.FixtureRequest, translate: str, formed) -> Program:
    text = formed(JOIN_FILE)
    if request.param == "hashed":
        assert " direct <" in text
        text = text.replace(" direct <base = 1, extent = 1500>", "")
        assert "direct" not in text
    return Program(translate, text)


def built(program: Program, database: duckdb.DuckDBPyConnection, blocks: int) -> object:
    columns = fetch(database, "customer", CUSTOMER)
    columns["c_mktsegment"] = coded(columns["c_mktsegment"])
    build = program.state("build0", JOIN, capacity=len(columns["c_custkey"]))
    program.launch("build", rows=len(columns["c_custkey"]), columns=columns, states=[build], blocks=blocks)
    return build.linked(program)


@pytest.mark.parametrize("blocks", [1, 6])
def test_join(blocks: int, joined: Program, database: duckdb.DuckDBPyConnection) -> None:
    build = built(joined, database, blocks)
    orders = fetch(database, "orders", ORDERS)
    groups = joined.state("by_nation", "group", capacity=32)
    joined.launch(
        "probe", rows=len(orders["o_custkey"]), columns=orders, states=[build, groups], blocks=blocks
    )
    expected = database.execute(
        """select c_nationkey, count(*), cast(sum(o_totalprice) * 100 as hugeint)
           from orders join customer on o_custkey = c_custkey
           where c_mktsegment = 'BUILDING' and o_orderdate < date '1995-03-15' group by 1 order by 1"""
    ).fetchall()
    found = sorted((row["c_nationkey"], row["orders"], row["total"]) for row in groups.rows())
    assert found == expected


def test_outer_joins(joined: Program, database: duckdb.DuckDBPyConnection) -> None:
    """Left, semi, anti and mark lookups count their rows; a left one also counts what it found."""
    build = built(joined, database, 3)
    orders = fetch(database, "orders", ORDERS)
    rows = len(orders["o_custkey"])
    matching = database.execute(
        "select count(*) from orders join customer on o_custkey = c_custkey where c_mktsegment = 'BUILDING'"
    ).fetchone()[0]
    assert 0 < matching < rows
    expected = {
        "left": {"rows": rows, "found": matching},
        "semi": {"rows": matching, "found": matching},
        "anti": {"rows": rows - matching, "found": rows - matching},
        "mark": {"rows": rows, "found": matching},
    }
    keys = {"o_custkey": orders["o_custkey"]}
    for kind, wanted in expected.items():
        counts = joined.state("counts", SCALAR)
        joined.launch(f"probe_{kind}", rows=rows, columns=keys, states=[build, counts])
        assert counts.rows() == [wanted], kind


def test_null_keys_match_nothing(joined: Program, database: duckdb.DuckDBPyConnection) -> None:
    build = built(joined, database, 3)
    keys = fetch(database, "orders", ORDERS)["o_custkey"]
    valid = np.arange(len(keys)) % 3 == 0
    counts, some = joined.state("counts", SCALAR), joined.state("counts", SCALAR)
    column = {"o_custkey": Nullable(np.where(valid, keys, 0).astype(np.int32), valid)}
    joined.launch("probe_nullable", rows=len(keys), columns=column, states=[build, counts])
    left = {"o_custkey": keys[valid].copy()}
    joined.launch("probe_semi", rows=int(valid.sum()), columns=left, states=[build, some])
    assert counts.rows()[0]["rows"] == some.rows()[0]["rows"] > 0


def test_many_groups_overflow_the_block_table(joined: Program, database: duckdb.DuckDBPyConnection) -> None:
    orders = fetch(database, "orders", ORDERS)
    rows = len(orders["o_custkey"])
    groups = joined.state("by_customer", "group", capacity=2000)
    keys = {name: orders[name] for name in ("o_custkey", "o_totalprice")}
    joined.launch("group_by_customer", rows=rows, columns=keys, states=[groups], blocks=8)
    expected = database.execute(
        """select o_custkey, cast(sum(o_totalprice) * 100 as hugeint),
                  cast(min(o_totalprice) * 100 as bigint),
                  cast(max(o_totalprice) * 100 as bigint) from orders group by 1 order by 1"""
    ).fetchall()
    assert len(expected) > 256  # more than any block keeps
    assert sorted(tuple(row.values()) for row in groups.rows()) == expected


def test_extremes_of_nan_and_booleans(translate: str, formed) -> None:
    """NaN is the largest number, true is after false; a group may have nothing but NaN."""
    program = Program(translate, formed("passes/lower/gpu/extremes.mlir"))
    nan, inf = float("nan"), float("inf")
    folded = {
        0: ([1.0, -2.0], 0, 1),
        1: ([nan, -2.0], 0, 1),
        2: ([nan, nan], 1, 1),
        3: ([-1.0, -inf], 0, 0),
        4: ([inf, 5.0], 1, 1),
    }
    rows = [(key, value) for key, (values, _, _) in folded.items() for value in values] * 50
    random.Random(3).shuffle(rows)
    columns = {
        "key": np.array([key for key, _ in rows], np.int32),
        "value": np.array([value for _, value in rows]),
    }

    def least(values: list[float]) -> float:
        return min((value for value in values if value == value), default=nan)

    def most(values: list[float]) -> float:
        return nan if any(value != value for value in values) else max(values)

    groups = program.state("by_key", "group", capacity=64)
    program.launch("fold_groups", rows=len(rows), columns=columns, states=[groups])
    found = {row["key"]: row for row in groups.rows()}
    for key, (values, every, some) in folded.items():
        row = found[key]
        np.testing.assert_equal((row["least"], row["most"]), (least(values), most(values)))
        assert (row["every"], row["any"]) == (every, some)
    for values, every, some in folded.values():
        total = program.state("all", SCALAR)
        column = {"key": np.zeros(2, np.int32), "value": np.array(values)}
        program.launch("fold_all", rows=2, columns=column, states=[total])
        (row,) = total.rows()
        np.testing.assert_equal((row["least"], row["most"]), (least(values), most(values)))
        assert (row["every"], row["any"]) == (every, some)


@pytest.mark.parametrize("groups_in_use", [4, 1000])
def test_contention(groups_in_use: int, joined: Program) -> None:
    """Two halves of one block at once, for long: all its threads change the same few rows."""
    rows = 3_000_000
    keys = np.random.default_rng(7).integers(0, groups_in_use, rows, dtype=np.int32)
    prices = np.arange(rows, dtype=np.int64)
    groups = joined.state("by_customer", "group", capacity=groups_in_use)
    columns = {"o_custkey": keys, "o_totalprice": prices}
    joined.launch("group_by_customer", rows=rows, columns=columns, states=[groups], blocks=1, together=128)
    found = {row["o_custkey"]: row["total"] for row in groups.rows()}
    sums = np.bincount(keys, weights=prices, minlength=groups_in_use).astype(np.int64)
    assert found == dict(enumerate(sums.tolist()))


def test_full_tables_are_an_error(joined: Program, database: duckdb.DuckDBPyConnection) -> None:
    orders = fetch(database, "orders", ORDERS)
    rows = len(orders["o_custkey"])
    keys = {name: orders[name] for name in ("o_custkey", "o_totalprice")}
    groups = joined.state("by_customer", "group", capacity=300)
    with pytest.raises(DeviceError) as error:
        joined.launch("group_by_customer", rows=rows, columns=keys, states=[groups])
    assert error.value.code == MEMORY_ERROR
    columns = fetch(database, "customer", CUSTOMER)
    columns["c_mktsegment"] = coded(columns["c_mktsegment"])
    build = joined.state("build0", JOIN, capacity=10)
    with pytest.raises(DeviceError) as error:
        joined.launch("build", rows=len(columns["c_custkey"]), columns=columns, states=[build])
    assert error.value.code == MEMORY_ERROR


# ---- q03: two joins, their order by the compiler ----


def test_q03(translate: str, formed, database: duckdb.DuckDBPyConnection) -> None:
    program = lowered(translate, formed("q03"))
    customer = fetch(database, "customer", CUSTOMER)
    customer["c_mktsegment"] = coded(customer["c_mktsegment"])
    orders = fetch(
        database,
        "orders",
        ORDERS | {"o_orderkey": "o_orderkey::int", "o_shippriority": "o_shippriority::int"},
    )
    lineitem = fetch(database, "lineitem", LINEITEM | {"l_orderkey": "l_orderkey::int"})
    states: dict[str, State] = {}

    def run(symbol: str, columns: dict[str, object], rows: int) -> None:
        """A scan with its states, each made when it is first named and linked when it is first read."""
        kernel = program.kernels[symbol]
        used = []
        for name in kernel["states"]:
            if name not in states:
                kind = JOIN if name.startswith("build") else "group"
                states[name] = program.state(name, kind, capacity=rows)
            elif name.startswith("build"):
                states[name].linked(program)
            used.append(states[name])
        program.launch(symbol, rows=rows, columns=columns, states=used)

    run("scan_customer_0", customer, len(customer["c_custkey"]))
    run("scan_orders_0", orders, len(orders["o_orderkey"]))
    run("scan_lineitem_0", lineitem, len(lineitem["l_orderkey"]))
    expected = database.execute(
        """select l_orderkey, date_diff('day', date '1970-01-01', o_orderdate), o_shippriority,
                  cast(sum(l_extendedprice * (1 - l_discount)) * 10000 as bigint)
           from customer, orders, lineitem
           where c_mktsegment = 'BUILDING' and c_custkey = o_custkey and l_orderkey = o_orderkey
             and o_orderdate < date '1995-03-15' and l_shipdate > date '1995-03-15'
           group by all order by all"""
    ).fetchall()
    names = ("l_orderkey", "o_orderdate", "o_shippriority", "sum_multiply")
    found = sorted(tuple(row[name] for name in names) for row in states["aggregate0"].rows())
    assert len(expected) > 50
    assert found == expected


# ---- strings, dates and 128-bit numbers ----

WORDS = ["special", "speçial", "requests", "spec", "deposits", "über", "furiously", "no"]
WIDE = np.dtype([("low", "<u8"), ("high", "<i8")])


def wide(values: list[int]) -> np.ndarray:
    array = np.zeros(len(values), WIDE)
    array["low"] = [value & (1 << 64) - 1 for value in values]
    array["high"] = [value >> 64 for value in values]
    return array


@pytest.fixture(scope="module")
def strings(translate: str, formed) -> Program:
    return Program(translate, formed("passes/lower/gpu/strings.mlir"))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_strings_and_wide_numbers(seed: int, strings: Program) -> None:
    generator = random.Random(seed)
    rows = 3000
    texts = [" ".join(generator.choices(WORDS, k=generator.randrange(6))) for _ in range(rows)]
    days = [generator.randrange(-30, 800) for _ in range(rows)]
    # Both signs and all sizes: sums carry between the words.
    values = [generator.randrange(-1 << bits, 1 << bits) for bits in generator.choices(range(1, 110), k=rows)]
    expected: dict[tuple[int, str], list] = {}
    for text, day, value in zip(texts, days, values, strict=True):
        if re.search("spec.al", text) or "requests" in text:
            year = (datetime.date(1970, 1, 1) + datetime.timedelta(days=day)).year
            total = expected.setdefault((year, text[:5]), [0, 0.0])
            total[0] += value * 100
            quotient = abs(value * 10000) // 7
            total[1] += float(quotient if value >= 0 else -quotient)
    groups = strings.state("totals", "group", capacity=256)
    columns = {"text": Heap(texts), "day": np.array(days, np.int32), "value": wide(values)}
    strings.launch("texts", rows=rows, columns=columns, states=[groups], blocks=4, seed=seed)
    found = {(row["year"], row["head"]): [row["value"], row["mean"]] for row in groups.rows()}
    assert found.keys() == expected.keys()
    largest = max(abs(total) for _, total in expected.values())
    for key, (value, mean) in expected.items():
        assert found[key][0] == value, key
        assert found[key][1] == pytest.approx(mean, rel=1e-9, abs=largest * 1e-9), key


def test_overflow_has_its_row(strings: Program) -> None:
    values = [1] * 100
    values[63] = 1 << 126  # times 100
    columns = {"text": ["requests"] * 100, "day": np.zeros(100, np.int32), "value": wide(values)}
    groups = strings.state("totals", "group", capacity=16)
    with pytest.raises(DeviceError) as error:
        strings.launch("texts", rows=100, columns=columns, states=[groups], first_row=1000)
    assert (error.value.code, error.value.row) == (OVERFLOW, 1063)


# ---- the network's elementwise parts ----


@pytest.fixture(scope="module")
def network(translate: str, formed) -> Program:
    return Program(translate, formed("passes/lower/gpu/network.mlir"))


def kernel_with_buffers(program: Program, buffers: int) -> str:
    found = [symbol for symbol, kernel in program.kernels.items() if len(kernel["columns"]) == buffers]
    assert len(found) == 1, program.kernels
    return found[0]


@pytest.mark.parametrize("shape", [(1, 7), (33, 130), (512, 64)])
def test_bias_and_relu(shape: tuple[int, int], network: Program) -> None:
    generator = np.random.default_rng(5)
    hidden = generator.standard_normal(shape, dtype=np.float32)
    bias = generator.standard_normal(shape[1], dtype=np.float32)
    out = np.full(shape, np.nan, np.float32)
    extents = np.array([*shape, shape[1], *shape, 0], "<i8").view(np.uint8)
    network.launch(
        kernel_with_buffers(network, 3),
        rows=shape[0],
        columns=[hidden, bias, out],
        literals=extents,
        blocks=3,
    )
    np.testing.assert_array_equal(out, np.maximum(hidden + bias, 0))


def test_row_sums(network: Program) -> None:
    values = np.random.default_rng(6).standard_normal((37, 50), dtype=np.float32)
    out = np.full(37, np.nan, np.float32)
    extents = np.array([37, 50, 37, 0], "<i8").view(np.uint8)
    network.launch(
        kernel_with_buffers(network, 2), rows=37, columns=[values, out], literals=extents, blocks=2
    )
    np.testing.assert_allclose(out, np.exp(values).sum(axis=1), rtol=1e-5)
