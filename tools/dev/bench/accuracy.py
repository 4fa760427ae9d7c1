"""`./dev bench accuracy`: how far the cost model is from what happens, on this machine.

Small programs calibrate the model, in turns with other ones (TPC-H queries, networks, queries over a web
log, on one and two ranks, some under several forced layouts), so that both meet the same states of the
machine. The others are simulated with the rows that they had. Printed: the error of each plan and in summary,
whether plans and alternatives come in the right order (Kendall's tau), and what choosing by the model costs
over the best alternative measured (regret).
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dev import places, tpch_data
from dev.bench import own_tables

if TYPE_CHECKING:
    from headrace._src.calibration.plan_folder import PlanEntry, PlanFolder

SCANS = ("q01", "q06")
# What each query mostly is, for the table.
JOINS = ("q03", "q04", "q05", "q07", "q08", "q09", "q10", "q12", "q13", "q14", "q18", "q19", "q21")
# Queries whose alternatives are compared: layouts forced by these seeds, beside the one chosen.
ALTERNATIVES = ("q03", "q05", "q10", "q12", "q14", "q18")
SEEDS = (1, 2, 3, 4)
# Alternatives nearer to each other than this are one: repeated runs differ by as much.
NOISE = 0.05


@dataclass(frozen=True)
class Outcome:
    """A plan, its predicted and its measured seconds."""

    name: str
    program: str
    kind: str
    ranks: int
    seed: int | None
    predicted_seconds: float
    measured_seconds: float

    @property
    def error(self) -> float:
        return self.predicted_seconds / self.measured_seconds - 1


def add_test_plans(plans: PlanFolder, scales: Sequence[str]) -> None:
    for scale, ranks in itertools.product(scales, (1, 2)):
        tables = tpch_data.ensure(scale)
        for query in SCANS + JOINS:
            text = (places.QUERIES / f"{query}.sql").read_text()
            kind = "exchange" if ranks > 1 else "scan" if query in SCANS else "join"
            seeds: list[int | None] = [None]
            if ranks > 1 and query in ALTERNATIVES and scale == scales[-1]:
                seeds += SEEDS
            for seed in seeds:
                plans.add_query(f"{query}-sf{scale}", kind, text, tables, ranks, seed)
    for name, function, types in networks():
        for ranks in (1, 2):
            for seed in (None, *SEEDS) if ranks > 1 else (None,):
                plans.add_tensors(name, function, types, ranks, seed)


def add_own_plans(plans: PlanFolder, folder: Path) -> None:
    """Queries that neither calibrate nor are TPC-H's."""
    folder.mkdir()
    own_tables.write_tables(folder)
    for ranks in (1, 2):
        for name, text in own_tables.queries():
            plans.add_query(f"own-{name}", "own", text, folder, ranks)


def networks() -> Iterable[tuple[str, object, tuple[object, ...]]]:
    """Two layers of several shapes; another program than any that calibrates."""
    import headrace.array as xp
    from headrace._src.array.jit import TensorType

    def network(x, w1, b1, w2):  # noqa: ANN001, ANN202
        return xp.maximum(x @ w1 + b1, 0.0) @ w2

    def matrix(*shape: int) -> TensorType:
        return TensorType(shape, "f32")

    for batch, inner, hidden, outer in ((2048, 512, 1024, 256), (256, 1024, 2048, 512), (8192, 128, 256, 64)):
        types = (matrix(batch, inner), matrix(inner, hidden), matrix(hidden), matrix(hidden, outer))
        yield f"network-{batch}-{inner}-{hidden}", network, types


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def kendall(outcomes: Sequence[Outcome]) -> float | None:
    """Tau over the pairs that measurement tells apart; none if there is no such pair."""
    score = pairs = 0
    for one, other in itertools.combinations(outcomes, 2):
        low, high = sorted((one, other), key=lambda outcome: outcome.measured_seconds)
        if high.measured_seconds < (1 + NOISE) * low.measured_seconds:
            continue
        pairs += 1
        score += 1 if low.predicted_seconds < high.predicted_seconds else -1
    return score / pairs if pairs else None


