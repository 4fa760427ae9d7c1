"""CSV files as tables: DuckDB reads the same files, and what is refused says what to do."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import same
from test_cluster import answer_of_all

PLAIN = (
    "a,b,c,d,e,f\n1,x,1.5,2020-01-31,2020-01-01 10:00:00,true\n-2,,,,,\n"
    "3,'y',0,0001-03-01,1969-12-31 23:59:59.5,false\n"
)


def _write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def _agrees(source: str, **options: Any) -> None:
    query = f"select * from {source}"
    with duckdb.connect() as connection:
        expected = connection.sql(query).to_arrow_table()
    same(hr.sql(query, **options), expected)


TEXTS = {
    "plain": PLAIN,
    "crlf": PLAIN.replace("\n", "\r\n"),
    "mark": "\ufeff" + PLAIN,
    "no last line end": PLAIN[:-1],
    "quoted": 'k,t\n1,"a,b"\n2,"line\nbreak"\n3,"say ""hi"""\n4,""\n5,"é"\n6,plain\n',
    "quoted crlf": 'k,t\r\n1,"a\r\nb"\r\n2,c\r\n',
    "empty lines": "a,b\n1,2\n\n3,4\n\n",
    "pipes": "a|b\n1|2.5\n3|x\n",
    "tabs": "a\tb\n1\t2.5\n3\t4\n",
    "no header": "1,2\n3,4\n",
    "one column": "a\n1\n2\n",
    "numbers": "d\n0.1\n-0.25\n1e300\n-0.0\n123456789012345678\n12345678901234567890.5\n.5\n5.\n",
    "moments": "t,z\n10:00:01.5,2020-02-29T01:02:03\n00:00:00,1969-01-01 00:00:00.000001\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_reads_what_duckdb_reads(tmp_path: Path, name: str) -> None:
    path = _write(tmp_path / "x.csv", TEXTS[name])
    for ranks in (1, 3):
        _agrees(f"'{path}'", ranks=ranks)


OPTIONS = [
    "delim='|'",
    "header=false",
    "all_varchar=true",
    "nullstr='x'",
    "nullstr=['x', '3']",
    "skip=1",
    "types={'a': 'DECIMAL(9,2)', 'c': 'FLOAT'}",
    "types=['INTEGER', 'VARCHAR']",
    "sample_size=-1",
    "quote=''''",
    "columns={'p': 'INTEGER', 'q': 'VARCHAR', 'r': 'DECIMAL(4,2)', "
    "'s': 'DATE', 't': 'TIMESTAMP', 'u': 'BOOLEAN'}",
]


