"""BLOB beside DuckDB: literals, casts, functions, keys, orders, aggregates, windows, lists; in and out."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import duckdb
import headrace as hr
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import answer, check, same
from headrace._src.command_line import main
from queries_of_types import queries

_ROWS = 400
_ENDS = [b"", b"\0", b"\xff", b"\xff\xff", b"a", b"a\0", b"ab", "ß".encode(), b"'\"\\x", b"null", b"x" * 70]


def _value(rng: random.Random) -> bytes | None:
    """Some come often; others differ from one another behind many bytes."""
    if rng.random() < 0.1:
        return None
    if rng.random() < 0.6:
        return rng.choice(_ENDS)
    start = rng.choice([b"", b"twelve bytes", bytes(range(64))])
    return start + rng.randbytes(rng.randrange(3))


def _tables() -> dict[str, pa.Table]:
    rng = random.Random(7)
    columns = {
        "k": pa.array(range(_ROWS), pa.int32()),
        "g": pa.array([rng.choice([0, 1, 2, None]) for _ in range(_ROWS)], pa.int32()),
        "b": pa.array([_value(rng) for _ in range(_ROWS)], pa.binary()),
        "c": pa.array([_value(rng) for _ in range(_ROWS)], pa.binary()),
        "v": pa.array([rng.choice(["", "a", "ß", r"\x00", "YWI=", "0aFf", None]) for _ in range(_ROWS)]),
    }
    right = {
        "b": pa.array([_value(rng) for _ in range(60)], pa.binary()),
        "n": pa.array(range(60), pa.int64()),
    }
    return {"t": pa.table(columns), "r": pa.table(right)}


_TABLES = _tables()
_RANKS = pytest.mark.parametrize("ranks", [1, 2, 3])

_EXPRESSIONS = (
    r"'\xAA\x00abc'::blob",
    r"x'00FF'",
    "b::varchar",
    "b::varchar::blob",
    "case when v <> 'ß' then v::blob end",
    "octet_length(b)",
    "hex(b)",
    "to_hex(b)",
    "to_base64(b)",
    "base64(b)",
    "from_base64(to_base64(b))",
    "unhex(hex(b))",
    "from_hex(hex(b))",
    "unhex('abc')",
    "unbin('1' || repeat('10', 9))",
    "md5(b)",
    "md5(v)",
    "sha1(b)",
    "sha1(v)",
    "sha256(b)",
    "encode(v)",
    "decode(encode(v))",
    "b || c",
    r"b || '\x00'::blob || c",
    "b || v",
    "concat(b, c)",
    "repeat(b, 3)",
    "repeat(b, k % 3)",
    "b[2:4]",
    "b[:2]",
    "b[3:]",
    "b[k % 9 - 4:k % 7 - 3]",
    "array_slice(b, k % 200 - 100, k % 150 - 75)",
    "b = c",
    "b < c",
    "b >= c",
    "b is distinct from c",
    r"b > '\x61'",
    "b between c and 'x'",
    r"b in ('a', '\xFF', '\x00')",
    "b in (c, 'a')",
    r"b in ('\x00', '\x01', '\x02', '\x03', '\x04', '\x05', '\x06', 'a', 'b', 'c', 'd', 'e', 'f')",
    r"coalesce(b, c, '\xFE')",
    "nullif(b, c)",
    "case when b < c then b when k % 3 = 0 then c end",
    "greatest(b, c)",
    "least(b, c)",
    "typeof(b)",
    "b is null",
    "[b, c]",
    "[b, c]::varchar",
    "{'a': b, 'n': k}",
    "{'a': b}::varchar",
    "map([k], [b])",
    "case when v <> 'ß' then [v]::blob[] end",
    "list_sort([b, c, 'a'])",
    "list_contains([b, c], 'a')",
    "try_cast(v as blob)",
    r"try_cast('\xZ' as blob)",
    "cast(null as blob)",
)


@pytest.mark.parametrize("expression", _EXPRESSIONS)
def test_expressions(expression: str) -> None:
    query = f"select k, {expression} as x from t"
    for ranks in (1, 2):
        check(query, _TABLES, ranks=ranks)


_QUERIES = (
    *queries("b", "c"),
    "select g, list(distinct b order by b) from t group by g",
    "select count(distinct b) from t",
    "select b from (values ('a'::blob, 1), ('\\xFF', 2)) v(b, n) where n > 1",
    "select k from t where b = '\\x00'",
    "select k from t where b > '\\xC3' and b < '\\xFF\\xFF'",
    "select quantile_disc(b, 0.5) from t",
)


@_RANKS
@pytest.mark.parametrize("query", _QUERIES)
def test_queries(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


@_RANKS
def test_orders(ranks: int) -> None:
    for order in ("b, k", "b desc, k", "b nulls first, k", "c, b desc nulls last, k"):
        query = f"select k, b from t order by {order}"
        same(hr.sql(query, dict(_TABLES), ranks=ranks), answer(query, _TABLES), ordered=True)
    query = "select b, k from t order by b desc, k limit 17 offset 3"
    same(hr.sql(query, dict(_TABLES), ranks=ranks), answer(query, _TABLES), ordered=True)


_FAILURES = (
    ("select v::blob from t where v = 'ß'", "DataError"),
    (r"select '\xA'::blob", "DataError"),
    (r"select cast('a\' as blob) from t", "DataError"),
    ("select decode(b) from t", "bytes that are no UTF-8 in decode"),
    ("select unhex(v) from t", "a letter that is no hexadecimal digit in unhex"),
    ("select unbin(v) from t", "a letter that is no binary digit in unbin"),
    ("select from_base64(v) from t", "a text that is no base64 in from_base64"),
)


@pytest.mark.parametrize(("query", "message"), _FAILURES)
def test_failures(query: str, message: str) -> None:
    with pytest.raises(hr.errors.DataError) as caught:
        hr.sql(query, dict(_TABLES), ranks=2)
    assert message in str(caught.value) or message == type(caught.value).__name__
    with pytest.raises(Exception, match=r"."):
        answer(query, _TABLES)


_REFUSED = (
    ("select k::blob from t", "unsupported cast of a BLOB to or from another type than VARCHAR"),
    ("select b::int from t", "unsupported cast of a BLOB to or from another type than VARCHAR"),
    ("select b::int[] from t", "unsupported cast between a list, struct or map"),
    ("select decode(b, 'replace') from t", "unsupported function: decode"),
    ("select md5_number(b) from t", "unsupported function: md5_number"),
)


@pytest.mark.parametrize(("query", "message"), _REFUSED)
def test_refused(query: str, message: str) -> None:
    with pytest.raises(hr.errors.UnsupportedError, match=message):
        hr.sql(query, dict(_TABLES))


@pytest.mark.parametrize(
    "kind",
    [pa.large_binary(), pa.binary_view(), pa.binary(4), pa.dictionary(pa.int8(), pa.binary())],
    ids=str,
)
def test_layouts_of_arrow(kind: pa.DataType) -> None:
    values = [b"abcd", None, b"\0\0\0\0", b"\xff\0\xfea", b"abcd"]
    column = pa.array(values, pa.binary()).cast(kind) if "dict" not in str(kind) else None
    if column is None:
        column = pa.array(values, pa.binary()).dictionary_encode().cast(kind)
    found = hr.sql("select b, count(*) n from t group by b order by b", {"t": pa.table({"b": column})})
    assert found.schema.field("b").type == pa.binary()
    assert found.to_pydict() == {
        "b": [b"\0\0\0\0", b"abcd", b"\xff\0\xfea", None],
        "n": [1, 2, 1, 1],
    }


_LISTS = pa.list_(pa.binary(3))


def _files() -> dict[str, pa.Table]:
    rng = random.Random(11)
    rows = 3000
    some: list[bytes | None] = [_value(rng) for _ in range(rows)]
    ordered = sorted(rng.randbytes(9) for _ in range(rows))
    fixed = [None if rng.random() < 0.2 else rng.randbytes(3) for _ in range(rows)]
    lists = [None if rng.random() < 0.2 else rng.sample(fixed, rng.randrange(4)) for _ in range(rows)]
    return {
        "t": pa.table(
            {
                "b": pa.array(some, pa.binary()),
                "o": pa.array(ordered, pa.binary()),
                "f": pa.array(fixed, pa.binary(3)),
                "m": pa.array([value or b"abc" for value in fixed], pa.binary(3)),
                "l": pa.array(lists, _LISTS),
                "s": pa.array([{"x": value} for value in some], pa.struct([("x", pa.binary())])),
            },
            schema=pa.schema(
                [
                    ("b", pa.binary()),
                    pa.field("o", pa.binary(), nullable=False),
                    ("f", pa.binary(3)),
                    pa.field("m", pa.binary(3), nullable=False),
                    ("l", _LISTS),
                    ("s", pa.struct([("x", pa.binary())])),
                ]
            ),
        )
    }


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("layout", ["dictionary", "plain", "no statistics", "delta"])
def test_parquet(tmp_path: Path, version: str, layout: str) -> None:
    tables = _files()
    encodings = {"b": "DELTA_BYTE_ARRAY", "o": "DELTA_LENGTH_BYTE_ARRAY"} if layout == "delta" else None
    parquet.write_table(
        tables["t"],
        tmp_path / "t.parquet",
        data_page_version=version,
        use_dictionary=layout == "dictionary",
        column_encoding=encodings,
        write_statistics=layout != "no statistics",
        row_group_size=500,
        data_page_size=2000,
        store_schema=False,
    )
    for ranks, query in enumerate(
        (
            "select * from t",
            "select f, count(*), min(b), max(o) from t group by f",
            "select o, b from t where o > '\\x80' and o <= '\\x90\\x80'",
            "select m, o from t where m = f and b is not null",
            "select count(*) from t where b = '\\xFF\\xFF'",
            "select s.x as x, count(*) from t group by all",
        )
    ):
        found = hr.sql(query, {"t": tmp_path / "t.parquet"}, ranks=ranks % 3 + 1)
        same(found, answer(query, {"t": parquet.read_table(tmp_path / "t.parquet")}))


def test_row_groups_are_left_out(tmp_path: Path) -> None:
    """By bytes without a sign: 0x80 is above 0x7f."""
    values = [bytes([byte, 0]) for byte in range(256)]
    table = pa.table({"b": pa.array(values, pa.binary())})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=16)
    for condition in ("b > '\\x7F\\x00'", "b = '\\x80\\x00'", "b < '\\x10'", "b >= '\\xF0'", "b = '\\xFF'"):
        query = f"select b from t where {condition}"
        same(hr.sql(query, {"t": tmp_path / "t.parquet"}), answer(query, {"t": table}))


_COPIED = "select k, b, [c] as l from t order by k"


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_copy(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x.{suffix}"
    hr.sql(f"copy ({_COPIED}) to '{path}'", dict(_TABLES))
    found = hr.sql(f"select * from '{path}'") if suffix == "parquet" else hr.scan_ipc(path).collect()
    same(found, answer(_COPIED, _TABLES))
    if suffix == "parquet":
        assert parquet.ParquetFile(path).schema.column(1).logical_type.type == "NONE"


def test_copy_as_csv(tmp_path: Path) -> None:
    hr.sql(f"copy ({_COPIED}) to '{tmp_path}/ours.csv'", dict(_TABLES))
    with duckdb.connect() as connection:
        connection.register("t", _TABLES["t"])
        connection.sql(f"copy ({_COPIED}) to '{tmp_path}/theirs.csv'")
    assert (tmp_path / "ours.csv").read_text() == (tmp_path / "theirs.csv").read_text()


def test_parameters_and_results() -> None:
    value = b"\0a'\\\xff"
    session = hr.connect()
    session.register("t", _TABLES["t"])
    for given in (value, bytearray(value), memoryview(value), pa.scalar(value)):
        found = session.sql("select $1 as b, $1 = $1 as same from t limit 1", parameters=[given]).arrow()
        assert found.to_pydict() == {"b": [value], "same": [True]}
    found = session.sql("select k from t where b = $x", parameters={"x": b"\xff"}).arrow()
    assert found.num_rows == sum(each == b"\xff" for each in _TABLES["t"]["b"].to_pylist())
    shown = session.sql(r"select '\xFF\x00a\x5C' as t, '\xFF\x00a\x5C'::blob as b")
    assert r"\xFF\x00a\x5C  \xFF\x00a\x5C" in repr(shown)
    assert hr.sql("describe select b from t", dict(_TABLES))["column_type"].to_pylist() == ["BLOB"]


def test_frames() -> None:
    frame = hr.from_arrow(_TABLES["t"])
    found = frame.group_by("b").agg(hr.len()).sort("b", nulls_last=True).collect()
    wanted = answer("select b, count(*) as len from t group by b order by b", _TABLES)
    assert found["b"].to_pylist() == wanted["b"].to_pylist()
    assert found["len"].to_pylist() == wanted["len"].to_pylist()
    some = frame.filter(hr.col("b") == b"\xff").select("k").collect()
    assert some.num_rows == sum(each == b"\xff" for each in _TABLES["t"]["b"].to_pylist())
    texts = frame.select(hr.col("v").cast(pl.Binary).cast(pl.String)).collect()
    assert texts["v"].to_pylist() == _TABLES["t"]["v"].to_pylist()
    with pytest.raises(
        hr.errors.UnsupportedError, match="unsupported cast of binary to string that is not strict"
    ):
        frame.select(hr.col("b").cast(pl.String, strict=False))
    with pytest.raises(hr.errors.UnsupportedError, match="unsupported cast of binary to int64"):
        frame.select(hr.col("b").cast(pl.Int64))


def test_polars_engine() -> None:
    frame = pl.from_arrow(_TABLES["t"]).lazy()  # type: ignore[union-attr]
    program = frame.filter(pl.col("k") % 3 == 0).group_by("b").agg(pl.len(), pl.col("k").max()).sort("b")
    ours = program.collect(post_opt_callback=hr.polars_engine())
    assert ours.equals(program.collect())


def test_texts_of_tools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command line and headrace-run write bytes as a cast does; EXPLAIN too."""
    parquet.write_table(_TABLES["t"], tmp_path / "t.parquet")
    query = "select distinct b from t where b > '\\xC3' and b || '\\xFE' <> '\\xFF' order by b"
    wanted = answer(f"select b::varchar as b from ({query})", _TABLES)["b"].to_pylist()
    assert main(["sql", query, "--tables", str(tmp_path)]) == 0
    assert capsys.readouterr().out.split()[2 : 2 + len(wanted)] == wanted
    assert main(["compile", query, "--tables", str(tmp_path), "--output", f"{tmp_path}/q.plan"]) == 0
    tool = Path(hr.__path__[-1]).parents[1] / "bin" / "headrace-run"
    done = subprocess.run(
        [tool, tmp_path / "q.plan", "--ranks", "2", "--topology", "any"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split()[2 : 2 + len(wanted)] == wanted
    assert r"b > '\xC3'" in hr.explain(query, tmp_path)
