"""LIKE with a text at an end, or without percent signs: compared in place up to 32 bytes, else by a call."""

from __future__ import annotations

import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

WHOLE = "https://search.example.org/q/žluťoučký kůň"
LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 40)


def texts() -> list[str | None]:
    """Of every length that matters, and with one character changed at each place."""
    made: list[str | None] = [None, ""]
    for length in range(1, len(WHOLE) + 1):
        for part in (WHOLE[:length], WHOLE[-length:]):
            made += [
                part,
                part[:-1] + "x",
                "x" + part[1:],
                part[: length // 2] + "x" + part[length // 2 + 1 :],
            ]
    return made


@pytest.mark.parametrize("stored", ["plain", "dictionary"])
def test_texts_that_begin_end_or_are(tmp_path, stored: str) -> None:
    rows = texts()
    parquet.write_table(pa.table({"s": rows}), tmp_path / "t.parquet", use_dictionary=stored == "dictionary")
    tables = {"t": str(tmp_path / "t.parquet")}
    patterns = [WHOLE[:length] for length in LENGTHS] + [WHOLE[-length:] for length in LENGTHS]
    counts, expected = [], []
    for pattern in patterns:
        counts += [
            f"count(*) filter (where s like '{text}')" for text in (pattern + "%", "%" + pattern, pattern)
        ]
        known = [row for row in rows if row is not None]
        expected += [
            sum(row.startswith(pattern) for row in known),
            sum(row.endswith(pattern) for row in known),
            sum(row == pattern for row in known),
        ]
    for ranks in (1, 2):
        found = hr.sql("select " + ", ".join(counts) + " from t", tables, ranks=ranks)
        assert [column[0].as_py() for column in found.columns] == expected
    # As filters too, which are tried on entries of a dictionary or on texts of pages.
    for pattern, many in zip(patterns[::3], expected[::9], strict=True):
        found = hr.sql(f"select count(*) c from t where s like '{pattern}%'", tables)
        assert found["c"].to_pylist() == [many], pattern
