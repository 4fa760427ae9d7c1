"""`headrace doctor`: what is wrong with the machines of a job, before the job is."""

from __future__ import annotations

import argparse
import json
import os
import resource
import socket
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from headrace._src.errors import HeadraceError, translated
from headrace._src.query.store_files import StorePath, with_stamps
from headrace._src.query.tables import TABLES_HELP, TABLES_METAVAR

Facts = dict[str, Any]

#: Descriptors of a rank beside its connections: files of tables, the compiler's, Python's.
_OTHER_FILES = 256
_CLOCK_SECONDS_MAX = 1.0
#: Settings of a cluster itself; the others are rank 0's, or each rank's own.
_SHARED = ("HEADRACE_JOIN_TIMEOUT", "HEADRACE_PEER_TIMEOUT")
_TOLD = (*_SHARED, "HEADRACE_THREADS", "HEADRACE_MEMORY")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tables",
        action="append",
        metavar=TABLES_METAVAR,
        help=f"{TABLES_HELP} (default: none are compared)",
    )


def command(arguments: argparse.Namespace) -> int:
    """On each rank. Rank 0 tells, and its status is 1 if something is wrong: others would have it ended."""
    from headrace import _runtime

    facts = own_facts(arguments.tables)
    if not _runtime.launcher():
        return _tell([facts], "one process, which no launcher has started")
    meeting = translated(_runtime.Meeting)
    started = time.perf_counter()
    translated(lambda: meeting.exchange(""))
    facts["clock"] = time.time()  # all ranks are here within an exchange
    records = [json.loads(each) for each in translated(lambda: meeting.exchange(json.dumps(facts)))]
    exchanges = time.perf_counter() - started
    if meeting.size > 1:
        translated(meeting.connect)
    if meeting.rank == 0:
        hosts = len({each["host"] for each in records})
        return _tell(
            records,
            f"{meeting.size} ranks on {hosts} host{'s'[: hosts > 1]}, started by {_runtime.launcher()}; "
            "each reaches each other",
            exchanges,
        )
    return 0


def own_facts(tables: list[str] | None) -> Facts:
    """What this process finds, as JSON has it."""
    import headrace as hr
    from headrace import _runtime

    facts: Facts = {
        "host": socket.gethostname(),
        "version": hr.__version__,
        "cores": len(os.sched_getaffinity(0)),
        "machine_cores": os.cpu_count(),
        "machine_memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        "clock": time.time(),
        "variables": {name: os.environ[name] for name in _TOLD if name in os.environ},
        "wrong": [],
    }

    def find(name: str, found: Callable[[], Any]) -> None:
        try:
            facts[name] = translated(found)
        except HeadraceError as error:
            facts[name] = None
            facts["wrong"].append(str(error))

    find("isa", _runtime.instruction_set)
    find("memory", _runtime.memory_limit)
    find("spill", _spill_directory)
    if tables:
        find("tables", lambda: _files(tables))
    return facts


def _spill_directory() -> str:
    path = os.environ.get("HEADRACE_SPILL_DIRECTORY") or os.environ.get("TMPDIR") or "/var/tmp"
    if not os.access(path, os.W_OK | os.X_OK):
        raise HeadraceError(
            f"rows that memory has no room for cannot wait in HEADRACE_SPILL_DIRECTORY: {path}"
        )
    return path


def _files(tables: list[str]) -> dict[str, list[int]]:
    """Of each table, how many files there are, and how many bytes."""
    from headrace import _runtime

    found = _runtime.tables(tables)
    return {name: [len(paths), sum(map(_size, paths))] for name, paths in found.items()}


def _size(path: str) -> int:
    (told,) = with_stamps([path])
    return told.stamp.bytes if isinstance(told, StorePath) else Path(path).stat().st_size


def problems(records: list[Facts], exchange_seconds: float = 0) -> list[str]:
    """What is wrong, a line each; `records`: by rank."""
    found = [
        f"{_name(records, rank)}: {each}" for rank, facts in enumerate(records) for each in facts["wrong"]
    ]
    first = records[0]
    for rank, facts in enumerate(records):
        name = _name(records, rank)
        if facts["version"] != first["version"]:
            found.append(
                f"{name}: all ranks need the same headrace, rank 0 has {first['version']}, "
                f"this one: {facts['version']}"
            )
        if facts["isa"] and first["isa"] and facts["isa"] < first["isa"]:
            found.append(
                f"{name}: its processor lacks {first['isa']}, for which rank 0 compiles: "
                f"set HEADRACE_ISA on all ranks to: {facts['isa']}"
            )
        ahead = facts["clock"] - first["clock"]
        if abs(ahead) > _CLOCK_SECONDS_MAX + exchange_seconds:
            found.append(f"{name}: traces of the ranks will not align, its clock is ahead by {ahead:.1f} s")
        needed = _OTHER_FILES + 4 * len(records)
        if facts["files"] < needed:
            found.append(
                f"{name}: a rank opens up to {needed} files (ulimit -n), the limit is {facts['files']}"
            )
        found += [
            f"{name}: {variable} is to be the same on all ranks: {facts['variables'].get(variable, '')!r}, "
            f"on rank 0: {first['variables'].get(variable, '')!r}"
            for variable in _SHARED
            if facts["variables"].get(variable) != first["variables"].get(variable)
        ]
        found += [
            f"{name}: sees other files than rank 0 of the table: {table}"
            for table in sorted({*(facts.get("tables") or {}), *(first.get("tables") or {})})
            if (facts.get("tables") or {}).get(table) != (first.get("tables") or {}).get(table)
        ]
    return found + _overcommitted(records)


def _overcommitted(records: list[Facts]) -> list[str]:
    """Of machines: more workers than cores, or more memory than there is, if the user has set them."""
    found = []
    for host, ranks in Counter(each["host"] for each in records).items():
        here = next(each for each in records if each["host"] == host)
        threads = here["variables"].get("HEADRACE_THREADS", "")
        if threads.isdecimal() and int(threads) * ranks > here["machine_cores"]:
            found.append(
                f"host {host}: {ranks} ranks with HEADRACE_THREADS={threads} are more workers than it has "
                f"cores: {here['machine_cores']}"
            )
        if "HEADRACE_MEMORY" in here["variables"] and (here["memory"] or 0) * ranks > here["machine_memory"]:
            found.append(
                f"host {host}: {ranks} ranks with HEADRACE_MEMORY={here['variables']['HEADRACE_MEMORY']} may "
                f"take more than its memory: {_gigabytes(here['machine_memory'])}"
            )
    return found


def _name(records: list[Facts], rank: int) -> str:
    return f"rank {rank} on host {records[rank]['host']}"


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB"


def _tell(records: list[Facts], headline: str, exchange_seconds: float = 0) -> int:
    print(headline)
    for rank, facts in enumerate(records):
        print(
            f"  {_name(records, rank)}: headrace {facts['version']}, {facts['isa']}, {facts['cores']} of "
            f"{facts['machine_cores']} cores, {_gigabytes(facts['machine_memory'])} of memory, "
            f"{facts['files']} files"
        )
    found = problems(records, exchange_seconds)
    for each in found:
        print(f"wrong: {each}")
    if not found:
        print("nothing is wrong")
    return 1 if found else 0
