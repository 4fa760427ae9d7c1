"""Functions in FROM that say something of files or of the catalogue, as DuckDB answers them.

Sources: python/headrace/_src/sql/described.py
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import same

TABLE = pa.table({"x": pa.array([3, 0, None, -2], pa.int64()), "s": ["abc", "b", None, ""]})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("Zürich\n")
    (tmp_path / "b.txt").write_text("")
    (tmp_path / "c.csv").write_text("a|b\n1|x\n")
    rows = "select i as a, {'x': i} as s, map {'k': i} as m from range(10) r(i)"
    duckdb.execute(f"copy ({rows}) to '{tmp_path}/x.parquet' (kv_metadata {{key: 'value'}})")
    return tmp_path


@pytest.mark.parametrize(
    "query",
    [
        "from glob('*.txt') order by file",
        "from glob(['a.txt', '*.csv']) order by file",
        "select count(*) as n from glob('none*')",
        "select g.file, t.x from t cross join glob('a.*') g order by all",
        "select filename, content, size from read_text('*.txt') order by all",
        "select length(content) as n from read_text(['a.txt', 'b.txt']) order by all",
        "select content, octet_length(content) as n from read_blob('*.txt') order by all",
        "from parquet_schema('x.parquet')",
        "select * exclude (file_name) from parquet_metadata('x.parquet')",
        "from parquet_file_metadata('x.parquet')",
        "from parquet_kv_metadata('x.parquet')",
        "from parquet_bloom_probe('x.parquet', 'a', 3)",
        'select "Delimiter", "HasHeader" from sniff_csv(\'c.csv\')',
        "select 'abc' glob ('a*') as g, s glob 'a*' as h from t order by all",
    ],
)
def test_of_files(folder: Path, query: str) -> None:
    with duckdb.connect() as connection:
        connection.register("t", TABLE)
        expected = connection.sql(query).to_arrow_table()
    for ranks in (1, 3):
        same(hr.sql(query, {"t": TABLE}, ranks=ranks), expected)
    session = hr.connect({"t": TABLE})
    same(session.sql(query).arrow(), expected)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("glob(3)", "glob takes a path, a pattern or a list of these"),
        ("glob(x)", "not a constant: x"),
        ("parquet_schema('a.txt')", "parquet_schema: .*a.txt"),
        ("read_text('s3://bucket/key')", "read_text of files in a store: s3://bucket/key"),
    ],
)
def test_mistakes(folder: Path, source: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql(f"select * from {source}", {"t": TABLE})


@pytest.mark.parametrize(
    "query",
    [
        "from pragma_table_info('t')",
        "call pragma_table_info('t')",
        "/* rows */ CALL range(3)",
        "select table_name, table_type from information_schema.tables",
        "from information_schema.columns order by ordinal_position",
        "select column_name, data_type from duckdb_columns() where table_name = 't' order by all",
        "select count(*) as n from duckdb_tables()",
        "select tags, comment, table_name from duckdb_tables()",
        "select schema_name from information_schema.schemata where catalog_name = 'memory' order by all",
        "select relname, relkind from pg_catalog.pg_class where relname = 't'",
        "select c.table_name, count(*) as n from information_schema.columns c "
        "join information_schema.tables using (table_name) group by all",
        "select count(*) > 100 as many from duckdb_keywords()",
        "select current_setting('default_null_order') as o, current_setting('schema') as s",
    ],
)
def test_of_the_catalogue(query: str) -> None:
    with duckdb.connect() as connection:
        connection.execute("create table t (x bigint, s varchar)")
        expected = connection.sql(query).to_arrow_table()
    for ranks in (1, 2):
        same(hr.sql(query, {"t": TABLE}, ranks=ranks), expected)


def test_settings_of_a_run(tmp_path: Path) -> None:
    query = "select current_setting('threads') as t, current_setting('memory_limit') as m"
    assert hr.sql(query, threads=3, memory="512MiB").to_pylist() == [{"t": 3, "m": "512.0 MiB"}]
    asked = "select current_setting('max_temp_directory_size') as s, current_setting('TimeZone') as z"
    found = hr.sql(asked, settings={"spillLimit": "1MiB"}, time_zone="europe/berlin").to_pylist()
    assert found == [{"s": "1.0 MiB", "z": "Europe/Berlin"}]
    with pytest.raises(
        hr.HeadraceError, match=r"no setting of a query: enable_profiling; there are .*threads"
    ):
        hr.sql("select current_setting('enable_profiling')")


def test_settings_of_a_session(tmp_path: Path) -> None:
    session = hr.connect(threads=2)
    asked = "select current_setting('threads') as t, current_setting('temp_directory') as d"
    assert session.sql("SET threads = 1;").arrow().to_pylist() == [{"threads": "1"}]
    session.sql(f"set temp_directory to '{tmp_path}'")
    session.sql("set session memory_limit = '100MB'")
    assert session.sql(asked).arrow().to_pylist() == [{"t": 1, "d": str(tmp_path)}]
    session.sql("reset threads")
    session.sql("reset temp_directory")
    assert session.sql(asked).arrow().to_pylist() == [{"t": 2, "d": ""}]
    for text, message in (
        ("set enable_profiling = 'json'", "a session has no setting enable_profiling; there are TimeZone, "),
        ("set threads = 'many'", "threads is a number of workers, got many"),
        ("set memory_limit = 'much'", "much"),
    ):
        with pytest.raises(hr.HeadraceError, match=message):
            session.sql(text)
