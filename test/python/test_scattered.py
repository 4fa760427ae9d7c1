"""Tables of a driver on its ranks: each has its share of the rows, once, while the driver has the table."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import headrace as hr
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from headrace import _runtime
from headrace._src.engines import driver, scattered
from headrace._src.engines.scattered import Part, parts_of
from headrace._src.programs import Target
from headrace._src.query.compiled_query import load_query
from headrace._src.query.tables import resolve
from rank_processes import Processes

RANKS = 3
#: Rows that are split by the plans of ranks with a network between them.
ROWS = 400_000


class Spied(driver.RemoteRanks):
    """Keeps what goes to each rank."""

    def __init__(self, engine: Any) -> None:
        self.sent: list[tuple[int, str, Part, int]] = []
        super().__init__(engine, {"threads": 1, "memory": 200 << 20})
        ask = self._lobby.ask

        def spied(member: Any, name: str, *arguments: Any) -> int:
            if name == "hold":
                rank = self._ranks.index(member)
                self.sent += [(rank, each.identity, each.part, len(each.rows)) for each in arguments[0]]
            return ask(member, name, *arguments)

        self._lobby.ask = spied  # type: ignore[method-assign]


@pytest.fixture(scope="module")
def group() -> Iterator[driver.Driver]:
    engine = Processes(RANKS)
    with driver.Driver(Spied(engine), "fail") as ranks:
        yield ranks
    engine.end()


@pytest.fixture
def sent(group: driver.Driver) -> list[tuple[int, str, Part, int]]:
    spied = group._handle
    assert isinstance(spied, Spied)
    spied.sent.clear()
    return spied.sent


def table(rows: int = ROWS, seed: int = 1) -> pa.Table:
    draw = np.random.default_rng(seed)
    made = pa.table({"k": draw.integers(0, 1000, rows), "v": draw.integers(0, 1000, rows), "n": range(rows)})
    return made.slice(7, rows - 11)  # with rows around it that nobody is to get


QUERY = "select k, count(*) as n, sum(v) as v from t group by k order by k"


def answer(tables: dict[str, Any]) -> list[tuple[int, ...]]:
    found = hr.sql(QUERY, tables, topology="ethernet-fast")
    return [tuple(int(value) for value in row.values()) for row in found.to_pylist()]


def expected(rows: pa.Table) -> list[tuple[int, ...]]:
    return duckdb.sql(QUERY.replace("from t", "from rows")).fetchall()


def test_each_rank_gets_its_rows_once(group: driver.Driver, sent: list[Any]) -> None:
    rows = table()
    assert answer({"t": rows}) == expected(rows)
    assert [(rank, part) for rank, _, part, _ in sent] == [(r, Part(r, RANKS)) for r in range(RANKS)]
    assert sum(size for *_, size in sent) < 1.1 * rows.nbytes
    sent.clear()
    assert answer({"t": rows}) == expected(rows)
    assert hr.sql("select max(v) as v from t", {"t": rows}, topology="ethernet-fast")["v"].to_pylist() == [
        999
    ]
    assert sent == []


def test_a_table_that_all_join_with_is_whole_everywhere(group: driver.Driver, sent: list[Any]) -> None:
    rows, few = table(), pa.table({"k": range(0, 1000, 50), "name": [f"name {i}" for i in range(20)]})
    query = "select name, sum(v) as v from t join few on t.k = few.k group by name order by name"
    found = hr.sql(query, {"t": rows, "few": few}, topology="ethernet-fast")
    wanted = duckdb.sql(query.replace("from t", "from rows as t")).to_arrow_table()
    assert found["name"].to_pylist() == wanted["name"].to_pylist()
    assert [int(v) for v in found["v"].to_pylist()] == [int(v) for v in wanted["v"].to_pylist()]
    assert {part for *_, part, _ in sent} >= {Part(r, RANKS) for r in range(RANKS)}
    assert sum(part == Part() for *_, part, _ in sent) in (0, RANKS)


def test_rows_keep_their_numbers_and_their_order(group: driver.Driver) -> None:
    rows = table(300_000)
    found = hr.sql("select n from t where v < 3", {"t": rows}, topology="ethernet-fast")["n"].to_pylist()
    picked = rows.filter(pc.less(rows["v"], 3))["n"].to_pylist()
    assert found == picked
    numbers = hr.sql("select rowid as i, n from t where v < 3", {"t": rows}, topology="ethernet-fast")
    assert [n - i for i, n in zip(numbers["i"].to_pylist(), numbers["n"].to_pylist(), strict=True)] == [
        7
    ] * len(picked)


def test_ranks_do_not_read_rows_of_others(group: driver.Driver) -> None:
    """Of a table with so many morsels that ranks would share them if all could read all."""
    rows = table(6_000_000)
    found = hr.sql(
        "select n from t where v < 300 and k % 7 < 3 and (n * 31 + v) % 11 < 8",
        {"t": rows},
        topology="ethernet-fast",
    )
    picked = duckdb.sql("select n from rows where v < 300 and k % 7 < 3 and (n * 31 + v) % 11 < 8")
    assert found["n"].to_pylist() == picked.to_arrow_table()["n"].to_pylist()


def test_what_the_driver_drops_goes(group: driver.Driver, sent: list[Any]) -> None:
    rows = table(seed=2)
    hr.sql(QUERY, {"t": rows}, topology="ethernet-fast")
    (name,) = {identity for _, identity, _, _ in sent}
    members = group._handle._ranks
    assert all(any(key[0] == name for key in member.holds) for member in members)
    del rows
    group._handle.offer = driver.Offer()
    gc.collect()
    other = table(seed=3)
    hr.sql(QUERY, {"t": other}, topology="ethernet-fast")
    assert not any(key[0] == name for member in members for key in member.holds)


def test_files_are_read_by_the_name_that_a_table_had(group: driver.Driver, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    rows, other = table(), pa.table({"k": [1, 2], "v": [3, 4]})
    pq.write_table(other, tmp_path / "t.parquet")
    assert hr.sql("select count(*) as n from t", {"t": rows})["n"].to_pylist() == [ROWS - 11]
    assert hr.sql("select count(*) as n from t", tmp_path)["n"].to_pylist() == [2]


def test_parts_of_a_plan() -> None:
    def plan(mesh: list[int], *splits: list[int]) -> str:
        tasks = [f'{{"kind": "load", "slot": 0, "split": {split}}}' for split in splits]
        axes = [f'{{"name": "a{i}", "size": {size}}}' for i, size in enumerate(mesh)]
        return f'{{"mesh": [{", ".join(axes)}], "slots": [{{"name": "t"}}], "tasks": [{", ".join(tasks)}]}}'

    assert parts_of(plan([4], [0]), 3)["t"] == [Part(0, 3), Part(1, 3), Part(2, 3)]
    assert parts_of(plan([4], []), 2)["t"] == [Part(), Part()]
    assert parts_of(plan([4], [0], []), 2)["t"] == [Part(), Part()]
    both = parts_of(plan([2, 3], [0, 1]), 6)["t"]
    assert both == [Part(rank, 6) for rank in range(6)]
    assert parts_of(plan([2, 3], [1]), 6)["t"] == [Part(rank % 3, 3) for rank in range(6)]
    assert parts_of(plan([2, 3], [0]), 6)["t"] == [Part(rank // 3, 2) for rank in range(6)]


def test_all_rows_are_in_one_part() -> None:
    rows = pa.table({"n": range(10)})
    parts = [Part(index, 4).slice_of(rows) for index in range(4)]
    assert [n for _, part in parts for n in part["n"].to_pylist()] == list(range(10))
    assert [first for first, _ in parts] == [0, 2, 5, 7]


def test_another_part_than_the_plan_reads_is_refused() -> None:
    rows = pa.table({"n": range(10)})
    loaded = load_query("select sum(n) as n from t", resolve({"t": rows}), Target.of(1, None, None))
    part = _runtime.ArrowTable(rows).part(1, 2, 5, "table 0")
    with pytest.raises(
        _runtime.Error,
        match="the rows of a table lie on 2 ranks, each of which reads its own, and the query runs on 1: t",
    ):
        loaded.handle.run({"t": part})


def test_the_same_identity_while_a_table_lives() -> None:
    dropped: list[str] = []
    tables = scattered.Tables(dropped.append)
    rows = pa.table({"n": [1]})
    name = tables.identity(rows)
    assert tables.identity(rows) == name
    assert tables.identity(pa.table({"n": [1]})) != name
    del rows
    gc.collect()
    assert name in dropped
