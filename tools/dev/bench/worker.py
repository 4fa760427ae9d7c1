"""The process of one engine: reads requests (JSON lines) on stdin, answers on a descriptor of its own.

A request names the text of a query, how often to run it, and a file for the result (Arrow IPC); the answer
has seconds, compile seconds and peak memory per run. Engines may print to stdout as they like.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa

from dev.bench.engines import ENGINES, Engine


def _reset_peak() -> None:
    """Makes the kernel's high-water mark of resident memory start again from what is resident now."""
    Path("/proc/self/clear_refs").write_text("5")


def _peak_bytes() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no VmHWM in /proc/self/status")


def _measure(engine: Engine, text: str, runs: int, result_file: Path) -> dict[str, Any]:
    measured = []
    for _ in range(runs):
        _reset_peak()
        start = time.perf_counter()
        table = engine.run(text)
        seconds = time.perf_counter() - start
        measured.append(
            {
                "seconds": seconds,
                "compile_seconds": engine.compile_seconds(),
                "peak_memory_bytes": _peak_bytes(),
            }
        )
    with pa.OSFile(str(result_file), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return {"runs": measured, "rows": table.num_rows}


def main() -> None:
    name, folder, threads, memory, answers = sys.argv[1:]
    with os.fdopen(int(answers), "w") as out:

        def answer(content: dict[str, Any]) -> None:
            out.write(json.dumps(content) + "\n")
            out.flush()

        try:
            engine = ENGINES[name](Path(folder), int(threads), memory)
        except Exception as error:  # an engine that cannot be opened is reported, not fatal
            answer({"error": f"{type(error).__name__}: {error}"})
            return
        answer({"version": engine.version()})
        for line in sys.stdin:
            request = json.loads(line)
            try:
                answer(_measure(engine, request["text"], request["runs"], Path(request["result_file"])))
            except Exception as error:
                answer({"error": f"{type(error).__name__}: {error}"})


main()
