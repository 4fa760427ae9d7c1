"""Tables of many files: folders KEY=VALUE, names of files, columns in another order or missing; by DuckDB."""

from __future__ import annotations

from pathlib import Path

import duckdb
import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import same

TABLE = pa.table(
    {
        "k": [1, 2, 3, 4, 5, 6],
        "t": ["a", 'say "b"', None, "c,d", "e", "f"],
        "year": [2023, 2023, 2024, 2024, 2024, None],
        "p": ["x", "y", "x", "é=/ %", "x", "y"],
    }
)


@pytest.fixture()
def written(tmp_path: Path) -> Path:
    hr.sql(f"copy t to '{tmp_path}/d' (format parquet, partition_by (year, p))", {"t": TABLE})
    return tmp_path / "d"


def _agrees(query: str, ranks: tuple[int, ...] = (1, 3)) -> None:
    with duckdb.connect() as connection:
        expected = connection.sql(query).to_arrow_table()
    for count in ranks:
        same(hr.sql(query, ranks=count), expected)


QUERIES = [
    "select * from {}",
    "select year, p from {}",
    "select p, sum(k), count(*) from {} group by p",
    "select year, count(t) from {} group by year",
    "select k from {} where year = 2024 and p = 'x'",
    "select k, year + 1 from {} where year > 2023 or k = 1",
    "select k from {} where year is null",
    "select k from {} where p in ('x', 'none')",
    "select k from {} where year = 1999",
    "select a.k, b.k from {} a join {} b using (year, p) where a.year < 2024",
    "select k from {} where year = 2023 order by k limit 1",
    "select max(year), min(p), count(distinct year) from {}",
]


@pytest.mark.parametrize("query", QUERIES)
def test_what_is_written_is_read_back(written: Path, query: str) -> None:
    source = f"read_parquet('{written}/**/*.parquet', hive_partitioning=true)"
    _agrees(query.replace("{}", source))
    _agrees(query.replace("{}", f"'{written}/*/*/*.parquet'"), ranks=(2,))


def test_folders_are_tables(written: Path) -> None:
    for tables in ({"d": written}, written, [f"d={written}"], written.parent):
        same(hr.sql("select k, t, year, p from d", tables, ranks=2), TABLE)  # type: ignore[arg-type]
    for source in (
        written,
        [written / "year=2023", written / "year=2024"],
        f"{written}/**",
        f"{written}/**/*.parquet",
    ):
        frame = hr.scan_parquet(source).filter(hr.col("year") == 2024).select("k", "p")
        assert sorted(frame.collect().column("k").to_pylist()) == [3, 4, 5]


VALUES = {
    "dates": (["2024-01-31", "1969-12-31"], "DATE"),
    "moments": (["2024-01-31 10:00:00", "2024-02-01 00:00:00.5"], "TIMESTAMP"),
    "numbers": (["1", "-20", "0"], "BIGINT"),
    "zeros in front": (["1", "03"], "VARCHAR"),
    "a day and a moment": (["2024-01-31 10:00:00", "2024-02-01"], "VARCHAR"),
    "null in small letters": (["1", "null"], "BIGINT"),
    "texts": (["1", "a"], "VARCHAR"),
    "large": (["1", "99999999999999999999"], "VARCHAR"),
    "escaped": (["a%20b", "a+b", "%C3%A9"], "VARCHAR"),
    "null": (["1", "__HIVE_DEFAULT_PARTITION__"], "BIGINT"),
    "nulls": (["__HIVE_DEFAULT_PARTITION__"], "VARCHAR"),
}


def _files(folder: Path, values: list[str]) -> str:
    for number, value in enumerate(values):
        inside = folder / f"v={value}"
        inside.mkdir(parents=True)
        parquet.write_table(pa.table({"k": [number]}), inside / "x.parquet")
    return f"{folder}/*/*.parquet"


