"""Runs headrace-interpret: tables to CSV, programs to the tool, its output back to Python values."""

from __future__ import annotations

import datetime
import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

TOOL = "headrace-interpret"


def cell(value: object) -> str:
    """A value as the tool reads it: NULL is empty, strings are quoted."""
    if value is None:
        return ""
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    if isinstance(value, bool):
        return "true" if value else "false"
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def write_csv(folder: Path, name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    lines = [",".join(columns), *(",".join(map(cell, row)) for row in rows)]
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


def write_table(folder: Path, name: str, table: pa.Table) -> None:
    columns = [column.to_pylist() for column in table.columns]
    write_csv(folder, name, table.column_names, zip(*columns, strict=True))


@dataclass
class Output:
    """What the tool said of one program. Cells of results are text; None is NULL."""

    rows: list[list[str | None]] = field(default_factory=list)
    data_error: str = ""
    compared: int = 0
    differences: list[str] = field(default_factory=list)


def parse_line(line: str) -> list[str | None]:
    cells: list[str | None] = []
    at = 0
    while at <= len(line):
        if line[at : at + 1] == '"':
            match = re.compile(r'"((?:[^"]|"")*)"').match(line, at)
            assert match, line
            cells.append(match.group(1).replace('""', '"'))
            at = match.end() + 1
        else:
            end = line.find(",", at)
            end = len(line) if end < 0 else end
            cells.append(line[at:end] or None)
            at = end + 1
    return cells


def value_of(text: str | None, kind: pa.DataType) -> object:
    """A cell as the Python value that pyarrow gives for the type."""
    if text is None:
        return None
    if pa.types.is_decimal(kind):
        return Decimal(text)
    if pa.types.is_date(kind):
        return datetime.date.fromisoformat(text)
    if pa.types.is_boolean(kind):
        return text == "true"
    if pa.types.is_integer(kind):
        return int(text)
    return float(text) if pa.types.is_floating(kind) else text


def run_tool(tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a tool of the build."""
    environment = dict(os.environ)
    if build := environment.get("HEADRACE_BUILD"):
        environment["PATH"] = f"{build}/bin{os.pathsep}{environment['PATH']}"
    return subprocess.run([tool, *arguments], capture_output=True, text=True, env=environment, check=False)


def run_on_tensors(program: Path, *arguments: str) -> tuple[list[list[float]], list[str]]:
    """Runs one program of tensors: the elements of its results, and the differences that --check finds."""
    done = run_tool(TOOL, str(program), *arguments)
    if done.returncode != 0:
        return [], done.stderr.splitlines()
    blocks = done.stdout.split("\n\n")[:-1]
    return [[float(word) for word in block.split("\n", 1)[1].split()] for block in blocks], []


def interpret(program: Path, tables: Path, *arguments: str) -> list[Output]:
    """Runs a file of programs. With --check among the arguments: one Output per program. Without: one."""
    done = run_tool(TOOL, str(program), "--tables", str(tables), *arguments)
    outputs = [Output()]
    for line in done.stdout.splitlines():
        if line.startswith("compared "):
            outputs[-1].compared = int(line.split()[1])
            outputs.append(Output())
        elif line.startswith("data error: "):
            outputs[-1].data_error = line
        else:
            outputs[-1].rows.append(parse_line(line))
    if "--check" in arguments:
        outputs.pop()
    for output in outputs:
        output.rows = output.rows[1:-1]  # the names, and the empty line behind a result
    errors = re.findall(r"^.*?: program (\d+): (.*)$", done.stderr, re.MULTILINE)
    for number, error in errors:
        outputs[int(number) - 1].differences.append(error)
    assert done.returncode == 0 or errors, done.stderr
    return outputs
