"""What `hr.sql` takes besides plain queries, the clock and the cache of plans, mistakes with their place."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import check
from headrace._src.command_line import main
from headrace._src.query import compiled_query
from headrace._src.query import sql as query
from headrace._src.sql import catalogue, clock

TABLES = {
    "t": pa.table({"a": pa.array([1, 2, 3], pa.int64()), "raw": pa.nulls(3, pa.float16())}),
}


@pytest.fixture()
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path / "home"))
    parquet.write_table(TABLES["t"], tmp_path / "t.parquet")
    return tmp_path


def test_explain_is_a_row_for_each_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "select sum(a) as s from t"
    explained = hr.sql(f"EXPLAIN {text}", folder)
    assert explained.column_names == ["explain"]
    lines = hr.explain(text, folder).splitlines()
    assert len(lines) > 5
    assert [line.split(":")[0] for line in explained.column(0).to_pylist()] == [
        line.split(":")[0] for line in lines
    ]
    assert main(["sql", f"explain {text}", "--tables", str(folder)]) == 0
    assert "more rows" not in capsys.readouterr().out


def test_explain_analyze_runs_the_query(folder: Path) -> None:
    view = "create view v as select a + 1 as b from t; "
    plain = hr.sql(f"{view}explain select sum(b) from v", folder)
    measured = hr.sql(f"{view}explain analyze select sum(b) from v", folder, ranks=2)
    assert measured.num_rows > plain.num_rows
    with pytest.raises(hr.errors.SqlError, match=r"no such column: c; .*\(at 1:67\)"):
        hr.sql(f"{view}explain analyze select c from v", folder)


def test_describe_and_show(folder: Path) -> None:
    described = hr.sql("describe t", folder).select(["column_name", "column_type"]).to_pylist()
    assert described[0] == {"column_name": "a", "column_type": "BIGINT"}
    assert hr.sql("show tables", folder).column(0).to_pylist() == ["t"]
    assert hr.sql("describe select a / 2 as x from t", TABLES).column("column_type").to_pylist() == ["DOUBLE"]


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(
    "text",
    [
        "from (describe t)",
        "from (describe select a, [a] as l, {'x': a::varchar} as s, sum(a) over () as w from t)",
        "select column_name from (describe t) where column_type = 'INTEGER'",
        "select t.a, d.column_name from t, (describe select 1 as x, 'y' as y) d where d.\"null\" = 'YES'",
        "select count(*) as n, count(extra) as e from (show t)",
        "select x.column_name, y.* from (describe t) x"
        " join (describe select b, 1 as c from t) y using (column_name)",
    ],
)
def test_describe_is_a_table(text: str, ranks: int) -> None:
    table = pa.table({"a": pa.array([1, None, 3], pa.int32()), "b": pa.array(["x", None, "z"], pa.string())})
    check(text, {"t": table}, ranks=ranks)


def test_statements_that_are_no_queries_are_refused_elsewhere(folder: Path) -> None:
    with pytest.raises(hr.errors.UnsupportedError, match="EXPLAIN is answered by hr.sql"):
        hr.cost("explain select a from t", folder)
    with pytest.raises(hr.errors.UnsupportedError, match="DESCRIBE and SHOW are answered by hr.sql"):
        query.compile_to(folder / "x.plan", "describe t", folder)


def test_extension_types() -> None:
    """Values that are not those of the type that they are held as; also inside others."""
    point = pa.field("x", pa.binary(), metadata={"ARROW:extension:name": "geoarrow.wkb"})
    for type_ in (pa.struct([point]), pa.list_(point), pa.struct([pa.field("y", pa.list_(point))])):
        schema = pa.schema([point, pa.field("n", type_), pa.field("j", pa.string())])
        table = pa.table([pa.array([b"\1"]), pa.array([None], type_), pa.array(["[1]"])], schema=schema)
        assert hr.sql("select j, count(*) as c from t group by j", {"t": table}).num_rows == 1
        with pytest.raises(hr.errors.UnsupportedError, match="column x: type is not supported: geoarrow.wkb"):
            hr.sql("select x from t", {"t": table})
        with pytest.raises(hr.errors.UnsupportedError, match="column n: type is not supported"):
            hr.sql("select n from t", {"t": table})


_KEYED = """with recursive r(a, b) using key (a, max(b)) as (select 1, 5 union select a, b - 1 from r)
    select * from r"""


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize(
    ("text", "kind", "message", "place"),
    [
        ("select a,\n  hash(a::varchar) from t", "unsupported", "unsupported function: hash", "2:3"),
        ("select a from t where raw is null", "unsupported", "raw: type is not supported", ""),
        ("select current_time from t", "unsupported", "type: TIME WITH TIME ZONE", "1:8"),
        (_KEYED, "unsupported", "USING KEY of what is no column", "1:24"),
    ],
)
def test_what_is_not_supported_has_its_place(
    text: str, kind: str, message: str, place: str, ranks: int
) -> None:
    with pytest.raises(hr.errors.UnsupportedError) as caught:
        hr.sql(text, TABLES, ranks=ranks)
    assert caught.value.kind == kind
    assert message in str(caught.value)
    if place:
        assert caught.value.place == place
        assert "^" in str(caught.value)


def _at(moment: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = clock.clock_of
    monkeypatch.setattr(compiled_query, "clock_of", lambda text, plan="": plain(text, plan, now=moment))
    monkeypatch.setattr(catalogue, "moment_of", lambda *_: 0)  # DuckDB's clock


def test_a_day_later_it_is_another_day(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moment = datetime(2026, 2, 28, 12, tzinfo=UTC)
    text = "select distinct current_date as d, today() as t from t"
    for days in (0, 0, 1, 2):
        _at(moment + timedelta(days=days, hours=11), monkeypatch)
        today = date(2026, 2, 28) + timedelta(days=days)
        assert hr.sql(text, folder).to_pylist() == [{"d": today, "t": today}]
    assert len(list((folder / "home" / "plans").iterdir())) == 3


def test_a_plan_of_one_moment_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "select count(*) as n from t where cast(now() as date) > date '2020-01-01'"
    try:
        assert hr.sql(text, folder).to_pylist() == [{"n": 3}]
    except hr.errors.UnsupportedError:
        pytest.skip("now() is not supported")
    assert not (folder / "home" / "plans").exists() or not list((folder / "home" / "plans").iterdir())


def test_a_plan_that_is_found_loads_neither_duckdb_nor_the_compiler(folder: Path) -> None:
    script = f"""
