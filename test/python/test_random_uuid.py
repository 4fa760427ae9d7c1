"""uuid() and uuidv7(): another one for each row, call and run; by a seed the same wherever it is made."""

from __future__ import annotations

import time
from typing import Any
from uuid import RFC_4122, UUID

import duckdb
import headrace as hr
import numpy as np
import pyarrow as pa
import pytest
from headrace._src import programs

_ROWS = 20_000
_SEED = {"randomSeed": 7}
_TABLES = {
    "t": pa.table({"i": np.arange(_ROWS), "k": np.arange(_ROWS) * 7919 % 100}),
    "u": pa.table({"j": np.arange(0, 3 * _ROWS, 3)}),
    "l": pa.table({"l": pa.array([list(range(row % 5)) for row in range(1000)], pa.list_(pa.int64()))}),
}


def _drawn(query: str, **options: Any) -> list[UUID]:
    return [UUID(text) for text in hr.sql(query, _TABLES, **options).column(0).to_pylist()]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    ("function", "version"), [("uuid", 4), ("gen_random_uuid", 4), ("uuidv4", 4), ("UUID", 4), ("uuidv7", 7)]
)
def test_version_variant_and_all_other_bits(function: str, version: int, ranks: int) -> None:
    query = f"select {function}() from range(100000)"
    drawn = _drawn(query, ranks=ranks)
    assert len(set(drawn)) == 100_000
    assert {(each.version, each.variant) for each in drawn} == {(version, RFC_4122)}
    assert (
        hr.sql(query.replace("100000", "2")).schema.types
        == duckdb.sql(query).limit(2).to_arrow_table().schema.types
    )
    bits = np.unpackbits(
        np.frombuffer(b"".join(each.bytes for each in drawn), np.uint8).reshape(-1, 16), axis=1
    )
    first = 0 if version == 4 else 48  # those before are the moment
    free = [bit for bit in range(first, 128) if bit not in (48, 49, 50, 51, 64, 65)]
    # Shares of one half, each with a deviation of 0.0016; and no bit says anything of another one.
    assert np.abs(bits[:, free].mean(axis=0) - 0.5).max() < 0.009
    likeness = np.corrcoef(bits[:, free].T.astype(np.float32)) - np.identity(len(free))
    assert np.abs(likeness).max() < 0.02


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize(
    "query",
    [
        "select uuid() from t",
        "select uuid() from (values (1), (1), (1)) v(a)",
        "select uuid() from (select k, count(*) from t group by k)",
        "select uuid() from t join u on i = j",
        "select uuidv7() from t join u on i = j",
        "select unnest([uuidv7(), uuidv7(), uuidv7()]) from t",
        "select uuid() from t left join u on i = j",
        "select uuid() from (select * from t limit 300), (select * from u limit 300)",
        "select uuid() from (select k from t union all select k from t union all select j from u)",
        "select uuid() from l, unnest(l) x, unnest([x, x]) y",
        "select unnest([uuid(), uuid(), uuid()]) from t",
        "select unnest(list_transform(l, lambda x: uuid())) from l",
        "select * from (select uuid() from t union all select gen_random_uuid() from t)",
        "select uuid() from (values (random()), (random())) v(x)",
    ],
)
def test_each_row_and_call_has_its_own(query: str, ranks: int) -> None:
    drawn = _drawn(query, ranks=ranks)
    assert len(drawn) > 1
    assert len(set(drawn)) == len(drawn)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize(
    "query",
    [
        "select bool_and(x = y) from (select x, x y from (select uuid() x from t))",
        "select bool_and(x = y) from (select i, x, x y from (select i, uuid() x from t)) join u on i = j",
        "with r as materialized (select i, uuid() x from t)"
        " select bool_and(a.x = b.x) from r a join r b using (i)",
        "with r as materialized (select i, uuid() x from t)"
        " select count(*) = 20000 from r a join r b using (x)",
        "select count(*) = 20000 from (select x, count(*) from (select uuid() x from t) group by x)",
        "select bool_and(a < b) from (select x a, lead(x) over (order by x) b from (select uuid() x from t))",
        "select bool_and(x = y) from (select unnest([x, x]) y, x from (select uuid() x from t))",
        "select count(distinct x) = 1 from (select (select uuid()) x from t)",
        "select bool_and(a <> b and b <> c) from (select uuid() a, uuid() b, gen_random_uuid() c from t)",
    ],
)
def test_one_that_is_drawn_stays_what_it_is(query: str, ranks: int) -> None:
    connection = duckdb.connect()
    for name, table in _TABLES.items():
        connection.register(name, table)
    assert connection.execute(query).fetchone() == (True,)
    assert hr.sql(query, _TABLES, ranks=ranks).column(0).to_pylist() == [True]


def test_each_run_draws_anew_and_a_seed_the_same() -> None:
    query = "select uuid() from t"
    first = _drawn(query)
    known = list(programs._loaded)
    second = _drawn(query)
    assert list(programs._loaded) == known  # the same plan
    assert len({*first, *second}) == 2 * _ROWS
    seeded = sorted(_drawn(query, settings=_SEED, threads=1))
    assert sorted(_drawn(query, settings=_SEED, ranks=3, threads=3)) == seeded
    assert not set(_drawn(query, settings={"randomSeed": 8})) & set(seeded)
    # random() beside it draws what it does alone.
    alone = hr.sql("select random() r from t", _TABLES, settings=_SEED)
    assert hr.sql("select random() r, uuid() u from t", _TABLES, settings=_SEED).select(["r"]) == alone


@pytest.mark.parametrize("ranks", [1, 2])
def test_version_7_has_the_moment_of_its_run(ranks: int) -> None:
    query = "select uuidv7() from t"
    moments = []
    for _ in range(2):
        before = time.time_ns() // 1_000_000
        drawn = _drawn(query, settings=_SEED, ranks=ranks)
        moments.append({each.int >> 80 for each in drawn})
        assert all(before <= moment <= time.time_ns() // 1_000_000 for moment in moments[-1])
        assert len({each.int & (1 << 80) - 1 for each in drawn}) == _ROWS
        moments.append({each.int & (1 << 80) - 1 for each in drawn})
        time.sleep(0.005)
    assert moments[0].isdisjoint(moments[2])
    assert moments[1] == moments[3]  # a seed says all but the moment
    told = (
        "select bool_and(uuid_extract_version(u) = 7 and uuid_extract_timestamp(u) > now() - interval 1 hour)"
    )
    assert hr.sql(f"{told} from (select uuidv7() u from t)", _TABLES, ranks=ranks).column(0)[0].as_py()


def test_a_session_has_a_seed() -> None:
    session = hr.connect(_TABLES)
    drawn = []
    for _ in range(2):
        session.sql("select setseed(0.5)")
        drawn.append([session.sql("select gen_random_uuid() u from t").arrow() for _ in range(2)])
    assert drawn[0] == drawn[1] and drawn[0][0] != drawn[0][1]


def test_plans_show_it() -> None:
    shown = hr.explain("select i from t where uuid() > 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", _TABLES)
    shown += hr.explain("select i from t where uuidv7() < 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", _TABLES)
    assert "uuidv7() < 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'" in shown
    assert "uuid() > 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'" in shown