_TEXTS = "{'a': 'VARCHAR', 'b': 'VARCHAR'}"
#: By name a file, and options of `read_csv`.
DIALECTS: dict[str, tuple[str, str]] = {
    "comments": ("# x\na,b\n1,2\n# y\n3,4 # z\n", ""),
    "comment of a text": (
        'a,b\n1,x#y\n2,"p#q"\n  # z\n3,"r"#s\n',
        f"comment='#', header=true, auto_detect=false, columns={_TEXTS}",
    ),
    "escape": ('a,b\n1,"x\\"y"\n2,"z\\\\"\n3,"p,q"\n', "escape='\\', quote='\"'"),
    "separator of several bytes": ('a||b\n1||"x||y"\n2||p|q\n', "delim='||'"),
    "CR alone": ('a,b\r1,x\r2,"p\nq"\r', ""),
    "padding": ("a,b,c\n1,2,3\n4,5\n6\n", "null_padding=true"),
    "padding without NULL": ("a,b,c\nx,y,\nz\n", "null_padding=true, nullstr='NA'"),
    "padding and CRLF": ("a,b,c\r\n1,2,3\r\n4,x\r\n", "null_padding=true"),
    "dropped": (
        'a,b\n1,x\nq,y\n3,z,w\n4\n6,"p\nq"\n7,""\n',
        "ignore_errors=true, columns={'a': 'INT', 'b': 'VARCHAR'}, auto_detect=false, header=true",
    ),
    "dropped by type": (
        "a,b,c,d\n1,1.5,2020-01-01,true\n300,1,2020-01-01,true\n2,x,2020-01-01,true\n"
        "3,1,2020-13-01,true\n4,1,2020-01-01,maybe\n5,,,\n",
        "ignore_errors=true, header=true, auto_detect=false, "
        "columns={'a': 'TINYINT', 'b': 'DECIMAL(3,1)', 'c': 'DATE', 'd': 'BOOLEAN'}",
    ),
    "one column": ("a\n1\nx\n\n2\n", "ignore_errors=true, columns={'a': 'INT'}, header=true"),
    "dates": ("d,t\n31/12/2020,31/12/2020 10:11:12\n01/02/2021,01/02/2021 00:00:00\n", ""),
    "date format": ("d\n20201231\n\n20210201\n", "dateformat='%Y%m%d', types={'d': 'DATE'}"),
    "date of a timestamp format": ("d\n1965-12-31 23\n", "dateformat='%Y-%m-%d %H', types={'d': 'DATE'}"),
    "timestamp format": (
        "d,t\n1,2020.12.31 10-11\n2,\n",
        "timestamp_format='%Y.%m.%d %H-%M', types={'t': 'TIMESTAMP'}",
    ),
    "decimal separator": (
        "a;b;c\n1,5;-2,25;x\n,5;3;y\n",
        "decimal_separator=',', types={'b': 'DECIMAL(8,3)'}",
    ),
    "thousands": ("a;b\n1.234,5;1.000\n2,25;12\n", "decimal_separator=',', thousands='.'"),
    "names": ("1,x\n2,y\n", "names=['p']"),
    "normalized names": ("A b,1c,select\n1,2,3\n", "normalize_names=true"),
    "quoted nulls": ('a,b\n"",x\n,y\n"NA",NA\n', "allow_quoted_nulls=false, nullstr=['', 'NA']"),
    "never NULL": ("a,b\nx,\n,y\n", "force_not_null=['b']"),
    "candidates": ("a,b\n1,1.5\n", "auto_type_candidates=['BIGINT', 'VARCHAR']"),
    "undetected": ("1|x\n2|y\n", "auto_detect=false, delim='|', columns={'x': 'INT', 'y': 'VARCHAR'}"),
    "CR undetected": (
        'a,b\r1,"x\ny"\r2,\r',
        f"header=true, auto_detect=false, columns={_TEXTS}",
    ),
    "CRLF undetected": ("1,2\r\n3,4\r\n", f"auto_detect=false, quote='', columns={_TEXTS}"),
    "skipped lines": ("a title\nx,y\n1,2 #c\n", "skip=1, comment='#'"),
    "of DuckDB's reader": ("a,b\n1,2\n", "parallel=false, max_line_size=1000, buffer_size=10000"),
}


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects(tmp_path: Path, name: str) -> None:
    text, options = DIALECTS[name]
    path = _write(tmp_path / "x.csv", text)
    for ranks in (1, 2):
        _agrees(f"read_csv('{path}', {options})" if options else f"'{path}'", ranks=ranks)


@pytest.mark.parametrize(("inside", "end"), [("\r", "\n"), ("\n", "\r")])
def test_ends_of_lines_within_quotes(tmp_path: Path, inside: str, end: str) -> None:
    """DuckDB refuses such a file: it takes the first end of a line that it sees, also within quotes."""
    path = _write(tmp_path / "x.csv", f'"x{inside}y",1{end}2,3{end}')
    found = hr.sql(f"from read_csv('{path}', auto_detect=false, columns={_TEXTS})")
    assert found.to_pylist() == [{"a": f"x{inside}y", "b": "1"}, {"a": "2", "b": "3"}]


