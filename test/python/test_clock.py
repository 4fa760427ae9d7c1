"""Whatever looks at the clock sees the moment at which it is asked: no plan outlives it.

Sources: python/headrace/_src/sql/clock.py, python/headrace/_src/sql/kept_plans.py,
python/headrace/_src/query/compiled_query.py, python/headrace/_src/array/queries.py
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import headrace as hr
import numpy as np
import pyarrow as pa
import pytest
from headrace._src.command_line import main
from headrace._src.sql import bound_change, catalogue, clock

FIRST = datetime(2026, 2, 28, 23, 0, 0, 250_000, tzinfo=UTC)


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[int], datetime]:
    """Sets the clock so many days after the first."""
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path / "home"))
    for module in (catalogue, bound_change):
        monkeypatch.setattr(module, "moment_of", lambda *_: 0)  # DuckDB's clock

    def moved(days: int) -> datetime:
        moment = FIRST + timedelta(days=days)

        class Clock(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> datetime:
                return moment

        monkeypatch.setattr(clock, "datetime", Clock)
        return moment.replace(tzinfo=None)

    return moved


#: Statements that add a row to `t (i, ts, d)`, whose last two columns have the clock as their default.
ADDED = {
    "values": "insert into t (i) values (1)",
    "DEFAULT": "insert into t values (1, default, default)",
    "default values": "insert into t default values",
    "query": "insert into t (i) select 1",
    "query of a table": "insert into t (i) select x from one",
    "upsert": "insert or replace into t values (1, default, default)",
    "on conflict": "insert into t (i) values (1) on conflict (i) do update set ts = excluded.ts, "
    "d = excluded.d",
    "merge": "merge into t using one on i = x when matched then update set ts = default, d = default "
    "when not matched then insert (i) values (x)",
    "update": "update t set ts = default, d = default",
}


@pytest.mark.parametrize("name", ADDED)
def test_defaults_of_columns(name: str, at: Callable[[int], datetime]) -> None:
    session = hr.connect({})
    key = "primary key" if name in ("upsert", "on conflict") else ""
    at(0)
    columns = f"i int default 1 {key}, ts timestamp default now()::timestamp, d date default current_date"
    session.sql(f"create table t ({columns})")
    session.sql("create table one as select 1 as x")
    if name == "update":
        session.sql("insert into t (i) values (1)")
    for days in (1, 1, 2, 40):
        moment = at(days)
        if name in ("values", "DEFAULT", "default values", "query", "query of a table"):
            session.sql("truncate t")
        session.sql(ADDED[name])
        assert session.sql("select * from t").arrow().to_pylist() == [
            {"i": 1, "ts": moment, "d": moment.date()}
        ]


def test_prepared_statements_and_copies(at: Callable[[int], datetime], tmp_path: Path) -> None:
    session = hr.connect({})
    (tmp_path / "t.csv").write_text("i\n1\n")
    at(0)
    session.sql("create table t (i int, d date default current_date)")
    for days in (1, 2):
        at(days)
        session.sql("insert into t (i) values ($1)", parameters=[days])
        session.sql(f"copy t (i) from '{tmp_path}/t.csv'")
    days = [date(2026, 3, 1), date(2026, 3, 1), date(2026, 3, 2), date(2026, 3, 2)]
    assert session.sql("select d from t order by d").arrow()["d"].to_pylist() == days


#: Queries, each a row with one value: whether it changes with the moment, or with the day.
ASKED = {
    "generated": "select g from g",
    "view": "select v from v",
    "macro": "select m()",
    "table macro": "select m from tm()",
    "common table": "with c as (select now()::timestamp as c) select c from c",
    "age": "select age(timestamp '2020-01-01')",
    "plain": "select current_timestamp",
}


@pytest.mark.parametrize("name", ASKED)
def test_definitions(name: str, at: Callable[[int], datetime]) -> None:
    session = hr.connect({})
    at(0)
    session.sql("create table g (i int, g bigint generated always as (epoch_ms(now()::timestamp) + i))")
    session.sql("insert into g values (1)")
    session.sql("create view v as select localtimestamp as v")
    session.sql("create macro m() as today()")
    session.sql("create macro tm() as table select today() as m")
    found = []
    for days in (1, 1, 2, 3):
        at(days)
        found.append(session.sql(ASKED[name]).arrow()[0].to_pylist())
    assert found[0] == found[1]
    assert len({str(value) for value in found}) == 3


def test_queries_that_are_arguments_of_arrays(at: Callable[[int], datetime]) -> None:
    at(0)
    days = pa.array([date(2026, 2, 27) + timedelta(number) for number in range(5)])
    table = pa.table({"d": days, "x": [1.0, 2.0, 3.0, 4.0, 5.0]})
    doubled = hr.jit(lambda x, y: (x * 2, y))
    for text in ("d <= current_date", "d <= localtimestamp"):
        query = hr.query(f"select x, x + 1 as y from t where {text} order by x", {"t": table})
        for day in (0, 1, 1, 2):
            at(day)
            x, y = doubled(*query.to_tensors("x", "y"))
            np.testing.assert_array_equal(x, 2.0 * np.arange(1, day + 3))
            np.testing.assert_array_equal(y, np.arange(2, day + 4))


def test_selects_of_tables_with_such_defaults_are_compiled_once(at: Callable[[int], datetime]) -> None:
    session = hr.connect({})
    at(0)
    session.sql("create table t (i int, ts timestamp default now()::timestamp)")
    session.sql("insert into t (i) values (1)")
    seconds = []
    for days in (1, 2):
        at(days)
        session.sql("select i + 1 from t").arrow()
        seconds.append(hr.last_profile().compile_seconds)
    assert seconds[1] < seconds[0] / 4


def test_a_plan_in_a_folder_keeps_its_clock_and_says_so(
    at: Callable[[int], datetime], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at(0)
    for text, said in (
        (
            "select current_date as d",
            "the plan has the clock of 2026-02-28 23:00:00 UTC in it, whenever it runs",
        ),
        ("select 1 as d", ""),
    ):
        assert main(["compile", text, "--output", str(tmp_path / f"{len(said)}.plan")]) == 0
        told = capsys.readouterr().err
        assert said in told
        assert bool(told) == bool(said)


#: DuckDB folds some functions of its clock while it binds; what is left is folded by us.
ALIKE = (
    "now() = now() + interval 0 second",
    "epoch_us(now()) = epoch_us(now() + to_seconds(x))",
    "now()::timestamp = localtimestamp",
    "now() + to_seconds(x) = transaction_timestamp()",
    "date_trunc('day', now())::date = current_date + x",
    "age(now()) = age(now() + to_seconds(x))",
)


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_statement_has_one_clock(ranks: int) -> None:
    table = pa.table({"x": pa.array([0, 0, 0], pa.int32())})
    found = hr.sql(f"select {', '.join(ALIKE)} from t", {"t": table}, ranks=ranks)
    assert [set(column.to_pylist()) for column in found.columns] == [{True}] * len(ALIKE)
    session = hr.connect({"t": table})
    columns = "now() as a, now() + interval 0 second as b, now() + to_seconds(x) as c"
    session.sql(f"create table k as select {columns} from t")
    session.sql(f"insert into k select {columns} from t")
    session.sql("update k set a = now(), b = now() + interval 0 second, c = now() + interval 0 day")
    assert session.sql("select count(*) from k where a = b and b = c").arrow()[0].to_pylist() == [6]
