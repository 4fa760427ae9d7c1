"""What tables may be made of: every type and layout, in files and in memory, and what is refused, by name."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import headrace as hr
import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

ROWS = 3000
SEED = 11


def _random_column(kind: pa.DataType, make: Callable[[random.Random], Any], nulls: float) -> pa.Array:
    rng = random.Random(f"{SEED} {kind} {nulls}")
    return pa.array([None if rng.random() < nulls else make(rng) for _ in range(ROWS)], kind)


KINDS: dict[str, tuple[pa.DataType, Callable[[random.Random], Any]]] = {
    "i8": (pa.int8(), lambda rng: rng.randint(-128, 127)),
    "i16": (pa.int16(), lambda rng: rng.randint(-(2**15), 2**15 - 1)),
    "i32": (pa.int32(), lambda rng: rng.randint(-(2**31), 2**31 - 1)),
    "i64": (pa.int64(), lambda rng: rng.randint(-(2**63), 2**63 - 1)),
    "u8": (pa.uint8(), lambda rng: rng.randint(0, 255)),
    "u16": (pa.uint16(), lambda rng: rng.randint(0, 2**16 - 1)),
    "u32": (pa.uint32(), lambda rng: rng.randint(0, 2**32 - 1)),
    "u64": (pa.uint64(), lambda rng: rng.randint(0, 2**64 - 1)),
    "f32": (pa.float32(), lambda rng: rng.randint(-1000, 1000) / 8),
    "f64": (pa.float64(), lambda rng: rng.uniform(-1e9, 1e9)),
    "b": (pa.bool_(), lambda rng: rng.random() < 0.3),
    "d": (pa.date32(), lambda rng: datetime.date(1960, 1, 1) + datetime.timedelta(rng.randint(0, 30000))),
    "d64": (pa.date64(), lambda rng: datetime.date(1960, 1, 1) + datetime.timedelta(rng.randint(0, 300))),
    "m5": (pa.decimal128(5, 2), lambda rng: Decimal(rng.randint(-99999, 99999)).scaleb(-2)),
    "m15": (pa.decimal128(15, 4), lambda rng: Decimal(rng.randint(-(10**14), 10**14)).scaleb(-4)),
    "m38": (pa.decimal128(38, 10), lambda rng: Decimal(rng.randint(-(10**27), 10**27)).scaleb(-10)),
    "few": (pa.string(), lambda rng: rng.choice(["", "one", "two", "a longer text of the third kind"])),
    "many": (pa.string(), lambda rng: "x" * rng.randint(0, 40) + str(rng.random())),
}
LAYOUTS = {
    "f_large": pa.large_string(),
    "f_view": pa.string_view(),
    "f_dictionary": pa.dictionary(pa.int16(), pa.string()),
}


@pytest.fixture(scope="module", params=[0, 0.2], ids=["full", "nulls"])
def everything(request: pytest.FixtureRequest) -> pa.Table:
    columns = {name: _random_column(kind, make, request.param) for name, (kind, make) in KINDS.items()}
    columns |= {name: columns["few"].cast(layout) for name, layout in LAYOUTS.items()}
    columns["n_dictionary"] = columns["i16"].cast(pa.int32()).dictionary_encode()
    columns["row"] = pa.array(range(ROWS))  # a table has no order of its own
    return pa.table(columns)


def _plain(table: pa.Table) -> list[list[Any]]:
    return [column.to_pylist() for column in table.columns]


WRITERS: dict[str, dict[str, Any]] = {
    "snappy": {},
    "zstd, version 2 pages": {"compression": "zstd", "data_page_version": "2.0"},
    "plain": {"compression": "none", "use_dictionary": False},
    "gzip, small pages": {"compression": "gzip", "data_page_size": 600, "write_batch_size": 100},
    "decimals as integers": {"store_decimal_as_integer": True, "row_group_size": 700},
    "checksums": {"write_page_checksum": True, "compression": "lz4"},
}


@pytest.mark.parametrize("options", WRITERS.values(), ids=WRITERS)
def test_files_of_every_type_come_back(everything: pa.Table, options: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(everything, path, **options)
    found = hr.sql("select * from t order by row", {"t": path}, threads=2)
    assert found.column_names == everything.column_names
    assert _plain(found) == _plain(everything)


def test_arrow_tables_of_every_type_come_back(everything: pa.Table) -> None:
    chunked = pa.concat_tables([everything.slice(0, 100), everything.slice(100, 0), everything.slice(100)])
    sliced = everything.slice(37, 1200)
    assert _plain(hr.sql("select * from t order by row", {"t": chunked})) == _plain(everything)
    assert _plain(hr.sql("select * from t order by row", {"t": sliced})) == _plain(sliced)


@pytest.mark.parametrize("column", [name for name in KINDS if name != "b"])
def test_minima_and_groups_equal_duckdb_s(column: str, everything: pa.Table, tmp_path: Path) -> None:
    parquet.write_table(everything, tmp_path / "t.parquet", row_group_size=500)
    oracle = duckdb.connect()
    oracle.execute(f"create view t as from '{tmp_path}/t.parquet'")
    text = f"select min({column}) as low, max({column}) as high, count({column}) as c, count(*) as n from t"
    want = oracle.sql(text).fetchall()[0]
    got = tuple(hr.sql(text, tmp_path, ranks=2).to_pylist()[0].values())
    assert [_number(v) for v in got] == [_number(v) for v in want]
    grouped = f"select {column} as k, count(*) as c from t group by {column}"
    assert sorted(map(_row, hr.sql(grouped, tmp_path).to_pylist())) == sorted(
        map(_row, oracle.sql(grouped).to_arrow_table().to_pylist())
    )


def _number(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return value.date()
    return Decimal(value) if isinstance(value, int) else value


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(_number(value)) for value in row.values())


# -- shapes


def test_columns_of_nothing_but_null(tmp_path: Path) -> None:
    kinds = [pa.int64(), pa.string(), pa.decimal128(12, 2), pa.bool_(), pa.float64(), pa.date32()]
    table = pa.table({f"c{i}": pa.nulls(1000, kind) for i, kind in enumerate(kinds)} | {"k": range(1000)})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=300)
    for tables in (tmp_path, {"t": table}):
        assert hr.sql("select * from t order by k", tables).to_pydict() == table.to_pydict()
        row = hr.sql(
            "select sum(c0) as s, max(c1) as x, count(c2) as c, count(*) as n from t where k < 900", tables
        )
        assert row.to_pylist() == [{"s": None, "x": None, "c": 0, "n": 900}]
        assert hr.sql("select k from t where c0 = 3 or c1 like 'a%'", tables).num_rows == 0


def test_lists_with_pages_of_nothing(tmp_path: Path) -> None:
    """Arrow's writer ends a chunk of lists with a page of no values if the last row begins a page."""
    lists = [
        [],
        None,
        None,
        [1, None],
        None,
        [1, -5, None],
        *[None] * 4,
        [-5, 1],
        [2, 1, None],
        None,
        None,
        [],
    ]
    table = pa.table({"l": pa.array(lists, pa.list_(pa.int32())), "k": range(len(lists))})
    parquet.write_table(table, tmp_path / "t.parquet", data_page_size=100, write_batch_size=5)
    assert hr.sql("select * from t order by k", tmp_path).to_pydict() == table.to_pydict()


NESTED: dict[str, tuple[pa.DataType, Callable[[list[Any]], Any]]] = {
    "map": (pa.map_(pa.string(), pa.int32()), lambda each: [(str(i), v) for i, v in enumerate(each)]),
    "structs": (pa.list_(pa.struct([("a", pa.int32())])), lambda each: [{"a": v} for v in each]),
    "in a struct": (pa.struct([("l", pa.list_(pa.int32())), ("z", pa.int8())]), lambda e: {"l": e, "z": 1}),
    "lists": (pa.list_(pa.list_(pa.int32())), lambda each: [[v] for v in each]),
}


@pytest.mark.parametrize("name", NESTED)
def test_nested_values_with_pages_of_nothing(tmp_path: Path, name: str) -> None:
    """Arrow's own reader takes them for the end."""
    kind, made = NESTED[name]
    choices = random.Random(3)
    for _ in range(40):
        lists = [choices.choice([None, [], [1], [1, None, 2]]) for _ in range(choices.randrange(1, 40))]
        values = [None if each is None else made(each) for each in lists]
        table = pa.table({"l": pa.array(values, kind), "k": range(len(lists))})
        for size, batch, version in ((1, 1, "1.0"), (50, 5, "2.0"), (100, 7, "1.0")):
            options = {"data_page_size": size, "write_batch_size": batch, "data_page_version": version}
            parquet.write_table(table, tmp_path / "t.parquet", **options)
            assert hr.sql("select * from t order by k", tmp_path).to_pydict() == table.to_pydict()


@pytest.mark.parametrize("groups", ["none", "one that is empty"])
def test_empty_tables(groups: str, tmp_path: Path) -> None:
    schema = pa.schema([("k", pa.int64()), ("s", pa.string()), ("m", pa.decimal128(15, 2))])
    with parquet.ParquetWriter(tmp_path / "t.parquet", schema) as writer:
        if groups != "none":
            writer.write_table(schema.empty_table())
    other = pa.table({"k": [1, 2]})
    for empty in (tmp_path / "t.parquet", schema.empty_table()):
        tables = {"t": empty, "other": other}
        assert hr.sql("select * from t", tables).to_pydict() == {"k": [], "s": [], "m": []}
        assert hr.sql("select sum(m) as s, count(*) as n from t", tables).to_pylist() == [{"s": None, "n": 0}]
        assert hr.sql("select s, count(*) as n from t group by s", tables, ranks=2).num_rows == 0
        assert hr.sql("select other.k from other join t on other.k = t.k", tables).num_rows == 0
        outer = "select other.k, s from other left join t on other.k = t.k order by other.k"
        assert hr.sql(outer, tables).to_pydict() == {"k": [1, 2], "s": [None, None]}


def test_several_files_are_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    tables = [
        pa.table({"k": range(start, start + 500), "s": [f"text {start}"] * 500}) for start in (0, 500, 1000)
    ]
    for i, table in enumerate(tables):
        parquet.write_table(table, folder / f"part-{i}.parquet", row_group_size=200, use_dictionary=i != 1)
    parquet.write_table(tables[0].slice(0, 0), folder / "part-9.parquet")
    want = pa.concat_tables(tables)
    for given in (tmp_path, {"parts": folder}, {"parts": [str(path) for path in folder.iterdir()]}):
        assert hr.sql("select * from parts order by k", given).to_pydict() == want.to_pydict()
        text = "select s, sum(k) as total from parts group by s order by s"
        assert hr.sql(text, given, ranks=3).to_pydict() == {
            "s": ["text 0", "text 1000", "text 500"],
            "total": [sum(range(500)), sum(range(1000, 1500)), sum(range(500, 1000))],
        }


def test_long_texts(tmp_path: Path) -> None:
    table = pa.table({"k": [1, 2, 3, 4], "s": ["a" * 1_000_000, "b" * 3_000_000, None, ""]})
    parquet.write_table(table, tmp_path / "t.parquet")
    assert hr.sql("select k, s from t order by k", tmp_path).to_pydict() == table.to_pydict()
    assert hr.sql("select k from t where s like '%bb'", tmp_path).to_pydict() == {"k": [2]}


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    text = "select sum(k) as s, max(k) as m from t"
    for values in ([1, 2, 3], [10**12, None, 7], [5] * 1000):
        parquet.write_table(pa.table({"k": pa.array(values, pa.int64())}), tmp_path / "t.parquet")
        present = [v for v in values if v is not None]
        assert hr.sql(text, tmp_path).to_pylist() == [{"s": sum(present), "m": max(present)}]


# -- what is refused

_HALF = np.float16(0.5)
UNREADABLE: dict[str, pa.Array] = {
    "items": pa.array([[_HALF], [], None], pa.list_(pa.float16())),
    "pair": pa.array([{"a": 1, "b": _HALF}] * 3, pa.struct([("a", pa.int64()), ("b", pa.float16())])),
    "half": pa.array([_HALF] * 3, pa.float16()),
    "wide": pa.array([Decimal(1)] * 3, pa.decimal256(50, 2)),
}


