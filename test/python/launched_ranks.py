"""Processes that are started as a launcher would: with the variables that say rank and size."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
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
        **variables: str,
    ) -> None:
        """own: variables of single ranks; variables: of all."""
        self.processes: list[subprocess.Popen[str]] = []
        for rank in range(size):
            environment = {
                **os.environ,
                "HEADRACE_RANK": str(rank),
                "HEADRACE_SIZE": str(size),
                "HEADRACE_MEETING": str(meeting),
                "HEADRACE_THREADS": "1",
                **variables,
                **(own or {}).get(rank, {}),
            }
            self.processes.append(
                subprocess.Popen(
                    list(map(str, command)),
                    env=environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )

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


def free_port() -> int:
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        return chosen.getsockname()[1]


def left_behind(folder: Path) -> list[str]:
    """Files of a meeting."""
    return sorted(os.listdir(folder)) if folder.exists() else []
