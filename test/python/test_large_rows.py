"""Rows that are larger than a buffer of an exchange, between ranks of all kinds, against DuckDB."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from random import Random

import headrace as hr
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from duckdb_oracle import answer, check, same
from launched_ranks import Ranks, left_behind

#: Bytes of values: some in most rows are short; exchanges have buffers of 1 MiB, or of what a test sets.
_SIZES = (0, 5, 4_000, 100_000, 1_048_576, 1_100_000, 3_500_000, 5_000_000)
_LEAST = {"exchangeBuffer": "4KiB"}

#: Every kind of exchange: gather, in order, hash, broadcast, pairs with heavy keys, range; states as rows.
_QUERIES = [
    "select * from t",
    "select * from t union all select * from u",
    "select k, id, s from t order by id",
    "select * from t order by s, id",
    "select s, l from t order by l desc, id limit 9",
    "select k, string_agg(s, '' order by id) as x from t group by k",
    "select k, list(l order by id) as x, list(s order by id) as y from t group by k",
    "select s, count(*) as n, max(l) as m from t group by s",
    "select min(s) as a, max(l) as b, first(s order by id) as c, count(distinct s) as d from t",
    "select distinct l from t",
    "select k, s, max(id) as m from t group by rollup(k, s)",
    "select t.s, u.l, t.id, u.id as other from t join u on t.k = u.id",
    "select t.s, u.s as us, u.id from t left join u on t.s = u.s",
    "select t.id, u.s, u.l from t full join u on t.k = u.k and t.id = u.id",
    "select * from t where s in (select s from u) or id < 4",
    "select s from t intersect select s from t where k > 2",
    "select id, lag(s) over (order by id) as p, max(s) over (partition by k order by id) as m from t",
    "select id, l, row_number() over (partition by s order by id) as n from t",
    "select s, rank() over (order by s) as n from t",
    "select {'a': s, 'b': l} as z, map([k], [s]) as m, id from t",
    "select k, max({'a': s, 'b': id}) as z from t group by k",
]


def _table(random: Random, rows: int, largest: int) -> pa.Table:
    sizes = [random.choice(_SIZES[:largest]) if random.random() < 0.5 else 10 for _ in range(rows)]
    texts = [random.choice("abcdefg") * max(size - 5, 0) + str(random.randrange(9)) * 5 for size in sizes]
    lists = [[i * k for k in range(size // 40)] for i, size in enumerate(reversed(sizes))]
    return pa.table(
        {
            "k": [i % 7 for i in range(rows)],
            "id": range(rows),
            "s": [None if i % 9 == 4 else text for i, text in enumerate(texts)],
            "l": pa.array(
                [None if i % 8 == 3 else each for i, each in enumerate(lists)], pa.list_(pa.int64())
            ),
        }
    )


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    random = Random(3)
    return {"t": _table(random, 24, len(_SIZES)), "u": _table(random, 30, 5)}


@pytest.fixture(scope="module")
def folder(tables: dict[str, pa.Table], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("large")
    for name, table in tables.items():
        pq.write_table(table, path / f"{name}.parquet", row_group_size=4)
    yield path


@pytest.mark.parametrize("query", _QUERIES)
def test_answers_are_duckdbs(tables: dict[str, pa.Table], query: str) -> None:
    for ranks in (2, 4):
        check(query, tables, ranks=ranks, threads=1, settings=_LEAST)
    check(query, tables, ranks=3, threads=2)


def test_rows_stay_in_their_order(folder: Path) -> None:
    for settings in ({}, _LEAST):
        for query in ("select id, s from t", "select id, s from t where k <> 3 limit 11"):
            found = hr.sql(query, folder, ranks=3, threads=2, settings=settings)
            assert found.equals(hr.sql(query, folder, ranks=1)), query
        ordered = hr.sql("select id, l from t order by s desc, id", folder, ranks=3, settings=settings)
        assert ordered.equals(hr.sql("select id, l from t order by s desc, id", folder, ranks=1))


def test_keys_that_most_rows_have() -> None:
    """Of pairs of exchanges, whose heavy keys stay where they are and whose partners are sent to all."""
    random = Random(8)
    many = [("x" * 9000 if random.random() < 0.6 else f"{random.randrange(300)}" * 20) for _ in range(3000)]
    few = ["x" * 9000, *(f"{i}" * 20 for i in range(600))]
    tables = {
        "many": pa.table({"s": many, "v": range(3000)}),
        "few": pa.table({"s": few, "w": ["y" * (i % 5 * 3000) for i in range(601)]}),
    }
    query = (
        "select count(*) as n, sum(length(w)) as m, max(many.s) as s from many {} join few on many.s = few.s"
    )
    for kind in ("", "left", "full"):
        check(query.format(kind), tables, ranks=4, threads=1, settings=_LEAST)


@pytest.mark.parametrize("seed", range(6))
def test_random_sizes(seed: int) -> None:
    random = Random(seed)
    rows = random.randrange(1, 200)

    def text() -> str:
        return random.choice("pqr") * int(2 ** random.uniform(0, 17)) if random.random() < 0.3 else "z"

    table = pa.table({"k": [random.randrange(5) for _ in range(rows)], "id": range(rows)})
    for name in "abc":
        table = table.append_column(
            name, pa.array([None if random.random() < 0.1 else text() for _ in range(rows)])
        )
    buffer = int(2 ** random.uniform(12, 18))
    for query in random.sample(
        [
            "select * from t order by a, b, c, id",
            "select k, string_agg(a || b, ',' order by id) as x, max(c) as m from t group by k",
            "select x.*, y.a as ya from t x join t y on x.c = y.c and x.id <= y.id",
            "select b, count(distinct c) as n from t group by b",
            "select id, first_value(c) over (partition by a order by id) as f from t",
        ],
        3,
    ):
        check(query, {"t": table}, ranks=random.choice((2, 3, 4)), settings={"exchangeBuffer": str(buffer)})


def test_memory_for_whole_rows_is_in_the_limit(tables: dict[str, pa.Table]) -> None:
    """The answer, or the memory error of who had no room; at no time more than the limit."""
    query = "select k, list(s order by id) as y from t group by k"
    wanted, outcomes = answer(query, tables), set()
    for memory in (8 << 20, 24 << 20, 48 << 20, 96 << 20, 192 << 20, 1 << 30):
        try:
            found = hr.sql(query, tables, ranks=3, threads=1, memory=memory)
        except hr.HeadraceError as error:
            assert error.kind == "memory"
            assert "memory" in str(error) or "too large to wait on disk" in str(error)
            outcomes.add("error")
        else:
            assert sum(hr.last_profile().run["peak_bytes"]) <= memory
            same(found, wanted)
            outcomes.add("answer")
    assert outcomes == {"answer", "error"}


@pytest.mark.alone
@pytest.mark.parametrize("settings", [{}, _LEAST])
def test_processes(
    tables: dict[str, pa.Table], folder: Path, tmp_path: Path, settings: dict[str, str]
) -> None:
    (tmp_path / "program.py").write_text(
        textwrap.dedent(f"""
        import headrace as hr, pyarrow.feather as feather
        with hr.cluster(settings={settings!r}) as group:
            for number, query in enumerate({_QUERIES!r}):
                found = hr.sql(query, {str(folder)!r})
                if group.rank == 0:
                    feather.write_feather(found, f"{tmp_path}/{{number}}.arrow")
        """)
    )
    with Ranks([sys.executable, tmp_path / "program.py"], 3, tmp_path / "meeting") as ranks:
        ended = ranks.ended()
    assert [each.status for each in ended] == [0] * 3, [each.errors[-2000:] for each in ended]
    assert left_behind(tmp_path / "meeting") == []
    for number, query in enumerate(_QUERIES):
        same(feather.read_table(tmp_path / f"{number}.arrow"), answer(query, tables))
