"""The search: layouts by simulation, the best few by measurement, then one setting after the other.

Near-optimal layouts come from the solver, which is asked again with costs that are off by chance. Different
plans are simulated, also those of other shapes of the mesh; the best and the default are run in turns, and
those that fall behind are dropped. Sizes of chunks and messages and the switch of collective algorithms are
then varied one by one around the best. What wins by less than equal runs differ has not won.
"""

from __future__ import annotations

import hashlib
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from headrace._src import programs
from headrace._src.counted import counted
from headrace._src.errors import HeadraceError, InputOutputError, reason
from headrace._src.programs import Target
from headrace._src.query.plan_cache import CompiledQuery
from headrace._src.tuning import database, use
from headrace._src.tuning.choice import Choice
from headrace._src.tuning.shapes import mesh_shapes
from headrace._src.tuning.subject import ProgramSubject, Subject, target_for

#: Why a search ended: Control-C.
INTERRUPTED = "interrupted"
#: A choice replaces the default only if it is quicker by more than this, in the least and the median run,
#: and by more than equal runs of the default differ.
GAIN_MIN = 0.03
#: Alternatives in a row that give no new plan end the enumeration.
_BARREN_MAX = 12
#: Rows of a table, beside the chosen one and the default.
_SHOWN_MAX = 12
#: Two halves of two runs.
_EQUAL_RUNS_MIN = 4
#: A candidate this much behind the best is dropped.
_BEHIND_MAX = 0.15


@dataclass(frozen=True)
class Budget:
    """When a search ends."""

    seconds: float = 30.0
    alternatives: int = 48
    measured: int = 6
    rounds: int = 5


@dataclass
class Candidate:
    """One choice, its plan, and what is known of its time."""

    choice: Choice
    compiled: CompiledQuery
    predicted: float | None = None
    runs: list[float] = field(default_factory=list)
    handle: Any = None

    @property
    def least(self) -> float | None:
        return min(self.runs) if self.runs else None

    def document(self) -> dict[str, Any]:
        return {
            "choice": self.choice.document(),
            "predicted_seconds": self.predicted,
            "measured_seconds": self.least,
            "runs": len(self.runs),
        }


@dataclass(frozen=True)
class Skipped:
    """A choice that gave no plan of its own."""

    choice: Choice
    reason: str

    def document(self) -> dict[str, Any]:
        return {"choice": self.choice.document(), "skipped": self.reason}


@dataclass(frozen=True, repr=False)
class Outcome:
    """What a search found; print it for a table."""

    ranks: int
    best: Candidate
    default: Candidate
    candidates: list[Candidate]
    record: database.Record
    path: str
    stopped: str  # why, such as INTERRUPTED
    #: Shapes of the mesh that gave no plan of their own.
    skipped: list[Skipped] = field(default_factory=list)
    #: By how much equal runs differed, as a share; 0 if nothing was run.
    noise: float = 0.0

    def __repr__(self) -> str:
        lines = [f"{counted(len(self.candidates), 'plan')} on {counted(self.ranks, 'rank')}; {self.stopped}"]
        lines.append(f"{'predicted ms':>13} {'measured ms':>13} {'runs':>5}  choice")
        ordered = sorted(self.candidates, key=_standing)
        for place, one in enumerate(ordered):
            if place >= _SHOWN_MAX and one is not self.best and one is not self.default:
                continue
            marks = [word for word, which in self._marks() if one is which]
            mark = f"  <- {', '.join(marks)}" if marks else ""
            lines.append(
                f"{_ms(one.predicted):>13} {_ms(one.least):>13} {len(one.runs):>5}  {one.choice}{mark}"
            )
        if _standing(ordered[0]) < _standing(self.best):
            lines.append(
                f"what is above the chosen one is not {100 * max(GAIN_MIN, self.noise):.0f} % quicker, as a "
                "choice must be (where it was run, in the least and in the median of its runs)"
            )
        for one in self.skipped:
            lines.append(f"{'-':>13} {'-':>13} {'-':>5}  mesh {one.choice.mesh}: {one.reason}")
        if self.noise:
            lines.append(f"equal runs differ by {100 * self.noise:.1f} %")
        if regret := self._regret():
            lines.append(regret)
        lines.append(f"record: {self.path}")
        return "\n".join(lines)

    def _marks(self) -> list[tuple[str, Candidate]]:
        return [("chosen", self.best), ("the compiler's own", self.default)]

    def _regret(self) -> str:
        """How much slower the model's own choice is than the best that was measured."""
        if self.default.least is None or self.best.least is None:
            return ""
        return f"the compiler's own choice is {100 * (self.default.least / self.best.least - 1):.1f} % slower"


