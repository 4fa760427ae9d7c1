"""Texts to bound plans: what is a query, what is answered from the catalogue, and how mistakes are told."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from headrace import errors
from headrace._src.sql import clock
from headrace._src.sql.catalogue import bound_plan, catalogue_rows
from headrace._src.sql.place import place_of
from headrace._src.sql.script import Kind, may_not_be_rows, script_of
from headrace._src.sql.tables import Column, TableSchema, schema_of

SCHEMAS = [
    TableSchema(
        "t",
        (
            Column("a", "BIGINT", nullable=False),
            Column("b", "VARCHAR", nullable=True),
            Column("d", "DATE", nullable=True),
            Column("ts", "VARCHAR", nullable=True, unsupported="type is not supported: duration[us]"),
        ),
    ),
    TableSchema("Upper", (Column("k", "DECIMAL(15, 2)", nullable=True),)),
]


def refusal(text: str) -> errors.HeadraceError:
    with pytest.raises(errors.HeadraceError) as caught:
        bound_plan(text, SCHEMAS)
    return caught.value


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("select a, a, count(*), a + 1 from t group by a;", ("a", "a", "count_star()", "(a + 1)")),
        ('select "K" from uPPER -- c', ("k",)),
        ("from t", ("a", "b", "d", "ts")),
        ("values (1)", ("col0",)),
        ("with x as (select 1 as é) select * from x", ("é",)),
        (
            "create view v as select a + 1 as w from t; create macro m(x) as x * 2; select m(w) from v",
            ("m(w)",),
        ),
        ("create macro rows(x) as table select a + x as q from t; select * from rows(1);;", ("q",)),
    ],
)
def test_names_of_the_result(text: str, names: tuple[str, ...]) -> None:
    assert bound_plan(text, SCHEMAS).names == names


@pytest.mark.parametrize(
    ("text", "kind", "message", "place"),
    [
        ("select nope from t", errors.SqlError, "no such column: nope; did you mean a?", "1:8"),
        ("select\n  a,\n\tfoo\nfrom t", errors.SqlError, "no such column: foo", "3:2"),
        ("select 'žluť', nope from t", errors.SqlError, "no such column: nope", "1:16"),
        ("select * from nowhere", errors.SqlError, "no such table: nowhere", "1:15"),
        ("select * from uper", errors.SqlError, "no such table: uper; did you mean Upper?", "1:15"),
        ("select nosuch(1)", errors.SqlError, "no such scalar function: nosuch", "1:8"),
        ("selec", errors.SqlError, 'syntax error at or near "selec"', "1:1"),
        ("select a frm t x y", errors.SqlError, "syntax error", "1:14"),
        ("select a + d from t", errors.SqlError, "a cast may be needed: +(BIGINT, DATE)", "1:10"),
        ("select sum(sum(a)) from t", errors.SqlError, "cannot be nested", "1:12"),
        ("create view v as select nope from t; select 1", errors.SqlError, "no such column: nope", "1:25"),
        (
            "create view v as\nselect 1; create view v as select 2; select 1",
            errors.SqlError,
            "exists",
            "2:11",
        ),
        ("create view t as select 1; select 1", errors.SqlError, "already exists", "1:1"),
        ("", errors.SqlError, "the query is empty", ""),
        ("; -- nothing", errors.SqlError, "the query is empty", ""),
        ("select '\ud800'", errors.SqlError, "not Unicode", ""),
        ("select 1; select 2", errors.UnsupportedError, "one query at a time", "1:1"),
        ("create table x as select 1; select 2", errors.UnsupportedError, "one query at a time", "1:1"),
        (
            "create table x as select 1",
            errors.UnsupportedError,
            "only queries are supported, got CREATE",
            "1:1",
        ),
        ("with x as (select 1) insert into t select * from x", errors.UnsupportedError, "got INSERT", "1:1"),
        ("set threads = 3", errors.UnsupportedError, "got SET", "1:1"),
        ("pivot t on a using sum(a)", errors.UnsupportedError, "PIVOT without a list of values", "1:1"),
        (
            "with recursive r(k, v) using key (k, max(v)) as (select 1, 2 union select k, 3 from r) from r",
            errors.UnsupportedError,
            "WITH RECURSIVE … USING KEY of what is no column, or where two have one name,",
            "1:24",
        ),
        (
            "select a::varchar::bit & '1'::bit from t",
            errors.UnsupportedError,
            "a value of the type BIT is",
            "1:20",
        ),
        ("select 12::bignum + 1", errors.UnsupportedError, "a value of the type BIGNUM is not", "1:12"),
        ("set threads = 3; select 1", errors.UnsupportedError, "one query at a time", "1:1"),
        (
            "set variable x = (select max(a) from t); select 1",
            errors.UnsupportedError,
            "reads no table",
            "1:1",
        ),
        ("explain (format json) select 1", errors.UnsupportedError, "options of EXPLAIN", "1:9"),
        ("explain select 1", errors.UnsupportedError, "EXPLAIN is answered by hr.sql", "1:1"),
        ("explain explain select 1", errors.UnsupportedError, "can be explained, got EXPLAIN", "1:9"),
        ("explain analyze show tables", errors.UnsupportedError, "can be explained, got SHOW", "1:17"),
        ("select a, $1, $2 from t", errors.UnsupportedError, "parameters are not supported: $1, $2", "1:11"),
        ("select a[1:2], ?", errors.UnsupportedError, "parameters are not supported: $1", "1:16"),
        (f"select 1,\n {2**128}", errors.UnsupportedError, f"at most 128 bits, got {2**128}", "2:2"),
        (f"select -{2**127 + 1} + 1", errors.UnsupportedError, "an integer has at most 128 bits", "1:9"),
        (f"select {'9' * 5000}", errors.UnsupportedError, "an integer has at most 128 bits", "1:8"),
        (
            f"create macro m(x) as x + {2**128}; select m(1)",
            errors.UnsupportedError,
            "an integer has at most 128 bits",
            "1:26",
        ),
        ("select * from 'x.parquet'", errors.UnsupportedError, "reads the tables that it is given", ""),
        (
            "select * from read_csv('/etc/passwd')",
            errors.UnsupportedError,
            "and files that are named right behind",
            "1:15",
        ),
        ("select ts + interval 1 day from t", errors.UnsupportedError, "column ts: type is not", "1:11"),
    ],
)
def test_refused(text: str, kind: type, message: str, place: str) -> None:
    error = refusal(text)
    assert type(error) is kind
    assert message in str(error).partition("\n")[0]
    assert error.place == place
    assert str(error).count("\n") == (2 if place else 0)


def test_a_caret_is_under_the_mistake() -> None:
    error = refusal("select a,\n\t'žluť', nope from t")
    assert (
        str(error)
        == "no such column: nope; did you mean a? (at 2:10)\n   'žluť', nope from t\n           ^^^^"
    )
    assert (error.line, error.column, error.kind) == (2, 10, "user")


def test_a_long_line_is_cut_around_the_place() -> None:
    text = "x" * 500 + "HERE" + "y" * 500
    shown, caret = place_of(text, 500, 4).shown.split("\n")
    assert len(shown) < 120
    assert shown[caret.index("^") : caret.rindex("^") + 1] == "HERE"
    assert place_of("", 5).shown == "  \n  ^"


def test_positions_in_views_and_macros_are_those_of_the_text() -> None:
    text = "create view v as select a * 77 as w from t; create macro m(x) as x + 55; select m(w) from v"
    plan = bound_plan(text, SCHEMAS).json
    for number in ("77", "55"):
        assert f'"query_location":{text.index(number)},' in plan


def test_a_variable_of_the_program_is_no_table() -> None:
    mine = duckdb.sql("select 1 as x")
    assert "no such table: mine" in str(refusal("select * from mine"))
    assert mine is not None


def test_a_mistake_leaves_nothing_behind() -> None:
    refusal("create view v as select 1; select nope")
    refusal("select $1")
    assert "no such table: v" in str(refusal("select * from v"))
    assert bound_plan("select a from t", SCHEMAS).names == ("a",)


def test_names_that_differ_in_case_only() -> None:
    column = Column("k", "INTEGER", nullable=True)
    with pytest.raises(errors.SqlError, match="cannot tell the tables apart: t, T"):
        bound_plan("select 1", [TableSchema("t", (column,)), TableSchema("T", (column,))])
    upper = Column("K", "INTEGER", nullable=True)
    with pytest.raises(errors.UnsupportedError, match="table t: SQL cannot tell the columns apart: k, K"):
        bound_plan("select 1", [TableSchema("t", (column, upper))])
    with pytest.raises(errors.UnsupportedError, match="a table without columns cannot be queried: t"):
        bound_plan("select 1", [TableSchema("t", ())])


def test_schema_of_a_statistics_document() -> None:
    kinds = ["i1", "i32", "i64", "f32", "f64", "date", "string"]
    types = [*({"kind": kind} for kind in kinds), {"kind": "decimal", "precision": 15, "scale": 2}]
    columns = {f"c{i}": {"type": type, "index": i, "nullable": i == 0} for i, type in enumerate(types)}
    schema = schema_of('a "b"', {"columns": columns, "unsupported": {"ts": "no"}})
    described = catalogue_rows(script_of('describe "a ""b"""'), [schema]).to_pydict()
    assert described["column_type"] == [
        "BOOLEAN", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DATE", "VARCHAR", "DECIMAL(15,2)", "VARCHAR",
    ]  # fmt: skip
    assert described["null"] == ["YES"] + ["NO"] * 7 + ["YES"]


