"""`headrace calibrate`: makes the small programs, and lets headrace-tune run them and fit what they took."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from headrace._src import programs as compiled_programs
from headrace._src import tools
from headrace._src.calibration.plan_folder import PlanFolder
from headrace._src.errors import HeadraceError, InputOutputError, reason
from headrace._src.settings_options import add_threads


def make_plans(folder: Path) -> Path:
    """Writes tables and plans into `folder`, a new one; the plans' folder."""
    from headrace._src.calibration import programs

    tables = folder / "tables"
    tables.mkdir(parents=True)
    programs.write_tables(tables)
    plans = PlanFolder(folder / "plans")
    plans.folder.mkdir()
    with _assumed_figures():
        for name, text, layouts in chain(programs.queries(), programs.large_queries()):
            for ranks, seed in layouts:
                plans.add_query(name, "query", text, tables, ranks, seed)
        for name, function, types in programs.tensor_programs():
            for ranks in (1, 2):
                plans.add_tensors(name, function, types, ranks)
    plans.close()
    for refused in plans.refused:
        print(f"  not calibrated with: {refused}", file=sys.stderr)
    return plans.folder


@contextmanager
def _assumed_figures() -> Iterator[None]:
    """The same plans whatever an earlier calibration found."""
    before = os.environ.get("HEADRACE_CALIBRATION")
    os.environ["HEADRACE_CALIBRATION"] = "off"
    try:
        yield
    finally:
        del os.environ["HEADRACE_CALIBRATION"]
        if before is not None:
            os.environ["HEADRACE_CALIBRATION"] = before


def fit(plans: Path, output: Path, *, threads: int, rounds: int) -> None:
    """Runs the plans and writes the topology of this machine with what they took."""
    arguments = ["--output", output, "--threads", threads, "--rounds", rounds]
    done = subprocess.run(
        [tools.path("headrace-tune"), "calibrate", plans, *map(str, arguments)], check=False
    )
    if done.returncode != 0:
        raise HeadraceError("the plans of the calibration did not run", "internal")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="the topology to write (default: where every later compilation finds it)",
    )
    add_threads(parser)
    parser.add_argument("--rounds", type=int, default=6, help="of eight runs of every program (default: 6)")


def command(arguments: argparse.Namespace) -> int:
    """Calibrates and says where the figures are."""
    if arguments.rounds < 1 or (arguments.threads is not None and arguments.threads < 1):
        raise HeadraceError("--rounds and --threads must be positive")
    output = arguments.output or _default_output()
    threads = arguments.threads or compiled_programs.default_threads()
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputOutputError(f"cannot write the figures: {output}: {reason(error)}") from None
    print("calibrating takes some minutes; nothing else should run meanwhile", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="headrace-calibration-") as scratch:
        plans = make_plans(Path(scratch) / "programs")
        made = output.with_name(f".{output.name}.{os.getpid()}")
        try:
            fit(plans, made, threads=threads, rounds=arguments.rounds)
            made.replace(output)
        finally:
            made.unlink(missing_ok=True)
    used = (
        "every later compilation for this machine uses them"
        if arguments.output is None
        else "give it as topology="
    )
    print(f"the figures are in {output}; {used}", file=sys.stderr)
    return 0


def _default_output() -> Path:
    from headrace import _runtime

    file = _runtime.calibration_file()
    if not file:
        raise HeadraceError("HEADRACE_CALIBRATION is off: give --output")
    return Path(file)
