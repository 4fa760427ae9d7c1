"""Puts the bundle together: cases compiled to PTX and for the emulation, their data, the runner."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb

from dev import places, tpch_data
from dev.gpu_bundle import case_data
from dev.steps import StepFailed

CASES = Path(__file__).parent / "cases"
SIZE_MAX = 60_000_000
_README = """One command checks this bundle on the machine's first NVIDIA GPU: ./run
Needed: Linux on x86-64, NVIDIA's driver for CUDA 12.0 or later, a GPU of compute capability 8.0 or later.
./run --json FILE writes all results as JSON; ./run --help says the rest.
"""


class Compiler:
    """The project's tools of a build, and the tables that cases take."""

    def __init__(self, build: Path) -> None:
        self.tools = build / "bin"
        self.tables = tpch_data.ensure("0.01")
        self.kernels: dict[str, dict[str, bytes]] = {}
        self.columns: dict[tuple[str, str, int], case_data.Column] = {}

    def run(self, tool: str, *words: str, text: str) -> bytes:
        command = [str(self.tools / tool), *words]
        done = subprocess.run(command, input=text.encode(), check=False, capture_output=True)
        if done.returncode:
            raise StepFailed(f"{tool} {' '.join(words)}: {done.stderr.decode()}")
        return done.stdout

    def formed(self, program: str) -> str:
        """A query of TPC-H, or a file of test/, after the phase form."""
        data = places.ROOT / "test" / "data" / "tpch"
        if (plan := data / "substrait" / f"{program}.json").exists():
            statistics = [
                f"--statistics={path.stem}={path}" for path in sorted((data / "statistics").glob("*.json"))
            ]
            text = self.run(
                "headrace-translate", "--substrait-to-mlir", *statistics, text=plan.read_text()
            ).decode()
            return self.run("headrace-opt", "--stop-after=form", text=text).decode()
        text = (places.ROOT / "test" / program).read_text()
        if "linalg" in text and "library_call" not in text:
            return self.run("headrace-opt", "--form", text=text).decode()
        return text

    def compiled(self, text: str) -> dict[str, bytes]:
        """The kernels of a program after form: manifest, PTX, and a shared object for the emulation."""
        if text not in self.kernels:
            self.kernels[text] = {
                name: self.run("headrace-translate", f"--kernel-to-{name}", text=text)
                for name in ("manifest", "ptx", "emulation")
            }
        return self.kernels[text]

    def connection(self, tables: dict[str, str]) -> duckdb.DuckDBPyConnection:
        """TPC-H's tables, and a case's own, which may take the place of one of them."""
        connection = duckdb.connect()
        for file in sorted(self.tables.glob("*.parquet")):
            connection.execute(f"create view {file.stem} as select * from '{file}'")
        for name, sql in tables.items():
            connection.execute(f"create table case_{name} as {sql}")
            connection.execute(f"create or replace view {name} as select * from case_{name}")
        return connection

    def column(
        self, connection: duckdb.DuckDBPyConnection, table: str, name: str, kind: int, own: bool
    ) -> case_data.Column:
        """A column in a physical type; those of TPC-H are made once, `own` ones for their case."""
        found = None if own else self.columns.get((table, name, kind))
        if found is None:
            values = [row[0] for row in connection.execute(f"select {name} from {table}").fetchall()]
            found = case_data.column(kind, values)
            if not own:
                self.columns[table, name, kind] = found
        return found


def read(path: Path) -> list[tuple[str, dict[str, Any], list[list[str]]]]:
    """The cases of a file: their names, what the file says of them, and what each replaces in its program."""
    document = tomllib.loads(path.read_text())
    if "programs" in document:
        return [(name, document | {"program": name}, []) for name in document["programs"]]
    variants = document.get("variants", {path.stem: []})
    return [(name, document, replaced) for name, replaced in variants.items()]


