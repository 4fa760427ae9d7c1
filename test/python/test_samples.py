"""What chooses rows by their number: limits that are no constants, positional joins, samples."""

from __future__ import annotations

import random

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import answer, check, same


def tables(rows: int, seed: int = 0) -> dict[str, pa.Table]:
    chance = random.Random(seed)

    def some() -> pa.Array:
        return pa.array([None if chance.random() < 0.1 else chance.randrange(50) for _ in range(rows)])

    return {
        "t": pa.table({"id": list(range(rows)), "a": some()}),
        "u": pa.table({"n": list(range(rows // 3)), "b": some()[: rows // 3]}),
        "none": pa.table({"z": pa.array([], pa.int32())}),
    }


_TABLES = tables(100)

LIMITS = [
    "select id from t limit 20%",
    "select id from t limit 33.4% offset 7",
    "select id from t order by a nulls first, id desc limit 99.9%",
    "select id from t limit 0%",
    "select id from t order by id desc limit (select max(n) from u) offset (select min(a) + 3 from t)",
    "select id from t order by a, id limit (select 12.5)%",
    "select id from t order by id limit (select null) offset (select 90)",
    "select id from t order by id limit 5 offset (select null)",
    "select id, a from (select * from t where a % 3 = 1 limit 40%) order by id",
    "select z from none limit 50%",
]


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("query", LIMITS)
def test_limits(query: str, ranks: int) -> None:
    same(hr.sql(query, _TABLES, ranks=ranks), answer(query, _TABLES), ordered=True)


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("(select 120)%", "a limit in percent is not between 0 and 100"),
        ("(select -1)", "a limit is negative"),
        ("5 offset (select -1)", "a limit is negative"),
    ],
)
def test_limits_that_are_none(limit: str, message: str) -> None:
    with pytest.raises(hr.errors.DataError, match=message):
        hr.sql(f"select id from t limit {limit}", _TABLES)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(
    "query",
    [
        "select * from t positional join u",
        "select * from u positional join t",
        "select id, n from (select id from t where a > 20) positional join u",
        "select id, z from t positional join none",
        "select l.id, r.id as other from t l positional join (select id from t order by id desc) r",
        "select count(*), sum(n), count(a) from t positional join u where id % 2 = 0 or id is null",
    ],
)
def test_positional_joins(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


def _sample(how: str, rows: dict[str, pa.Table], ranks: int = 1) -> list[int]:
    return sorted(hr.sql(f"select id from t {how}", rows, ranks=ranks).column("id").to_pylist())


@pytest.mark.parametrize(
    "how", ["using sample 7 rows", "using sample reservoir(30%)", "tablesample bernoulli(40%)"]
)
def test_a_sample_is_the_same_on_any_ranks(how: str) -> None:
    rows = tables(3000, 1)
    one = _sample(how, rows)
    assert len(set(one)) == len(one) > 0
    assert _sample(how, rows, 2) == one == _sample(how, rows, 3)


def test_samples_have_their_sizes() -> None:
    rows = tables(50_000, 2)
    assert len(_sample("using sample 1000", rows)) == 1000
    assert len(_sample("using sample reservoir(12.5%)", rows)) == 6250
    assert len(_sample("using sample 0 rows", rows)) == 0
    assert len(_sample("using sample 60000 rows", rows)) == 50_000
    assert len(_sample("using sample 100%", rows)) == 50_000
    assert 9_000 < len(_sample("tablesample bernoulli(20%)", rows)) < 11_000
    blocks = {id // 2048 for id in _sample("tablesample system(40%)", rows)}
    assert 3 <= len(blocks) <= 18
    assert len(_sample("tablesample system(40%)", rows)) >= 2048 * (len(blocks) - 1)


def test_a_seed_chooses_the_sample() -> None:
    rows = tables(10_000, 3)
    samples = [_sample(f"tablesample reservoir(100) repeatable ({seed})", rows) for seed in range(3)]
    assert samples[0] != samples[1] != samples[2]
    assert _sample("tablesample reservoir(100) repeatable (1)", rows) == samples[1]
    # Each row is as likely as every other: over many seeds the mean is near the middle.
    means = [sum(_sample(f"tablesample reservoir(500) repeatable ({s})", rows)) / 500 for s in range(20)]
    assert abs(sum(means) / 20 - 5_000) < 150


def test_samples_of_other_relations() -> None:
    query = "select count(*) as c from (select a, count(*) as n from t group by a) using sample 5"
    assert hr.sql(query, _TABLES).column("c").to_pylist() == [5]
    query = "select count(*) as c from (select * from t join u on a = b using sample 3)"
    assert hr.sql(query, _TABLES, ranks=2).column("c").to_pylist() == [3]


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(
    "query",
    [
        "select id, unnest([[[a, 1], [2]], [[id]]], max_depth := 2) as l from t where id < 9",
        "select id, unnest([[a, 1], [id]], recursive := true) as x, unnest([1, 2]) as y from t where id < 9",
        "select unnest([[1, 2], [3, null]], recursive := true) as x",
        "select id, name, value from (select id, a, id % 3 as b from t) unpivot (value for name in (a, b))",
        "select id, 'aäz'[id % 7 - 3] as c, (case when a > 9 then 'text' end)[2] as d from t",
    ],
)
def test_unnest_of_lists_of_lists(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)
