"""Files of JSON that a query names: the rows and types that DuckDB finds in them."""

from __future__ import annotations

import gzip
from pathlib import Path

import duckdb
import headrace as hr
import pytest
from duckdb_oracle import same
from test_cluster import answer_of_all

LINES = (
    '{"a":1,"b":"x","d":"2020-01-02","l":[1,2],"s":{"x":1.5}}\n'
    '{"a":2,"b":null,"t":"2020-01-02 03:04:05","l":[]}\n{"a":-3,"s":{"x":2,"y":[true]}}\n'
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "x.ndjson").write_text(LINES)
    (tmp_path / "x.json.gz").write_bytes(gzip.compress(LINES.encode()))
    (tmp_path / "gz").write_bytes(gzip.compress(LINES.encode()))
    (tmp_path / "array.json").write_text(f"[{','.join(LINES.splitlines())}]")
    (tmp_path / "bad.jsonl").write_text('{"a":1}\n{"a":\n{"a":3}\n')
    (tmp_path / "more.json").write_text('{"a":7,"z":"q"}\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


SOURCES = [
    "'x.ndjson'",
    "'x.json.gz'",
    "'array.json'",
    "read_json('x.ndjson')",
    "read_json_auto('array.json')",
    "read_ndjson('x.ndjson')",
    "read_ndjson_auto('x.ndjson')",
    "read_json_objects('x.ndjson')",
    "read_json('gz', compression='gzip')",
    "read_json('bad.jsonl', format='newline_delimited', ignore_errors=true)",
    "read_json('x.ndjson', columns={'a': 'INTEGER', 'd': 'VARCHAR', 'q': 'DATE'})",
    "read_json(['x.ndjson', 'more.json'], union_by_name=true)",
    "read_json('x.ndjson', filename=true)",
    "read_json('x.ndjson', maximum_object_size=1000000, maximum_depth=1)",
    "read_json('more.json', records=false)",
    "read_json('x.ndjson', sample_size=-1, convert_strings_to_integers=true)",
]


@pytest.mark.parametrize("source", SOURCES)
def test_reads_what_duckdb_reads(folder: Path, source: str) -> None:
    with duckdb.connect() as connection:
        expected = connection.sql(f"from {source}").to_arrow_table()
    for ranks in (1, 3):
        same(hr.sql(f"from {source}", ranks=ranks), expected)


def test_in_a_session(folder: Path) -> None:
    session = hr.connect(ranks=2)
    session.view("v", "select a + 1 as a from 'x.ndjson'")
    found = session.sql("select sum(v.a)::int as s, count(*) as n from v cross join 'more.json'").arrow()
    assert found.to_pylist() == [{"s": 3, "n": 3}]


def test_changed_files_are_read_anew(folder: Path) -> None:
    session = hr.connect()
    query = "select count(*) as n from 'more.json'"
    assert session.sql(query).arrow().to_pylist() == [{"n": 1}]
    (folder / "more.json").write_text('{"a":7}\n{"a":8}\n')
    assert session.sql(query).arrow().to_pylist() == [{"n": 2}]


def test_processes_share_files(tpch_small: Path, tmp_path: Path) -> None:
    (tmp_path / "x.ndjson").write_text("".join(f'{{"k":{row},"v":"{row % 7}"}}\n' for row in range(20_000)))
    query = "select v, count(*) as n, sum(k)::bigint as s from 'x.ndjson' group by v order by v"
    found = answer_of_all(query, tmp_path, tpch_small)
    expected = duckdb.sql(query.replace("'x.", f"'{tmp_path}/x.")).to_arrow_table()
    same(found, expected, ordered=True)


MISTAKES = {
    "from read_json('x.ndjson', wrong=1)": "read_json: no such option: wrong; there are auto_detect",
    "from 'bad.jsonl'": "cannot read as JSON: bad.jsonl: Malformed JSON",
    "from 'none.json'": "no such file",
    "from 'x.orc'": "files in FROM end in .csv, .tsv, .json, .ndjson, .jsonl or .parquet",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes(folder: Path, text: str) -> None:
    with pytest.raises(hr.HeadraceError) as caught:
        hr.sql(text)
    assert MISTAKES[text] in str(caught.value)