def test_ends_of_lines_of_a_compressed_file_without_detection(tmp_path: Path) -> None:
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"1,x\r2,y\r"))
    _agrees(f"read_csv('{tmp_path}/x.csv.gz', auto_detect=false, columns={_TEXTS})")


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_compressed(tmp_path: Path, suffix: str) -> None:
    rows = "".join(f'{row},"a,{row % 7}",{row / 4}\n' for row in range(300_000))
    codec = {"gz": "gzip", "zst": "zstd"}[suffix]
    for name in (f"x.csv.{suffix}", "y"):
        with pa.output_stream(tmp_path / name, compression=codec) as file:
            file.write(f"k,t,d\n{rows}".encode())
    query = "select t, count(*) as n, sum(k) as s, sum(d) as d from {} group by t order by t"
    for source in (f"'{tmp_path}/x.csv.{suffix}'", f"read_csv('{tmp_path}/y', compression='{codec}')"):
        with duckdb.connect() as connection:
            expected = connection.sql(query.format(source)).to_arrow_table()
        for ranks in (1, 3):
            same(hr.sql(query.format(source), ranks=ranks), expected)


def test_latin1(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes("a,b\n1,é\n2,ÿ\n".encode("latin-1"))
    _agrees(f"read_csv('{tmp_path}/x.csv', encoding='latin-1')")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    "codec", ["utf-16", "utf-16-le", "utf-16-be", "windows-1252", "iso-8859-15", "koi8-r", "cp437", "utf-8"]
)
def test_encodings(tmp_path: Path, codec: str, mark: str) -> None:
    """Of any length, also where characters lie across what is read at once; those of the codec alone."""
    texts = ["Zürich", "Ж€𝄞-", 'say "b"', "e", "x" * 1000, "мир."]
    known = [text.encode(codec, errors="ignore").decode(codec) for text in texts]
    rows = [(n, known[n % len(known)]) for n in range(30_000)]
    text = "a,b\n" + "".join(f'{n},"{each.replace(chr(34), chr(34) * 2)}"\n' for n, each in rows)
    if mark and not codec.startswith("utf"):
        return
    order = "utf-16-le" if codec == "utf-16" else codec
    path = tmp_path / "x.csv"
    for suffix in ("", ".gz"):
        data = (mark + text).encode(order)
        path = tmp_path / f"x.csv{suffix}"
        path.write_bytes(gzip.compress(data) if suffix else data)
        found = hr.sql(f"select * from read_csv('{path}', encoding='{codec}') order by a", ranks=3)
        assert list(zip(*found.to_pydict().values(), strict=True)) == rows