@pytest.mark.parametrize(
    ("text", "kind", "query"),
    [
        ("select 1", Kind.ROWS, "select 1"),
        ("-- explain\nselect 1", Kind.ROWS, "select 1"),
        ("EXPLAIN select 1", Kind.EXPLAIN, "select 1"),
        ("/* c */ explain/**/(select 1)", Kind.EXPLAIN, "(select 1)"),
        ("create view v as select 1; explain  Analyze select * from v", Kind.ANALYZE, "select * from v"),
        ("desc t", Kind.CATALOGUE, "desc t"),
        ("show tables;", Kind.CATALOGUE, "show tables;"),
    ],
)
def test_statements(text: str, kind: Kind, query: str) -> None:
    script = script_of(text)
    assert (script.kind, script.query.strip()) == (kind, query)
    assert text.encode()[-len(query.encode()) :] == script.query.encode()[-len(query.encode()) :]
    assert len(script.query.encode()) == len(text.encode())
    assert script_of(script.text).kind is (Kind.CATALOGUE if kind is Kind.CATALOGUE else Kind.ROWS)
    assert script_of(script.text).query == script.query
    assert may_not_be_rows(text) or kind is Kind.ROWS


def test_statements_of_the_catalogue() -> None:
    assert catalogue_rows(script_of("show tables"), SCHEMAS).column("name").to_pylist() == ["Upper", "t"]
    described = catalogue_rows(script_of("describe select a, d from t"), SCHEMAS)
    assert described.column("column_type").to_pylist() == ["BIGINT", "DATE"]
    with pytest.raises(errors.SqlError, match="no such table: v"):
        catalogue_rows(script_of("describe v"), SCHEMAS)