def search(
    subject: Subject,
    target: Target,
    *,
    threads: int | None = None,
    budget: Budget | None = None,
    progress: Callable[[str], None] | None = None,
    measure: bool | None = None,
) -> Outcome:
    """Searches for one number of ranks and writes the record.

    On this machine (no topology given, or `measure`) the best are measured; for another topology they are
    simulated.
    """
    here = not target.topology if measure is None else measure
    return _Search(subject, target, threads, budget or Budget(), progress or _ToStderr(), here).run()


class _Search:
    def __init__(
        self,
        subject: Subject,
        target: Target,
        threads: int | None,
        budget: Budget,
        progress: Callable[[str], None],
        here: bool,
    ) -> None:
        self._subject = subject
        self._target = target
        self._threads = threads or programs.default_threads()
        self._budget = budget
        self._progress = progress
        self._deadline = time.monotonic() + budget.seconds
        self._here = here
        self._seen: dict[str, Candidate] = {}
        self._skipped: list[Skipped] = []
        self._stopped = "nothing left to try"
        self._noise = 0.0

    def run(self) -> Outcome:
        if self._here and self._target.topology:
            _check_is_this_machine(self._target)
        default = self._default()
        try:
            best = self._best(default)
        except KeyboardInterrupt:
            self._stopped = INTERRUPTED
            best = self._quickest(self._candidates())
        if not self._beats(best, default):
            best = default
        record = self._record(best, default)
        try:
            path = str(database.put(record))
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            raise InputOutputError(f"cannot write the tuning record: {where}{reason(error)}") from None
        return Outcome(
            self._target.ranks,
            best,
            default,
            self._candidates(),
            record,
            path,
            self._stopped,
            self._skipped,
            self._noise,
        )

    def _best(self, default: Candidate) -> Candidate:
        self._enumerate()
        layouts = self._candidates()
        if not self._here:
            return self._vary(self._quickest(layouts))
        self._noise = self._equal_runs(default)
        best = self._vary(self._measure(self._finalists(layouts)))
        # The default may have dropped out by one slow run.
        return best if best is default else self._duel(default, best)

    # ---- candidates ----

    def _candidate(self, choice: Choice) -> Candidate | None:
        """A plan that was not seen before, simulated; None if it was, or if it does not compile."""
        made = self._tried(choice)
        return made if isinstance(made, Candidate) else None

    def _tried(self, choice: Choice) -> Candidate | Skipped:
        try:
            compiled = self._subject.compile(target_for(self._target, choice))
        except HeadraceError as error:
            if choice == Choice():
                raise
            return Skipped(choice, _one_line(str(error)))
        digest = _digest(compiled.plan_json, choice)
        if digest in self._seen:
            return Skipped(choice, f"the same plan as with {self._seen[digest].choice}")
        made = Candidate(choice, compiled, self._predict(compiled))
        self._seen[digest] = made
        return made

    def _candidates(self) -> list[Candidate]:
        """All so far, the default first."""
        return list(self._seen.values())

    def _default(self) -> Candidate:
        made = self._candidate(Choice())
        assert made is not None
        return made

    def _enumerate(self) -> None:
        """Shapes of the mesh and layouts."""
        # Half of the time at most: the rest is for measuring.
        enough = time.monotonic() + self._budget.seconds / 2
        self._shapes(enough)
        barren = 0
        for alternative in range(1, self._budget.alternatives + 1):
            if barren >= _BARREN_MAX or time.monotonic() > enough:
                break
            self._progress(
                f"layouts: {alternative} of at most {self._budget.alternatives} compiled and simulated, "
                f"{len(self._seen)} different plans"
            )
            barren = 0 if self._candidate(Choice(alternative)) else barren + 1
        self._progress(f"layouts compiled and simulated: {len(self._seen)} different plans")

    def _shapes(self, enough: float) -> None:
        """The program on other shapes of the mesh."""
        from headrace import _runtime

        target = self._target
        nodes = programs.translated(lambda: _runtime.ranks_of_nodes(target.topology, target.ranks))
        for mesh in mesh_shapes(nodes):
            self._progress(f"shapes of the mesh: {mesh}")
            choice = Choice(mesh=mesh)
            made = Skipped(choice, "no time left") if time.monotonic() > enough else self._tried(choice)
            if isinstance(made, Skipped):
                self._skipped.append(made)

    def _predict(self, compiled: CompiledQuery) -> float | None:
        """Seconds of the plan."""
        from headrace import _runtime

        plan = json.loads(compiled.plan_json)
        rows = self._subject.rows(plan)
        threads = self._threads if self._here else 0
        try:
            text = _runtime.cost(compiled.plan_json, self._target.topology, self._target.ranks, threads, rows)
        except RuntimeError:
            return None
        return json.loads(text)["seconds"]

    def _finalists(self, layouts: list[Candidate]) -> list[Candidate]:
        """The default and the best by prediction."""
        others = sorted(layouts[1:], key=_standing)
        return [layouts[0], *others[: max(self._budget.measured - 1, 0)]]

    # ---- measuring ----

    def _measure(self, candidates: list[Candidate]) -> Candidate:
        """Runs all in turns; after each round those that are far behind drop out."""
        self._warm(candidates)
        left = candidates
        for turn in range(self._budget.rounds):
            for one in left:
                if one.runs and time.monotonic() > self._deadline:
                    self._stopped = "out of time"
                    return self._quickest(left)
                self._once(one)
            best = self._quickest(left)
            assert best.least is not None
            limit = best.least * (1 + _BEHIND_MAX)
            left = [one for one in left if one.least is not None and one.least <= limit]
            self._progress(
                f"round {turn + 1}: {len(left)} of {len(candidates)} left, "
                f"best {_ms(best.least)} ms ({best.choice})"
            )
            if len(left) == 1 and turn > 0:
                break
        return self._quickest(left)

    def _warm(self, candidates: list[Candidate]) -> None:
        """Loads plans and runs each once: pages, allocations and dictionaries are not what is compared."""
        from headrace import _runtime

        for one in candidates:
            if one.handle is None:
                compiled = one.compiled
                one.handle = programs.translated(
                    lambda compiled=compiled: _runtime.load_plan(compiled.plan_json, compiled.kernels)
                )
                if isinstance(self._subject, ProgramSubject):
                    self._subject.remember(compiled.plan_json)
                self._once(one)
                one.runs.clear()

    def _once(self, one: Candidate) -> None:
        one.runs.append(self._subject.run(one.handle, self._threads, target_for(self._target, one.choice)))

    def _equal_runs(self, one: Candidate) -> float:
        """By how much one half of equal runs would have beaten the other, in turns or one after the other."""
        self._warm([one])
        while len(one.runs) < 2 * max(self._budget.rounds, 2):
            if len(one.runs) >= _EQUAL_RUNS_MIN and time.monotonic() > self._deadline:
                break
            self._once(one)
        runs, one.runs = one.runs, []
        middle = len(runs) // 2
        noise = 0.0
        for left, right in ((runs[::2], runs[1::2]), (runs[:middle], runs[middle:])):
            for figure in (min, statistics.median):
                slower, quicker = sorted((figure(left), figure(right)), reverse=True)
                noise = max(noise, 1 - quicker / slower)
        self._progress(f"equal runs differ by {100 * noise:.1f} %")
        return noise

    @staticmethod
    def _quickest(candidates: list[Candidate]) -> Candidate:
        return min(candidates, key=_standing)

    # ---- one setting after the other ----

    def _vary(self, best: Candidate) -> Candidate:
        for name, variants in self._coordinates(best).items():
            for choice in variants(best.choice):
                if time.monotonic() > self._deadline:
                    self._stopped = "out of time"
                    return best
                made = self._candidate(choice)
                if made is None:
                    continue
                if self._here:
                    best = self._duel(best, made)
                elif _better(made.predicted, best.predicted):
                    best = made
                self._progress(f"{name}: best {_ms(best.least or best.predicted)} ms ({best.choice})")
        return best

    def _coordinates(self, best: Candidate) -> dict[str, Callable[[Choice], list[Choice]]]:
        plan = json.loads(best.compiled.plan_json)
        kinds = {task.get("kind") for task in plan.get("tasks", [])}
        out: dict[str, Callable[[Choice], list[Choice]]] = {}
        if plan.get("streams"):
            out["chunks"] = lambda choice: [choice.with_chunk_rows(rows) for rows in (16384, 262144)]
        if not self._here:
            return out
        if "exchange" in kinds and self._target.ranks > 1:
            out["messages"] = lambda choice: [
                choice.with_setting("exchangeBuffer", size) for size in ("262144", "4194304")
            ]
        if "collective" in kinds and self._target.ranks > 1:
            out["all-reduce"] = lambda choice: [
                choice.with_setting("collectiveTree", size) for size in ("0", "1073741824")
            ]
        return out

    def _duel(self, best: Candidate, other: Candidate) -> Candidate:
        """The same number of runs in turns; the other must win clearly."""
        self._warm([best, other])
        for turn in range(self._budget.rounds):
            self._once(other)
            self._once(best)
            assert best.least is not None and other.least is not None
            if turn > 0 and other.least > best.least:
                return best
            if time.monotonic() > self._deadline:
                break
        return other if self._beats(other, best) else best

    def _beats(self, one: Candidate, other: Candidate) -> bool:
        if one is other:
            return True
        if one.runs and other.runs:
            gain = 1 - max(GAIN_MIN, self._noise)
            return min(one.runs) < gain * min(other.runs) and statistics.median(
                one.runs
            ) < gain * statistics.median(other.runs)
        return not one.runs and not other.runs and _better(one.predicted, other.predicted)

    # ---- the record ----

    def _record(self, best: Candidate, default: Candidate) -> database.Record:
        plan = json.loads(default.compiled.plan_json)
        return database.Record(
            program=self._subject.program,
            topology=use.key_of(self._target),
            choice=best.choice,
            text=self._subject.text[:200],
            date=datetime.now(UTC).strftime("%Y-%m-%d"),
            sizes=self._subject.sizes(plan),
            predicted_seconds=best.predicted,
            measured_seconds=best.least,
            default_seconds=default.predicted if best.least is None else default.least,
            build=use.build_of(self._target),
            candidates=tuple(one.document() for one in [*self._candidates(), *self._skipped]),
        )