def test_a_mark_says_the_order_of_utf_16(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes("\ufeffa,b\n1,ž\n".encode("utf-16-be"))
    found = hr.sql(f"select * from read_csv('{tmp_path}/x.csv', encoding='utf-16')")
    assert found.to_pylist() == [{"a": 1, "b": "ž"}]


@pytest.mark.parametrize(
    ("data", "encoding", "message"),
    [
        (b"a,b\n1,\x81\n", "windows-1252", "no character of the file's encoding stands at byte 6"),
        ("a\n1".encode("utf-16-le") + b"\x00\xd8" * 2, "utf-16", "encoding stands at byte 6"),
        ("a\n1".encode("utf-16-le") + b"\x00\xdc", "utf-16", "encoding stands at byte 6"),
        (("a\n" + "1\n" * 3_000_000).encode("utf-16-le") + b"x", "utf-16", "stands at byte 12000004"),
        (("a\n" + "1\n" * 3_000_000).encode("utf-16-le") + b"\x00\xdc", "utf-16", "stands at byte 12000004"),
        (b"a\n" + b"1\n" * 3_000_000 + b"\x81", "windows-1252", "stands at byte 6000002"),
        (b"a\n1\n", "nothing", "no such encoding of CSV: .*nothing"),
        (b"a\n1\n", "shift_jis", "encodings of one byte for each character can be read, not: .*shift_jis"),
        (b"a\n1\n", "rot13", "encodings of one byte for each character can be read, not: .*rot13"),
    ],
)
def test_mistakes_of_encodings(tmp_path: Path, data: bytes, encoding: str, message: str) -> None:
    (tmp_path / "x.csv").write_bytes(data)
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql(f"select count(*) from read_csv('{tmp_path}/x.csv', encoding='{encoding}')")


def test_bytes_as_texts(tmp_path: Path) -> None:
    """Columns of bytes of Parquet as what they are in UTF-8."""
    path = tmp_path / "x.parquet"
    fixed = pa.array([b"ab", b"cd", None], pa.binary(2))
    rows = {"b": ["zürich".encode(), None, b""], "a": [1, 2, 3], "t": ["x", None, "y"], "f": fixed}
    parquet.write_table(pa.table(rows), path)
    texts, both = (f"read_parquet({each}, binary_as_string=true)" for each in (f"'{path}'", f"['{path}']"))
    for query in (
        f"from {texts}",
        f"select b || 'x' as b, typeof(b) as k from {texts} where b like 'z%'",
        f"from read_parquet('{path}', binary_as_string=false)",
        f"select max(b) as b, count(*) as n from {both} group by a",
        f"select x.b as b, y.b as t, y.f from '{path}' x join {texts} y using (a)",
    ):
        with duckdb.connect() as connection:
            expected = connection.sql(query).to_arrow_table()
        for ranks in (1, 3):
            same(hr.sql(query, ranks=ranks), expected)
    parquet.write_table(pa.table({"b": [b"\xff"]}), path)
    with pytest.raises(
        hr.errors.CorruptError, match=r"column b, .*value 0 is a text that is not UTF-8: \\xFF"
    ):
        hr.sql(f"select b from read_parquet('{path}', binary_as_string=true)")
    parquet.write_table(pa.table({"b": [b"\xff"], "l": [[b"x"]]}), path)
    with pytest.raises(hr.HeadraceError, match="binary_as_string of bytes in a list, struct or map: l"):
        hr.sql(f"select b from read_parquet('{path}', binary_as_string=true)")


KINDS = {
    "b": "BLOB",
    "i": "INTERVAL",
    "h": "UHUGEINT",
    "l": "INTEGER[]",
    "s": "STRUCT(x INTEGER, y VARCHAR)",
    "m": "MAP(VARCHAR, DECIMAL(2,1)[])",
    "a": "INTEGER[2]",
    "lb": "BLOB[]",
    "t": "VARCHAR[]",
}
VALUES = """select 'a\\x00'::blob as b, interval '1 year 2 days 3.5 seconds' as i,
    340282366920938463463374607431768211455::uhugeint as h, [1, null]::int[] as l,
    {'x': 1, 'y': 'a,"b'}::struct(x int, y varchar) as s, map {'k': [1.5]}::map(varchar, decimal(2,1)[]) as m,
    [1, 2]::int[2] as a, ['a'::blob] as lb, ['a"b', 'c,d', 'it''s', '', null] as t
    union all select null, null, null, null, null, null, null, null, null
    union all select '\\xff'::blob, interval '-3 months 0.000001 seconds', 0::uhugeint, [],
        {'x': null, 'y': ''}, map {}, [null, 2], [], []"""


def test_columns_of_bytes_intervals_and_nested_ones(tmp_path: Path) -> None:
    """Written as DuckDB writes them, and read back as the types that are given."""
    ours, theirs = tmp_path / "ours.csv", tmp_path / "theirs.csv"
    source = f"read_csv('{theirs}', types={KINDS})"
    texts = ", ".join(f"cast({name} as varchar) as {name}" for name in KINDS)
    with duckdb.connect() as connection:
        connection.execute(f"copy ({VALUES}) to '{theirs}'")
        expected = connection.sql(f"select {texts} from ({VALUES})").to_arrow_table()
        same(connection.sql(f"select {texts} from {source}").to_arrow_table(), expected)
        rows = connection.sql(f"select * exclude (h) from ({VALUES})").to_arrow_table()
        connection.execute(f"copy (select * exclude (h) from ({VALUES})) to '{theirs}.2'")
    hr.sql(f"copy t to '{ours}'", {"t": rows})
    assert ours.read_bytes() == Path(f"{theirs}.2").read_bytes()
    for ranks in (1, 3):
        same(hr.sql(f"select {texts} from {source}", ranks=ranks), expected)
    kinds = hr.connect().sql(f"from {source}").types
    assert kinds == tuple(KINDS.values())
    found = hr.sql(f"select l[1] + s.x as n, octet_length(b) as o from {source} where a[2] = 2 order by o")
    assert found.to_pylist() == [{"n": None, "o": 1}, {"n": 2, "o": 2}]
    with pytest.raises(
        hr.HeadraceError, match="frames read no column by a cast to BLOB, SQL does: b in scan_csv"
    ):
        hr.scan_csv(theirs, types=KINDS)


def test_a_value_that_does_not_fit_a_nested_type(tmp_path: Path) -> None:
    _write(tmp_path / "x.csv", "l\n[1]\nno\n")
    with pytest.raises(hr.HeadraceError, match="'no'|no list|cannot be cast|cast"):
        hr.sql(f"select l from read_csv('{tmp_path}/x.csv', types={{'l': 'INTEGER[]'}})")
    with pytest.raises(hr.HeadraceError, match="CSV columns of this type cannot be read: .*BIT"):
        hr.sql(f"select l from read_csv('{tmp_path}/x.csv', types={{'l': 'BIT'}})")


def test_no_tables_of_rejects(tmp_path: Path) -> None:
    _write(tmp_path / "x.csv", "l\n1\n")
    with pytest.raises(
        hr.HeadraceError, match="rows that cannot be read: store_rejects; ignore_errors=true leaves"
    ):
        hr.sql(f"select l from read_csv('{tmp_path}/x.csv', store_rejects=true)")


def test_dropped_rows_are_the_same_whatever_is_read(tmp_path: Path) -> None:
    """DuckDB looks at the values of the columns that a query reads."""
    _write(tmp_path / "x.csv", "a,b\n1,x\nq,y\n3,z\n")
    options = "ignore_errors=true, auto_detect=false, header=true, columns={'a': 'INT', 'b': 'VARCHAR'}"
    for read, expected in (("count(*)", 2), ("max(b)", "z"), ("sum(a)::int", 4)):
        query = f"select {read} as x from read_csv('{tmp_path}/x.csv', {options})"
        assert hr.sql(query).to_pylist() == [{"x": expected}]


def test_rows_behind_a_dropped_one_stay(tmp_path: Path) -> None:
    """DuckDB drops what follows a quote that does not belong."""
    _write(tmp_path / "x.csv", 'a,b\n1,x\n2,"u"v\n3,p"q\n4,y\n5,"open\n6,z\n')
    options = "ignore_errors=true, auto_detect=false, header=true, columns={'a': 'INT', 'b': 'VARCHAR'}"
    found = hr.sql(f"select * from read_csv('{tmp_path}/x.csv', {options})").to_pylist()
    assert found == [{"a": 1, "b": "x"}, {"a": 4, "b": "y"}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a,b\n1,x"y\n', "line 2: a quote inside of a value"),
        ('a,b\n1,"x"y\n', "line 2: a quote inside of a value"),
        ('a,b\n1,x\n2,"y\n', "line 3: a quoted value is not closed"),
        ("a,b,c\n1,2\n3,4,5,6\n", "line 3: wanted 3 values"),
    ],
)
def test_mistakes_of_dialects_are_named_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    path = _write(tmp_path / "x.csv", text)
    columns = ", ".join(f"'{name}': 'VARCHAR'" for name in text.splitlines()[0].split(","))
    options = f"null_padding=true, auto_detect=false, header=true, columns={{{columns}}}"
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql(f"select * from read_csv('{path}', {options})")


