"""COPY … TO and its like: files that others read, whole or not there at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import same
from headrace import _runtime
from headrace._src.command_line import main
from headrace._src.part_files import output_of
from headrace._src.query.sql import written

TABLE = pa.table({"k": [1, 2, 3, 4], "t": ["a", 'say "b"', None, "c,d"], "p": ["x", "y", "x", "y"]})
FORMS = ["x.parquet", "x.csv", "x.arrow"]


@pytest.mark.parametrize("name", FORMS)
def test_a_query(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for text in (f"copy (select k, t from t where k < 4) to '{path}'", f"COPY t TO '{path}';"):
        found = hr.sql(text, {"t": TABLE}, ranks=2)
        wanted = TABLE if "COPY" in text else TABLE.select(["k", "t"]).slice(0, 3)
        assert found.to_pylist() == [{"Count": wanted.num_rows}]
        read = pa.ipc.open_file(path).read_all() if name == "x.arrow" else None
        read = read or duckdb.sql(f"from '{path}'").to_arrow_table()
        same(read, wanted)
        assert [each.name for each in tmp_path.iterdir()] == [name]


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    for name in ("x.parquet", "x.csv"):
        hr.sql(
            f"create view v as select * from t; copy (select * from v) to '{tmp_path}/{name}'", {"t": TABLE}
        )
        same(hr.sql(f"select * from '{tmp_path}/{name}'"), TABLE)


def test_options(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    hr.sql(f"copy t to '{path}' (format csv, header false, delimiter '|')", {"t": TABLE})
    assert path.read_text().splitlines()[0] == "1|a|x"
    path = tmp_path / "x.parquet"
    hr.sql(f"copy t to '{path}' with (compression zstd, row_group_size 2)", {"t": TABLE})
    described = parquet.ParquetFile(path).metadata
    assert described.num_row_groups == 2
    assert described.row_group(0).column(0).compression == "ZSTD"
    relation = hr.connect({"t": TABLE}).sql("select k from t")
    relation.write_parquet(tmp_path / "r.parquet", compression="none")
    relation.write_csv(tmp_path / "r.csv", header=False)
    assert parquet.read_table(tmp_path / "r.parquet").num_rows == 4
    assert sorted((tmp_path / "r.csv").read_text().split()) == ["1", "2", "3", "4"]


def test_partitions(tmp_path: Path) -> None:
    hr.sql(f"copy t to '{tmp_path}/d' (format parquet, partition_by (p))", {"t": TABLE})
    assert sorted(each.name for each in (tmp_path / "d").iterdir()) == ["p=x", "p=y"]
    same(duckdb.sql(f"select k, t, p from '{tmp_path}/d/*/*.parquet'").to_arrow_table(), TABLE)


def test_csv_is_that_of_duckdb(tmp_path: Path) -> None:
    """Byte for byte, of all types, in several batches and by one separator or another."""
    columns = r'''range % 100 as i, range::utinyint as u8, (range * 1e17)::hugeint as h, range / 4 as f,
        (range / 3)::float as g, range::double as whole, 1e20 + range as large,
        (range / 8)::decimal(9, 3) as d, range % 2 = 0 as b, (-range / 1000)::decimal(3, 3) as rest,
        [(range / 1000)::decimal(4, 4), null] as rests,
        case range % 6 when 0 then '' when 1 then 'a,b' when 2 then 'say "x"' when 3 then null
            when 4 then e'two\nlines' else 'plain;' end as "a ""t""",
        date '1969-12-30' + range::integer as day, time '01:02:03' + to_microseconds(range) as hour,
        timestamp '1969-12-31 23:59:59.5' + to_seconds(range) as at, [range, null] as l,
        ['a', 'b c', ''] as lt, {'x': range % 3, 'y': 'a,b', 'z': null} as st,
        map {'k': range, 'l': null} as m,
        [{'v': range / 2}] as ls, (timestamp '2020-01-01' + to_microseconds(range))::timestamptz as z'''
    connection = duckdb.connect()
    connection.execute("set TimeZone = 'UTC'")
    table = connection.execute(f"select {columns} from range(250)").to_arrow_table()
    big = pa.concat_tables([table] * 120)
    for options, tables in (("", table), ("(delimiter ';', header false)", table), ("", big)):
        connection.register("t", tables)
        connection.execute(f"copy t to '{tmp_path}/d.csv' {options or '(header)'}")
        hr.sql(f"copy t to '{tmp_path}/h.csv' {options}", {"t": tables})
        assert (tmp_path / "h.csv").read_bytes() == (tmp_path / "d.csv").read_bytes()


CSV_OPTIONS = [
    "header 'false'",
    "header 0",
    "quote ''''",
    r"escape '\'",
    r"quote '''', escape '\'",
    "quote ''",
    "escape ''",
    "nullstr 'NA'",
    "null 'true'",
    "force_quote (s, i)",
    "force_quote s",
    "force_quote(l, b, d)",
    "force_quote *",
    "dateformat '%d/%m/%Y'",
    "timestampformat '%d.%m.%Y %H:%M'",
    "date_format '%d', timestamp_format '%H'",
    "delim '|'",
    r"sep '\t'",
    "delim '||'",
    "compression gzip",
    "compression 'zstd'",
]
VALUES = r"""(values (1, 'x', date '2020-01-02', timestamp '2020-01-02 03:04:05', 1.5, true, [1, 2]),
    (null, null, null, null, null, null, null),
    (2, 'a,b"c', date '1999-12-31', timestamp '2020-01-02 03:04:05.123', 2.0, false, [3]),
    (3, '', null, null, null, null, []), (4, '#a', null, null, null, null, null),
    (5, 'NA', null, null, null, null, null), (6, 'a\b''c', null, null, null, null, null),
    (7, 'd|', null, null, null, null, null), (8, e'q\nr', null, null, null, null, null))
    t(i, s, d, t, f, b, l)"""


