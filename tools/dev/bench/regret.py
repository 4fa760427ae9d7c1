"""`./dev bench regret`: what the layout solver's choice costs over the best layout known, by the simulator.

TPC-H queries (from the Substrait plans and statistics of `test/data`, scaled) and a network are compiled for
shipped topologies: as the solver chooses, the layouts next to it (each rules out what was found before), and
random ones. Nothing runs: every plan is simulated with the compiler's estimates of rows.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dev import places

QUERIES = ("q01", "q03", "q04", "q05", "q09", "q10", "q12", "q14", "q18", "q19", "q21")
NETWORK = "network"
RANKS = (8, 32, 0)  # 0: all that the topology has
NEAR = 10
SEEDS = 4
# Columns that number rows of their table or of another one: more rows, more values.
KEYS = ("orderkey", "custkey", "partkey", "suppkey")
FIXED = ("nation", "region")
#: Tables are stored in the order of these, in row groups of so many rows.
STORED_BY = ("l_orderkey", "o_orderkey", "p_partkey", "ps_partkey", "c_custkey", "s_suppkey")
GROUP_ROWS = 122_880


@dataclass(frozen=True)
class Case:
    program: str
    topology: str
    scale: float
    ranks: int


@dataclass(frozen=True)
class Outcome:
    case: Case
    seconds: float
    #: Of the best layout, and which it is.
    best_seconds: float
    best: str
    layouts: int

    @property
    def regret(self) -> float:
        return self.seconds / self.best_seconds - 1


def scaled(statistics: dict[str, Any], table: str, scale: float) -> dict[str, Any]:
    """The statistics of a table with so many times the rows of TPC-H at scale 1."""
    if table in FIXED:
        return statistics
    rows = max(1, round(statistics["rows"] * scale))
    made = {**statistics, "rows": rows, "row_groups": -(-rows // GROUP_ROWS), "columns": {}}
    for name, column in statistics["columns"].items():
        wide = column.get("distinct", 0) > 0.05 * statistics["rows"]
        key = name.endswith(KEYS)
        changed = {**column, "ordered": name in STORED_BY and rows > GROUP_ROWS}
        if "distinct" in column and (wide or key):
            changed["distinct"] = max(1, round(column["distinct"] * scale))
        if key and "max" in column:
            changed["max"] = max(1, round(column["max"] * scale))
        made["columns"][name] = changed
    return made


class Programs:
    """Compiles programs under a layout, without kernels."""

    def __init__(self) -> None:
        from headrace import _compiler

        self._session = _compiler.Session()
        data = places.ROOT / "test" / "data" / "tpch"
        self._texts = {name: (data / "substrait" / f"{name}.json").read_text() for name in QUERIES}
        self._statistics = {
            path.stem: json.loads(path.read_text()) for path in sorted((data / "statistics").glob("*.json"))
        }

    def plan(self, case: Case, *, seed: int = -1, alternative: int = 0) -> str | None:
        """The plan as JSON; none if there is no such layout."""
        from headrace import _compiler

        request = _compiler.Request()
        request.ranks = case.ranks
        request.topology = case.topology
        request.layout_seed = seed
        request.layout_alternative = alternative
        request.plan_only = True
        if case.program == NETWORK:
            request.mlir = network(round(65536 * case.scale))
            answer = self._session.compile_mlir(request)
        else:
            request.substrait = self._texts[case.program]
            request.statistics = {
                table: json.dumps(scaled(document, table, case.scale))
                for table, document in self._statistics.items()
            }
            answer = self._session.compile_sql(request)
        if not answer.ok and seed < 0 and alternative == 0:
            raise RuntimeError(f"{case}: {answer.error}")
        return answer.plan_json if answer.ok else None


def network(batch: int) -> str:
    """Two layers, as a function of tensors."""

    def product(name: str, left: str, right: str, rows: int, inner: int, columns: int) -> str:
        a, b, c = (f"tensor<{m}x{n}xf32>" for m, n in ((rows, inner), (inner, columns), (rows, columns)))
        return (
            f"%e{name} = tensor.empty() : {c}\n"
            f"%z{name} = linalg.fill ins(%zero : f32) outs(%e{name} : {c}) -> {c}\n"
            f"%{name} = linalg.matmul ins(%{left}, %{right} : {a}, {b}) outs(%z{name} : {c}) -> {c}\n"
        )

    return (
        f"func.func @main(%x: tensor<{batch}x1024xf32>, %w: tensor<1024x4096xf32>, "
        f"%v: tensor<4096x1024xf32>) -> tensor<{batch}x1024xf32> {{\n"
        "%zero = arith.constant 0.0 : f32\n"
        + product("h", "x", "w", batch, 1024, 4096)
        + product("y", "h", "v", batch, 4096, 1024)
        + f"return %y : tensor<{batch}x1024xf32>\n}}\n"
    )


def cases(
    programs: Sequence[str], topologies: Sequence[str], scales: Sequence[float], ranks: Sequence[int]
) -> Iterator[Case]:
    from headrace import _runtime

    for topology in topologies:
        most = _runtime.topologies()[topology]
        counts = sorted({most if count == 0 else count for count in ranks if count <= most})
        for program, scale, count in itertools.product(programs, scales, counts):
            yield Case(program, topology, scale, count)


def examine(programs: Programs, case: Case, near: int, seeds: int) -> Outcome:
    from headrace import _runtime

    seconds: dict[str, float] = {}
    seen: set[str] = set()

    def look(name: str, plan: str | None) -> None:
        if plan is None:
            return
        document = json.loads(plan)
        shape = json.dumps({key: value for key, value in document.items() if key != "explanation"})
        if shape not in seen:
            seen.add(shape)
            seconds[name] = json.loads(_runtime.cost(plan, case.topology, case.ranks))["seconds"]

    look("chosen", programs.plan(case))
    for alternative in range(1, near + 1):
        look(f"near {alternative}", programs.plan(case, alternative=alternative))
    for seed in range(seeds):
        look(f"random {seed}", programs.plan(case, seed=seed))
    best = min(seconds, key=lambda name: seconds[name])
    return Outcome(case, seconds["chosen"], seconds[best], best, len(seconds))


def table(outcomes: Iterable[Outcome]) -> str:
    """By topology and number of ranks: mean and greatest regret, and where the greatest is."""
    groups: dict[tuple[str, int], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.case.topology, outcome.case.ranks].append(outcome)
    lines = ["| topology | ranks | programs | mean | most | where | instead |", "|---|---|---|---|---|---|---|"]
    for (topology, ranks), group in groups.items():
        worst = max(group, key=lambda outcome: outcome.regret)
        where = f"{worst.case.program}, scale {worst.case.scale:g}" if worst.regret > 0 else ""
        instead = worst.best if worst.regret > 0 else ""
        lines.append(
            f"| {topology} | {ranks} | {len(group)} | {100 * mean(group):.1f} % | {100 * worst.regret:.1f} % "
            f"| {where} | {instead} |"
        )
    return "\n".join(lines)


def mean(outcomes: Sequence[Outcome]) -> float:
    return sum(outcome.regret for outcome in outcomes) / len(outcomes)


def main(words: Sequence[str]) -> int:
    from headrace import _runtime

    parser = argparse.ArgumentParser(prog="./dev bench regret", description=__doc__)
    parser.add_argument("--programs", default=",".join((*QUERIES, NETWORK)))
    parser.add_argument("--topologies", default=",".join(_runtime.topologies()))
    parser.add_argument("--scales", default="0.1,1,10")
    parser.add_argument("--ranks", default=",".join(map(str, RANKS)), help="0: all of the topology")
    parser.add_argument("--near", type=int, default=NEAR, help=f"layouts next to the solver's ({NEAR})")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"random layouts ({SEEDS})")
    parser.add_argument("--json", type=Path, help="write all outcomes to this file")
    options = parser.parse_args(words)
    started = time.monotonic()
    programs = Programs()
    outcomes = [
        examine(programs, case, options.near, options.seeds)
        for case in cases(
            options.programs.split(","),
            options.topologies.split(","),
            [float(scale) for scale in options.scales.split(",")],
            [int(count) for count in options.ranks.split(",")],
        )
    ]
    print(table(outcomes))
    layouts = sum(outcome.layouts for outcome in outcomes) / len(outcomes)
    over = sum(outcome.regret > 0.15 for outcome in outcomes)
    print(
        f"\n{len(outcomes)} programs, {layouts:.1f} different plans each: mean {100 * mean(outcomes):.1f} %, most "
        f"{100 * max(outcome.regret for outcome in outcomes):.1f} %, above 15 %: {over}"
    )
    print(f"{time.monotonic() - started:.0f} s")
    if options.json:
        records = [
            {**asdict(outcome.case), **asdict(outcome), "regret": outcome.regret} for outcome in outcomes
        ]
        options.json.write_text(json.dumps(records, indent=1, default=str) + "\n")
    return 0
