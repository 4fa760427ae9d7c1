"""Texts of Parquet files that are not UTF-8: an error that names them, as in DuckDB, wherever they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

#: Not UTF-8: a byte that begins nothing, a character cut short, too long, a surrogate, beyond Unicode.
DAMAGED = [
    b"\xff",
    b"ab\xc3",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"x" * 40 + b"\x80" + b"y" * 300,
]
VALID = [
    "",
    "plain",
    "žluťoučký kůň",
    "日本語" * 100,
    "😀\U0010ffff",
    "\0",
    "x" * 127,
    "é" * 64,
    "\ud7ff\ue000",
]
ROWS = 1000
WRITTEN: dict[str, dict[str, Any]] = {
    "plain": {"use_dictionary": False, "compression": "none"},
    "second version": {"use_dictionary": False, "data_page_version": "2.0", "compression": "snappy"},
    "dictionary": {"use_dictionary": True, "compression": "zstd"},
    "delta": {"use_dictionary": False, "column_encoding": {"s": "DELTA_BYTE_ARRAY"}},
}


def texts(values: list[bytes | None]) -> pa.Array:
    """Of the type string, whatever the bytes are."""
    array = pa.array(values, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(array), array.buffers())


def column(damaged: bytes, at: int = 777) -> list[bytes | None]:
    values: list[bytes | None] = [VALID[row % len(VALID)].encode() for row in range(ROWS)]
    values[at] = damaged
    return values


@pytest.mark.parametrize(
    ("way", "nulls", "damaged"),
    [
        *(("plain", False, damaged) for damaged in DAMAGED),
        ("plain", True, DAMAGED[1]),
        ("second version", False, DAMAGED[2]),
        ("second version", True, DAMAGED[5]),
        ("dictionary", False, DAMAGED[3]),
        ("dictionary", True, DAMAGED[5]),
        ("delta", True, DAMAGED[4]),
    ],
)
def test_texts_are_checked_where_they_are_decoded(
    way: str, nulls: bool, damaged: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "t.parquet"
    values = column(damaged)
    if nulls:
        values[3::5] = [None] * len(values[3::5])
    parquet.write_table(pa.table({"n": range(ROWS), "s": texts(values)}), file, **WRITTEN[way])
    with pytest.raises(duckdb.Error):
        duckdb.sql(f"select s from '{file}'").fetchall()
    with pytest.raises(hr.errors.CorruptError, match="is a text that is not UTF-8: ") as caught:
        hr.sql("select max(s) as s from t", {"t": file})
    assert re.search(r"t\.parquet, row group 0, column s, page at byte \d+: value \d+ is", str(caught.value))


@pytest.mark.parametrize("way", WRITTEN)
def test_texts_of_all_lengths_are_read(way: str, tmp_path: Path) -> None:
    values = [*column(b"sound"), None]
    parquet.write_table(
        pa.table({"n": range(ROWS + 1), "s": texts(values)}), tmp_path / "t.parquet", **WRITTEN[way]
    )
    assert hr.sql("select s from t order by n", tmp_path)["s"].to_pylist() == [
        None if v is None else v.decode() for v in values
    ]


def test_a_value_is_shown_as_bytes_are(tmp_path: Path) -> None:
    parquet.write_table(
        pa.table({"s": texts(column(DAMAGED[-1]))}), tmp_path / "t.parquet", use_dictionary=False
    )
    with pytest.raises(hr.errors.CorruptError) as caught:
        hr.sql("select max(s) as s from t", tmp_path)
    assert "value 777 is a text that is not UTF-8: " + "x" * 24 + "…" in str(caught.value)
    parquet.write_table(pa.table({"s": texts([b"a\xff'"])}), tmp_path / "t.parquet")
    with pytest.raises(hr.errors.CorruptError, match=r"value 0 is a text that is not UTF-8: a\\xFF\\x27"):
        hr.sql("select max(s) as s from t", tmp_path)


@pytest.mark.parametrize("length", [0x80, 0xAC, 0xBF, 0x80AC, 0x8F8F8F])
def test_a_character_does_not_reach_over_a_length(length: int, tmp_path: Path) -> None:
    """The bytes of the length of the next text would complete it."""
    for damaged in (b"\xe2\x82", b"\xc3", b"\xf0\x9f\x98"):
        table = pa.table({"s": texts([b"x", damaged, b"y" * length])})
        parquet.write_table(table, tmp_path / "t.parquet", use_dictionary=False, compression="none")
        with pytest.raises(hr.errors.CorruptError, match="value 1 is a text that is not UTF-8: "):
            hr.sql("select sum(length(s)) as n from t", tmp_path)


def test_bytes_are_not_checked(tmp_path: Path) -> None:
    values = column(b"\xff\xfe")
    parquet.write_table(pa.table({"s": pa.array(values, pa.binary())}), tmp_path / "t.parquet")
    assert hr.sql("select s from t where s = '\\xFF\\xFE'::blob", tmp_path).to_pylist() == [
        {"s": b"\xff\xfe"}
    ]


def test_texts_in_lists_and_structs(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    inner = texts([b"sound", b"\xc3(", b"x"])
    lists = pa.ListArray.from_arrays([0, 2, 3], inner)
    parquet.write_table(pa.table({"l": lists}), file)
    with pytest.raises(
        hr.errors.CorruptError, match=r"column l, .*: value 1 is a text that is not UTF-8: \\xC3\("
    ):
        hr.sql("select l[1] as a from t", {"t": file})
    structs = pa.StructArray.from_arrays([inner, pa.array([1, 2, 3])], ["a", "b"])
    parquet.write_table(pa.table({"s": structs}), file)
    with pytest.raises(hr.errors.CorruptError, match="column s, .*: a nested value is not valid: "):
        hr.sql("select s.b as b from t", {"t": file})