@pytest.mark.parametrize("option", CSV_OPTIONS)
def test_options_of_csv_are_those_of_duckdb(tmp_path: Path, option: str) -> None:
    # DuckDB does not quote a text that ends like the separator begins, and cannot read it again.
    which = "where i <> 7" if option == "delim '||'" else ""
    _agrees(tmp_path, f"from {VALUES} {which} order by i desc", f"format csv, {option}")


def _agrees(folder: Path, query: str, options: str) -> None:
    def written(name: str, write: Callable[[str], Any]) -> bytes:
        write(f"copy ({query}) to '{folder}/{name}' ({options})")
        data = (folder / name).read_bytes()
        codec = next((codec for codec in ("gzip", "zstd") if codec in options), None)
        return pa.input_stream(pa.py_buffer(data), compression=codec).read() if codec else data

    with duckdb.connect() as connection:
        connection.execute("set TimeZone = 'UTC'")
        expected = written("d", connection.execute)
    for ranks in (1, 3):
        assert written("h", lambda text, ranks=ranks: hr.sql(text, ranks=ranks)) == expected


@pytest.mark.parametrize("option", ["", "array true", "array", "compression gzip", "dateformat '%d.%m.%Y'"])
@pytest.mark.parametrize("rows", ["i is not null", "false"])
def test_json_is_that_of_duckdb(tmp_path: Path, option: str, rows: str) -> None:
    query = f"""with v as (from {VALUES}) select *, {{'a': i, 'b': s}} as st, map {{'k': i}} as m,
        1.50::decimal(5, 2) as dec, 'nan'::double as n, timestamptz '2020-01-01 00:00:00+00' as z,
        '{{"x":  1}}'::json as j, interval 1 day as iv from v where {rows} order by i desc"""
    _agrees(tmp_path, query, f"format json{', ' + option if option else ''}")


def test_compression_by_name(tmp_path: Path) -> None:
    expected = duckdb.sql("select range as i from range(5)").to_arrow_table()
    for name in ("x.csv.gz", "x.csv.zst", "x.json.gz", "x.ndjson", "x.jsonl.zst"):
        hr.sql(f"copy (select range as i from range(5)) to '{tmp_path}/{name}'")
        same(duckdb.sql(f"from '{tmp_path}/{name}'").to_arrow_table(), expected)
        same(hr.sql(f"from '{tmp_path}/{name}'"), expected)


