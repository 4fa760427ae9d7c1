"""`./dev bench skew`: how evenly four ranks share the work when some keys have many rows.

Three tables of as many rows: every key as often, Zipf's law with exponent 1.5, and one key with 30 % of the
rows. Of each query the time, and what the busiest rank has over the mean: of processor time, of the bytes
that came from other ranks, and of the rows of the task where that is most; and how many rows of heavy keys
were found. Plans are those for ranks that are connected by a network.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import headrace as hr
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

RANKS = 4
TOPOLOGY = "ethernet-fast"
QUERIES = {
    "join": "select sum(v * x + w % 7 + y % 5) as s, count(*) as n from {} f join other o on f.k = o.k",
    "left join": "select sum(v + coalesce(x, 0)) as s from {} f left join other o on f.k = o.k",
    "of few rows, left": "select sum(x + coalesce(v, 0)) as s from other o left join {} f on f.k = o.k",
    "full join": "select sum(coalesce(v, 0) + coalesce(x, 0)) as s from {} f full join other o on f.k = o.k",
    "semi join": "select sum(v) as s from {} f where exists "
    "(select 1 from other o where f.k = o.k and x < 500)",
    "anti join": "select sum(v) as s from {} f where not exists "
    "(select 1 from other o where f.k = o.k and x < 500)",
    "semi of few rows": "select sum(x) as s from other o where exists (select 1 from {} f where f.k = o.k)",
    "group by": "select sum(n) as n, count(*) as m from "
    "(select k, count(*) as n, sum(w) as s from {} group by k) where s > 0",
    "join, group by key": "select sum(n) as n, max(s) as s from "
    "(select f.k as k, count(*) as n, sum(x) as s from {} f join other o on f.k = o.k group by f.k)",
    "count distinct": "select sum(n) as n from (select k, count(distinct w) as n from {} group by k)",
    "median": "select sum(n) as n from (select k, median(v) as n from {} group by k)",
    "window": "select sum(r) as n from (select row_number() over (partition by k order by w) as r from {})",
}


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench skew", description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000, help="of each table (default 4 million)")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        keys = options.rows // 4
        names = _write(Path(folder), options.rows, keys)
        print(
            f"{options.rows} rows, {keys} keys, {RANKS} ranks, two threads; "
            "busiest rank over the mean: of time, bytes, rows"
        )
        for query, text in QUERIES.items():
            for name in names:
                print(f"{query:18} {name:5} {_measure(text.format(name), folder)}")
    return 0


def _write(folder: Path, rows: int, keys: int) -> list[str]:
    draw = np.random.default_rng(1)
    shuffled = draw.permutation(keys)
    even = draw.integers(0, keys, rows)
    columns = {
        "even": even,
        "zipf": shuffled[draw.zipf(1.5, rows) % keys],
        "one": np.where(draw.random(rows) < 0.3, shuffled[0], even),
    }
    for name, column in columns.items():
        values = {"k": column, "v": draw.integers(0, 1000, rows), "w": draw.integers(0, 10**9, rows)}
        pq.write_table(pa.table(values), folder / f"{name}.parquet", row_group_size=rows // 40)
    values = {"k": shuffled, "x": draw.integers(0, 1000, keys), "y": draw.integers(0, 10**9, keys)}
    pq.write_table(pa.table(values), folder / "other.parquet", row_group_size=keys // 20)
    return list(columns)


def _measure(text: str, folder: str) -> str:
    """Of the second run: seconds, what the busiest rank has of time, bytes and a task's rows, heavy rows."""
    for _ in range(2):
        # Shared scans even out what is before the exchanges, by who has time: here it is in the way.
        settings = {"shareMorsels": "off"}
        hr.sql(text, folder, ranks=RANKS, threads=2, topology=TOPOLOGY, settings=settings)
    profile: dict[str, Any] = hr.last_profile().run
    processor = [0.0] * RANKS
    received = [0] * RANKS
    heavy = 0
    rows: dict[str, list[int]] = defaultdict(lambda: [0] * RANKS)
    for task in profile["tasks"]:
        rank = task["rank"]
        processor[rank] += task["busy_seconds"] + task["finish_busy_seconds"]
        if task["kind"] != "result":
            rows[task["name"]][rank] += task["rows_in"]
        received[rank] += task.get("received_bytes", 0)
        heavy += task.get("heavy_rows", 0)
    most, worst = max((_over_mean(each), name) for name, each in rows.items() if sum(each) > 10_000)
    return (
        f"{profile['wall_seconds'] * 1000:6.0f} ms, {sum(processor) * 1000:6.0f} ms of processors"
        f"  {_over_mean(processor):.2f}  {_over_mean(received):.2f}  {most:.2f} in {worst},"
        f" {heavy} rows of heavy keys"
    )


def _over_mean(values: Sequence[float]) -> float:
    return max(values) * len(values) / max(sum(values), 1e-9)
