"""Keys that many rows have: answers of DuckDB, and no rank with much more to do than the others.

HEADRACE_RANDOM_SKEW says how many random queries run.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import headrace as hr
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from headrace._src.query.statistics import table_statistics
from sql_oracle import Answer, Oracle, difference
from test_adaptive import wrong

_COUNT = int(os.environ.get("HEADRACE_RANDOM_SKEW", "60"))
_ROWS = 160_000
_KEYS = 40_000
#: Ranks that send to each other, and tables of which neither is small enough to be everywhere.
_TOPOLOGY = "ethernet-fast"
_TIMES = 100
_KINDS = {
    "inner": "select count(*) as n, sum(v) as v, sum(w) as w from {0} a join {1} b on {2}",
    "left": "select count(*) as n, sum(v) as v, sum(w) as w, count(w) as m from {0} a left join {1} b on {2}",
    "full": "select count(*) as n, sum(v) as v, sum(w) as w, count(v) as m from {0} a full join {1} b on {2}",
    "semi": "select count(*) as n, sum(v) as v from {0} a where exists (select 1 from {1} b where {2})",
    "anti": "select count(*) as n, sum(v) as v from {0} a where not exists (select 1 from {1} b where {2})",
    "mark": "select count(*) as n, sum(v) as v from {0} a"
    " where v % 3 = 0 or exists (select 1 from {1} b where {2})",
    "rows": "select a.i, a.v, b.w from {0} a left join {1} b on {2} where a.v % 16 = 3",
}


def _table(seed: int, rows: int, keys: int, value: str, heavy: float, nulls: float) -> pa.Table:
    """Rows of which some have one key or NULL; `i` is the key, `t` as a text, `x` and `y` in two parts."""
    draw = np.random.default_rng(seed)
    key = draw.integers(0, keys, rows)
    key = np.where(draw.random(rows) < heavy, 7, key)
    null = draw.random(rows) < nulls
    texts = np.char.add("a rather long key ", key.astype(str))
    return pa.table(
        {
            "i": pa.array(key, mask=null),
            "t": pa.array(texts, mask=null),
            "x": pa.array(key % 150, mask=null),
            "y": key // 150,
            "d": key.astype(np.float64) / 4,
            value: draw.integers(0, 1000, rows),
        }
    )


def _zipf(seed: int, rows: int, keys: int, value: str) -> pa.Table:
    draw = np.random.default_rng(seed)
    key = draw.permutation(keys)[draw.zipf(1.5, rows) % keys]
    columns = {"i": key, "t": key.astype(str), "x": key % 150, "y": key // 150, "d": key / 4}
    return pa.table(columns | {value: draw.integers(0, 1000, rows)})


class Skewed:
    """The tables as files, with statistics by which they are larger, and what DuckDB says."""

    def __init__(self, tables: dict[str, pa.Table], folder: Path) -> None:
        self._oracle = Oracle(tables)
        self._folder = folder
        for name, table in tables.items():
            pq.write_table(table, folder / f"{name}.parquet", row_group_size=_ROWS // 16)
        self._statistics = wrong(table_statistics(folder), dict.fromkeys(tables, _TIMES))

    def problem(self, text: str, ranks: int, **settings: Any) -> str | None:
        try:
            table = hr.sql(
                text,
                self._folder,
                ranks=ranks,
                topology=_TOPOLOGY,
                statistics=self._statistics,
                **settings,
            )
        except hr.HeadraceError as error:
            found = Answer(error=str(error), kind=error.kind)
            if error.kind == "memory" and "memory" in settings:
                return None
        else:
            found = Answer(table)
        return difference(found, self._oracle.duckdb(text), ordered="order by" in text)


@pytest.fixture(scope="module")
def skewed(tmp_path_factory: pytest.TempPathFactory) -> Skewed:
    tables = {}
    for value in ("v", "w"):
        seed = ord(value)
        tables |= {
            f"even_{value}": _table(seed, _ROWS, _KEYS, value, 0, 0),
            f"one_{value}": _table(seed + 1, _ROWS, _KEYS, value, 0.3, 0),
            f"null_{value}": _table(seed + 2, _ROWS, _KEYS, value, 0, 0.4),
            f"zipf_{value}": _zipf(seed + 3, _ROWS, _KEYS, value),
            # As many keys, few of them often.
            f"few_{value}": _table(seed + 4, _KEYS, _KEYS, value, 0.0005, 0.01),
        }
    return Skewed(tables, tmp_path_factory.mktemp("skewed"))


def _exchanges() -> list[dict[str, Any]]:
    return [task for task in hr.last_profile().run["tasks"] if task["kind"] == "exchange"]


@pytest.fixture(autouse=True)
def _own_morsels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks that take others' morsels when they have time would be busier than their share."""
    monkeypatch.setenv("HEADRACE_SHARE_MORSELS", "off")


