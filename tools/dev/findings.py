"""What a check of ./dev tidy reports, and the files that it looks at."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dev import places


@dataclass(frozen=True, order=True)
class Finding:
    """One thing to correct. The path is relative to the checkout; line 0 means the file as a whole."""

    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message} [{self.rule}]"


def source_files(root: Path = places.ROOT) -> list[str]:
    """Every file that git tracks or would add, relative to the checkout, in a stable order.

    In a copy without git (an unpacked archive) all files outside the build folders.
    """
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        return sorted(_walk(root))
    return sorted(name for name in listed.stdout.splitlines() if (root / name).is_file())


def _walk(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith((".", "build")) and f != "__pycache__"]
        for file in files:
            yield str((Path(folder) / file).relative_to(root))


def changed_files(root: Path = places.ROOT) -> list[str]:
    """The files that differ from the branch main, committed or not; all files where there is no main."""
    base = subprocess.run(
        ["git", "merge-base", "main", "HEAD"], cwd=root, capture_output=True, text=True, check=False
    )
    if base.returncode != 0:
        return source_files(root)
    commands = [
        ["git", "diff", "--name-only", base.stdout.strip()],
        ["git", "ls-files", "--others", "--exclude-standard"],
    ]
    names: set[str] = set()
    for command in commands:
        listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
        names.update(listed.stdout.splitlines())
    return sorted(name for name in names if (root / name).is_file())