def test_every_function_of_the_clock_is_seen() -> None:
    """Of all functions without arguments those that give other values at another moment."""
    connection = duckdb.connect()
    connection.execute("set TimeZone = 'UTC'")
    functions = """select distinct function_name from duckdb_functions() where stability <> 'CONSISTENT'
        and function_type = 'scalar' and len(parameters) = 0 order by 1"""
    others = ("current_connection_id", "current_database", "current_query", "current_query_id",
              "current_schema", "current_transaction_id", "gen_random_uuid", "random", "txid_current",
              "uuid", "uuidv4")  # fmt: skip
    found = [name for (name,) in connection.execute(functions).fetchall() if name not in others]
    assert "now" in found and "today" in found
    uses = {name: clock.clock_of(f"select {name}()").uses for name in found}
    assert clock.Uses.NOTHING not in uses.values(), uses
    dates = {name for name, use in uses.items() if use is clock.Uses.DATE}
    assert dates == {"current_date", "today"}


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("select a from t", clock.Uses.NOTHING),
        ("select page, image, today_sales from t where x in ('unknown', 'snow')", clock.Uses.NOTHING),
        ("select Current_Date", clock.Uses.DATE),
        ('select "today"()', clock.Uses.DATE),
        ("select age(d) from t", clock.Uses.DATE),
        ("create view v as select now() as x; select * from v", clock.Uses.MOMENT),
        ("select current_timestamp, current_date", clock.Uses.MOMENT),
        ("select localtimestamp", clock.Uses.MOMENT),
    ],
)
def test_uses_of_the_clock(text: str, uses: clock.Uses) -> None:
    first = clock.clock_of(text, now=datetime(2026, 11, 22, 23, 59, 59, 999999, tzinfo=UTC))
    second = clock.clock_of(text, now=datetime(2026, 11, 23, tzinfo=UTC))
    later = clock.clock_of(text, now=datetime(2026, 11, 23, 0, 0, 1, tzinfo=UTC))
    assert first.uses is uses
    assert second.microseconds - first.microseconds == 1
    assert (first.key() == second.key()) == (uses is clock.Uses.NOTHING)
    assert (second.key() == later.key()) == (uses is not clock.Uses.MOMENT)
    assert first.lasting == (uses is not clock.Uses.MOMENT)


def test_import_is_light() -> None:
    heavy = "'duckdb' in sys.modules or 'pyarrow' in sys.modules"
    script = f"import sys, headrace._src.sql.catalogue, headrace._src.sql.script; sys.exit({heavy})"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_child_of_fork_binds_and_ends() -> None:
    script = """
import os, signal, sys
from headrace._src.sql.catalogue import bound_plan
bound_plan("select 1", [])
child = os.fork()
if child == 0:
    signal.alarm(30)  # a hang ends by a signal
    sys.exit(len(bound_plan("select 1, 2", []).names))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode == 2


def test_nothing_is_printed_when_a_program_ends(tpch_tiny: Path) -> None:
    """DuckDB told of leaked objects if a module behind the query kept its connection till the end."""
    program = f"""
import headrace as hr
import numpy as np
print(hr.sql("select count(*) n from nation", {str(tpch_tiny)!r}).num_rows)
double = hr.jit(lambda x: x + x)
print(double(np.ones((2, 2))).sum())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("1\n8.0\n", "")
