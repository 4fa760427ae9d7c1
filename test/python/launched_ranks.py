"""Processes that are started as a launcher would: with the variables that say rank and size."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Ended:
    """How a rank's process ended."""

    status: int
    output: str
    errors: str


class Ranks:
    """Processes, by rank. None is left behind."""

    def __init__(
        self,
        command: Sequence[object],
        size: int,
        meeting: object,
        own: Mapping[int, Mapping[str, str]] | None = None,
        stdin: int | None = None,
        **variables: str,
    ) -> None:
        """own: variables of single ranks; variables: of all; stdin: as subprocess has it."""
        self._stdin = stdin
        self._command = list(map(str, command))
        self._environments = [
            {
                **os.environ,
                "HEADRACE_RANK": str(rank),
                "HEADRACE_SIZE": str(size),
                "HEADRACE_MEETING": str(meeting),
                "HEADRACE_THREADS": "1",
                **variables,
                **(own or {}).get(rank, {}),
            }
            for rank in range(size)
        ]
        self.processes = [self._start(rank) for rank in range(size)]

    def _start(self, rank: int) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self._command,
            env=self._environments[rank],
            stdin=self._stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: self._begin(rank),
        )

    def _begin(self, rank: int) -> None:
        """In the new process, before its program."""
        # What starts the tests in the background has them ignore Ctrl-C.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    def start_again(self, rank: int) -> Ended:
        """How a rank's process has ended; then one in its place, as engines do it."""
        process = self.processes[rank]
        output, errors = process.communicate(timeout=60)
        self.processes[rank] = self._start(rank)
        return Ended(process.returncode, output, errors)

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.kill()
            process.communicate()

    def ended(self, timeout: float = 120) -> list[Ended]:
        """All of them, once they have ended."""
        end = time.monotonic() + timeout
        found = []
        for process in self.processes:
            output, errors = process.communicate(timeout=max(0.1, end - time.monotonic()))
            found.append(Ended(process.returncode, output, errors))
        return found


def started_program(text: str, folder: Path, size: int, meeting: object = "", **variables: str) -> Ranks:
    """Ranks of a program, which is put into the folder, their FOLDER; they meet there, if not elsewhere."""
    (folder / "program.py").write_text(text)
    meeting = meeting or folder / "meeting"
    return Ranks([sys.executable, folder / "program.py"], size, meeting, FOLDER=str(folder), **variables)


#: The system gives the numbers from 32768 on to whoever asks for any, a test beside this one, too.
_ports = itertools.islice(itertools.cycle(range(10_000, 30_000)), os.getpid() * 64 % 20_000, None)


def free_port() -> int:
    while True:
        with suppress(OSError), socket.create_server(("127.0.0.1", next(_ports))) as server:
            return int(server.getsockname()[1])


def left_behind(folder: Path) -> list[str]:
    """Files of a meeting."""
    return sorted(os.listdir(folder)) if folder.exists() else []