@pytest.mark.parametrize("name", VALUES)
def test_types_are_those_that_duckdb_infers(tmp_path: Path, name: str) -> None:
    values, kind = VALUES[name]
    pattern = _files(tmp_path, values)
    assert str(duckdb.sql(f"select v from '{pattern}'").types[0]) == kind
    _agrees(f"select k, v from '{pattern}'")
    _agrees(f"select k, v from read_parquet('{pattern}', hive_types_autocast=false)")
    _agrees(f"select * from read_parquet('{pattern}', hive_partitioning=false)")
    if kind == "BIGINT":
        _agrees(f"select k, v from read_parquet('{pattern}', hive_types={{'v': SMALLINT}})")


def test_only_files_that_may_have_rows_are_opened(written: Path) -> None:
    """The files of other folders may be anything."""
    for path in (written / "year=2024").rglob("*.parquet"):
        path.write_bytes(b"not a file")
    source = f"read_parquet('{written}/**/*.parquet')"
    for condition, keys in {
        "year = 2023": [1, 2],
        "year < 2024": [1, 2],
        "year between 2000 and 2023 and p <> 'x'": [2],
        "year in (2022, 2023) and p = 'x'": [1],
        "year is null": [6],
        "not (year = 2024)": [1, 2],
        "year = 2023 or year is null": [1, 2, 6],
    }.items():
        found = hr.sql(f"with v as (select * from {source}) select k from v where {condition}", ranks=2)
        assert sorted(found.column("k").to_pylist()) == keys, condition
        again = hr.sql(f"with v as (select * from {source}) select k from v where {condition}", ranks=2)
        assert again.num_rows == len(keys)  # the plan is known
    with pytest.raises(hr.HeadraceError, match="not a Parquet file"):
        hr.sql(f"select k from {source} where year > 2023")
    with pytest.raises(hr.HeadraceError, match="not a Parquet file"):
        hr.sql(f"select rowid from {source} where year = 2023")


def test_names_of_files(written: Path) -> None:
    pattern = f"{written}/**/*.parquet"
    _agrees(f"select * from read_parquet('{pattern}', filename=true)")
    _agrees(f"select * from read_parquet('{pattern}', filename='f', hive_partitioning=false)")
    _agrees(f"select f, count(*) from read_parquet('{pattern}', filename='f') where k < 3 group by f")
    frame = hr.scan_parquet(pattern, include_file_paths="from", hive_partitioning=False)
    assert set(frame.collect().column("from").to_pylist()) == {
        str(path) for path in written.rglob("*.parquet")
    }


def _differing(folder: Path) -> str:
    tables = [
        pa.table({"a": [1], "b": ["x"], "c": [True]}),
        pa.table({"c": [None, False], "a": pa.array([2, 3], pa.int32()), "b": ["y", None], "d": [0.5, None]}),
        pa.table({"b": ["z"], "d": [1.5], "l": [[1, 2]], "c": [True]}),
    ]
    for number, table in enumerate(tables):
        parquet.write_table(table, folder / f"{number}.parquet")
    return f"{folder}/*.parquet"


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    pattern = _differing(tmp_path)
    for query in (
        "select * from {}",
        "select c, sum(a), count(d) from {} group by c",
        "select b from {} where d > 1",
    ):
        _agrees(query.format(f"read_parquet('{pattern}', union_by_name=true)"))
    _agrees(f"select * from read_parquet(['{tmp_path}/0.parquet', '{tmp_path}/1.parquet'])")
    frame = hr.scan_parquet(pattern, missing_columns="insert").select("a", "d")
    assert frame.collect().num_rows == 4
    with pytest.raises(
        hr.HeadraceError, match="differs from .*union_by_name=true reads NULL for a missing column: a$"
    ):
        hr.sql(f"select b from '{pattern}'")
    parquet.write_table(pa.table({"a": ["text"]}), tmp_path / "3.parquet")
    with pytest.raises(hr.HeadraceError, match="3.parquet differs .*string and i64, in column: a"):
        files = f"['{tmp_path}/0.parquet', '{tmp_path}/3.parquet']"
        hr.sql(f"select a from read_parquet({files}, union_by_name=true)")


