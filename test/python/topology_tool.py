"""headrace-topo as a program, and what tests ask of the documents that it writes."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[2]
DATA = ROOT / "test" / "data" / "topology"
SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "reference" / "topology.schema.json").read_text()))


def run(
    *arguments: object, status: int = 0, path: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    tool = shutil.which("headrace-topo")
    assert tool, "headrace-topo is not on PATH"
    variables = {**os.environ, **environment, **({"PATH": path} if path else {})}
    command = [tool, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=120)
    assert done.returncode == status, done.stderr
    return done


def imported(*arguments: object) -> dict:
    return imported_with_notes(*arguments)[0]


def imported_with_notes(*arguments: object) -> tuple[dict, list[str]]:
    """The document, and what standard error says was assumed or left out."""
    done = run("import", *arguments)
    document = json.loads(done.stdout)
    assert [error.message for error in SCHEMA.iter_errors(document)] == []
    return document, [line.split(": ", 2)[2] for line in done.stderr.splitlines()]


def routes_of(document: dict) -> dict[tuple[str, str], list[str]]:
    node = document["node_types"]["node"]
    return {(route["from"], route["to"]): route["via"] for route in node["routes"]}


def value(figure: object) -> float:
    return figure["v"] if isinstance(figure, dict) else figure  # type: ignore[return-value]


def origin(document: dict, figure: object) -> str:
    default = document.get("defaults", {}).get("kind", "assumed")
    return figure.get("kind", default) if isinstance(figure, dict) else default


def dgx(folder: Path, name: str) -> str:
    """A PATH whose nvidia-smi prints what that of a DGX does."""
    tool = folder / "nvidia-smi"
    smi = DATA.parent / "nvidia-smi" / name
    tool.write_text(f'#!/bin/sh\nif [ "$1" = topo ]; then cat {smi}-topo.txt\nelse cat {smi}-query.csv; fi\n')
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    return f"{folder}:{os.environ['PATH']}"
