"""What a benchmark writes: one record per engine, scale, query and kind of run, and the summary of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

FIRST = "first"
FIRST_CACHED = "first-cached"
REPEATED = "repeated"


@dataclass(frozen=True)
class Record:
    """One measurement. Times in seconds, memory in bytes; `seconds` is from text to an Arrow table, compile
    time included; `compile_seconds` is None where an engine does not tell it apart. A note says why a query
    has no time (then `seconds` is None)."""

    engine: str
    version: str
    scale: str
    threads: int
    query: str
    kind: str
    seconds: float | None
    compile_seconds: float | None = None
    peak_memory_bytes: int | None = None
    rows: int | None = None
    note: str = ""

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def geometric_mean(values: Iterable[float]) -> float | None:
    """The geometric mean of positive numbers, None of nothing."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else None


def ratios(records: Sequence[Record], engine: str, peer: str, kind: str) -> dict[str, float]:
    """Per query, the engine's time over the peer's, where both have one."""
    seconds = {
        (record.engine, record.query): record.seconds
        for record in records
        if record.kind == kind and record.seconds is not None
    }
    return {
        query: value / seconds[peer, query]
        for (name, query), value in seconds.items()
        if name == engine and (peer, query) in seconds
    }


def without_compiling(record: Record) -> Record:
    """The same run, its compiling left out."""
    if record.seconds is None or record.compile_seconds is None:
        return record
    return replace(record, seconds=record.seconds - record.compile_seconds)


def _cell(record: Record | None) -> str:
    if record is None:
        return "-"
    return "failed" if record.seconds is None else f"{record.seconds * 1e3:.1f}"


def table(records: Sequence[Record], engines: Sequence[str], kind: str) -> str:
    """Milliseconds per query and engine; the first engine's ratio to each other; geometric means below.
    Where it compiled, its first run stands there with and without that."""
    chosen = {(record.engine, record.query): record for record in records if record.kind == kind}
    queries = sorted({query for _, query in chosen})
    first, *peers = engines
    compiles = any(
        chosen[first, query].compile_seconds is not None for query in queries if (first, query) in chosen
    )
    apart = compiles and kind == FIRST
    columns = {f"{first}/{peer}": ratios(records, first, peer, kind) for peer in peers}
    if apart:
        runs = [without_compiling(record) for record in records]
        columns |= {f"run/{peer}": ratios(runs, first, peer, kind) for peer in peers}
    header = ["query", *(f"{engine} ms" for engine in engines)]
    header += ["compile ms"] * compiles + ["run ms"] * apart
    header += [*columns, *(f"MB {engine}" for engine in engines)]
    rows = [header]
    for query in queries:
        row = [query, *(_cell(chosen.get((engine, query))) for engine in engines)]
        own = chosen.get((first, query))
        if compiles:
            compile_seconds = own.compile_seconds if own else None
            row.append("-" if compile_seconds is None else f"{compile_seconds * 1e3:.1f}")
        if apart:
            row.append(_cell(without_compiling(own) if own else None))
        row += [f"{values[query]:.2f}" if query in values else "-" for values in columns.values()]
        memory = [
            chosen[engine, query].peak_memory_bytes if (engine, query) in chosen else None
            for engine in engines
        ]
        rows.append(row + ["-" if size is None else f"{size / 1e6:.0f}" for size in memory])
    if peers:
        last = ["geometric mean"] + [""] * (len(engines) + compiles + apart)
        means = [geometric_mean(values.values()) for values in columns.values()]
        last += ["-" if mean is None else f"{mean:.2f}" for mean in means]
        rows.append(last + [""] * len(engines))
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [
            cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "-" * max(len(line) for line in lines))
    return "\n".join(lines)