def _busiest() -> float:
    """Of the tasks with most rows: what the busiest rank takes in over the mean."""
    rows: dict[str, dict[int, int]] = defaultdict(dict)
    for task in hr.last_profile().run["tasks"]:
        rows[task["name"]][task["rank"]] = task["rows_in"]
    large = [list(each.values()) for each in rows.values() if sum(each.values()) >= _KEYS]
    large = [each for each in large if sum(rows > 0 for rows in each) > 1]  # not what was gathered
    return max(max(each) * len(each) / sum(each) for each in large)


_ON = {
    "integer": "a.i = b.i",
    "text": "a.t = b.t",
    "double": "a.d = b.d",
    "two": "a.x = b.x and a.y = b.y",
    "residual": "a.i = b.i and a.v % 5 <> b.w % 7",
}


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("left,right", [("one", "few"), ("zipf", "few"), ("few", "one"), ("null", "one")])
def test_joins_of_each_kind_are_even_and_right(skewed: Skewed, kind: str, left: str, right: str) -> None:
    text = _KINDS[kind].format(f"{left}_v", f"{right}_w", _ON["integer"])
    assert skewed.problem(text, 4) is None
    assert sum(task["heavy_rows"] for task in _exchanges()) > 0
    assert _busiest() <= 1.3


@pytest.mark.parametrize("on", _ON)
def test_keys_of_each_type_are_found(skewed: Skewed, on: str) -> None:
    text = _KINDS["inner"].format("one_v", "few_w", _ON[on])
    assert skewed.problem(text, 4) is None
    assert max(task["heavy_keys"] for task in _exchanges()) == 1
    assert sum(task["heavy_rows"] for task in _exchanges()) > 0.25 * _ROWS


def test_even_keys_are_left_alone(skewed: Skewed) -> None:
    text = _KINDS["inner"].format("even_v", "even_w", _ON["integer"])
    assert skewed.problem(text, 4) is None
    assert all(task["heavy_rows"] == 0 for task in _exchanges())


def test_who_relies_on_the_places_of_rows_is_right(skewed: Skewed) -> None:
    text = (
        "select a.i as i, count(*) as n, sum(w) as s from one_v a join few_w b on a.i = b.i group by a.i"
        " order by n desc, i limit 50"
    )
    assert skewed.problem(text, 3) is None


def _random_query(draw: random.Random) -> str:
    left, right = (draw.choice(["even", "one", "null", "zipf", "few"]) for _ in range(2))
    if left in ("one", "zipf") and right in ("one", "zipf"):
        right = "few"  # the pairs of one key with itself are too many for a test
    kind = draw.choice(list(_KINDS))
    text = _KINDS[kind].format(f"{left}_v", f"{right}_w", draw.choice(list(_ON.values())))
    if draw.random() < 0.3 and kind in ("inner", "left"):
        third = draw.choice(["few_w", "even_w"])
        text = text.replace("sum(w)", "sum(b.w)").replace("count(w)", "count(b.w)")
        text += f" join {third} c on b.t = c.t"
    return text


@pytest.mark.parametrize("part", range(4))
def test_random_joins(skewed: Skewed, part: int) -> None:
    for seed in range(part, _COUNT, 4):
        draw = random.Random(f"skew {seed}")
        text = _random_query(draw)
        ranks = draw.randint(2, 5)
        settings: dict[str, Any] = {}
        if draw.random() < 0.4:
            settings["layout_seed"] = draw.randrange(1000)
        if draw.random() < 0.3:
            settings["memory"] = draw.choice(["24MB", "48MB"])
        if draw.random() < 0.3:
            settings["simulation_seed"] = draw.randrange(1 << 30)
        problem = skewed.problem(text, ranks, **settings)
        assert problem is None, f"seed {seed}, {ranks} ranks, {settings}: {text}\n{problem}"


def test_a_rank_without_rows_does_not_wait_for_the_end_of_those_of_others() -> None:
    """Rows that one exchange brings to some ranks only go on to an exchange of a pair."""
    rows = 70_000
    draw = np.random.default_rng(1)
    a = pa.table({"id": np.arange(rows), "k": draw.integers(0, 5, rows).astype(np.int32)})
    tables = {
        "a": pa.Table.from_batches(a.to_batches(max_chunksize=1000)),  # more than a window of messages
        "b": pa.table({"u": draw.permutation(rows) * 3 - rows}),
    }
    text = "select a.id, b.u from a left join b on a.k = b.u"
    wanted = sorted(hr.sql(text, tables)["id"].to_pylist())
    found = 0
    for seed in range(400):
        plan = hr.explain(text, tables, ranks=3, layout_seed=seed, tasks=True)
        if "spread" in plan and "exchange gather" in plan.partition("exchange hash")[2]:
            result = hr.sql(text, tables, ranks=3, layout_seed=seed, timeout=60)
            assert sorted(result["id"].to_pylist()) == wanted
            found += 1
            if found == 3:
                return
    raise AssertionError("no plan is like that")
