"""Records of the tuner: one file per program and topology, under the cache directory.

A file is written under another name and renamed, so no reader sees half of it; writers of one file wait for
each other, so neither loses what the other measured.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headrace._src.query import plan_cache
from headrace._src.tuning.choice import Choice

SCHEMA = "tuning/1"

#: A record counts while every table has at most so many times more or fewer bytes than when it was made.
SIZE_FACTOR_MAX = 4.0
#: Searches whose candidates a file keeps.
_SEARCHES_MAX = 8


@dataclass(frozen=True)
class Record:
    """What a search found for one program on one topology."""

    program: str
    topology: str
    choice: Choice
    text: str = ""
    date: str = ""
    #: Bytes of the tables it reads.
    sizes: dict[str, int] = field(default_factory=dict)
    predicted_seconds: float | None = None
    #: None: only simulated.
    measured_seconds: float | None = None
    #: The same without any choice.
    default_seconds: float | None = None
    #: The compiler that it was made with: the numbers of its layouts mean nothing to another, and another may
    #: refuse its mesh.
    build: tuple[str, ...] = ()
    #: Every candidate: choice, predicted_seconds, measured_seconds; or choice and why it was skipped.
    candidates: tuple[dict[str, Any], ...] = ()

    def fits(self, sizes: Mapping[str, int]) -> bool:
        """Whether the tables are about as large as when it was made, and the compiler would do the same."""
        if self.choice.of_one_build and list(self.build) != plan_cache.build_identity():
            return False
        for name, recorded in self.sizes.items():
            now = sizes.get(name, 0)
            if recorded <= 0 or now <= 0:
                continue
            if max(recorded / now, now / recorded) > SIZE_FACTOR_MAX:
                return False
        return True

    def note(self) -> str:
        """One line for explanations."""
        if self.measured_seconds is not None and self.default_seconds is not None:
            found = (
                f"measured {self.measured_seconds * 1e3:.2f} ms against {self.default_seconds * 1e3:.2f} ms"
            )
        else:
            found = "simulated, not measured"
        return f"tuned by a record of {self.date}: {self.choice} ({found}); HEADRACE_TUNING=off ignores it\n"

    def document(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "program": self.program,
            "topology": self.topology,
            "text": self.text,
            "date": self.date,
            "sizes": self.sizes,
            "build": list(self.build),
            "choice": self.choice.document(),
            "predicted_seconds": self.predicted_seconds,
            "measured_seconds": self.measured_seconds,
            "default_seconds": self.default_seconds,
            "searches": [list(self.candidates)],
        }


def program_hash(parts: object) -> str:
    """Of the text of a program and what else it is made of."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def folder() -> Path:
    return plan_cache.cache_directory() / "tuning"


def path_of(program: str, topology: str) -> Path:
    key = hashlib.sha256(f"{program} {topology}".encode()).hexdigest()
    return folder() / f"{key[:32]}.json"


def find(program: str, topology: str) -> Record | None:
    """The record of a program on a topology; None if there is none that can be read."""
    document = _read(path_of(program, topology))
    if document is None or document.get("program") != program or document.get("topology") != topology:
        return None
    try:
        return Record(
            program,
            topology,
            Choice.of(document["choice"]),
            str(document["text"]),
            str(document["date"]),
            {str(name): int(size) for name, size in document["sizes"].items()},
            document["predicted_seconds"],
            document["measured_seconds"],
            document["default_seconds"],
            tuple(map(str, document["build"])),
            tuple(document["searches"][-1]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return None


def put(record: Record) -> Path:
    """Writes the record and keeps the candidates of earlier searches. Raises OSError.

    A search that only simulated does not replace what was measured.
    """
    path = path_of(record.program, record.topology)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path):
        document = record.document()
        earlier = _read(path)
        if earlier is not None and isinstance(earlier.get("searches"), list):
            searches = [*earlier["searches"], *document["searches"]][-_SEARCHES_MAX:]
            if record.measured_seconds is None and earlier.get("measured_seconds") is not None:
                document = earlier
            document["searches"] = searches
        _replace(path, json.dumps(document, indent=1))
    return path


def forget(program: str, topology: str) -> bool:
    """Drops a record; whether there was one."""
    path = path_of(program, topology)
    try:
        with _locked(path):
            path.unlink()
    except FileNotFoundError:
        return False
    return True


def _read(path: Path) -> dict[str, Any] | None:
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) and document.get("schema") == SCHEMA else None


def _replace(path: Path, text: str) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".tmp")
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    # Not the record's own file: that is replaced, and a lock on what it was would hold nobody up.
    with open(path.with_suffix(".lock"), "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
