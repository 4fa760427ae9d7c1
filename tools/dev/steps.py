"""Steps of set-up: one line each with its time, the full output in build/logs, its tail on failure.

Everything here prints to stderr, so that the output of the command itself (`./dev python -c …`) stays clean.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from dev import places

TAIL_LINES = 40
# A step quicker than this that did nothing is not worth a line.
QUIET_SECONDS = 0.75
# Without a terminal, say at this interval that a long step is still going on.
HEARTBEAT_SECONDS = 60.0


class StepFailed(Exception):
    """A set-up step or a tool failed; the message is complete and is printed as it is."""


class Step:
    """One line of progress. On a terminal it is rewritten in place; elsewhere it is printed when done."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.start = time.monotonic()
        self.always = False
        self.outcome = ""
        self._on_terminal = sys.stderr.isatty()
        self._shown = 0.0

    def seconds(self) -> float:
        return time.monotonic() - self.start

    def progress(self, text: str) -> None:
        """Shows how far it is, at most ten times a second (on a terminal) or once a minute."""
        now = time.monotonic()
        if self._on_terminal:
            if now - self._shown >= 0.1:
                self._shown = now
                sys.stderr.write(f"\r\033[K  {self.title} … {text}")
                sys.stderr.flush()
        elif now - max(self._shown, self.start) >= HEARTBEAT_SECONDS:
            self._shown = now
            print(f"  {self.title} … {text} ({self.seconds():.0f} s)", file=sys.stderr, flush=True)

    def finish(self, mark: str) -> None:
        clear = "\r\033[K" if self._on_terminal else ""
        if mark == "ok" and not self.always and self.seconds() < QUIET_SECONDS:
            sys.stderr.write(clear)
            return
        outcome = f" ({self.outcome})" if self.outcome else ""
        line = f"{clear}  {self.title:<44} {mark:>6}  {self.seconds():6.1f} s{outcome}"
        print(line, file=sys.stderr, flush=True)


@contextmanager
def step(title: str) -> Iterator[Step]:
    """Times a block and prints its line; a failure inside is marked as such."""
    current = Step(title)
    current.progress("")
    try:
        yield current
    except BaseException:
        current.finish("FAILED")
        raise
    current.finish("ok")


def run(
    command: Sequence[str | Path],
    log: str,
    *,
    environment: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
    accept: Callable[[int], bool] = lambda code: code == 0,
) -> int:
    """Runs a command, output to build/logs/LOG.log; raises StepFailed with its tail if not accepted."""
    places.LOGS.mkdir(parents=True, exist_ok=True)
    path = places.LOGS / f"{log}.log"
    words = [str(word) for word in command]
    with path.open("w") as file:
        file.write("$ " + " ".join(words) + "\n")
        file.flush()
        process = subprocess.Popen(
            words,
            cwd=places.ROOT,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        assert process.stdout is not None
        try:
            for line in process.stdout:
                file.write(line)
                if on_line:
                    on_line(line.rstrip("\n"))
        except BaseException:
            process.terminate()
            process.wait()
            raise
        code = process.wait()
    if not accept(code):
        raise StepFailed(failure(words, code, path))
    return code


def failure(words: Sequence[str], code: int, log: Path) -> str:
    """The message of a failed command: what failed, the telling part of its output, and where the rest is."""
    lines = log.read_text(errors="replace").splitlines()[1:]
    # Ninja goes on with what is under way after the first failure: show from there instead of the end.
    first = next((i for i, line in enumerate(lines) if line.startswith("FAILED: ")), None)
    shown = lines[first : first + TAIL_LINES] if first is not None else lines[-TAIL_LINES:]
    body = "\n".join(f"    {line[:400]}" for line in shown)
    try:
        where = log.relative_to(places.ROOT)
    except ValueError:
        where = log
    return f"{body}\n{Path(words[0]).name} failed with exit code {code}; all of its output is in {where}"