@pytest.mark.parametrize("kind", ["file", "arrow"])
def test_columns_that_cannot_be_read_are_refused_where_they_are_used(kind: str, tmp_path: Path) -> None:
    table = pa.table({"k": [1, 2, 3]} | UNREADABLE | {"s": ["x", "y", "z"]})
    parquet.write_table(table, tmp_path / "t.parquet")
    tables = tmp_path if kind == "file" else {"t": table}
    assert hr.sql("select s, k from t where k > 1 order by k", tables).to_pydict() == {
        "s": ["y", "z"],
        "k": [2, 3],
    }
    assert hr.sql("select count(*) as n from t", tables).to_pydict() == {"n": [3]}
    for column in UNREADABLE:
        for text in (f"select {column} from t", f"select k from t where {column} is null"):
            with pytest.raises(hr.HeadraceError, match=f"column {column}: ") as error:
                hr.sql(text, tables)
            assert error.value.kind == "unsupported"
    with pytest.raises(hr.HeadraceError, match=r"table t, column \w+: ") as error:
        hr.sql("select * from t", tables)
    assert error.value.kind == "unsupported"


def _refused(tables: Any, kind: str, *parts: str) -> None:
    with pytest.raises(hr.HeadraceError) as error:
        hr.sql("select k from t", tables)
    assert error.value.kind == kind
    for part in parts:
        assert part in str(error.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    good = tmp_path / "good.parquet"
    parquet.write_table(pa.table({"k": [1, 2, 3]}), good)
    _refused({"t": tmp_path / "no.parquet"}, "io", "no.parquet")
    _refused({"t": [good, tmp_path / "no.parquet"]}, "io", "no.parquet")
    (tmp_path / "text.parquet").write_text("k\n1\n2\n")
    _refused({"t": tmp_path / "text.parquet"}, "corrupt", "text.parquet", "not a Parquet file")
    (tmp_path / "nothing.parquet").write_bytes(b"")
    _refused({"t": tmp_path / "nothing.parquet"}, "corrupt", "nothing.parquet")
    (tmp_path / "cut.parquet").write_bytes(good.read_bytes()[:-20])
    _refused({"t": [good, tmp_path / "cut.parquet"]}, "corrupt", "cut.parquet", "cut short")
    (tmp_path / "empty").mkdir()
    _refused({"t": tmp_path / "empty"}, "io", "no Parquet files in", "empty")
    # A broken file in a directory of tables matters only to a query that names it.
    assert hr.sql("select k from good", tmp_path).num_rows == 3


def test_files_of_different_schemas(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"k": [1], "v": [1]}), tmp_path / "a.parquet")
    for other in ({"k": [1]}, {"k": [1], "v": ["x"]}):
        parquet.write_table(pa.table(other), tmp_path / "b.parquet")
        _refused(
            {"t": [tmp_path / "a.parquet", tmp_path / "b.parquet"]},
            "user",
            "a.parquet",
            "b.parquet",
            "column: ",
        )


def test_damaged_pages_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"k": range(10_000)}), path, row_group_size=5000)
    offset = parquet.read_metadata(path).row_group(1).column(0).dictionary_page_offset
    content = bytearray(path.read_bytes())
    content[offset + 40 : offset + 400] = b"\xff" * 360
    path.write_bytes(content)
    _refused(tmp_path, "corrupt", str(path), "row group 1", "column k", "at byte ")


def test_footers_that_lead_elsewhere(tmp_path: Path) -> None:
    table = pa.table({"a": list(range(61))})
    parquet.write_table(table, tmp_path / "t.parquet")
    elsewhere = parquet.read_metadata(tmp_path / "t.parquet")
    elsewhere.set_file_path("other.parquet")
    parquet.write_metadata(table.schema, tmp_path / "summary.parquet", metadata_collector=[elsewhere])
    with pytest.raises(hr.errors.UnsupportedError, match="columns in other files are not supported: "):
        hr.sql("select count(*) as n from t", {"t": tmp_path / "summary.parquet"})
    # The last 61 of the footer, in zigzag, is the number of rows of its row group.
    data = bytearray((tmp_path / "t.parquet").read_bytes())
    data[data.rfind(b"\x16\x7a") + 1] = 0x79
    (tmp_path / "negative.parquet").write_bytes(data)
    with pytest.raises(hr.errors.CorruptError, match="has an impossible number of rows: -61"):
        hr.sql("select count(*) as n from t", {"t": tmp_path / "negative.parquet"})
