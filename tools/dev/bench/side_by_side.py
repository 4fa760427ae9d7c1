"""Queries on several engines, one query after the other on each in turn, from the same files.

Each engine has one process, so that its memory is its own; only one of them works at a time. The first run
of a query is the kind `first`; it is also the warm-up of `repeated`, the best of the following runs. The kind
`first-cached` is the first run in a new process of its own, with what was compiled before; start and imports
are not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from dev import places, python_environment
from dev.bench.answers import difference
from dev.bench.engines import ENGINES
from dev.bench.records import FIRST, FIRST_CACHED, REPEATED, Record, table

# How many runs `repeated` takes the best of.
REPEATS = 3


class Child:
    """The process of one engine; a crash or a time-out of it is a note in its records, and it starts anew."""

    def __init__(self, engine: str, folder: Path, threads: int, memory: str, cache: Path) -> None:
        self.engine = engine
        self._arguments = [str(folder), str(threads), memory]
        self._cache = cache
        self.version = ""
        self.failure = ""
        self._start()

    def _start(self) -> None:
        read, write = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dev.bench.worker", self.engine, *self._arguments, str(write)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=[write],
            # What an earlier benchmark left compiled must not make first runs look fast.
            env={**os.environ, "HEADRACE_HOME": str(self._cache)},
            text=True,
        )
        os.close(write)
        self._answers = os.fdopen(read)
        opened = self._answer(60.0)
        self.version = opened.get("version", "")
        self.failure = opened.get("error", "")

    def _answer(self, timeout: float) -> dict[str, Any]:
        ready, _, _ = select.select([self._answers], [], [], timeout)
        if not ready:
            self._process.kill()
            return {"error": f"no answer within {timeout:.0f} s"}
        line = self._answers.readline()
        if line:
            return json.loads(line)
        code = self._process.wait()
        assert self._process.stderr is not None
        tail = self._process.stderr.read().strip().splitlines()[-1:]
        return {"error": f"the process ended with {code}: {' '.join(tail)}"}

    def run(self, text: str, runs: int, result_file: Path, timeout: float) -> dict[str, Any]:
        if self.failure:
            return {"error": self.failure}
        if self._process.poll() is not None:
            self.close()
            self._start()
        request = {"text": text, "runs": runs, "result_file": str(result_file)}
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # _answer says how the process ended
        return self._answer(timeout)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._answers.close()


def _records(answer: dict[str, Any], fresh: dict[str, Any], base: dict[str, Any]) -> list[Record]:
    """Of the runs in the engine's process, and of the one in a fresh process."""
    if "error" in answer:
        note = answer["error"].splitlines()[0][:200]
        kinds = (FIRST, REPEATED, FIRST_CACHED)
        return [Record(**base, kind=kind, seconds=None, note=note) for kind in kinds]
    first, *rest = answer["runs"]
    rows = answer["rows"]
    best = min(rest, key=lambda run: run["seconds"]) if rest else first
    records = [
        Record(**base, kind=FIRST, rows=rows, **first),
        Record(**base, kind=REPEATED, rows=rows, **best),
    ]
    if "error" in fresh:
        note = fresh["error"].splitlines()[0][:200]
        return [*records, Record(**base, kind=FIRST_CACHED, seconds=None, note=note)]
    return [*records, Record(**base, kind=FIRST_CACHED, rows=rows, **fresh["runs"][0])]


