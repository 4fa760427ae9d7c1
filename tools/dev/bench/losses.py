"""`./dev bench losses`: ranks of which one is killed in the middle of a query.

The query joins `lineitem` with itself twice and keeps few rows of each join, so that it may be cut between
them. In turns without and with commit points: seconds undisturbed, and with rank 2 killed after a part of
these; the call then goes on with the ranks that are left. What is said of both is how many times the seconds
without commit points that is. `--orders` says how long it takes.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from dev import tpch_data
from dev.bench.machines import Workers

QUERY = """
with a as (
  select a.l_linenumber as line, count(*) as n, sum(b.l_quantity) as quantity
  from lineitem a join lineitem b on a.l_suppkey = b.l_suppkey where a.l_orderkey < {orders} group by 1
), b as (
  select a.l_linenumber as line, max(b.l_extendedprice * a.l_tax) as price
  from lineitem a join lineitem b on a.l_suppkey = b.l_suppkey and a.l_tax + b.l_tax < 100
  where b.l_orderkey < {orders} group by 1
)
select * from a join b using (line) order by line
"""
KILLED = 2


def _seconds(tables: Path, ranks: int, queries: Path, after: float, **options: object) -> tuple[float, float]:
    """Undisturbed, and with a rank killed after this part of that."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {name: value if name != "commits" else folder for name, value in options.items()}
        workers = Workers(Path(folder), tables, ranks, 1, queries, **kept)
        workers.ask("query")  # compiles
        undisturbed = min(workers.ask("query")[0] for _ in range(2))
        workers.send("query")
        time.sleep(undisturbed * after)
        workers.processes[KILLED].kill()
        struck = workers.answer(0)
        workers.close()
        return undisturbed, struck


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench losses", description=__doc__)
    parser.add_argument("--scale", default="10", help="scale factor of TPC-H (default 10)")
    parser.add_argument("--ranks", type=int, default=8, help="processes of one thread (default 8)")
    parser.add_argument("--orders", type=int, default=1_000_000)
    parser.add_argument("--hours", type=float, default=0.01, help="rank_hours (default 0.01)")
    options = parser.parse_args(words)
    tables = tpch_data.ensure(options.scale)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "query.sql").write_text(QUERY.format(orders=options.orders))
        print(f"TPC-H scale {options.scale}, {options.ranks} ranks of one thread, rank {KILLED} killed")
        for after in (0.25, 0.5, 0.8):
            whole = None
            for name, commits in (
                ("none", {}),
                ("commit points", {"commits": "", "rank_hours": options.hours}),
            ):
                plain, struck = _seconds(tables, options.ranks, Path(folder), after, **commits)
                whole = whole or plain
                print(
                    f"after {after:.0%}, {name:13}  {plain:6.2f} s, {plain / whole:.2f}"
                    f"  {struck:6.2f} s, {struck / whole:.2f}",
                    flush=True,
                )
    return 0
