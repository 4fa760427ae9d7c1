"""What the binaries of a folder need to be loaded elsewhere: libraries, folders, and a version of glibc."""

from __future__ import annotations

import os.path
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dev import places

# Of glibc, GCC's runtime and its C++ library: on every machine that runs Python packages with C++ in them.
SYSTEM = frozenset(
    ("ld-linux-x86-64.so.2", "libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6", "libpthread.so.0")
    + ("librt.so.1", "libstdc++.so.6")
)


@dataclass(frozen=True)
class Binary:
    """One ELF file: what it needs, where it looks, and the newest version of glibc that it asks for."""

    path: Path
    needed: tuple[str, ...]
    folders: tuple[str, ...]  # as they stand in it: $ORIGIN/../lib
    inherited: bool  # DT_RPATH: the folders hold for what its libraries need, too
    glibc: tuple[int, int]

    @staticmethod
    def read(path: Path) -> Binary:
        command = [places.LLVM_TOOLS / "llvm-readelf", "--dynamic-table", "--version-info", path]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        folders = re.search(r"\((RPATH|RUNPATH)\).*\[(.*)\]", text)
        versions = re.findall(r"GLIBC_(\d+)\.(\d+)", text)
        return Binary(
            path,
            needed=tuple(re.findall(r"\(NEEDED\).*\[(.*)\]", text)),
            folders=tuple(folders.group(2).split(":")) if folders else (),
            inherited=folders is not None and folders.group(1) == "RPATH",
            glibc=max(((int(major), int(minor)) for major, minor in versions), default=(0, 0)),
        )

    def places(self) -> list[Path]:
        """The folders on this machine, without looking whether they are there."""
        origin = str(self.path.resolve().parent)
        return [Path(os.path.normpath(folder.replace("$ORIGIN", origin))) for folder in self.folders]


def binaries(root: Path) -> list[Binary]:
    """All ELF files under a folder."""
    files = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    return [Binary.read(path) for path in files if path.open("rb").read(4) == b"\x7fELF"]


def faults(root: Path, found: Sequence[Binary], beside: Mapping[str, Sequence[str]]) -> list[str]:
    """Why binaries under `root` would not load elsewhere.

    beside: folders that will be in `root` (pyarrow), and their libraries.
    """
    texts = []
    for binary in found:
        name = binary.path.relative_to(root)
        users = [user for user in found if user.inherited and binary.path.name in user.needed]
        searched = [place for each in (binary, *users) for place in each.places()]
        for folder in binary.folders:
            if not folder.startswith("$ORIGIN"):
                texts.append(f"{name} looks for libraries in a folder of this machine: {folder}")
        for library in binary.needed:
            there = any(
                (place / library).exists()
                or (place.parent == root.resolve() and library in beside.get(place.name, ()))
                for place in searched
            )
            if library not in SYSTEM and not there:
                texts.append(f"{name} needs a library that it will not find: {library}")
    return texts