def test_codecs_of_parquet(tmp_path: Path) -> None:
    for options, codec in {
        "compression zstd, compression_level 9": "ZSTD",
        "codec brotli": "BROTLI",
        "compression lz4_raw": "LZ4_RAW",
        "format parquet, partition_by k, compression zstd": "ZSTD",
    }.items():
        path = tmp_path / f"{len(options)}.parquet"
        hr.sql(f"copy (select range as i, range % 2 as k from range(50)) to '{path}' ({options})")
        files = f"{path}/*/*" if path.is_dir() else path
        codecs = duckdb.sql(f"select distinct compression from parquet_metadata('{files}')").fetchall()
        assert codecs == [(codec,)]


def test_csv_of_a_type_without_a_text(tmp_path: Path) -> None:
    table = pa.table({"x": pa.array([None], pa.float16())})
    with pytest.raises(_runtime.Error, match="CSV, column x: type is not supported: halffloat"):
        _runtime.write_csv(table, str(tmp_path / "x.csv"), "x.csv", ",", True, 1, '"', '"', "", [])
    with pytest.raises(_runtime.Error, match="cannot write /none/x.csv: No such file"):
        _runtime.write_csv(TABLE, "/none/x.csv", "/none/x.csv", ",", True, 1, '"', '"', "", [])


def test_types_survive_csv(tmp_path: Path) -> None:
    hr.sql(f"copy (select 1::double as x, 'a' as t) to '{tmp_path}/x.csv'")
    assert str(hr.sql(f"from '{tmp_path}/x.csv'").schema.field("x").type) == "double"


TYPES = [
    "time '01:02:03.5'",
    "timestamp '2024-01-02 03:04:05'",
    "timestamp_ns '2024-01-02 03:04:05.123456789'",
    "1.5::double",
    "1e20::float",
    "'\\xFFa'::blob",
    "[1, null]",
    "{'a': 'x'}",
    "map {'k': 1}",
]


@pytest.mark.parametrize("value", TYPES)
def test_partitions_of_other_types(tmp_path: Path, value: str) -> None:
    query = f"select {value} as x, 1 as p union all select null, 2"
    for format, key in (("parquet", "x"), ("csv", "x"), ("csv", "p")):
        names = [tmp_path / f"{who}-{format}-{key}" for who in ("ours", "duckdb")]
        hr.sql(f"copy ({query}) to '{names[0]}' (format {format}, partition_by ({key}))")
        duckdb.sql(f"copy ({query}) to '{names[1]}' (format {format}, partition_by ({key}))")
        ours, theirs = ({each.name for each in name.iterdir()} for name in names)
        assert ours == theirs
        read = [f"select x::varchar as x, p from read_{format}('{name}/*/*') order by p" for name in names]
        assert duckdb.sql(read[0]).fetchall() == duckdb.sql(read[1]).fetchall()


def test_names_of_folders_are_those_of_duckdb(tmp_path: Path) -> None:
    texts = ["a", "a\0b", "", " ", "a/b=%é", "..", "x" * 200, None]
    table = pa.table({"k": range(len(texts)), "s t=": texts})
    with duckdb.connect() as connection:
        connection.register("t", table)
        connection.sql(f"copy t to '{tmp_path}/theirs' (format parquet, partition_by (\"s t=\"))")
    hr.sql(f"copy t to '{tmp_path}/ours' (format parquet, partition_by (\"s t=\"))", {"t": table})
    ours, theirs = ({each.name for each in (tmp_path / who).iterdir()} for who in ("ours", "theirs"))
    assert ours == theirs
    found = duckdb.sql(f"select k from '{tmp_path}/ours/*/*.parquet' order by k").fetchall()
    assert found == [(k,) for k in range(len(texts))]


def test_what_may_be_a_comment_is_in_quotes(tmp_path: Path) -> None:
    texts = pa.table({"a#": ["a#b", "#", "b"], "b": [b"#", b"c", None], "l": [["a#"], ["d"], None]})
    for delimiter in (",", "#"):
        hr.sql(f"copy t to '{tmp_path}/x.csv' (delim '{delimiter}')", {"t": texts})
        duckdb.sql(f"copy (from texts) to '{tmp_path}/y.csv' (delim '{delimiter}')")
        assert (tmp_path / "x.csv").read_bytes() == (tmp_path / "y.csv").read_bytes()


