"""A group of processes to which the system gives only so much memory: cgroups of version 1 and 2."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")


def _own_folders() -> Iterator[tuple[Path, str]]:
    """This process's group of each hierarchy that may limit memory, and the name of its limit's file."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "memory":
            yield _ROOT / "memory" / path.lstrip("/"), "memory.limit_in_bytes"
        elif not controllers:
            yield _ROOT / path.lstrip("/"), "memory.max"


class ControlGroup:
    """The group; a process enters by writing its number to `processes`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.processes = folder / "cgroup.procs"

    def kills(self) -> int:
        """How many processes the system has ended for want of memory."""
        name = "memory.oom_control" if (self._folder / "memory.oom_control").exists() else "memory.events"
        counts = dict(line.split() for line in (self._folder / name).read_text().splitlines())
        return int(counts["oom_kill"])


@contextlib.contextmanager
def limited(limit: int) -> Iterator[ControlGroup | None]:
    """A new group with a limit in bytes, inside this process's; None where none can be made."""
    folder = next((made for parent, file in _own_folders() if (made := _make(parent, file, limit))), None)
    try:
        yield ControlGroup(folder) if folder else None
    finally:
        if folder:
            folder.rmdir()


def _make(parent: Path, file: str, limit: int) -> Path | None:
    folder = parent / f"headrace_test_{os.getpid()}"
    try:
        folder.mkdir()
        if (folder / file).exists():
            (folder / file).write_text(str(limit))
            return folder
        folder.rmdir()
    except OSError:
        with contextlib.suppress(OSError):
            folder.rmdir()
    return None