def _read(path: Path) -> pa.Table:
    with pa.OSFile(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def _without_time(record: Record, note: str) -> Record:
    return Record(**{**record.as_json(), "seconds": None, "note": note})  # type: ignore[arg-type]


def measure(
    texts: Mapping[str, str],
    folder: Path,
    scale: str,
    engines: Sequence[str],
    threads: int,
    timeout: float,
    memory: str = "",
) -> list[Record]:
    """Runs queries, by name, on each engine in turn; an answer unlike DuckDB's has no time, but a note."""
    for path in folder.glob("*.parquet"):  # into the page cache: no engine pays for the disk
        with path.open("rb") as file:
            while file.read(1 << 24):
                pass
    records: list[Record] = []
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as scratch:
        children = [Child(name, folder, threads, memory, Path(scratch) / "cache") for name in engines]
        try:
            for query, text in texts.items():
                oracle: pa.Table | None = None
                of_query: list[Record] = []
                results: dict[str, Path] = {}
                for child in children:
                    _progress(f"  {query} {child.engine}")
                    file = Path(scratch) / f"{query}-{child.engine}.arrow"
                    answer = child.run(text, 1 + REPEATS, file, timeout)
                    fresh = answer
                    if "error" not in answer:
                        alone = Child(child.engine, folder, threads, memory, Path(scratch) / "cache")
                        fresh = alone.run(text, 1, Path(scratch) / "fresh.arrow", timeout)
                        alone.close()
                    base = {"engine": child.engine, "version": child.version, "scale": scale}
                    base |= {"threads": threads, "query": query}
                    of_query += _records(answer, fresh, base)
                    if "error" not in answer:
                        results[child.engine] = file
                if "duckdb" in results:
                    oracle = _read(results["duckdb"])
                for record in of_query:
                    note = ""
                    if oracle is not None and record.engine in results and record.engine != "duckdb":
                        note = difference(_read(results[record.engine]), oracle)
                    records.append(_without_time(record, note) if note else record)
        finally:
            for child in children:
                child.close()
            _progress("")
    return records


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def compile_medians(records: Sequence[Record]) -> str:
    """What headrace's compiling took: cold in first runs, looked up in repeated ones."""
    parts = []
    for kind, what in ((FIRST, "cold"), (REPEATED, "cached")):
        times = [
            record.compile_seconds
            for record in records
            if record.engine == "headrace" and record.kind == kind and record.compile_seconds is not None
        ]
        if times:
            parts.append(f"{statistics.median(times) * 1e3:.1f} ms {what} (worst {max(times) * 1e3:.1f})")
    return ", ".join(parts)


def _machine() -> dict[str, object]:
    model = ""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": model or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": memory,
        "kernel": platform.release(),
    }


def _commit() -> str:
    asked = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=places.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.strip()


def parser_of(name: str, description: str | None, engines: Sequence[str]) -> argparse.ArgumentParser:
    """The options that all such benchmarks have."""
    parser = argparse.ArgumentParser(prog=f"./dev bench {name}", description=description)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument(
        "--engines", default=",".join(engines), help=f"of {','.join(ENGINES)}, the first is compared"
    )
    parser.add_argument(
        "--timeout", type=float, default=600.0, help="seconds for all runs of a query on an engine"
    )
    parser.add_argument("--memory", default="", help="limit for headrace and DuckDB, such as 500MB")
    parser.add_argument("--json", type=Path, help="write the records to this file")
    return parser


def compare(
    parser: argparse.ArgumentParser,
    options: argparse.Namespace,
    title: str,
    texts: Mapping[str, str],
    folder: Path,
    scale: str,
) -> int:
    """Measures, prints the tables, and writes the records to the file that was asked for."""
    engines = options.engines.split(",")
    if unknown := [name for name in engines if name not in ENGINES]:
        parser.error(f"no such engine: {unknown[0]}")
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    if any(ENGINES[name].is_peer_only for name in engines):
        python_environment.ensure_peers()
    records = measure(texts, folder, scale, engines, options.threads, options.timeout, options.memory)
    title += f", memory {options.memory}" if options.memory else ""
    for kind, what in (
        (REPEATED, f"best of {REPEATS} after one run"),
        (FIRST, "the first run in the process"),
        (FIRST_CACHED, "the first run in a process of its own, compiled before"),
    ):
        print(f"\n{title}, {options.threads} threads, {kind} ({what}):\n")
        print(table(records, engines, kind))
    if times := compile_medians(records):
        print(f"\ncompile time of headrace, median of the queries: {times}")
    notes = {(record.engine, record.query, record.note) for record in records if record.note}
    if notes:
        print("\nwithout a time:")
        for engine, query, note in sorted(notes):
            print(f"  {engine} {query}: {note}")
    if options.json:
        content = {"started": started, "commit": _commit(), "machine": _machine()}
        content["records"] = [record.as_json() for record in records]
        options.json.write_text(json.dumps(content, indent=1) + "\n")
        print(f"\nrecords in {options.json}")
    return 0