def alternatives(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    """By program, what ran on two ranks in more than one way."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.ranks > 1:
            groups[outcome.program].append(outcome)
    return {name: group for name, group in groups.items() if len(group) > 2}


def _error_lines(outcomes: Sequence[Outcome]) -> list[str]:
    lines = [f"{'plans':<12} {'count':>5} {'mean':>8} {'median':>8} {'p90':>8} {'tau':>6}"]
    kinds = ["all", *sorted({outcome.kind for outcome in outcomes})]
    for kind in kinds:
        chosen = [outcome for outcome in outcomes if kind in ("all", outcome.kind)]
        errors = [abs(outcome.error) for outcome in chosen]
        mean = sum(errors) / len(errors)
        figures = (mean, quantile(errors, 0.5), quantile(errors, 0.9))
        tau = kendall(chosen)
        lines.append(
            f"{kind:<12} {len(errors):>5} "
            + " ".join(f"{100 * figure:>6.1f} %" for figure in figures)
            + ("" if tau is None else f" {tau:>6.2f}")
        )
    return lines


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The figures that docs/reference/accuracy.md states."""
    errors = [abs(outcome.error) for outcome in outcomes]
    groups = alternatives(outcomes)
    taus = {name: tau for name, group in groups.items() if (tau := kendall(group)) is not None}
    chosen: dict[str, float] = {}
    simulated: dict[str, float] = {}
    for name, group in groups.items():
        best = min(outcome.measured_seconds for outcome in group)
        by_model = min(group, key=lambda outcome: outcome.predicted_seconds)
        simulated[name] = by_model.measured_seconds / best - 1
        for outcome in group:
            if outcome.seed is None:
                chosen[name] = outcome.measured_seconds / best - 1
    return {
        "plans": len(outcomes),
        "mean_error": sum(errors) / len(errors),
        "median_error": quantile(errors, 0.5),
        "p90_error": quantile(errors, 0.9),
        "bias": math.exp(_mean(math.log(1 + outcome.error) for outcome in outcomes)) - 1,
        "kendall_tau_all": kendall(outcomes),
        "kendall_tau": taus,
        "regret_compiled": chosen,
        "regret_simulated": simulated,
    }


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else float("nan")


def report(outcomes: Sequence[Outcome]) -> str:
    lines = [f"{'plan':<36} {'predicted ms':>12} {'measured ms':>12} {'error':>8}"]
    for outcome in outcomes:
        lines.append(
            f"{outcome.name:<36} {1e3 * outcome.predicted_seconds:>12.3f} "
            f"{1e3 * outcome.measured_seconds:>12.3f} {100 * outcome.error:>6.1f} %"
        )
    lines += ["", *_error_lines(outcomes)]
    figures = summary(outcomes)
    lines += [
        "",
        f"{'alternatives':<28} {'ways':>4} {'tau':>6} {'regret, compiled':>17} {'regret, simulated':>18}",
    ]
    for name, group in alternatives(outcomes).items():
        tau = figures["kendall_tau"].get(name)
        compiled = 100 * figures["regret_compiled"][name]
        simulated = 100 * figures["regret_simulated"][name]
        shown = "-" if tau is None else f"{tau:.2f}"
        lines.append(f"{name:<28} {len(group):>4} {shown:>6} {compiled:>15.1f} % {simulated:>16.1f} %")
    lines.append(
        f"{'mean':<28} {'':>4} {_mean(figures['kendall_tau'].values()):>6.2f} "
        f"{100 * _mean(figures['regret_compiled'].values()):>15.1f} % "
        f"{100 * _mean(figures['regret_simulated'].values()):>16.1f} %"
    )
    lines.append(f"all together are said to take {100 * figures['bias']:+.1f} % (geometric mean)")
    return "\n".join(lines)


def _tune(*arguments: str | Path) -> None:
    tool = places.build_folder("release") / "bin" / "headrace-tune"
    subprocess.run([tool, *map(str, arguments)], check=True)


def compare(
    plans: Path,
    entries: Sequence[PlanEntry],
    against: Sequence[str | Path],
    output: Path,
    figures: Sequence[str],
) -> list[Outcome]:
    """What `headrace-tune compare` says of the plans, `against` being how the model is calibrated."""
    _tune("compare", plans, *against, *figures, "--output", output, "--quiet")
    by_name = {entry.name: entry for entry in entries}
    return [
        Outcome(
            **asdict(by_name[record["plan"]]),
            predicted_seconds=record["predicted_seconds"],
            measured_seconds=record["measured_seconds"],
        )
        for record in json.loads(output.read_text())
        if not record.get("calibration")
    ]


def make_plans(folder: Path, scales: Sequence[str], calibration: bool) -> None:
    """The plans to compare in `folder`/test and, if so, those that calibrate beside them."""
    from headrace._src.calibration import calibrate
    from headrace._src.calibration.plan_folder import PlanFolder

    if calibration:
        calibrate.make_plans(folder / "calibration")
    plans = PlanFolder(folder / "test", topology=None)
    plans.folder.mkdir()
    add_test_plans(plans, scales)
    add_own_plans(plans, folder / "own")
    plans.close()
    (folder / "entries.json").write_text(
        json.dumps([asdict(entry) for entry in plans.entries], indent=1) + "\n"
    )
    for refused in plans.refused:
        print(f"not compared: {refused}")


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench accuracy", description=__doc__)
    parser.add_argument("--scales", default="0.1,1", help="TPC-H scale factors (default 0.1,1)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=6, help="of eight runs of every plan (default 6)")
    parser.add_argument(
        "--topology",
        type=Path,
        help="a topology calibrated earlier; else the small programs run in turns with those compared",
    )
    parser.add_argument(
        "--keep",
        type=Path,
        help="keep tables, plans and measurements in this folder; if they are there, run nothing",
    )
    parser.add_argument("--json", type=Path, help="write figures and plans to this file")
    options = parser.parse_args(words)
    from headrace._src.calibration.plan_folder import PlanEntry

    os.environ["HEADRACE_CALIBRATION"] = "off"  # plans as without an earlier calibration
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="headrace-accuracy-") as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(exist_ok=True)
        measured, known = folder / "measured.json", folder / "entries.json"
        if not measured.exists():
            make_plans(folder, options.scales.split(","), calibration=not options.topology)
        entries = [PlanEntry(**entry) for entry in json.loads(known.read_text())]
        against = (
            ["--topology", options.topology]
            if options.topology
            else ["--calibration", folder / "calibration" / "plans"]
        )
        figures = [
            "--threads",
            str(options.threads),
            "--rounds",
            str(options.rounds),
            "--measured",
            str(measured),
        ]
        outcomes = compare(folder / "test", entries, against, folder / "compared.json", figures)
    print(report(outcomes))
    print(f"{time.monotonic() - started:.0f} s in all")
    if options.json:
        content = {**summary(outcomes), "records": [asdict(outcome) for outcome in outcomes]}
        options.json.write_text(json.dumps(content, indent=1) + "\n")
        print(f"records in {options.json}")
    return 0