def test_pipes_and_links_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "x.csv")
    hr.sql(f"copy (select 1 as a) to '{tmp_path}/link.csv'")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "x.csv").read_text() == "a\n1\n"
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as reader:
        text = reader.submit((tmp_path / "pipe").read_text)
        hr.sql(f"copy (select 2 as b) to '{tmp_path}/pipe' (format csv)")
        assert text.result() == "b\n2\n"
    assert (tmp_path / "pipe").is_fifo()


MISTAKES = {
    "copy t to '{}/x.orc' (format orc)": "a format of files is one of parquet, arrow, csv, json, got orc",
    "copy t to '{}/x.txt'": "the output must end in one of",
    "copy t to '{}/x.csv' (wrong 1)": "no such option of .csv files: wrong",
    "copy t to '{}/x.csv' (delim 'abcde')": "delim is one to four bytes without a line end, got 'abcde'",
    "copy t to '{}/x.csv' (quote 'é')": "quote is one character of ASCII, or empty, got 'é'",
    "copy t to '{}/x.csv' (nullstr 1)": "nullstr is a text, got 1",
    "copy t to '{}/x.csv' (force_quote 1)": "force_quote is a column, several, or *, got 1",
    "copy t to '{}/x.csv' (force_quote z)": "force_quote: no column of the rows is called: z",
    "copy t to '{}/x.csv' (nullstr 'a,b')": "delim of CSV stands in nullstr: a,b",
    "copy t to '{}/x.csv' (delim '\"|')": "quote of CSV stands in delim",
    "copy t to '{}/x.csv' (compression lz4)": "compression is one of none, uncompressed, gzip, zstd",
    "copy t to '{}/x.parquet' (compression_level 0)": "compression_level is a number from 1 on, got 0",
    "copy t to '{}/x.parquet' (row_group_size_bytes 'x')": (
        "row_group_size_bytes is bytes, or a text such as 16MiB"
    ),
    "copy t to '{}/x.parquet' (row_group_size_bytes '1Q')": "1Q",
    "copy t to '{}/x.parquet' (compression_level 3)": "compression_level is for the compression zstd",
    "copy t to '{}/x.parquet' (dateformat '%d')": "dateformat and timestampformat are for CSV and JSON",
    "copy (select [date '2020-01-01'] as l) to '{}/x.json' (dateformat '%d')": "a format of dates for those",
    "copy t to '{}/d' (format json, partition_by p)": "partition_by is for Parquet, CSV and Arrow files",
    "copy t to '{}/x.csv' (= 2)": "options of COPY are a name and a value",
    "copy t to '{}/x.parquet' (compression brotli9)": "compression is one of snappy",
    "copy t to '{}/none/x.parquet'": "cannot write into the folder of the output",
    "copy t to '{}/d' (format parquet, partition_by z)": "partition_by: the result has no column: z",
    "copy t to '{}/d' (format parquet, partition_by (k, t, p))": "partition_by: no column is left",
    "copy t to '{}' (format csv, partition_by p)": "the folder of the output is there already",
    "copy t to x": "behind TO stands a file in quotes",
    "copy t from '{}/x.csv'": "COPY (query) TO 'file' is supported",
    "copy (select z from t) to '{}/x.csv'": "z",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes(tmp_path: Path, text: str) -> None:
    with pytest.raises(hr.HeadraceError) as caught:
        hr.sql(text.format(tmp_path), {"t": TABLE})
    assert MISTAKES[text] in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("old")
    with pytest.raises(hr.HeadraceError):
        hr.sql(f"copy (select cast(t as integer) as q from t) to '{path}'", {"t": TABLE})
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


NESTED = """select [1, null]::int[] as l, {'x': 1, 'y': 'a,"b'} as s, map {'k': [1.5]} as m,
    [1, 2]::int[2] as a, ['a'::blob] as b union all select null, null, null, null, null"""


@pytest.mark.parametrize(
    "ids",
    [
        "'auto'",
        "{l: 7}",
        "{l: {element: 4}, s: {__duckdb_field_id: 8, x: 9}, a: 11, "
        "m: {key: 1, value: {__duckdb_field_id: 2, element: 3}}}",
    ],
)
def test_field_ids(tmp_path: Path, ids: str) -> None:
    """The numbers of columns and of their parts, as DuckDB gives them."""
    ours, theirs = tmp_path / "ours.parquet", tmp_path / "theirs.parquet"
    with duckdb.connect() as connection:
        rows = connection.sql(NESTED).to_arrow_table()
        connection.execute(f"copy ({NESTED}) to '{theirs}' (field_ids {ids})")
        hr.sql(f"copy t to '{ours}' (field_ids {ids}, compression zstd)", {"t": rows})
        query = "select name, field_id from parquet_schema('{}') where column_id > 0"
        assert (
            connection.sql(query.format(ours)).fetchall() == connection.sql(query.format(theirs)).fetchall()
        )
        assert parquet.read_table(ours).to_pylist() == rows.to_pylist()
    hr.sql(f"copy t to '{tmp_path}/parts' (format parquet, per_thread_output, field_ids {ids})", {"t": rows})
    assert hr.sql(f"from '{tmp_path}/parts/*.parquet'").to_pylist() == rows.to_pylist()


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ("{z: 1}", "field_ids: no such column: z"),
        ("{s: {z: 1}}", "field_ids: no such column: s.z"),
        ("{l: 1, s: 1}", "field_ids: two columns have the number 1"),
        ("{a: {b: 1}}", "field_ids: the column has no parts: a"),
        ("{l: 'x'}", "field_ids is 'auto', or a struct of columns with numbers"),
        ("'all'", "field_ids is 'auto', or a struct of columns with numbers"),
        ("{l: x}", "not a constant: {l: x}"),
    ],
)
def test_mistakes_in_field_ids(tmp_path: Path, ids: str, message: str) -> None:
    with duckdb.connect() as connection:
        rows = connection.sql(NESTED).to_arrow_table()
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql(f"copy t to '{tmp_path}/x.parquet' (field_ids {ids})", {"t": rows})
    assert list(tmp_path.iterdir()) == []


