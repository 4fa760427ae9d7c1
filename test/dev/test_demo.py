"""What `./dev demo` shows, and that it runs to its end."""

from __future__ import annotations

import os
import subprocess
import sys
from decimal import Decimal

import pyarrow as pa
from dev import demo, places


def test_an_explanation_has_reasons_and_tasks() -> None:
    text = "layouts: 1 s\n  scan: block\n\nplan 1.0\nresult (x)\ntasks\n  0 load  // here\n  1 run\n"
    assert demo.decision_and_tasks(text) == (
        ["layouts: 1 s", "  scan: block"],
        ["  0 load  // here", "  1 run"],
    )
    assert demo.task_line("  0 load  // here") == "  0 load"


def test_tables_are_aligned_and_cut() -> None:
    table = pa.table({"name": ["a", None, "ccc"], "n": [Decimal("1.50"), Decimal("20.00"), None]})
    assert demo.as_text(table, 2) == "name      n\na      1.50\nNULL  20.00\n… 1 more"


def test_places_are_left_out() -> None:
    assert demo.without_places('%0 = f() : f32 loc("x.py":1:0)') == "%0 = f() : f32"


def test_the_demo_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dev.demo", "--scale", "0.01"],
        env={
            **os.environ,
            "PYTHONPATH": os.environ.get("PYTHONPATH", "") + os.pathsep + str(places.ROOT / "tools"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for words in ("next best:", "the result (", "time: compile", "where files went"):
        assert words in done.stdout
