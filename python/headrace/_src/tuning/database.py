"""Records of the tuner: one file per program and topology, under the cache directory.

It has one record for every size of the tables.

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
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headrace._src.query import plan_cache
from headrace._src.tuning.choice import Choice

SCHEMA = "tuning/2"

#: A record counts while every table has at most so many times more or fewer bytes than when it was made.
SIZE_FACTOR_MAX = 4.0
#: Searches whose candidates a record keeps.
_SEARCHES_MAX = 8
#: Records of a file; the oldest go first.
_RECORDS_MAX = 16


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
    #: The same without any choice: measured if that is.
    default_seconds: float | None = None
    #: The compiler and the figures that it was made with: the numbers of its layouts mean nothing to others,
    #: and others may refuse its mesh.
    build: tuple[str, ...] = ()
    #: Every candidate: choice, predicted_seconds, measured_seconds; or choice and why it was skipped.
    candidates: tuple[dict[str, Any], ...] = ()

    def is_of_sizes(self, sizes: Mapping[str, int]) -> bool:
        """Whether tables are about as large as when it was made; 0 is not known."""
        known = [(size, sizes.get(name, 0)) for name, size in self.sizes.items()]
        return all(max(one / now, now / one) <= SIZE_FACTOR_MAX for one, now in known if one > 0 and now > 0)

    def is_of_build(self, build: tuple[str, ...]) -> bool:
        """Whether the compiler would do the same."""
        return not self.choice.of_one_build or self.build == build

    def note(self) -> str:
        """One line for explanations."""
        found = "simulated, not measured"
        for how, seconds in (("measured", self.measured_seconds), ("simulated", self.predicted_seconds)):
            if seconds is not None and self.default_seconds is not None:
                found = f"{how} {seconds * 1e3:.2f} ms against {self.default_seconds * 1e3:.2f} ms"
                break
        return f"tuned by a record of {self.date}: {self.choice} ({found}); HEADRACE_TUNING=off ignores it\n"

    def passed_over(self, reason: str) -> str:
        """One line for explanations: why it is not used."""
        return f"a tuning record of {self.date} is of {reason}: headrace tune makes another\n"

    def document(self) -> dict[str, Any]:
        return {
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


def records(program: str, topology: str) -> list[Record]:
    """Of a program on a topology, the newest first."""
    return [record for record, _ in reversed(_read(path_of(program, topology)))]


def put(record: Record) -> Path:
    """Writes the record beside those of other sizes, and keeps what earlier searches saw. Raises OSError.

    A search that only simulated does not replace what was measured.
    """
    path = path_of(record.program, record.topology)
    plan_cache.make_private(path.parent)
    with _locked(path):
        document = record.document()
        others = []
        for earlier, written in _read(path):
            if not record.is_of_sizes(earlier.sizes):
                others.append(written)
                continue
            searches = [*written["searches"], *document["searches"]][-_SEARCHES_MAX:]
            if record.measured_seconds is None and earlier.measured_seconds is not None:
                document = written
            document["searches"] = searches
        kept = [*others, document][-_RECORDS_MAX:]
        named = {"schema": SCHEMA, "program": record.program, "topology": record.topology}
        _replace(path, json.dumps({**named, "records": kept}, indent=1))
    return path


def forget(program: str, topology: str) -> bool:
    """Drops the records; whether there were any."""
    path = path_of(program, topology)
    try:
        with _locked(path):
            path.unlink()
    except FileNotFoundError:
        return False
    return True


def _read(path: Path) -> list[tuple[Record, dict[str, Any]]]:
    """The records of a file and how they are written, the oldest first. Warns about a file that is none."""
    if path.exists() and not plan_cache.is_private(path.parent):
        message = f"tuning records that others may write are ignored: chmod go-w {path.parent}"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
        return []
    try:
        file = json.loads(path.read_text())
        if file["schema"] != SCHEMA:
            raise ValueError(f"not {SCHEMA}")
        return [(_record(file["program"], file["topology"], one), one) for one in file["records"]]
    except FileNotFoundError:
        return []
    except (OSError, KeyError, TypeError, ValueError, AttributeError, IndexError):
        message = f"tuning records that cannot be read are ignored: {path}; headrace tune makes new ones"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
        return []


def _record(program: str, topology: str, document: dict[str, Any]) -> Record:
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
    lock = os.open(path.with_suffix(".lock"), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