def _standing(one: Candidate) -> tuple[bool, float]:
    """The quickest first, and before those that were only simulated."""
    seconds = one.predicted if one.least is None else one.least
    return one.least is None, float("inf") if seconds is None else seconds


def _check_is_this_machine(target: Target) -> None:
    from headrace import _runtime

    programs.translated(lambda: _runtime.check_is_this_machine(target.topology, target.ranks))


def _better(one: float | None, other: float | None) -> bool:
    return one is not None and (other is None or one < (1 - GAIN_MIN) * other)


def _digest(plan_json: str, choice: Choice) -> str:
    """Of what is executed: two choices with the same plan and settings are one."""
    plan = json.loads(plan_json)
    for told in ("explanation", "places", "program"):
        plan.pop(told, None)
    _take_whole_mesh_as_one_axis(plan)
    text = json.dumps([plan, choice.settings], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _take_whole_mesh_as_one_axis(plan: dict[str, Any]) -> None:
    """Where everything is divided and moved over all axes, their number makes no difference."""
    every = list(range(len(plan.get("mesh", []))))
    places = list(plan.get("tasks", []))
    places += [split for buffer in plan.get("buffers", []) for split in buffer.get("splits", [])]
    named = [(place, key) for place in places for key in ("axes", "split") if place.get(key)]
    if all(place[key] == every for place, key in named):
        plan.pop("mesh", None)
        for place, key in named:
            place[key] = [0]


def _one_line(message: str) -> str:
    line = message.split("\n", 1)[0]
    return line if len(line) <= 160 else line[:157] + "..."


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:.3f}"


class _ToStderr:
    """One line that changes on a terminal.

    Elsewhere one when what is done changes (the words before the colon), and one in two seconds.
    """

    def __init__(self) -> None:
        self._next = 0.0
        self._doing = ""

    def __call__(self, line: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
            return
        doing = line.partition(":")[0]
        if doing != self._doing or time.monotonic() >= self._next:
            self._doing = doing
            self._next = time.monotonic() + 2.0
            print(line, file=sys.stderr, flush=True)
