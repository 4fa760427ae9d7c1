"""Small changes of large tables with keys: what is read, what is written, and that DuckDB says the same.

Sources: session/key_hashes.py, session/kept_parts.py, session/upserts.py, query/arrow_tables.py.
"""
# ruff: noqa: E501

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import headrace as hr
import numpy as np
import pyarrow as pa
import pytest
from headrace._src.query import sql as queries
from headrace._src.session.kept_parts import PART_ROWS
from headrace._src.session.kept_table import KeptTable
from statements_beside import Beside

ROWS = 3 * PART_ROWS // 2
#: Keys of each type, of a number `range` or `n`.
KEYS = {
    "bigint": "{}::bigint - 50",
    "utinyint": "({} % 256)::utinyint",
    "smallint": "({} % 30000)::smallint",
    "hugeint": "{}::hugeint * 10000000000000000000",
    "double": "case {0} when 0 then '-nan'::double when 1 then 'nan' when 2 then 0.0 when 3 then -0.0 else {0} / 7 end",
    "float": "{}::float / 4",
    "decimal(12, 2)": "{}::decimal(12, 2) / 4",
    "varchar": "'https://example.com/' || repeat('x', {} % 90) || {}",
    "varchar collate nocase": "case when {0} % 2 = 0 then 'key ' else 'KEY ' end || ({0} // 2)",
    "blob": "encode('b' || {})",
    "date": "date '1970-01-01' + {}::integer",
    "timestamp": "timestamp '1970-01-01' + to_seconds({})",
    "timestamptz": "timestamptz '1970-01-01 00:00:00+00' + to_seconds({})",
    "time": "time '00:00:00' + to_milliseconds({})",
    "boolean": "({} % 2 = 0)",
    "uuid": "md5('' || {})::uuid",
    "mood": "(array['sad', 'ok', 'glad'])[{} % 3 + 1]::mood",
}


def kept(session: Any, name: str = "a") -> KeptTable:
    table = session._names.tables[name][1]
    assert isinstance(table, KeptTable)
    return table


@pytest.mark.parametrize("kind", KEYS)
def test_keys_of_every_type(kind: str) -> None:
    both = Beside(ranks=len(kind) % 3 + 1, threads=2)
    key = KEYS[kind]
    both.say("create type mood as enum ('sad', 'ok', 'glad')")
    both.say(f"create table a (n integer, k {kind} unique, x integer)")
    rows = {"utinyint": 100, "boolean": 1, "mood": 2}.get(kind, 5000)
    both.say(
        f"insert into a select range, {key.replace('{0}', 'range').replace('{}', 'range')}, 0 from range(0, {rows})"
    )
    for number in (0, 1, 2, 3, 7, rows - 1, rows, rows + 1, rows, 10 * rows):
        value = key.replace("{0}", str(number)).replace("{}", str(number))
        both.say(f"insert into a values ({number}, {value}, 1)")
        both.say(f"insert into a select {number}, {value}, 2")
        upsert = f"insert into a values ({number}, {value}, 3)"
        both.say(f"{upsert} on conflict (k) do update set x = a.x + excluded.x, n = -n where a.x < 9")
    both.say("insert into a values (1, NULL, 1), (2, NULL, 2)")
    both.say("insert into a values (1, NULL, 1) on conflict do nothing")
    both.ask("select n, k::varchar as k, x from a")


@pytest.mark.parametrize("seed", range(4))
def test_changes_of_many_parts(seed: int) -> None:
    draw = random.Random(seed)
    both = Beside(ranks=draw.choice([1, 2, 3]), threads=2)
    both.say("create table a (k bigint primary key, s varchar, x integer check (x < 1000), unique (s, x))")
    both.say(f"insert into a select range * 2, 's' || range, range % 7 from range({ROWS})")
    for _ in range(25):
        number = draw.randrange(2 * ROWS)
        few = f"(select range + {number} as n from range({draw.choice([1, 3, 300])}))"
        both.say(
            draw.choice(
                [
                    f"insert into a values ({number}, 'n{number}', 1)",
                    f"insert into a values ({number}, 's{number // 2}', 1), ({number + 1}, 'new', 1)",
                    f"insert into a select n, 'q' || n, 5 from {few}",
                    f"insert or ignore into a select n, 'q' || n, 5 from {few}",
                    f"insert or ignore into a values ({number}, 'i{number}', 8), ({number + 1}, 's8', 8)",
                    f"insert into a values ({number}, 'u', 1) on conflict (k) do update set x = x + 1",
                    f"insert into a values ({number}, 'u', 1) on conflict (k) do update set s = 's4', x = 4",
                    f"insert into a values ({number}, 'u', 1) on conflict (k) do update set k = k + 1 returning *",
                    f"insert into a values ({number}, 'u', 2000) on conflict (k) do update set x = 3",
                    f"update a set x = x + 1 where k between {number} and {number + 40}",
                    f"update a set k = k + 1 where k = {number}",
                    f"update a set x = 1000 where k = {number // 2 * 2}",
                    f"delete from a where k between {number} and {number + draw.choice([3, 60_000])}",
                    f"delete from a where k % 5 = {number % 5}",
                ]
            )
        )
    both.ask("from a")
    both.ask("select count(*), min(k), max(k), sum(x), count(s) from a")


