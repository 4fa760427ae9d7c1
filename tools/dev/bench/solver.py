"""`./dev bench solver DIR`: the layout solver on instances of the IOPDDL contest (ASPLOS/EuroSys 2025).

The instances are public: `git clone https://github.com/google/iopddl`; its folder `benchmarks` is DIR
(*.json, *.json.gz). Each is solved once, one after another, for so many seconds of processor time (a loaded
machine changes little). Printed: what was found, the proven bound, and the cost over the best that a team of
the contest found in the minutes allowed (`contest_best.json`).
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dev import places
from dev.bench.records import aligned, geometric_mean
from dev.steps import StepFailed

BEST = Path(__file__).with_name("contest_best.json")
# Exit statuses of `headrace-tune solve`.
FITS, DOES_NOT_FIT = 0, 3


@dataclass(frozen=True)
class Result:
    """One instance, solved. Costs are in the contest's unit."""

    instance: str
    nodes: int
    edges: int
    nodes_left: int
    cost: float
    bound: float
    fits: bool
    first_seconds: float | None
    seconds: float
    rounds: int
    best_known: float | None

    @property
    def gap(self) -> float:
        return 1 - self.bound / self.cost if self.cost > 0 else 0.0

    @property
    def ratio(self) -> float | None:
        """The cost over the best known one, if there is one to compare with."""
        return self.cost / self.best_known if self.fits and self.best_known else None


def instances(folder: Path) -> list[Path]:
    """The instance files of a folder; of a.json and a.json.gz only the first."""
    found: dict[str, Path] = {}
    for path in sorted([*folder.glob("*.json.gz"), *folder.glob("*.json")]):
        found.setdefault(path.name.removesuffix(".gz"), path)
    if not found:
        raise StepFailed(f"no instance (*.json, *.json.gz) in {folder}")
    return [found[name] for name in sorted(found)]


def best_known() -> dict[str, float]:
    return {name: entry["cost"] for name, entry in json.loads(BEST.read_text())["instances"].items()}


def as_result(solution: dict[str, Any], best: dict[str, float]) -> Result:
    """From what `headrace-tune solve --output` writes."""
    return Result(
        instance=solution["problem"],
        nodes=solution["nodes"],
        edges=solution["edges"],
        nodes_left=solution["nodes_after_reductions"],
        cost=solution["objective"],
        bound=solution["bound"],
        fits=solution["fits"],
        first_seconds=solution.get("first_seconds"),
        seconds=solution["seconds"],
        rounds=solution["rounds"],
        best_known=best.get(solution["problem"]),
    )


def solve(path: Path, seconds: float, seed: int, tool: Path) -> dict[str, Any]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    with tempfile.TemporaryDirectory(prefix="headrace-solver-") as scratch:
        output = Path(scratch) / "solution.json"
        limits = ["--cpu-seconds", str(seconds), "--seed", str(seed)]
        command = [str(tool), "solve", "-", *limits, "--output", str(output)]
        done = subprocess.run(command, input=text, capture_output=True, check=False)
        if done.returncode not in (FITS, DOES_NOT_FIT):
            raise StepFailed(f"{path}: {done.stderr.decode(errors='replace').strip()}")
        return json.loads(output.read_text())


def table(results: Sequence[Result]) -> str:
    header = ["instance", "nodes", "edges", "left", "first s", "cost", "bound", "gap", "best known", "ratio"]
    rows = [[*header, "cpu s"]]
    for result in results:
        best = "-" if result.best_known is None else f"{result.best_known:,.0f}"
        rows.append(
            [
                result.instance.removeprefix("asplos-2025-iopddl-"),
                f"{result.nodes:,}",
                f"{result.edges:,}",
                f"{result.nodes_left:,}",
                "-" if result.first_seconds is None else f"{result.first_seconds:.2f}",
                f"{result.cost:,.0f}" if result.fits else "none fits",
                f"{result.bound:,.0f}",
                f"{100 * result.gap:.1f} %" if result.fits else "-",
                best,
                "-" if result.ratio is None else f"{result.ratio:.3f}",
                f"{result.seconds:.1f}",
            ]
        )
    mean = geometric_mean(result.ratio for result in results if result.ratio is not None)
    lines = [aligned(rows)]
    if mean is not None:
        lines.append(f"geometric mean of the ratios: {mean:.3f}")
    return "\n".join(lines)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="./dev bench solver", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the instance files")
    parser.add_argument("--seconds", type=float, default=2, help="processor seconds for each (default 2)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="instances by the end of their names: C,D,N")
    parser.add_argument("--json", type=Path, help="write figures to this file")
    options = parser.parse_args(words)
    endings = tuple(f"-{name}.json" for name in options.only.split(",") if name)
    tool = places.build_folder("release") / "bin" / "headrace-tune"
    best = best_known()
    results: list[Result] = []
    for path in instances(options.folder):
        if endings and not path.name.removesuffix(".gz").endswith(endings):
            continue
        results.append(as_result(solve(path, options.seconds, options.seed, tool), best))
        print(table(results[-1:]).splitlines()[-2 if results[-1].ratio else -1], file=sys.stderr)
    print(table(results))
    if options.json:
        records = [{**asdict(result), "ratio": result.ratio} for result in results]
        options.json.write_text(json.dumps(records, indent=1) + "\n")
    return 0 if all(result.fits for result in results) else 1