def test_no_folder_for_the_plain_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _write(tmp_path / "x.csv", "a|b\n1|2\n")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    source = f"read_csv('{path}', null_padding=true, delim='|')"
    with pytest.raises(hr.HeadraceError, match="cannot keep a copy of"):
        hr.sql(f"select * from {source}")


@pytest.mark.parametrize("option", OPTIONS)
def test_options(tmp_path: Path, option: str) -> None:
    path = _write(tmp_path / "x.csv", PLAIN)
    _agrees(f"read_csv('{path}', {option})")


def test_many_pieces_with_quotes(tmp_path: Path) -> None:
    rng = random.Random(5)
    words = ["a", "b,c", 'say "x"', "two\nlines", "", "é", "long " * 20]
    lines = ["k,t,v"]
    for row in range(200_000):
        word = rng.choice(words)
        lines.append(f'{row},"{word.replace(chr(34), chr(34) * 2)}",{rng.random()}')
    path = _write(tmp_path / "x.csv", "\n".join(lines))
    query = f"select t, count(*) as n, sum(k) as s, min(v) as v from '{path}' group by t"
    with duckdb.connect() as connection:
        expected = connection.sql(query).to_arrow_table()
    for ranks in (1, 2, 3):
        same(hr.sql(query, ranks=ranks, memory="200MB"), expected)