def test_csv(tmp_path: Path) -> None:
    for year, text in {2023: "k,v\n1,a\n2,b\n", 2024: "v,k,w\nc,3,x\n"}.items():
        (tmp_path / f"year={year}").mkdir()
        (tmp_path / f"year={year}" / "x.csv").write_text(text)
    pattern = f"{tmp_path}/**/*.csv"
    for options in ("union_by_name=true", "union_by_name=true, filename=true"):
        for query in ("select * from {}", "select year, sum(k) from {} where year = 2024 group by year"):
            _agrees(query.format(f"read_csv('{pattern}', {options})"))
    found = hr.sql(f"select k, v, year from '{pattern}' where year > 2023")
    assert found.to_pylist() == [{"k": 3, "v": "c", "year": 2024}]
    hr.sql(f"copy t to '{tmp_path}/d' (format csv, partition_by p)", {"t": TABLE.select(["k", "p"])})
    same(hr.sql(f"select k, p from '{tmp_path}/d/**/*.csv'", ranks=3), TABLE.select(["k", "p"]))


def test_a_column_of_the_files_gives_way(tmp_path: Path) -> None:
    (tmp_path / "a=7").mkdir()
    parquet.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "a=7" / "x.parquet")
    _agrees(f"select * from '{tmp_path}/*/x.parquet'")


MISTAKES = {
    "read_parquet('{}/*/*.parquet', hive_partitioning='on')": "hive_partitioning is true or false, got 'on'",
    "read_parquet('{}/*/*.parquet', hive_types='v')": "hive_types is {name: type}, got 'v'",
    "read_parquet('{}/*/*.parquet', hive_types={'w': DATE})": "hive_types: no folder has the key: w",
    "read_parquet('{}/*/*.parquet', hive_types={'v': 'NOTHING'})": "hive_types: no such type: NOTHING",
    "read_parquet('{}/*/*.parquet', hive_types={'v': DOUBLE})": "hive_types: v is one of DATE",
    "read_parquet('{}/*/*.parquet', hive_types={'v': DATE})": "v cannot be read as DATE: '1'",
    "read_parquet(['{}/v=1/x.parquet', '{}/y.parquet'], hive_partitioning=true)": "must have the same keys",
    "read_parquet('{}/**/none.parquet')": "no file matches",
}


@pytest.mark.parametrize("source", MISTAKES)
def test_mistakes(tmp_path: Path, source: str) -> None:
    _files(tmp_path, ["1", "2"])
    parquet.write_table(pa.table({"k": [1]}), tmp_path / "y.parquet")
    with pytest.raises(hr.HeadraceError) as caught:
        hr.sql(f"select * from {source.replace('{}', str(tmp_path))}")
    assert MISTAKES[source] in str(caught.value)
    with pytest.raises(hr.HeadraceError, match='missing_columns is "raise" or "insert", got 1'):
        hr.scan_parquet(tmp_path, missing_columns=1)  # type: ignore[arg-type]


def test_numbers_of_rows(tmp_path: Path) -> None:
    for name, rows in (("a", 250_000), ("b", 3)):
        copy = f"copy (select range as i from range({rows})) to '{tmp_path}/{name}.parquet'"
        duckdb.sql(f"{copy} (row_group_size 50000)")
    source = f"read_parquet('{tmp_path}/*.parquet', file_row_number=true, filename=true)"
    for query in (
        f"select filename, sum(file_row_number) s, max(file_row_number) m from {source} where i % 7 = 2 "
        "group by filename",
        f"select * from {source} where file_row_number between 49998 and 50001 or file_row_number < 2",
        f"from read_parquet('{tmp_path}/b.parquet', file_row_number=true, can_have_nan=true)",
    ):
        for ranks in (1, 3):
            same(hr.sql(query, ranks=ranks), duckdb.sql(query).to_arrow_table())
