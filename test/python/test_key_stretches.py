"""Tables stored in the order of a key: each rank reads its stretches of it, and rows meet without moving."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import headrace as hr
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from headrace._src.programs import Target
from headrace._src.query.compiled_query import bindings_of, load_query
from headrace._src.query.sql import compile_to
from headrace._src.query.statistics import table_statistics
from headrace._src.query.tables import resolve
from sql_oracle import Answer, Oracle, difference
from test_adaptive import wrong

_ROWS = 120_000
_GROUP_ROWS = 2_000
#: With ranks that send to each other, tables of which neither is small enough to be everywhere.
_TOPOLOGY = "ethernet-fast"
_TIMES = 100
_KEYS = ("i", "small", "negative", "wide", "day", "moment", "null")
_QUERIES = {
    "inner": "select count(*) as n, sum(v) as v, sum(w) as w from a join b on {0}",
    "left": "select count(*) as n, sum(v) as v, sum(w) as w, count(w) as m from a left join b on {0}",
    "right": "select count(*) as n, sum(v) as v, sum(w) as w, count(v) as m from a right join b on {0}",
    "full": "select count(*) as n, sum(v) as v, sum(w) as w, count(v) as m from a full join b on {0}",
    "semi": "select count(*) as n, sum(v) as v from a where exists (select 1 from b where {0})",
    "anti": "select count(*) as n, sum(v) as v from a where not exists (select 1 from b where {0})",
    "mark": "select count(*) as n, sum(v) as v from a where v % 3 = 0 or exists (select 1 from b where {0})",
    "scalar": "select sum(v * (select max(w) from b where {0})) as n from a where v % 7 = 0",
    "groups": "select count(*) as n, sum(s) as s from (select a.{1}, sum(v) as s from a group by a.{1}) t",
    "distinct": "select count(distinct a.{1}) as n from a",
    "window": "select sum(r * v) as n from"
    " (select v, row_number() over (partition by a.{1} order by v) as r from a)",
    "both": "select count(*) as n, sum(s) as s from"
    " (select a.{1}, sum(v + w) as s from a join b on {0} group by a.{1}) t",
    "other": "select count(*) as n, sum(v) as v, sum(x) as x from a join b on {0} join c on a.{1} = c.{1}",
    "rows": "select a.i, v, w from a join b on {0} where v % 64 = 3 and a.i > 5000",
}


def _table(seed: int, rows: int, value: str, *, ordered: bool = True) -> pa.Table:
    """Keys of several types, which grow with the rows if these are `ordered`."""
    draw = np.random.default_rng(seed)
    key = draw.integers(0, _ROWS // 3, rows)
    key = np.sort(key) if ordered else key
    wide = (key - _ROWS // 6) * (2**62 // _ROWS) * 6  # from nearly the least to nearly the greatest
    return pa.table(
        {
            "i": key,
            "small": pa.array(key // 2, pa.int32()),
            "negative": key - _ROWS,
            "wide": wide,
            "day": pa.array((key - 20_000).astype(np.int32), pa.int32()).cast(pa.date32()),
            "moment": pa.array(key * 977_001 - 5_000_000_000, pa.timestamp("us")),
            "null": pa.array(key, mask=draw.random(rows) < 0.1),
            value: draw.integers(0, 1000, rows),
        }
    )


class Stored:
    """Tables in files, with statistics by which they are larger, and what DuckDB says."""

    def __init__(self, folder: Path) -> None:
        tables = {
            "a": _table(1, _ROWS, "v"),
            "b": _table(2, _ROWS // 2, "w"),
            "c": _table(3, _ROWS // 4, "x", ordered=False),
        }
        self.oracle = Oracle(tables)
        self.folder = folder
        for name, table in tables.items():
            pq.write_table(table, folder / f"{name}.parquet", row_group_size=_GROUP_ROWS)
        self.statistics = wrong(table_statistics(folder), dict.fromkeys(tables, _TIMES))

    def settings(self, ranks: int) -> dict[str, Any]:
        return {"ranks": ranks, "topology": _TOPOLOGY, "statistics": self.statistics}

    def problem(self, text: str, ranks: int, **settings: Any) -> str | None:
        try:
            found = Answer(hr.sql(text, self.folder, **self.settings(ranks), **settings))
        except hr.HeadraceError as error:
            found = Answer(error=str(error), kind=error.kind)
        return difference(found, self.oracle.duckdb(text))


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return Stored(tmp_path_factory.mktemp("stored"))


@pytest.mark.parametrize("key", _KEYS)
@pytest.mark.parametrize("name", _QUERIES)
def test_answers_are_those_of_duckdb(name: str, key: str, stored: Stored) -> None:
    text = _QUERIES[name].format(f"a.{key} = b.{key}", key)
    for ranks in (2, 3, 4):
        assert not (problem := stored.problem(text, ranks)), f"{ranks} ranks: {text}: {problem}"


@pytest.mark.parametrize("name", _QUERIES)
def test_slow_ranks_have_shorter_stretches(name: str, stored: Stored) -> None:
    bindings = bindings_of(resolve(stored.folder))
    for key in ("i", "null", "moment"):
        text = _QUERIES[name].format(f"a.{key} = b.{key}", key)
        alone: Any = hr.sql(text, stored.folder)
        expected = sorted(map(repr, alone.to_pylist()))
        for ranks, shares in ((2, [256, 64]), (3, [256, 8, 256]), (4, [64, 256, 256, 128])):
            target = Target.of(ranks, _TOPOLOGY, None)
            loaded = load_query(text, resolve(stored.folder), target, stored.statistics)
            plan = json.loads(loaded.compiled.plan_json)
            if not plan.get("movableKeys"):
                assert name == "scalar", (key, ranks)  # of whose tables one is everywhere
                continue
            found = loaded.handle.run(bindings, ranks=ranks, key_shares=shares)
            assert sorted(map(repr, pa.table(found).to_pylist())) == expected, (key, ranks)
            profile = json.loads(loaded.handle.profile())
            assert profile["key_shares"] == pytest.approx([s * ranks / sum(shares) for s in shares])
            if key != "null" and any(slot.get("stretches", {}).get("column") for slot in plan["slots"]):
                loads = {t["outputStream"] for t in plan["tasks"] if t["kind"] == "load"}
                rows = [0] * ranks  # of the files
                for task in profile["tasks"]:
                    rows[task["rank"]] += (
                        task["rows_in"] if plan["tasks"][task["task"]].get("inputStream") in loads else 0
                    )
                slow = shares.index(min(shares))
                assert rows[slow] < 0.8 * sum(rows) / ranks, (key, ranks, rows)


@pytest.mark.parametrize("name", _QUERIES)
def test_random_layouts(name: str, stored: Stored) -> None:
    """Also where only one side lies in stretches, and the other is sent or kept by them."""
    text = _QUERIES[name].format("a.i = b.i", "i")
    for seed in range(8):
        ranks = 2 + seed % 3
        assert not (problem := stored.problem(text, ranks, layout_seed=seed)), f"{seed}: {text}: {problem}"


def _moved(text: str, stored: Stored, **settings: Any) -> str:
    return hr.explain(text, stored.folder, **stored.settings(2) | settings)


def test_rows_meet_without_moving(stored: Stored) -> None:
    joined = _moved(_QUERIES["both"].format("a.i = b.i", "i"), stored)
    assert joined.count("keep own rows stretches of i") == 2, joined
    assert "exchange hash" not in joined, joined
    # What is stored otherwise goes to where the stretches are.
    other = _moved("select count(*) as n from a join c on a.i = c.i", stored)
    assert "stretches of i" in other, other


def test_each_rank_reads_its_own_row_groups(stored: Stored) -> None:
    text = _QUERIES["both"].format("a.i = b.i", "i")
    assert not stored.problem(text, 4)
    scanned = {"scan_a_0": [0] * 4, "scan_b_0": [0] * 4}
    for task in hr.last_profile().run["tasks"]:
        if task["name"] in scanned:
            scanned[task["name"]][task["rank"]] += task["rows_in"]
    for name, rows in (("scan_a_0", _ROWS), ("scan_b_0", _ROWS // 2)):
        assert rows <= sum(scanned[name]) < 1.5 * rows, scanned
        assert max(scanned[name]) < 1.3 * min(scanned[name]), scanned


def test_a_plan_runs_on_other_numbers_of_ranks(stored: Stored, tmp_path: Path) -> None:
    plan = tmp_path / "both.plan"
    text = _QUERIES["both"].format("a.i = b.i", "i")
    compile_to(plan, text, stored.folder, ranks=2, topology="ethernet-slow")
    tool = shutil.which("headrace-run")
    assert tool, "headrace-run is not on PATH"
    slots = json.loads((plan / "plan.json").read_text())["slots"]
    assert [slot["stretches"]["column"] for slot in slots] == ["i", "i"]
    answers = {
        subprocess.run(
            [tool, plan, "--tables", stored.folder, "--ranks", str(ranks), "--topology", "any"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for ranks in (1, 2, 5)
    }
    assert len(answers) == 1, answers