import sys, headrace as hr
print(hr.sql("select sum(a) as s from t", {str(folder)!r}).to_pylist())
print(sorted(name for name in ("duckdb", "headrace._compiler") if name in sys.modules))
"""
    runs = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert runs[0].splitlines()[1] == "['duckdb', 'headrace._compiler']"
    assert runs[1].splitlines()[1] == "[]"
    assert runs[0].splitlines()[0] == runs[1].splitlines()[0]


def test_two_columns_of_one_name() -> None:
    answer = hr.sql("select a, a, a + 1 from t where a = 2", TABLES)
    assert answer.column_names == ["a", "a", "(a + 1)"]
    assert [column.to_pylist() for column in answer.columns] == [[2], [2], [3]]


def test_variables_in_front_of_a_query() -> None:
    text = "set variable k = 3; set variable l = [1, null]; select getvariable('K') + a as x"
    rows = hr.sql(f"{text}, getvariable('l')[1] as y, getvariable('other') as z from t", TABLES, ranks=2)
    assert rows.to_pylist() == [{"x": 3 + a, "y": 1, "z": None} for a in (1, 2, 3)]
    assert hr.sql("select getvariable('k') as k").to_pylist() == [{"k": None}]


def test_variables_of_a_session() -> None:
    session = hr.connect({"t": TABLES["t"].select(["a"])})
    assert session.sql("SET VARIABLE k = (select max(a) from t);").arrow().to_pylist() == [{"k": 3}]
    assert session.sql("set variable k = 1; select getvariable('k') as k").arrow().to_pylist() == [{"k": 1}]
    session.view("v", "select getvariable('k')")
    for value, kind in (
        ("'it''s'", "VARCHAR"),
        ("3::utinyint", "UTINYINT"),
        ("date '2024-02-29'", "DATE"),
        ("1.50", "DECIMAL(3,2)"),
        ("[[1], null]", "INTEGER[][]"),
        ("interval 3 days", "INTERVAL"),
        ("null", '"NULL"'),
        ("'\\xAA'::blob", "BLOB"),
        ("-3::hugeint", "HUGEINT"),
        ("{'a': 1::utinyint, 'b': [{'c': null}]}", 'STRUCT(a UTINYINT, b STRUCT(c "NULL")[])'),
        ("{'key': [1], 'value': [2]}", 'STRUCT("key" INTEGER[], "value" INTEGER[])'),
        ("[map {'a': 1}, null]", "MAP(VARCHAR, INTEGER)[]"),
        ("map {}", 'MAP("NULL", "NULL")'),
    ):
        session.sql(f'set variable "my X" to {value}')
        found = session.sql("select getvariable('My x')")
        assert found.types == (kind,)
        assert found.arrow().column(0).equals(hr.sql(f"select {value}").column(0))
    assert session.sql("from v").arrow().column(0).to_pylist() == [3]
    with pytest.raises(hr.errors.SqlError, match=r"no such column: zz \(at 1:18\)"):
        session.sql("set variable k = zz")
    with pytest.raises(hr.errors.SqlError, match=r"no such column: zz.* \(at 1:26\)"):
        session.sql("select getvariable('k'), zz from t")
    with pytest.raises(hr.errors.UserError, match="a field of a struct has a name on one line, got 'a"):
        session.sql("set variable k = {'a\n': 1}")
    assert session.sql("select getvariable('k') as k").arrow().to_pylist() == [{"k": 3}]


@pytest.mark.parametrize("ranks", [1, 3])
def test_summarize(ranks: int, tmp_path: Path) -> None:
    """All but the quantiles, which are exact here; of the others the numbers of different values are, too."""
    items = {
        "t": pa.table(
            {
                "a": pa.array([3, 1, None, 3, 9]),
                "s": ["x", None, None, "y", "x"],
                "l": [[1], None, [2, 3], [], [1]],
                "day": pa.array([date(2024, 1, n) for n in (1, 3, 3, 4, 9)]),
                "x": [0.5, None, -2.0, 8.25, 10.0],
            }
        )
    }
    some = "column_name, column_type, min, max, approx_unique, avg, std, count, null_percentage"
    for rows in ("t", "select a, s || '!' as z from t where a > 1"):
        check(f"select {some} from (summarize {rows})", items, ranks=ranks)
    found = hr.sql("summarize t", items, ranks=ranks).to_pylist()
    assert [(row["q25"], row["q50"], row["q75"]) for row in found[:2]] == [
        ("1", "3", "3"),
        (None, None, None),
    ]
    parquet.write_table(items["t"], tmp_path / "t.parquet")
    for of in (f"'{tmp_path}/t.parquet'", f"from '{tmp_path}/t.parquet'"):
        assert hr.sql(f"summarize {of}", ranks=ranks).to_pylist() == found
    described = hr.sql(f"describe '{tmp_path}/t.parquet'").to_pylist()
    assert [row["column_type"] for row in described] == [row["column_type"] for row in found]
    assert "SUMMARIZE" not in repr(hr.connect(items).sql("SUMMARIZE t"))


@pytest.mark.parametrize("ranks", [1, 2])
def test_small_functions(ranks: int) -> None:
    numbers = {
        "n": pa.table(
            {"i": pa.array([0, 1, -1, 255, -(2**63), 2**63 - 1, None]), "l": [[1], [], None] + 4 * [[2, 3]]}
        )
    }
    for text in (
        "select hex(i), to_hex(i), bin(i), to_binary(i), hex(i::varchar) from n",
        "select greatest(l, [2]), least(l, [2, 3], [null]), [2] <@ l, l <@ [1, 2, 3] from n",
        "select alias(i), typeof(null), typeof(i), current_schema() from n",
    ):
        check(text, numbers, ranks=ranks)
    assert hr.sql("select current_database() as d, current_catalog as c").to_pylist() == [
        {"d": "memory", "c": "memory"}
    ]