def steps_of(document: dict[str, Any], manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """The case's own, or all kernels but those that merge partial states and those that link."""
    if "steps" in document:
        steps: list[dict[str, Any]] = document["steps"]
        return steps
    return [
        {"kernel": kernel["symbol"]}
        for kernel in manifest["kernels"]
        if not kernel["symbol"].startswith("link_") and kernel.get("reads") != kernel.get("fills", "")
    ]


def query_of(document: dict[str, Any], expected: dict[str, Any]) -> str:
    """What gives the expected rows: of a whole query without order and limit, which no device does."""
    if "sql" in expected:
        sql: str = expected["sql"]
        return sql
    text = (places.QUERIES / f"{document['program']}.sql").read_text()
    head, found, _ = text.rpartition("order by")
    return head if found else text


def columns_of(manifest: dict[str, Any], symbols: set[str]) -> Iterator[tuple[str, str, int]]:
    """Table, column and physical type of all that these kernels scan, each once."""
    seen = set()
    for kernel in manifest["kernels"]:
        for column in kernel["columns"]:
            entry = (kernel.get("table", ""), column.get("file", ""), column["type"])
            if kernel["symbol"] in symbols and entry[0] and entry not in seen:
                seen.add(entry)
                yield entry


def make_case(
    compiler: Compiler, name: str, document: dict[str, Any], replaced: list[list[str]], folder: Path
) -> None:
    """Writes the folder of one case (tools/headrace-gpu/case_file.h says what is in it)."""
    text = compiler.formed(document["program"])
    for old, new in replaced:
        if old not in text:
            raise StepFailed(f"case {name} replaces what is not in its program: {old}")
        text = text.replace(old, new)
    folder.mkdir(parents=True)
    compiled = compiler.compiled(text)
    manifest = json.loads(compiled["manifest"])
    (folder / "kernels.ptx").write_bytes(compiled["ptx"])
    (folder / "kernels.so").write_bytes(compiled["emulation"])
    connection = compiler.connection(document.get("tables", {}))
    data = case_data.DataFile()
    tables: dict[str, dict[str, Any]] = {}
    own_steps = steps_of(document, manifest)
    symbols = {step["kernel"] for step in own_steps}
    for table, column, kind in columns_of(manifest, symbols):
        found = compiler.column(connection, table, column, kind, own=table in document.get("tables", {}))
        entry = tables.setdefault(table, {"rows": found.rows, "columns": []})
        entry["columns"].append(found.write(data, column))
    steps = []
    for step in own_steps:
        steps.append(step | {"tensors": case_data.tensors(data, step)} if "tensors" in step else step)
    expectations = []
    for expected in document["expect"]:
        rows = case_data.expected_rows(connection, query_of(document, expected))
        expectations.append({key: expected[key] for key in expected if key == "state"} | rows)
    data.write(folder / "data.bin")
    case = {"name": name, "about": document["about"], "forms": document["forms"], "manifest": manifest}
    case |= {"tables": tables, "steps": steps, "expect": expectations}
    case |= {key: document[key] for key in ("figure",) if key in document}
    (folder / "case.json").write_text(json.dumps(case, separators=(",", ":")))


def make(build: Path, bundle: Path) -> int:
    """Makes the folder anew; its bytes."""
    if bundle.exists() and any(bundle.iterdir()) and not (bundle / "README.txt").exists():
        raise StepFailed(f"not empty, and no bundle: {bundle}")
    shutil.rmtree(bundle, ignore_errors=True)
    (bundle / "kernels").mkdir(parents=True)
    (bundle / "README.txt").write_text(_README)
    compiler = Compiler(build)
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # most of it runs in other processes
        made = [
            pool.submit(make_case, compiler, name, document, replaced, bundle / "cases" / name)
            for path in sorted(CASES.glob("*.toml"))
            for name, document, replaced in read(path)
        ]
        for case in made:
            case.result()
    for name in ("decode_kernels", "figure_kernels"):
        for suffix in (".ptx", ".so"):
            shutil.copy(build / "gpu_kernels" / f"{name}{suffix}", bundle / "kernels")
    subprocess.run(["strip", "-o", bundle / "run", build / "bin" / "headrace-gpu"], check=True)
    size = sum(path.stat().st_size for path in bundle.rglob("*") if path.is_file())
    if size > SIZE_MAX:
        raise StepFailed(f"the bundle may have {SIZE_MAX} bytes, got: {size}")
    return size
