"""Compiled queries kept between processes: text, tables and options to plan and kernels.

On a hit neither the SQL parser nor the compiler is loaded.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headrace._src.errors import HeadraceError

#: One compile in so many looks whether the caches are within their limit.
PUTS_PER_TRIM = 50


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
    folder = cache_directory() / "plans" / key
    try:
        os.utime(folder)
        meta = json.loads((folder / "meta.json").read_text())
        return CompiledQuery(
            plan_json=(folder / "plan.json").read_text(),
            kernels=(folder / "kernels.so").read_bytes(),
            plan_text=meta["plan_text"],
            manifest=json.loads((folder / "manifest.json").read_text()),
            phase_seconds={},
            from_cache=True,
        )
    except (OSError, ValueError, KeyError):
        return None


def put(key: str, query: CompiledQuery) -> None:
    parent = cache_directory() / "plans"
    bytes_max()  # a wrong setting is an error at once, not when the folder is full
    try:
        parent.mkdir(parents=True, exist_ok=True)
        write(parent / key, query)
        # Looking at all entries takes longer than compiling a query: not every time.
        if random.random() < 1 / PUTS_PER_TRIM:
            trim(parent)
            trim(cache_directory() / "kernels")
    except OSError:
        # Another process was first, or the disk is full: the query runs without the cache.
        pass


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


def write(folder: Path, query: CompiledQuery) -> None:
    """The plan as a directory, which headrace-run runs too.

    Written under another name and renamed, so that no reader sees half of it. Raises OSError; FileExistsError
    and the like if something is there already.
    """
    temporary = folder.parent / f"{folder.name}.{os.getpid()}.tmp"
    try:
        temporary.mkdir(exist_ok=True)
        (temporary / "plan.json").write_text(query.plan_json)
        (temporary / "kernels.so").write_bytes(query.kernels)
        (temporary / "manifest.json").write_text(json.dumps(query.manifest))
        meta = {"plan_text": query.plan_text}
        (temporary / "meta.json").write_text(json.dumps(meta))
        temporary.rename(folder)
    except OSError:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
