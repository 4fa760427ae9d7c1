"""Parquet files as they are written: every type comes back, and what footers say is true.

Sources: runtime/storage/parquet/write/{file_writer,column_encoder,leaf_rows,leaf_values,table_schema}.cpp
"""

from __future__ import annotations

import io
import random
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import headrace as hr
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import same
from headrace import _runtime, errors
from headrace._src.query.tables import resolve
from headrace._src.query.verify import check_statistics

ROWS = 5000
#: As the format names them.
CODECS = ("snappy", "zstd", "lz4_raw", "gzip", "brotli", "uncompressed")


def _text(numbers: random.Random, i: int) -> str:
    return "ab" * numbers.randrange(20) + str(i)


#: By name: a type, and a value from a number.
TYPES: dict[str, tuple[pa.DataType, Any]] = {
    "bool": (pa.bool_(), lambda _, i: i % 3 == 0),
    **{
        str(kind): (kind, lambda _, i, low=low: low + i)
        for kind, low in (
            (pa.int8(), -128),
            (pa.int16(), -(2**15)),
            (pa.int32(), -(2**31)),
            (pa.int64(), -(2**63)),
            (pa.uint8(), 0),
            (pa.uint16(), 2**16 - 256),
            (pa.uint32(), 2**32 - 256),
            (pa.uint64(), 2**64 - 256),
        )
    },
    "float": (pa.float32(), lambda _, i: (i - 100) / 8),
    "double": (pa.float64(), lambda _, i: [float("nan"), -0.0, 0.0, float("inf"), -1e300][i % 5]),
    "decimal9": (pa.decimal128(9, 2), lambda _, i: Decimal(i - 100) / 4),
    "decimal18": (pa.decimal128(18, 0), lambda _, i: Decimal(10**18 - 1 - i)),
    "decimal38": (pa.decimal128(38, 3), lambda _, i: Decimal(i - 128) * 10**32),
    "date": (pa.date32(), lambda _, i: i - 128),
    "time": (pa.time64("us"), lambda _, i: i * 10**6),
    "seconds": (pa.timestamp("s"), lambda _, i: i * 10**7),
    "milliseconds": (pa.timestamp("ms"), lambda _, i: -i),
    "microseconds": (pa.timestamp("us", "UTC"), lambda _, i: i * 10**13),
    "nanoseconds": (pa.timestamp("ns"), lambda _, i: i),
    "string": (pa.string(), _text),
    "large_string": (pa.large_string(), _text),
    "binary": (pa.binary(), lambda numbers, i: numbers.randbytes(i % 30)),
    "uuid": (pa.binary(16), lambda numbers, i: numbers.randbytes(16)),
    "enum": (pa.dictionary(pa.uint8(), pa.string()), lambda _, i: ["x", "yy", ""][i % 3]),
    "list": (pa.list_(pa.int32()), lambda _, i: [None if j == 2 else j for j in range(i % 5)]),
    "lists": (pa.list_(pa.list_(pa.string())), lambda _, i: [None, [], ["a", None]][: i % 4]),
    "array": (pa.list_(pa.int64(), 2), lambda _, i: [i, None]),
    "struct": (
        pa.struct([("a", pa.int32()), ("b", pa.struct([("c", pa.string())]))]),
        lambda _, i: {"a": i, "b": None if i % 4 == 0 else {"c": str(i)}},
    ),
    "map": (
        pa.map_(pa.string(), pa.list_(pa.int32())),
        lambda _, i: [(f"k{j}", None if j == 1 else [j]) for j in range(i % 4)],
    ),
    "structs": (
        pa.list_(pa.struct([("a", pa.list_(pa.int32())), ("b", pa.bool_())])),
        lambda _, i: [{"a": [1, None] if j else None, "b": None} for j in range(i % 3)] or [None],
    ),
}


def _column(name: str, nulls: int, distinct: int, rows: int = ROWS) -> pa.Array:
    """nulls: of a hundred."""
    kind, value = TYPES[name]
    numbers = random.Random(f"{name}{nulls}{distinct}")
    made = [value(numbers, i % 256) for i in range(distinct)]
    picked = [None if numbers.randrange(100) < nulls else numbers.choice(made) for _ in range(rows)]
    return pa.array(picked, kind)