def test_in_a_session(tmp_path: Path) -> None:
    """At once, of tables and views, with parameters; a mistake names its place."""
    session = hr.connect({"t": TABLE}, ranks=2)
    session.view("v", "select k, p from t where k > 1")
    path = tmp_path / "x.parquet"
    relation = session.sql(f"copy (select * from v where k <> ?) to '{path}' (compression zstd)", [3])
    same(parquet.read_table(path), pa.table({"k": [2, 4], "p": ["y", "y"]}))
    path.unlink()
    assert relation.arrow().to_pylist() == [{"Count": 2}]
    assert not path.exists()  # it is written once
    assert session.sql(f"copy v to '{tmp_path}/x.json'").arrow().to_pylist() == [{"Count": 3}]
    assert (tmp_path / "x.json").read_text().splitlines()[0] == '{"k":2,"p":"y"}'
    with pytest.raises(hr.HeadraceError, match=r"no such column: nope.*at 1:14"):
        session.sql(f"copy (select nope from v) to '{path}'")


@pytest.mark.parametrize(
    "query",
    [
        "select count(*)/0 as n from nosuch",
        "selec k from t",
        "select k +\n  p + nope from t",
        "create macro f(x) as x + 1;\nselect f(nope) from t",
        "select list_reduce([k], (x, y) -> x + y) from nosuch",
    ],
)
def test_mistakes_have_the_places_of_the_text_in_every_format(query: str, tmp_path: Path) -> None:
    """JSON runs a text around the query: nothing of it is told."""

    def told(call: Callable[[], object]) -> tuple[type, str]:
        with pytest.raises(hr.HeadraceError) as caught:
            call()
        return type(caught.value), str(caught.value)

    tables = {"t": pa.table({"k": [1], "p": [2]})}
    expected = told(lambda: hr.sql(query, tables))
    for suffix in (".csv", ".json"):
        output = output_of(str(tmp_path / f"r{suffix}"))
        assert told(lambda output=output: written(query, tables, output=output)) == expected, suffix


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_a_command_tells_the_places_of_its_text(
    suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = str(tmp_path / f"r{suffix}")
    assert main(["sql", "select count(*)/0 as n from nosuch", "--output", output]) == 2
    assert "(at 1:29)\n  select count(*)/0 as n from nosuch\n" in capsys.readouterr().err
