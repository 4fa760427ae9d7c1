"""Runs scripts in processes that may die or hang."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

SECONDS = 60  # of one step, before its process is killed


class Worker:
    """A process that runs scripts one after another; started again when it died or hung."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.process: subprocess.Popen[str] | None = None

    def _start(self) -> subprocess.Popen[str]:
        reading, writing = os.pipe()
        process = subprocess.Popen(
            [sys.executable, "-m", "dev.logictest.worker", str(writing)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[writing],
            cwd=self.root,
            text=True,
        )
        os.close(writing)
        self.answers = reading
        self.received = b""
        return process

    def _next_line(self) -> bytes | None:
        """The next line that the process tells, empty if it has ended; None if it says nothing for long."""
        while b"\n" not in self.received:
            if not select.select([self.answers], [], [], SECONDS)[0]:
                return None
            more = os.read(self.answers, 1 << 16)
            if not more:
                return b""
            self.received += more
        line, self.received = self.received.split(b"\n", 1)
        return line

    def run(self, script: Path) -> Iterator[dict[str, Any]]:
        """What became of each query of a script."""
        if self.process is None:
            self.process = self._start()
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it ended by itself, and its lines say where
            self.process.stdin.write(f"{script}\n")
            self.process.stdin.flush()
        begun: dict[str, Any] = {}
        while True:
            line = self._next_line()
            if not line:
                self.process.kill()
                code = self.process.wait()
                self.process = None
                os.close(self.answers)
                note = f"no end in {SECONDS} s" if line is None else f"the process ended with {code}"
                yield {
                    "outcome": "error",
                    "note": note,
                    "line": begun.get("line"),
                    "text": begun.get("begin"),
                }
                return
            content = json.loads(line)
            if "end" in content:
                return
            if "begin" in content:
                begun = content
            elif "outcome" in content:
                yield content

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def scripts_in(paths: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        found += sorted(path.rglob("*.test*")) if path.is_dir() else [path]
    return [path.resolve() for path in found if path.suffix in (".test", ".test_slow")]


def run_all(scripts: Sequence[Path], root: Path, jobs: int) -> list[dict[str, Any]]:
    """The outcomes of all queries, with the script of each."""
    waiting: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for script in scripts:
        waiting.put(script)
    outcomes: list[dict[str, Any]] = []
    done = 0

    def work() -> None:
        nonlocal done
        worker = Worker(root)
        while True:
            try:
                script = waiting.get_nowait()
            except queue.Empty:
                worker.stop()
                return
            for outcome in worker.run(script):
                outcomes.append({**outcome, "script": os.path.relpath(script, root)})
            done += 1
            if sys.stderr.isatty() or done % 100 == 0:
                print(
                    f"  {done} of {len(scripts)} scripts",
                    file=sys.stderr,
                    end="\r" if sys.stderr.isatty() else "\n",
                )

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes
