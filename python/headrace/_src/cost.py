"""The predicted cost of a program, in parts: the model of the compiler, for users."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headrace._src import programs
from headrace._src.arguments import checked
from headrace._src.errors import HeadraceError
from headrace._src.programs import Target

if TYPE_CHECKING:
    from headrace._src.query.tables import TablesArgument


_ASSUMED = "what work takes on this machine is assumed: headrace calibrate measures it"


@dataclass(frozen=True)
class CostTerm:
    """Time that one task spends on one thing while everything else waits for it."""

    task: str
    kind: str
    place: str
    #: What holds it up: a resource, its own rate, or latency.
    bound: str
    seconds: float
    #: 0.15 is 15 %: one standard deviation.
    relative_error: float


@dataclass(frozen=True)
class TierUse:
    """The most bytes that a memory holds at once, on one rank."""

    tier: str
    peak_bytes: float
    bytes: float


@dataclass(frozen=True)
class Cost:
    """The terms add up to `seconds`; print it for a table."""

    seconds: float
    relative_error: float
    #: Two standard deviations below and above.
    seconds_low: float
    seconds_high: float
    terms: tuple[CostTerm, ...]
    tiers: tuple[TierUse, ...]
    #: What would make it more certain; or empty.
    hint: str = ""

    def __str__(self) -> str:
        heading = f"{'ms':>12} {'error':>6} {'share':>6}  {'kind':10} {'task':28} {'held up by':24} place"
        lines = [heading]
        for term in self.terms:
            share = 100 * term.seconds / self.seconds if self.seconds else 0.0
            lines.append(
                f"{term.seconds * 1e3:12.3f} {100 * term.relative_error:4.0f} % {share:4.0f} %  "
                f"{term.kind:10} {term.task[:28]:28} {term.bound[:24]:24} {term.place}".rstrip()
            )
        error = 100 * self.relative_error
        interval = f"from {self.seconds_low * 1e3:.3f} to {self.seconds_high * 1e3:.3f}"
        lines.append(f"{self.seconds * 1e3:12.3f} {error:4.0f} %         total, {interval} ms")
        lines += [f"{use.peak_bytes:12.4g} bytes of {use.bytes:.4g} in {use.tier}" for use in self.tiers]
        return "\n".join([*lines, *filter(None, [self.hint])])


def cost_of(
    plan_json: str,
    target: Target,
    threads: int | None = None,
    rows: Mapping[str, float] | None = None,
    memory: float = 0.0,
    skew: str | Sequence[str] = (),
) -> Cost:
    """The cost of a plan. Ranks of one machine share its workers, or as many as `threads` says."""
    from headrace import _runtime

    workers = threads or (0 if target.topology else programs.default_threads())
    counts = {name: _number(name, count) for name, count in (rows or {}).items()}
    skews = [skew] if isinstance(skew, str) else list(skew)
    text = programs.translated(
        lambda: _runtime.cost(plan_json, target.topology, target.ranks, workers, counts, memory, skews)
    )
    document = json.loads(text)
    return Cost(
        document["seconds"],
        document["relative_error"],
        document["seconds_low"],
        document["seconds_high"],
        tuple(CostTerm(**term) for term in document["terms"]),
        tuple(TierUse(**use) for use in document["tiers"]),
        "" if target.topology or programs.calibration() else _ASSUMED,
    )


def _number(name: str, count: object) -> float:
    try:
        return float(count)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise HeadraceError(f"rows of {name} need a number, got {count!r}") from None


def rows_of(texts: Sequence[str]) -> dict[str, float]:
    """Rows by name, from texts such as lineitem=1e9."""
    from headrace import _runtime

    return programs.translated(lambda: _runtime.rows_of(list(texts)))


@checked
def cost(
    text: str,
    tables: TablesArgument,
    *,
    ranks: int = 1,
    threads: int | None = None,
    memory: int | str | None = None,
    topology: str | Path | None = None,
    layout_seed: int | None = None,
    mesh: programs.Mesh | None = None,
    rows: Mapping[str, float] | None = None,
    skew: str | Sequence[str] = (),
) -> Cost:
    """The predicted cost of a query, in parts, without running it.

    memory: limit of all ranks together; what does not fit is priced as spilled.
    topology: may be of a cluster that is elsewhere.
    threads: workers that the ranks share if the topology is one machine of CPUs (default: as many as it has
        cores).
    rows: rows of tables over all ranks, instead of those of the files; the plan stays that of the files.
    skew: ranks that are unlike the others, as FIRST:COUNT:NAME=FACTOR of speed, rows and keys.
        "3:1:speed=0.5" makes rank 3 half as fast.

    The other options are those of `sql`.
    """
    from headrace._src.query.compiled_query import load_query
    from headrace._src.query.tables import resolve

    tables_of_query = resolve(tables)
    target = Target.of(ranks, topology, layout_seed, mesh)
    loaded = load_query(text, tables_of_query, target)
    return cost_of(
        loaded.compiled.plan_json,
        target,
        threads,
        rows,
        0.0 if memory is None else programs.memory_of_all(memory) / target.ranks,
        skew,
    )