def _table(nulls: int, distinct: int, rows: int = ROWS) -> pa.Table:
    """In two chunks, each a slice."""
    columns = {name: _column(name, nulls, distinct, rows + 7) for name in TYPES}
    whole = pa.table(columns).slice(7)
    return pa.concat_tables([whole.slice(0, rows // 3), whole.slice(rows // 3)])


def _write(table: pa.Table, target: Any, codec: str = "snappy", rows: int = 1 << 20, threads: int = 1) -> int:
    return _runtime.write_parquet(table, target, "the result", codec, 0, rows, 64 << 20, threads)


def _types(table: pa.Table) -> dict[str, str]:
    """Without the names of elements, for which Parquet has its own, and with its units."""
    kinds = {field.name: re.sub(r"(<|, )(item|element): ", r"\1", str(field.type)) for field in table.schema}
    kinds["map"] = kinds["map"].replace(" ('map')", "")
    return kinds | {"seconds": kinds["seconds"].replace("[s]", "[ms]")}


def _plain(table: pa.Table) -> pa.Table:
    """With texts in place of Arrow's dictionaries, whose order may be another, and numbers of nanoseconds."""
    for name, kind in (("enum", pa.string()), ("nanoseconds", pa.int64())):
        table = table.set_column(table.schema.get_field_index(name), name, table[name].cast(kind))
    return table


@pytest.mark.parametrize("nulls", [0, 10, 100])
@pytest.mark.parametrize("distinct", [1, 3, 256])
def test_every_type_comes_back(tmp_path: Path, nulls: int, distinct: int) -> None:
    table, path = _table(nulls, distinct), str(tmp_path / "x.parquet")
    for rows, threads in ((1 << 20, 1), (1999, 3)):
        assert _write(table, path, rows=rows, threads=threads) == ROWS
        read = parquet.read_table(path)
        assert _types(read) == _types(table)
        for name in table.column_names:
            # NaN is no value of its own for Arrow's equals.
            found, wanted = (_plain(each)[name].to_pylist() for each in (read, table))
            assert repr(found) == repr(wanted), name
        assert parquet.ParquetFile(path).num_row_groups == -(-ROWS // rows)
        with duckdb.connect() as connection:
            connection.execute("set timezone = 'UTC'")
            same(hr.sql(f"from '{path}'"), connection.sql(f"from '{path}'").to_arrow_table(), ordered=True)


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec(tmp_path: Path, codec: str) -> None:
    table, path = _table(10, 100), str(tmp_path / "x.parquet")
    _write(table, path, codec)
    assert repr(_plain(parquet.read_table(path)).to_pylist()) == repr(_plain(table).to_pylist())


def test_no_rows(tmp_path: Path) -> None:
    table, path = _table(0, 1).slice(0, 0), str(tmp_path / "x.parquet")
    assert _write(table, path) == 0
    assert _types(parquet.read_table(path)) == _types(table)
    assert hr.sql(f"select count(*) as n from '{path}'").to_pylist() == [{"n": 0}]


def _numbers(distinct: int, rows: int) -> pa.Table:
    numbers = random.Random(distinct)
    values = [numbers.randrange(distinct) for _ in range(rows)]
    return pa.table(
        {
            "n": values,
            "t": [f"a text of some length, {value}" for value in values],
            "sorted": sorted(values),
            "late": [value if i > rows // 2 else i % 3 for i, value in enumerate(values)],
        }
    )


@pytest.mark.parametrize("distinct", [2, 1000, 100_000, 1 << 40])
def test_dictionaries_as_long_as_they_pay(tmp_path: Path, distinct: int) -> None:
    rows = 300_000
    table, path = _numbers(distinct, rows), str(tmp_path / "x.parquet")
    _write(table, path, threads=2)
    assert parquet.read_table(path).equals(table)
    with duckdb.connect() as connection:
        query = f"select sum(hash(t)), sum(n), sum(hash(late)), count(*) from '{path}'"
        found = connection.sql(query).fetchall()
        connection.register("t", table)
        assert found == connection.sql(query.replace(f"'{path}'", "t")).fetchall()
    for name in table.column_names:
        found = hr.sql(f"select min({name}) a, max({name}) b, count(distinct {name}) c from '{path}'")
        same(
            found,
            hr.sql(f"select min({name}) a, max({name}) b, count(distinct {name}) c from t", {"t": table}),
        )
    group = parquet.read_metadata(path).row_group(0)
    assert group.column(0).has_dictionary_page == (distinct <= 1000)
    plain = table.nbytes
    assert group.total_byte_size < plain / (4 if distinct <= 1000 else 1)


@pytest.mark.parametrize("nulls", [0, 30, 100])
def test_what_footers_say_is_true(tmp_path: Path, nulls: int) -> None:
    table, path = _table(nulls, 200), str(tmp_path / "x.parquet")
    _write(table, path, rows=1000)
    check_statistics(resolve({"t": path}))
    file = parquet.ParquetFile(path)
    for group in range(file.num_row_groups):
        rows = table.slice(group * 1000, 1000)
        for name in table.column_names:
            if pa.types.is_nested(table.schema.field(name).type):
                continue
            index = table.schema.get_field_index(name)
            column = file.metadata.row_group(group).column(index)
            # Leaves of nested columns come last.
            assert column.path_in_schema == name
            assert column.statistics.null_count == rows[name].null_count, name
            assert column.has_offset_index
            values = rows[name].drop_null()
            if name in ("double", "enum", "uuid", "seconds", "nanoseconds") or len(values) == 0:
                continue
            assert column.has_column_index
            least, greatest = compute.min_max(values).as_py().values()
            assert column.statistics.has_min_max, name
            found = (column.statistics.min, column.statistics.max)
            assert pa.array(found, values.type).to_pylist() == [least, greatest], name


def test_nan_is_neither_least_nor_greatest(tmp_path: Path) -> None:
    nan, path = float("nan"), str(tmp_path / "x.parquet")
    table = pa.table({"some": [nan, 1.0, -0.0], "all": [nan, nan, nan], "zero": [0.0, 0.0, -0.0]})
    _write(table, path)
    group = parquet.read_metadata(path).row_group(0)
    found = [group.column(i).statistics for i in range(3)]
    assert (str(found[0].min), found[0].max) == ("-0.0", 1.0)
    assert not found[1].has_min_max
    assert (str(found[2].min), str(found[2].max)) == ("-0.0", "0.0")


def test_pages_let_rows_be_skipped(tmp_path: Path) -> None:
    """Pages of 2^15 rows, and an index of them."""
    path = str(tmp_path / "x.parquet")
    _write(pa.table({"k": range(1 << 18), "v": [i % 1000 for i in range(1 << 18)]}), path)
    found = hr.sql(f"select sum(v) as v from '{path}' where k between 70000 and 70100")
    assert found.to_pylist() == [{"v": sum(i % 1000 for i in range(70_000, 70_101))}]


class _Target:
    """Writes to memory, and fails when it has so many bytes."""

    def __init__(self, most: int) -> None:
        self.bytes, self._most = io.BytesIO(), most

    def write(self, data: bytes) -> None:
        if self.bytes.tell() + len(data) > self._most:
            raise OSError(28, "no space")
        self.bytes.write(data)


def test_targets_of_python(tmp_path: Path) -> None:
    table = _table(10, 100)
    target = _Target(1 << 30)
    assert _write(table, target) == ROWS
    assert target.bytes.getvalue()[:4] == b"PAR1"
    path = str(tmp_path / "x.parquet")
    _write(table, path)
    assert target.bytes.getvalue() == Path(path).read_bytes()
    for most in (0, 3, 1000, len(target.bytes.getvalue()) - 1):
        with pytest.raises(OSError, match="no space"):
            _write(table, _Target(most))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            pa.table({"h": pa.array([Decimal(10**38 - 1)], pa.decimal128(38, 0))}),
            "",
        ),
        (
            pa.table({"a": pa.array([], pa.struct([]))}),
            r"^cannot write Parquet: .*struct",
        ),
        (
            pa.table({"t": pa.array([2**62], pa.timestamp("s"))}),
            r"^cannot write Parquet: column t: too many seconds for Parquet's milliseconds: 46116\d+$",
        ),
    ],
)
def test_what_does_not_fit(tmp_path: Path, table: pa.Table, message: str) -> None:
    path = str(tmp_path / "x.parquet")
    if not message:
        _write(table, path)
        return
    with pytest.raises(_runtime.Error, match=message):
        _write(table, path)


def test_faults_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(_runtime.Error, match="^cannot write the result: No such file or directory$"):
        _write(pa.table({"a": [1]}), str(tmp_path / "none" / "x.parquet"))
    with pytest.raises(errors.InputOutputError, match="cannot write the result: /dev/full: No space left"):
        hr.sql("copy (select 1 as a) to '/dev/full' (format parquet)")


def test_infinite_timestamps_of_seconds(tmp_path: Path) -> None:
    query = "select timestamp_s 'infinity' as a, timestamp_s '-infinity' as b, timestamp_s '2000-01-01' as c"
    hr.sql(f"copy ({query}) to '{tmp_path}/x.parquet'")
    texts = f"select a::varchar as a, b::varchar as b, c::varchar as c from '{tmp_path}/x.parquet'"
    wanted = [{"a": "infinity", "b": "-infinity", "c": "2000-01-01 00:00:00"}]
    assert hr.sql(texts).to_pylist() == duckdb.sql(texts).to_arrow_table().to_pylist() == wanted


def test_row_groups_end_by_bytes(tmp_path: Path) -> None:
    """Of 64 MiB, less in little memory, or what is asked for, however many rows."""
    numbers = random.Random(5)
    block = pa.array([numbers.randbytes(1 << 20) for _ in range(80)])
    path = str(tmp_path / "x.parquet")
    table = pa.table({"b": pa.chunked_array([block.slice(i, 4) for i in range(0, 80, 4)])})
    _write(table, path)
    assert parquet.read_metadata(path).num_row_groups == 2
    assert parquet.read_table(path).equals(table)
    rows = pa.table({"t": [numbers.randbytes(20).hex() for _ in range(500_000)]})

    def sizes(options: str = "", **named: Any) -> list[int]:
        hr.sql(f"copy t to '{path}' {options}", {"t": rows}, **named)
        groups = parquet.read_metadata(path)
        return [groups.row_group(i).column(0).total_compressed_size for i in range(groups.num_row_groups)]

    assert len(sizes()) == 1
    for found in (sizes(memory="128MiB", threads=2), sizes("(row_group_size_bytes '8MiB')")):
        assert len(found) >= 2
        assert max(found) < 12 << 20
    assert len(sizes("(row_group_size_bytes 1000000)")) >= 8
    hr.from_arrow(rows).sink_parquet(path, memory="128MiB", threads=2)
    assert parquet.read_metadata(path).num_row_groups >= 2
