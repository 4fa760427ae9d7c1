"""random(): uniform, another number for each row, call and run; by a seed the same wherever it is made."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import duckdb
import headrace as hr
import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest
from headrace._src import programs
from headrace._src.query.sql import compile_to
from interpreter_tool import interpret, run_tool, value_of, write_table
from launched_ranks import Ranks

_ROWS = 20_000
_SEED = {"randomSeed": 7}
_TABLES = {
    "t": pa.table(
        {
            "i": np.arange(_ROWS),
            "k": np.arange(_ROWS) * 7919 % 100,
            "s": pa.array([None if row % 11 == 0 else f"s{row % 37}" for row in range(_ROWS)]),
        }
    ),
    "u": pa.table({"j": np.arange(0, 3 * _ROWS, 3), "k": np.arange(_ROWS) % 100}),
    "l": pa.table({"l": pa.array([list(range(row % 5)) for row in range(1000)], pa.list_(pa.int64()))}),
}


def numbers(query: str, **options: Any) -> np.ndarray:
    return hr.sql(query, _TABLES, **{"settings": _SEED, **options}).column(0).to_numpy()


def value(query: str, **options: Any) -> Any:
    return hr.sql(query, _TABLES, **{"settings": _SEED, **options}).column(0)[0].as_py()


def chi_square(counts: np.ndarray) -> float:
    expected = counts.sum() / counts.size
    return float(((counts - expected) ** 2 / expected).sum())


def deviation(counts: np.ndarray) -> float:
    """By how many standard deviations the counts are off what they would be of equal chances."""
    degrees = counts.size - 1
    return (chi_square(counts) - degrees) / float(np.sqrt(2 * degrees))


# ---- the numbers ----


@pytest.mark.parametrize("query", ["select random() from range(200000)", "select random() from t, range(10)"])
@pytest.mark.parametrize("seed", [0, 1, 2**40])
def test_numbers_are_uniform(query: str, seed: int) -> None:
    drawn = numbers(query, settings={"randomSeed": seed})
    assert drawn.dtype == np.float64 and drawn.min() >= 0 and drawn.max() < 1
    assert abs(deviation(np.histogram(drawn, 1000, (0, 1))[0])) < 4
    low_bits = (drawn * 2**52).astype(np.int64) % 256
    assert abs(deviation(np.bincount(low_bits, minlength=256))) < 4


@pytest.mark.parametrize(
    "query",
    [
        "select random() a, random() b from range(100000)",  # two calls
        "select a, lead(a) over () b from (select random() a from range(100001)) limit 100000",  # two rows
        "select a, b from (select i, random() a from t) join (select i, random() b from t) using (i)",
        "with r as (select i, random() x from t) select r.x a, random() b from r",
    ],
)
def test_numbers_are_independent(query: str) -> None:
    drawn = hr.sql(query, _TABLES, settings=_SEED)
    a, b = drawn.column("a").to_numpy(), drawn.column("b").to_numpy()
    assert abs(deviation(np.histogram2d(a, b, 20, ((0, 1), (0, 1)))[0])) < 4
    assert abs(np.corrcoef(a, b)[0, 1]) * np.sqrt(a.size) < 4


def test_numbers_of_two_seeds_are_independent() -> None:
    a, b = (numbers("select random() from range(100000)", settings={"randomSeed": s}) for s in (1, 2))
    assert abs(deviation(np.histogram2d(a, b, 20, ((0, 1), (0, 1)))[0])) < 4


#: Queries of one column of numbers, each of another row, whatever the relation is.
_RELATIONS = [
    "select random() from t",
    "select random() from range(5000)",
    "select random() from range(10)",
    "select random() from (values (1), (1), (1)) v(a)",
    "select random() from t where k < 50",
    "select random() from (select * from t order by k, i desc limit 500)",
    "select random() from (select k, count(*) from t group by k)",
    "select random() from (select distinct k, s from t)",
    "select random() from (select k, s, count(*) from t group by grouping sets ((k, s), (k), (s), ()))",
    "select random() from (select k, count(*) from t group by rollup (k))",
    "select random() from t join u on i = j",
    "select random() from (select * from t where i < 300) t join (select * from u where j < 300) u using (k)",
    "select random() from t left join u on i = j",
    "select random() from t full join u on i = j",
    "select random() from t where k in (select k from u where j < 60)",
    "select random() from t where not exists (select * from u where j = i)",
    "select random() from (select * from t limit 100), (select * from u limit 100)",
    "select random() from (select k from t union all select k from t union all select k from u)",
    "select random() from (select k from t union select j from u)",
    "select random() from (select i from t intersect select j from u)",
    "select random() from (select i from t except all select j from u)",
    "select random() from (select unnest(l) from l)",
    "select random() from l, unnest(l) x, unnest([x, x]) y",
    "select random() from (select i, row_number() over (partition by k order by i) from t)",
    "select random() from t positional join u",
    "select random() from t asof join u on i >= j",
    "select random() from (select distinct on (k) k, i from t order by k, i)",
    "select random() from t using sample 500 rows",
    "select unnest(list_transform([1, 2, 3], lambda x: random())) from t",
    "select unnest(list_transform(l, lambda x, n: random())) from l",
    "select unnest(list_transform(l, lambda x: list_reduce([x, x], lambda a, b: random()))) from l",
    "select random() from t, lateral (select t.i + n from range(3) r(n))",
    "with r as (select k, i from t) select random() from r a join r b using (i)",
    "select (select random() + t.i - t.i) from t",
    "select * from (select random() from t union all select random() from t)",
    "select random() from (values (random()), (random()), (random())) v(x)",
]


@pytest.mark.parametrize("query", _RELATIONS)
def test_each_row_has_its_own(query: str) -> None:
    drawn = numbers(query)
    assert drawn.size > 1
    assert np.unique(drawn).size == drawn.size
    assert drawn.min() >= 0 and drawn.max() < 1
    if drawn.size > 90:
        assert abs(drawn.mean() - 0.5) < 5 * np.sqrt(1 / 12 / drawn.size)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("select random() a, random() b, random() c", 3),
        ("select list_distinct([random(), random()]) a, [random()] b", 3),
        ("values (random()), (random())", 2),
        ("select sum(random()) a, sum(random() + 0) b from t", 2),
    ],
)
def test_each_call_has_its_own(query: str, count: int) -> None:
    rows = hr.sql(query, _TABLES).to_pylist()
    found = [x for row in rows for cell in row.values() for x in (cell if isinstance(cell, list) else [cell])]
    assert len(set(found)) == count


# ---- a number that is drawn stays what it is ----

#: What is true whatever is drawn.
_ALWAYS = [
    "select bool_and(x = y) from (select x, x y from (select random() x from t))",
    "select count(*) = 0 from (select random() x from t) where x < 0.3 and x >= 0.3",
    "select max(x) < 0.2 from (select random() x from t) where x < 0.2",
    "select bool_and(x < 0.2 and i < 5000) from (select i, random() x from t) where x < 0.2 and i < 5000",
    "select bool_and(x = y) from (select i, x, x y from (select i, random() x from t)) join u on i = j",
    "select max(x) < 0.1 from (select i, random() x from t) join u on i = j where x < 0.1",
    "with r as materialized (select i, random() x from t) "
    "select bool_and(a.x = b.x) from r a join r b using (i)",
    "with r as materialized (select i, random() x from t) "
    "select count(*) = 20000 from r where x in (from r select x)",
    "select bool_and(x = least and x <= y) from (select min(x) least, arg_min(x, x) x, max(x) y, k "
    "from (select k, random() x from t) group by k)",
    "select bool_and(g = floor(x * 10)) from (select floor(x * 10) g, x from (select random() x from t))",
    "select sum(n) = 20000 from (select floor(random() * 10)::int g, count(*) n from t group by g)",
    "select sum(n) = 20000 from (select floor(random() * 10) g, s, count(*) n from t group by rollup (g, s)"
    " having grouping(g, s) = 0)",
    "select bool_and(a <= b) "
    "from (select x a, lead(x, 1, 1) over (order by x) b from (select random() x from t))",
    "select list_sort(list(x)) = list(x order by x) from (select random() x from t limit 1000)",
    "select count(*) = 1 "
    "from (select x, rank() over (order by x) r from (select random() x from t)) where r = 1",
    "select bool_and(x = y) from (select x, y from (select random() x), lateral (select x y), range(10))",
    "select bool_and(case when x < 0.5 then x < 0.5 else x >= 0.5 end) from (select random() x from t)",
    "select arg_max(x, x) = max(x) and mode(x) is not null from (select random() x from t)",
    "select arg_min(i, random()) between 0 and 19999 from t",
    "select bool_and(random() between 0 and 1) from t",
    "select count(*) = 20000 from t left join u on i = j and random() < 0.5",
    "select count(distinct x) = 1 from (select (select random()) x from t)",
    "select bool_and(x = y) from (select unnest([x, x]) y, x from (select random() x from t))",
]


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("query", _ALWAYS)
def test_a_number_stays_what_it_is(query: str, ranks: int) -> None:
    assert duckdb_says(query) is True
    assert value(query, ranks=ranks) is True


def duckdb_says(query: str) -> object:
    connection = duckdb.connect()
    for name, table in _TABLES.items():
        connection.register(name, table)
    return connection.execute(query).fetchone()[0]


@pytest.mark.parametrize("materialized", ["", "materialized", "not materialized"])
def test_common_table_expressions_draw_as_duckdb_does(materialized: str) -> None:
    query = f"""with r as {materialized} (select i, random() x from range(1000) t(i))
        select bool_and(a.x = b.x) from r a join r b using (i)"""
    assert duckdb_says(query) is (materialized != "not materialized")
    assert value(query) is duckdb_says(query)


def test_views_and_arguments_of_macros_draw_wherever_they_stand() -> None:
    view = (
        "create view v as select i, random() x from t; select bool_or(a.x = b.x) from v a join v b using (i)"
    )
    assert value(view) is False
    assert value("create macro twice(x) as x - x; select count(*) from t where twice(random()) = 0") == 0


@pytest.mark.parametrize(
    ("query", "rows", "chance"),
    [
        ("select i from t where random() < 0.1", _ROWS, 0.1),
        ("select i from t where random() < 0.5 and random() < 0.5", _ROWS, 0.25),
        ("select i from t where random() < 0.5 or random() < 0.5", _ROWS, 0.75),
        ("select i from t join u on i = j and random() < 0.3", _ROWS // 3 + 1, 0.3),
        ("select i from t join u on i = j where random() < 0.3", _ROWS // 3 + 1, 0.3),
        ("from (select case when random() < 0.5 then 1 end c from t) where c = 1", _ROWS, 0.5),
        ("select i from t where random() between 0.25 and 0.5", _ROWS, 0.25),
        ("select i from t where random() not between 0.25 and 0.5", _ROWS, 0.75),
        ("select i from t where nullif(random() < 0.5, true) is null", _ROWS, 0.5),
        ("select i from t where random()::int in (0, 7)", _ROWS, 0.5),
        ("select k, s from t group by k, s having random() < 0.5", 3700 - 1, 0.5),
        ("select i from t qualify random() < 0.2", _ROWS, 0.2),
        ("select i from t where (random() * 4)::int % 2 = 0", _ROWS, 0.5),
        ("select i from (from t where random() < 0.5) where random() < 0.2", _ROWS, 0.1),
    ],
)
def test_filters_keep_about_as_many(query: str, rows: int, chance: float) -> None:
    if "qualify" in query:
        query = query.replace("from t", ", row_number() over () r from t")
    for seed in range(3):
        kept = len(numbers(query, settings={"randomSeed": seed}))
        assert abs(kept - rows * chance) < 5 * np.sqrt(rows * chance * (1 - chance)) + 50 * (rows < 4000)


def test_groups_of_random_keys_are_about_as_large() -> None:
    for query in (
        "select count(*) from t group by floor(random() * 100)::int",
        "select count(*) from t, range(10) group by (random() * 99)::int % 50",
    ):
        counts = numbers(query)
        assert counts.sum() in (_ROWS, 10 * _ROWS)
        assert counts.size in (100, 50)
    assert abs(deviation(numbers("select count(*) from t group by floor(random() * 100)::int"))) < 4


def test_an_order_of_random_keys_is_none() -> None:
    first = numbers("select i from t order by random()")
    assert sorted(first) == list(range(_ROWS))
    assert abs(np.corrcoef(first, np.arange(_ROWS))[0, 1]) < 0.05
    ten = numbers("select i from t order by random() limit 10")
    assert list(ten) == list(first[:10])
    assert "top first 10 by" in hr.explain("select i from t order by random() limit 10", _TABLES)


# ---- runs ----


def test_each_run_draws_anew() -> None:
    query = "select random() from t"
    first = hr.sql(query, _TABLES)
    known = list(programs._loaded)
    second = hr.sql(query, _TABLES)
    assert list(programs._loaded) == known  # the same plan
    drawn = np.concatenate([first.column(0).to_numpy(), second.column(0).to_numpy()])
    assert np.unique(drawn).size == drawn.size
    assert hr.sql("select random() r").to_pylist() != hr.sql("select random() r").to_pylist()


def test_the_settings_say_what_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    query = "select random() from range(3)"
    seven = hr.sql(query, settings={"randomSeed": 7})
    for name in ("random_seed", "--random-seed", "HEADRACE_RANDOM_SEED"):
        assert seven == hr.sql(query, settings={name: 7})
    assert seven != hr.sql(query, settings={"randomSeed": 8})
    assert seven != hr.sql(query)
    monkeypatch.setenv("HEADRACE_RANDOM_SEED", "7")
    assert seven == hr.sql(query)
    with pytest.raises(hr.errors.UserError, match="randomSeed must be within -1 to 9.22337e.18, got: -2"):
        hr.sql(query, settings={"randomSeed": -2})


_SAME = [
    *_RELATIONS,
    "select i, random(), random() from t",
    "select i from t where random() < 0.1",
    "select k, count(*), min(random()) from t group by k",
    "select floor(random() * 100)::int g, count(*) from t group by g",
    "select i from t order by random() limit 10",
    "select count(*) from t join u on i = j and random() < 0.3",
    "select i, row_number() over (partition by k order by r) from (select *, random() r from t)",
    "select k, arg_min(i, random()) from t group by k",
    "select count(*) from (select floor(random() * 5000)::int g from t) join u on g = j",
]


@pytest.mark.parametrize("query", _SAME)
def test_a_seed_draws_the_same_anywhere(query: str) -> None:
    def rows(**options: Any) -> list[Any]:
        return sorted(hr.sql(query, _TABLES, settings=_SEED, **options).to_pylist(), key=str)

    expected = rows(threads=1)
    for ranks, threads in ((1, 2), (2, 2), (3, 3)):
        assert rows(ranks=ranks, threads=threads) == expected, (ranks, threads)
    assert rows(ranks=2, threads=2, layout_seed=3) == expected
    assert rows(ranks=2, simulation_seed=5) == expected


def test_a_seed_draws_the_same_in_little_memory() -> None:
    table = pa.table({"i": np.arange(400_000), "s": pa.array([f"a text of row {i}" for i in range(400_000)])})
    for query in (
        "select i, random() r from t order by r",
        "select min(i), count(*), sum((random() * 8)::int) from t group by s order by 1",
        "select a.i from t a join t b on a.s = b.s where random() < 0.5 order by 1",
    ):
        expected = hr.sql(query, {"t": table}, settings=_SEED)
        assert (
            hr.sql(query, {"t": table}, settings=_SEED, memory=(64 + 2 * 16) << 20, threads=2, ranks=2)
            == expected
        ), query


def test_a_seed_draws_the_same_from_any_file(tmp_path: Path) -> None:
    table = _TABLES["t"]
    parquet.write_table(table, tmp_path / "whole.parquet")
    parquet.write_table(table, tmp_path / "groups.parquet", row_group_size=1000)
    csv.write_csv(table, tmp_path / "t.csv")
    for query in (
        "select i, random() r from t",
        "select i from t where random() < 0.1 and i >= 15000",
        "select i, random() r from t where i between 4500 and 5500",  # row groups are left out by statistics
        "select k, random() r from (select distinct k from t where i > 9000)",
    ):
        expected = sorted(hr.sql(query, _TABLES, settings=_SEED).to_pylist(), key=str)
        for name in ("whole.parquet", "groups.parquet", "t.csv"):
            for ranks in (1, 3):
                found = hr.sql(query, {"t": tmp_path / name}, settings=_SEED, ranks=ranks)
                assert sorted(found.to_pylist(), key=str) == expected, (query, name, ranks)


def test_filters_do_not_change_what_rows_draw() -> None:
    rows = hr.sql("select i, random() r from t", _TABLES, settings=_SEED).to_pylist()
    drawn = {row["i"]: row["r"] for row in rows}
    some = hr.sql("select i, random() r from t where i % 977 = 5", _TABLES, settings=_SEED).to_pylist()
    assert some and all(drawn[row["i"]] == row["r"] for row in some)


def test_recursion_draws_anew_in_each_round() -> None:
    step = "select n + 1, random() from r where n < 50"
    query = f"with recursive r as (select 0 n, random() x union all {step}) from r"
    first = hr.sql(query, settings=_SEED)
    drawn = first.column("x").to_pylist()
    assert len(set(drawn)) == 51
    assert hr.sql(query, settings=_SEED) == first
    assert hr.sql(query) != first


def test_the_interpreter_draws_by_the_seed_0(tmp_path: Path) -> None:
    write_table(tmp_path, "t", _TABLES["t"].slice(0, 1000))
    tables = {"t": _TABLES["t"].slice(0, 1000)}
    for query in ("select i, random() r, random() q from t", "select k, min(random()) r from t group by k"):
        found = hr.sql(query, tables, settings={"randomSeed": 0})
        (tmp_path / "program.mlir").write_text(hr.lower(query, tables, "import"))
        (output,) = interpret(tmp_path / "program.mlir", tmp_path)
        kinds = found.schema.types
        expected = [[value_of(*each) for each in zip(row, kinds, strict=True)] for row in output.rows]
        assert sorted(expected, key=str) == sorted((list(row.values()) for row in found.to_pylist()), key=str)


# ---- sessions ----


def test_a_session_has_a_seed() -> None:
    session = hr.connect(_TABLES)
    query = "select i, random() r from t where random() < 0.5"

    def drawn(seed: str) -> list[pa.Table]:
        assert session.sql(f"select setseed({seed})").arrow().to_pylist() == [
            {f"setseed({float(seed)})": None}
        ]
        session.sql("select count(*) from t").arrow()  # takes no number
        return [session.sql(query).arrow(), session.sql(query).arrow()]

    assert session.sql(query).arrow() != session.sql(query).arrow()
    half = drawn("0.5")
    assert half[0] != half[1]
    assert drawn("0.5") == half
    assert drawn("-0.25")[0] != half[0]
    session.sql("SELECT SetSeed( (?) ) ;", [0.5])
    session.sql(query).explain()
    assert session.sql(query).arrow() == half[0]
    given = session.sql(query, settings={"randomSeed": 3}).arrow()
    assert given == hr.sql(query, _TABLES, settings={"randomSeed": 3})
    other = hr.connect(_TABLES)
    other.sql("select setseed(0.5)")
    assert other.sql(query).arrow() == half[0]


def test_cursors_have_the_seed_of_their_session() -> None:
    connection = hr.dbapi.connect(_TABLES)
    drawn = []
    for _ in range(2):
        connection.execute("select setseed(0.1)")
        drawn.append(connection.execute("select random() from range(3)").fetchall())
    assert drawn[0] == drawn[1]


def test_mistakes() -> None:
    session = hr.connect(_TABLES)
    with pytest.raises(hr.errors.UserError, match="setseed takes a number from -1 to 1, got 1.5"):
        session.sql("select setseed(1.5)")
    message = "unsupported setseed: SELECT setseed.x. alone, of a session, and the setting random_seed say"
    with pytest.raises(hr.errors.UnsupportedError, match=message):
        hr.sql("select setseed(0.5)")
    with pytest.raises(hr.errors.UnsupportedError, match=message):
        session.sql("select setseed(0.5), i from t").arrow()


def test_plans_show_it() -> None:
    shown = hr.explain("select i from t where random() < 0.25", _TABLES)
    assert "random() < 0.25" in shown


# ---- ranks that are processes, and rows that stay on ranks ----


@pytest.mark.alone
def test_ranks_of_a_cluster_draw_by_one_seed(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import headrace as hr\n"
        "query = 'select count(*) n, count(distinct r) d, sum(r) s from (select random() r'\n"
        "query += ' from range(5000))'\n"
        "twice = 'with r as materialized (select i, random() x from (select range i from range(5000)))'\n"
        "twice += ' select bool_and(a.x = b.x) same from r a join r b using (i)'\n"
        "with hr.cluster() as group:\n"
        "    session = hr.connect()\n"
        "    session.sql('select setseed(0.5)')\n"
        "    rows = [hr.sql(query), hr.sql(query, settings={'randomSeed': 7}), session.sql(query).arrow()]\n"
        "    rows.append(hr.sql(twice))\n"
        "    if group.rank == 0:\n"
        "        print([list(each.to_pylist()[0].values()) for each in rows])\n"
    )
    with Ranks([sys.executable, program], 3, tmp_path / "meeting") as ranks:
        found = ranks.ended()
    assert [each.status for each in found] == [0] * 3, [each.errors[-2000:] for each in found]
    drawn, given, seeded, twice = ast.literal_eval(found[0].output)
    assert [row[:2] for row in (drawn, given, seeded)] == [[5000, 5000]] * 3
    query = "select sum(r) from (select random() r from range(5000))"
    session = hr.connect()
    session.sql("select setseed(0.5)")
    assert given[2] == pytest.approx(value(query))
    assert seeded[2] == pytest.approx(session.sql(query).arrow().column(0)[0].as_py())
    assert drawn[2] not in (given[2], seeded[2])
    assert twice == [True]


def test_plans_that_are_kept_draw_anew(tmp_path: Path) -> None:
    compile_to(tmp_path / "drawn.plan", "select random() r from range(3)", {})

    def run(*options: str) -> str:
        done = run_tool("headrace-run", str(tmp_path / "drawn.plan"), *options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run() != run()
    assert run("--random-seed", "7") == run("--random-seed", "7") != run("--random-seed", "8")


@pytest.mark.parametrize("ranks", [1, 3])
def test_rows_that_stay_on_ranks(ranks: int) -> None:
    kept = hr.persist("select i, random() r from t", _TABLES, ranks=ranks, settings=_SEED)
    query = "select i, r from kept order by i"
    rows = hr.sql(query, {"kept": kept}, ranks=ranks)
    assert rows == hr.sql("select i, random() r from t order by i", _TABLES, settings=_SEED)
    assert rows == hr.sql(query, {"kept": kept}, ranks=ranks)
    drawn = hr.sql("select random() r from kept", {"kept": kept}, ranks=ranks).column("r").to_numpy()
    assert np.unique(drawn).size == _ROWS
