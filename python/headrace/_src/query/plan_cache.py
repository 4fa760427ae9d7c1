"""Compiled queries kept between processes: text, tables and options to plan and kernels.

On a hit neither the SQL parser nor the compiler is loaded. A plan is code: the folders are this user's alone,
an entry states the length and digest of its files, and what does not match is made anew.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import random
import shutil
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headrace._src.errors import HeadraceError

#: One compile in so many looks whether the caches are within their limit.
PUTS_PER_TRIM = 50
#: Of an entry, beside meta.json, which states what they hold.
_FILES = ("plan.json", "kernels.so", "manifest.json")


@dataclass
class CompiledQuery:
    """A plan (JSON) and the shared object with its kernels."""

    plan_json: str
    kernels: bytes = field(repr=False)
    plan_text: str = ""
    #: The identities of the files it was compiled against, by table.
    manifest: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    phase_seconds: dict[str, float] = field(default_factory=dict)
    kernels_compiled: int = 0
    from_cache: bool = False


def cache_directory() -> Path:
    """`$HEADRACE_HOME` or `~/.cache/headrace`."""
    return Path(os.environ.get("HEADRACE_HOME") or Path.home() / ".cache" / "headrace")


def kernel_directory() -> Path:
    """Where the compiler keeps kernels; it looks itself whether the folder can be used."""
    folder = cache_directory() / "kernels"
    with contextlib.suppress(OSError):
        make_private(folder)
    return folder


@functools.cache
def build_identity() -> list[str]:
    """Another build of the compiler makes other plans."""
    folder = Path(__file__).resolve().parents[2]
    binary = next(iter(_extension_folder(folder).glob("_compiler*.so")), None)
    status = binary.stat() if binary else None
    return [str(status.st_size), str(status.st_mtime_ns)] if status else []


def _extension_folder(folder: Path) -> Path:
    import headrace

    for path in map(Path, headrace.__path__):
        if any(path.glob("_compiler*.so")):
            return path
    return folder


def key_of(parts: object) -> str:
    """A content key of JSON-like parts and this build."""
    text = json.dumps([parts, build_identity()], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def find(key: str) -> CompiledQuery | None:
    folder = cache_directory() / "plans"
    if not is_private(folder):
        return None
    entry = folder / key
    try:
        os.utime(entry)
    except OSError:
        return None
    try:
        meta = json.loads((entry / "meta.json").read_text())
        files = {name: (entry / name).read_bytes() for name in _FILES}
        if {name: _digest(data) for name, data in files.items()} != meta["files"]:
            raise ValueError("an entry was damaged")  # no test: caught below, made anew
        return CompiledQuery(
            plan_json=files["plan.json"].decode(),
            kernels=files["kernels.so"],
            plan_text=meta["plan_text"],
            manifest=json.loads(files["manifest.json"]),
            phase_seconds={},
            from_cache=True,
        )
    except (OSError, ValueError, KeyError, TypeError):
        # Half of an entry, or another version's.
        shutil.rmtree(entry, ignore_errors=True)
    return None


def put(key: str, query: CompiledQuery) -> None:
    parent = cache_directory() / "plans"
    try:
        make_private(parent)
        if not is_private(parent):
            return
        write(parent / key, query, mode=0o600)
        # Looking at all entries takes longer than compiling a query: not every time.
        if random.random() < 1 / PUTS_PER_TRIM:
            trim(parent)
            trim(cache_directory() / "kernels")
    except OSError:
        # Another process was first, or the disk is full: the query runs without the cache.
        pass


def make_private(folder: Path) -> None:
    """Makes a folder that nobody else may enter, whatever the umask; one that others could fill is
    emptied.
    """
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with contextlib.suppress(FileNotFoundError):
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and found.st_mode & 0o022:
            shutil.rmtree(folder)
    folder.mkdir(exist_ok=True, mode=0o700)
    if is_private(folder):
        folder.chmod(0o700)


def is_private(folder: Path) -> bool:
    """Whether the folder is this user's own (and no link), and nobody else can write to it."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022


def _digest(data: bytes) -> list[object]:
    return [len(data), hashlib.sha256(data).hexdigest()]


def bytes_max() -> int:
    """What the plans may take on disk, and the kernels: `$HEADRACE_CACHE_BYTES`, or 512 MiB each."""
    from headrace import _runtime

    text = os.environ.get("HEADRACE_CACHE_BYTES", "")
    if not text:
        return 512 << 20
    try:
        return _runtime.parse_bytes(text)
    except _runtime.Error as error:
        raise HeadraceError(f"HEADRACE_CACHE_BYTES: {error}") from None


def trim(folder: Path) -> None:
    """Removes what was not used for longest, if the folder is over its limit: to three quarters of it."""
    limit = bytes_max()
    entries = []
    for entry in os.scandir(folder):
        files = os.scandir(entry) if entry.is_dir() else [entry]
        # A small file takes a block.
        size = sum(max(file.stat().st_size, 4096) for file in files)
        entries.append((entry.stat().st_mtime, size, entry.path, entry.is_dir()))
    total = sum(size for _, size, _, _ in entries)
    if total <= limit:
        return
    for _, size, path, is_folder in sorted(entries):
        if total <= limit * 3 // 4:
            break
        shutil.rmtree(path, ignore_errors=True) if is_folder else Path(path).unlink(missing_ok=True)
        total -= size


def write(folder: Path, query: CompiledQuery, *, mode: int = 0o644) -> None:
    """The plan as a directory, which headrace-run runs too. mode: of its files, whatever the umask.

    Written under another name and renamed, so that no reader sees half of it. Raises OSError; FileExistsError
    and the like if something is there already.
    """
    temporary = folder.parent / f"{folder.name}.{os.getpid()}.tmp"
    files = {
        "plan.json": query.plan_json.encode(),
        "kernels.so": query.kernels,
        "manifest.json": json.dumps(query.manifest).encode(),
    }
    meta = {"plan_text": query.plan_text, "files": {name: _digest(data) for name, data in files.items()}}
    try:
        temporary.mkdir(exist_ok=True)
        for name, data in {**files, "meta.json": json.dumps(meta).encode()}.items():
            (temporary / name).write_bytes(data)
            (temporary / name).chmod(mode)  # others may not write to code
        temporary.chmod(mode | (mode & 0o444) >> 2)  # who may read may enter
        temporary.rename(folder)
    except OSError:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
