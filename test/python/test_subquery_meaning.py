"""What subqueries, joins on NULL and casts mean: DuckDB's answers against those of the interpreter."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import duckdb
import pytest
from interpreter_tool import interpret, write_csv

_TABLES = {
    "t": ("a bigint, b bigint", [(1, 1), (2, None), (3, 3), (None, 2), (None, None), (7, 1), (3, 3)]),
    "u": ("y bigint, z bigint", [(1, 1), (None, 1), (3, 3), (5, 2), (7, None)]),
    "v": ("y bigint, w bigint", [(1, 5), (3, 6), (3, 6)]),
    "e": ("y bigint", []),
    "p": ("x bigint, q bigint", [(1, 1), (2, 5)]),
    "d": (
        "k bigint, day date, price decimal(9, 2)",
        [
            (1, "1993-06-30", "1.50"),
            (2, "1993-07-01", "2.50"),
            (3, "1993-09-30", "-2.50"),
            (4, "1993-10-01", "0.00"),
        ],
    ),
}

_QUERIES = [
    # The NULL of x IN (query), wherever it shows.
    "select a, a in (select y from u) from t",
    "select a, a not in (select y from u) from t",
    "select a, a in (select y from e) from t",
    "select a from t where (a in (select y from u)) is null",
    "select a from t where (a in (select y from u)) is not true",
    "select a from t where (a in (select y from v)) is false",
    "select a from t where coalesce(a in (select y from u), true)",
    "select case when a in (select y from u) then 1 when a not in (select y from u) then 2 else 3 end from t",
    "select nullif(a in (select y from u), true) from t",
    "select b from t group by b having b in (select y from u) or b is null",
    "select a from t where a = 7 or a not in (select nullif(y, 1) from u)",
    "select a from t where a not in (select y from v)",
    "select a from t where a not in (select y from u)",
    "select a from t where a not in (select y from u where z = b)",
    "select a, a in (select y from u where z = b) from t",
    "select a from t where not 4 in (select null::bigint from u)",
    "select (4 in (select y from u)) is null",
    # Other comparisons, rows.
    "select a, a <= any(select y from u) from t",
    "select a, a > all(select y from v) from t",
    "select a, a = all(select y from v) from t",
    "select a, a <> any(select y from u) from t",
    "select a, a <> any(select y from u where z = b) from t",
    "select a, 3 <> any(select y from u where z = b) from t",
    "select a, a = all(select y from u where z = b) from t",
    "select a from t where 3 <> any(select y from u where z = b) or a = 2",
    "select a, b, (a, b) <> any(select y, z from u where y < 4) from t",
    "select a, b, (a, b) <> any(select 3, null::bigint) from t",
    "select a, b, (a, (b, a)) <> any(select 3, (3, null::bigint)) from t",
    "select a from t where (a, b) in (select y, z from u)",
    "select a, b, (a, b) in (select y, z from u) from t",
    "select a, b from t where (a, b) not in (select y, z from u)",
    # EXISTS, correlated in several ways, and in several places.
    "select a from t where exists (select 1 from u where y = a)",
    "select a from t where not exists (select 1 from u where y = a and z = b)",
    "select a, exists (select 1 from u where y < a) from t",
    "select a, exists (select 1 from e) from t",
    "select a from t where exists (select 1 from u where y = a) or b = 2",
    "select a from t where exists (select 1 from u where y = a and z <> b)",
    # Scalar subqueries.
    "select a, (select max(y) from u) from t",
    "select a, (select max(y) from u where z = b) from t",
    "select a, (select count(*) from u where z = b) from t",
    "select a, (select count(*) from u where y < a) from t",
    "select a, (select sum(y) from u where z = b and y > 1) from t where b in (select z from u)",
    "select a from t where a > (select avg(y) from u where z = b)",
    "select a, (select [max(y), min(y)] from u)[1] from t",
    "select a from t where [a] = (select [y] from u order by y limit 1)",
    "select a, (select w from v where v.y = a and v.w < 6) from t",
    "select sum((select count(*) from u where z = b)) from t",
    "select a, (select min(y) from u where z = b) + (select max(w) from v where v.y = a) from t",
    # Joins on NULL, on one column twice, on none.
    "select a, y from t join u on a is not distinct from y and b = z",
    "select a, y from t left join u on a is not distinct from y",
    "select a, y from t join u on a = y and b is not distinct from z",
    "select a from t join u on null",
    "select p.x from p join v on p.x = v.y and p.q = v.y",
    "select p.x, v.w from p left join v on p.x = v.y and p.q = v.y",
    "select p.x, v.w from p full join v on p.x = v.y and p.q = v.y",
    "select p.x from p where exists (select 1 from v where p.x = v.y and p.q = v.y)",
    "select p.x, u.y, u.z from p left join u on p.x = u.y and p.x = u.z",
    "select k.v, e.m from (select y v from v) k join (select a % 4 m from t) e on k.v = e.m",
    # Common tables, used more than once.
    "with c as (select a, b from t where a > 1) select c.a, o.b from c join c o on c.a = o.a",
    "with c as (select b, count(*) n from t group by b) select b, n from c where n = (select max(n) from c)",
    """with c as (select y from u) select a from t
        where a in (select y from c) and b not in (select y from c where y > 3)""",
    # Casts and dates.
    "select cast(1.5 as int), cast(2.5 as int), cast(2.5::double as int), cast(price as int) from d",
    "select k from d where day >= date '1993-07-01' and day < date '1993-07-01' + interval 3 month",
    "select k, day + interval 1 day from d",
    "select k from d where price > 1.5::double",
    "select avg(price), sum(price), sum(k), avg(k) from d",
    "select k from d where k::double in (1.0, 2.5, 3.0)",
]

_FAILING = [
    ("select a, (select y from u) from t", "more than one row"),
    ("select a, (select w from v where v.y = a) from t", "more than one row"),
    ("select a, (select [y, z] from u) from t", "more than one row"),
    ("select a, (select {'y': y} from u) from t", "more than one row"),
    (
        "select a from t where (select map {y: z} from u where y is not null) = map {1: a}",
        "more than one row",
    ),
    ("select a, (select [w] from v where v.y = a) from t", "more than one row"),
]


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> tuple[duckdb.DuckDBPyConnection, Path]:
    folder = tmp_path_factory.mktemp("tables")
    connection = duckdb.connect()
    for name, (columns, rows) in _TABLES.items():
        connection.execute(f"create table {name} ({columns})")
        if rows:
            marks = ", ".join("?" for _ in rows[0])
            connection.executemany(f"insert into {name} values ({marks})", rows)
        names = [column.split()[0] for column in columns.replace("(9, 2)", "").split(",")]
        found = connection.execute(f"select * from {name}").fetchall()
        write_csv(folder, name, names, found)
    return connection, folder


def _translated(connection: duckdb.DuckDBPyConnection, sql: str, file: Path) -> None:
    text = connection.execute("select json_serialize_plan(?, optimize := false)", [sql]).fetchone()[0]
    assert not json.loads(text)["error"], text
    plan = file.with_suffix(".json")
    plan.write_text(text)
    environment = dict(os.environ)
    if build := environment.get("HEADRACE_BUILD"):
        environment["PATH"] = f"{build}/bin{os.pathsep}{environment['PATH']}"
    command = ["headrace-translate", "--duckdb-to-mlir", str(plan), "-o", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _rounded(cell: str | None, wanted: list[object]) -> str | None:
    is_real = any(isinstance(value, float) for value in wanted)
    return f"{float(cell):.9g}" if cell is not None and is_real else cell


@pytest.mark.parametrize("sql", _QUERIES)
def test_means_what_duckdb_says(
    sql: str, connection: tuple[duckdb.DuckDBPyConnection, Path], tmp_path: Path
) -> None:
    database, folder = connection
    _translated(database, sql, tmp_path / "query.mlir")
    wanted = database.execute(sql).fetchall()
    (output,) = interpret(tmp_path / "query.mlir", folder, "--check", "--layouts", "1", "--mesh", "ranks:2")
    assert not output.differences
    assert not output.data_error
    columns = list(zip(*wanted, strict=True)) if wanted else []
    got = [[_rounded(cell, list(columns[at])) for at, cell in enumerate(row)] for row in output.rows]
    key = lambda row: [(cell is None, cell or "") for cell in row]  # noqa: E731
    assert sorted(got, key=key) == sorted(([_text(value) for value in row] for row in wanted), key=key)


@pytest.mark.parametrize(("sql", "message"), _FAILING)
def test_fails_as_duckdb_does(
    sql: str, message: str, connection: tuple[duckdb.DuckDBPyConnection, Path], tmp_path: Path
) -> None:
    database, folder = connection
    with pytest.raises(duckdb.Error, match="(?i)more than one row"):
        database.execute(sql).fetchall()
    _translated(database, sql, tmp_path / "query.mlir")
    (output,) = interpret(tmp_path / "query.mlir", folder, "--check", "--layouts", "0", "--mesh", "ranks:1")
    assert message in output.data_error.lower()
    assert not output.differences