def test_no_query_looks_for_a_key_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    session = hr.connect()
    session.sql("create table a (k bigint primary key, s varchar, unique (s), check (k >= 0))")
    session.sql(f"insert into a select range, 's' || range from range({ROWS})")
    ran: list[str] = []
    answer = queries._answer
    monkeypatch.setattr(
        queries,
        "_answer",
        lambda take, told, text, *rest, **more: ran.append(text) or answer(take, told, text, *rest, **more),
    )
    session.sql(f"insert into a values ({ROWS}, 'x'), ({ROWS + 1}, 'y')")
    session.sql(f"insert or ignore into a values ({ROWS + 2}, 'z')")
    assert not [text for text in ran if "check" not in text and "not (" not in text]
    with pytest.raises(
        hr.errors.ConstraintError, match='duplicate key "k: 7" violates primary key constraint'
    ):
        session.sql("insert into a values (7, 'q')")
    assert session.sql("select count(*) as n from a").arrow().to_pydict() == {"n": [ROWS + 3]}


def test_a_change_of_one_row_leaves_the_other_parts(tmp_path: Path) -> None:
    session = hr.connect()
    session.sql("create table a (k bigint primary key, s varchar)")
    session.sql(f"insert into a select range, 's' || range from range({8 * PART_ROWS})")
    before = kept(session).parts
    assert len(before) == 8
    first, last = (before[place].rows.column(0)[0].as_py() for place in (0, 1))
    session.sql(f"insert into a values ({first}, 'x') on conflict (k) do update set s = 'five'")
    session.sql(f"delete from a where k = {last}")
    after = kept(session).parts
    assert [old is new for old, new in zip(before, after, strict=True)] == [False, False] + [True] * 6
    # Its keys are where they were.
    assert after[0].indexes[("k",)] is before[0].indexes[("k",)]


def test_many_small_changes_leave_few_parts_and_files() -> None:
    session = hr.connect()
    session.sql("create table a (k bigint primary key, s varchar)")
    for number in range(1000):
        session.sql(f"insert into a values ({number}, 'x')")
    assert len(kept(session).parts) <= 12
    session.sql(f"insert into a select range + 1000, 'y' from range({100 * 64})")
    table = session._names.tables["a"][1]
    # As if each part had come of a change of its own.
    for number in range(70):
        piece = pa.record_batch(
            [pa.array(np.arange(PART_ROWS) + number * PART_ROWS), pa.array(["p"] * PART_ROWS)], table.stored
        )
        table = table.with_rows([piece])
    assert len({id(part.file) for part in table.parts}) <= 65
    assert table.num_rows == 1000 + 6400 + 70 * PART_ROWS
    # What is left of a file that is mostly gone is written again.
    goes = np.ones(table.num_rows, bool)
    goes[::1000] = False
    left = table.where(~goes)
    assert left.num_rows == int((~goes).sum()) and len(left.parts) == 1
    assert left.parts[0].file.table.num_rows == left.num_rows


def test_statistics_are_put_together() -> None:
    session = hr.connect()
    session.sql("create table a (k bigint, s varchar)")
    session.sql(f"insert into a select range, 's' from range({2 * PART_ROWS})")
    session.sql("select sum(k) from a").arrow()
    session.sql("insert into a values (-5, NULL)")
    document = queries.documents_for("a", {"a": kept(session).table})["a"]
    assert (
        f'"rows": {2 * PART_ROWS + 1}' in document
        and '"min": -5' in document
        and f'"max": {2 * PART_ROWS - 1}' in document
    )
    session.sql(f"delete from a where k < {PART_ROWS}")
    assert session.sql("select min(k) as k, count(*) as n, count(s) as s from a").arrow().to_pylist() == [
        {"k": PART_ROWS, "n": PART_ROWS, "s": PART_ROWS}
    ]