def test_ways_to_name_files(tmp_path: Path) -> None:
    _write(tmp_path / "a.csv", "k,v\n1,2\n3,4\n")
    _write(tmp_path / "b.csv", "k,v\n5,6.5\n")
    total = [{"n": 3, "v": 12.5}]
    query = "select count(*) as n, sum(v) as v from "
    assert hr.sql(f"{query}'{tmp_path}/*.csv'").to_pylist() == total
    assert hr.sql(f"{query}read_csv(['{tmp_path}/a.csv', '{tmp_path}/b.csv'])").to_pylist() == total
    assert hr.sql(f"{query}t", {"t": f"{tmp_path}/*.csv"}).to_pylist() == total
    assert hr.sql(f"{query}a", f"{tmp_path}/a.csv").to_pylist() == [{"n": 2, "v": 6}]
    assert hr.connect().sql(f"{query}'{tmp_path}/*.csv'").arrow().to_pylist() == total
    _write(tmp_path / 'it\'s "a".csv', "k,v\n1,2\n")
    quoted = f"{tmp_path}/it''s \"a\".csv"
    for source in (f"'{quoted}'", f"read_csv('{quoted}')"):
        assert hr.sql(f"{query}{source}").to_pylist() == [{"n": 1, "v": 2}]
    with pytest.raises(hr.HeadraceError, match="files that are named right behind FROM or JOIN"):
        hr.sql(f"{query}'{tmp_path}/a.csv' as a, '{tmp_path}/b.csv' as b")
    frame = hr.scan_csv([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert frame.select(hr.col("v").sum()).collect().to_pylist() == [{"v": 12.5}]
    assert (
        hr.scan_csv(tmp_path / "a.csv", all_varchar=True).head(1).collect().schema.field("v").type == "string"
    )
    described = hr.sql(f"describe select * from '{tmp_path}/a.csv'").column("column_type").to_pylist()
    assert described == ["BIGINT", "BIGINT"]
    assert "scan" in hr.explain(f"{query}'{tmp_path}/a.csv'", ())


@pytest.mark.parametrize(
    "query",
    [
        "select s is distinct from 'y.csv', s is not distinct from 'x' from t",
        "select trim(both 'x' from 'xax'), trim(leading from ' (a'), trim('(' from '(a') from t",
        "select extract(year from date '2020-02-03'), substring('hello' from 2) from t",
    ],
)
def test_other_words_from(query: str) -> None:
    rows = pa.table({"s": ["x", None]})
    connection = duckdb.connect()
    connection.register("t", rows)
    assert [tuple(row.values()) for row in hr.sql(query, {"t": rows}).to_pylist()] == connection.sql(
        query
    ).fetchall()


def test_changed_file_is_read_anew(tmp_path: Path) -> None:
    path = _write(tmp_path / "x.csv", "a\n1\n")
    assert hr.sql(f"select a from '{path}'").to_pylist() == [{"a": 1}]
    _write(path, "a\nx\nyy\n")
    assert hr.sql(f"select a from '{path}'").to_pylist() == [{"a": "x"}, {"a": "yy"}]


def test_wrong_values_are_named_with_their_line(tmp_path: Path) -> None:
    lines = ["a,b", *(f'{row},"x\ny"' for row in range(30_000)), "what,z"]
    path = _write(tmp_path / "x.csv", "\n".join(lines) + "\n")
    with pytest.raises(hr.HeadraceError) as caught:
        hr.sql(f"select sum(a) from '{path}'")
    message = str(caught.value)
    assert f"{path}, line 60002, column a: the value cannot be read as i64: 'what'" in message
    advice = "'VARCHAR'} reads texts, nullstr makes a value NULL, and sample_size=-1 finds types in all rows"
    assert f"types={{'a': {advice}" in message


MISTAKES: dict[str, tuple[str | bytes, str, str]] = {
    "short record": (
        "a,b\n1,2\n" * 1 + "1,2\n" * 30_000 + "3\n",
        "",
        "line 30003: wanted 2 values (if the separator or the quote is another one",
    ),
    "quote inside": (
        "a,b\n" + "1,x\n" * 30_000 + '1,x"y\n',
        "quote='\"'",
        "line 30002: a quote inside of a value",
    ),
    "open quote": ("a,b\n" + "1,x\n" * 30_000 + '1,"y\n', "quote='\"'", "a quoted value is not closed"),
    "not UTF-8": (b"a,b\n" + b"1,x\n" * 30_000 + b"1,\xff\n", "", "the value is not UTF-8"),
    "option": ("a\n1\n", "wrong=1", "read_csv: no such option: wrong"),
    "type": ("a\n1\n", "types={'a': 'NOTHING'}", "no such type of a column: NOTHING"),
    "type that cannot be read": ("a\n1\n", "types={'a': 'BIT'}", "CSV columns of this type cannot be read"),
    "column of types": ("a\n1\n", "types={'z': 'DATE'}", "has no column: z"),
    "columns": ("a\n1\n", "columns={'a': 'INT', 'b': 'INT'}", "columns must name the 1 columns"),
    "not CSV": ("a,b\n1,2\n", "sample_size=-5", "cannot read as CSV"),
    "argument": ("a\n1\n", "1", "arguments behind the first are name = value"),
    "constant": ("a\n1\n", "skip=x", "not a constant: x"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(tmp_path: Path, name: str) -> None:
    text, options, message = MISTAKES[name]
    path = tmp_path / "x.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    source = f"read_csv('{path}', {options})" if options else f"'{path}'"
    with pytest.raises(hr.HeadraceError) as caught:
        hr.sql(f"select * from {source}")
    assert message in str(caught.value)


#: Nothing is to be found out.
GIVEN: dict[str, Any] = {"auto_detect": False, "columns": {"k": "DATE", "v": "VARCHAR"}}
REFUSED: list[tuple[Callable[[Path], Any], str]] = [
    (lambda folder: hr.scan_csv(folder / "none.csv"), "no such file"),
    (
        lambda folder: hr.scan_csv(folder / "damaged.csv.gz", **GIVEN),
        "what is compressed cannot be decompressed",
    ),
    (
        lambda folder: hr.scan_csv(folder / "a.csv", compression="bz2"),
        "compression of CSV is one of auto, none, gzip, zstd, got: bz2",
    ),
    (
        lambda folder: hr.scan_csv(folder / "a.csv", encoding="utf-32"),
        "CSV in UTF-8, UTF-16 and encodings of one byte for each character can be read, not",
    ),
    (
        lambda folder: hr.scan_csv(folder / "a.csv", thousands="."),
        "decimal_separator and thousands of CSV cannot be the same",
    ),
    (
        lambda folder: hr.scan_csv(folder / "a.csv", auto_detect=False),
        "auto_detect=false takes columns={name: type}",
    ),
    (
        lambda folder: hr.scan_csv(folder / "a.csv", dateformat="%E", **GIVEN),
        "a format of dates in CSV has a part that is not supported: %E",
    ),
    (lambda folder: hr.sql("select * from 'x.xlsx'"), "files in FROM end in"),
    (
        lambda folder: hr.sql("select * from read_parquet('x.parquet', a = 1)"),
        "read_parquet: no such option: a; there are hive_partitioning",
    ),
    (lambda folder: hr.scan_csv(folder / "a.csv", types=["int"] * 3), "a.csv has 2 columns, got 3 types"),
    (
        lambda folder: hr.scan_csv([folder / "a.csv", folder / "b.csv"]),
        "CSV files of one table differ in their columns",
    ),
    (
        lambda folder: hr.scan_csv([folder / "a.csv", folder / "c.csv"]),
        "CSV files of one table differ in delim",
    ),
    (
        lambda folder: hr.sql("select 1 from t", {"t": [folder / "a.csv", folder / "p"]}),
        "a table of CSV files and others",
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_refused(tmp_path: Path, call: Callable[[Path], Any], message: str) -> None:
    numbers = random.Random(1)
    rows = "".join(f"{numbers.random()},x\n" for _ in range(200_000))
    whole = gzip.compress(f"a,b\n{rows}".encode())
    (tmp_path / "damaged.csv.gz").write_bytes(whole[:-20_000] + bytes(20_000))
    _write(tmp_path / "a.csv", "k,v\n1,2\n")
    _write(tmp_path / "b.csv", "k,w\n1,2\n")
    _write(tmp_path / "c.csv", "k|v\n1|2\n")
    _write(tmp_path / "p", "")
    with pytest.raises(hr.HeadraceError) as caught:
        call(tmp_path)
    assert message in str(caught.value)


def test_processes_share_files(tpch_small: Path, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("k,v\n" + "".join(f'{row},"a,{row % 7}"\n' for row in range(200_000)))
    query = "select v, count(*) as n, sum(k) as s from 'x.csv' group by v order by v"
    found = answer_of_all(query, tmp_path, tpch_small)
    expected = duckdb.sql(query.replace("'x.", f"'{tmp_path}/x.")).to_arrow_table()
    same(found, expected, ordered=True)


def test_limit(tmp_path: Path) -> None:
    path = _write(tmp_path / "x.csv", "k,t\n" + "".join(f"{row},{'x' * 50}\n" for row in range(100_000)))
    with pytest.raises(hr.HeadraceError, match="memory"):
        hr.sql(f"select max(t) as t from '{path}'", memory="2MB")
    assert hr.sql(f"select count(t) as n from '{path}'", memory="64MB").to_pylist() == [{"n": 100_000}]


@pytest.mark.parametrize("body", ["a0\nx\n\ny\n", "a0\n1\n\n2\n", "a,b\n1,2\n\n3,4\n", 'a0\nx\n""\ny\n'])
@pytest.mark.parametrize("nulls", ["", "nullstr = 'a'", "nullstr = ['', 'a']"])
def test_empty_lines_are_rows_of_one_column_that_may_be_null(tmp_path: Path, body: str, nulls: str) -> None:
    path = _write(tmp_path / "x.csv", body)
    _agrees(f"read_csv('{path}'{', ' if nulls else ''}{nulls})")


def test_given_columns_are_in_the_order_of_the_file(tmp_path: Path) -> None:
    """Not in that of their names."""
    path = tmp_path / "x.csv"
    path.write_text("b,a,c\n1,2,x\n3,4,y\n")
    columns = {"z": "BIGINT", "a": "INTEGER", "m": "VARCHAR"}
    expected = [{"z": 1, "a": 2, "m": "x"}, {"z": 3, "a": 4, "m": "y"}]
    text = f"select * from read_csv('{path}', columns={columns}, header=true)"
    assert hr.sql(text).to_pylist() == expected
    assert hr.scan_csv(path, columns=columns, header=True).collect().to_pylist() == expected
