"""What is tuned: a query over tables, or a tensor program with its arrays and queries."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from headrace._src import programs
from headrace._src.errors import HeadraceError
from headrace._src.programs import Target
from headrace._src.query.plan_cache import CompiledQuery
from headrace._src.query.tables import Table
from headrace._src.tuning import use

if TYPE_CHECKING:
    from headrace._src.array.queries import QueryTensor


class Subject(Protocol):
    """A program that can be compiled for a target, and run."""

    @property
    def text(self) -> str: ...
    @property
    def program(self) -> str:
        """Its hash."""

    def compile(self, target: Target) -> CompiledQuery: ...
    def sizes(self, plan: dict[str, Any]) -> dict[str, int]: ...
    def rows(self, plan: dict[str, Any]) -> dict[str, float]: ...
    def run(self, handle: Any, threads: int, target: Target) -> float:
        """Seconds."""


@dataclass(frozen=True)
class SqlSubject:
    """A query over tables."""

    text: str
    tables: dict[str, Table]
    #: Of all ranks together, in runs.
    memory: int | str | None = None

    @property
    def program(self) -> str:
        return use.sql_program(self.text)

    def compile(self, target: Target) -> CompiledQuery:
        from headrace._src.query.compiled_query import compiled_query

        return compiled_query(self.text, self.tables, target, None)

    def sizes(self, plan: dict[str, Any]) -> dict[str, int]:
        from headrace._src.query import statistics

        read = {slot["name"] for slot in plan.get("slots", [])}
        return {name: size for name, size in statistics.table_sizes(self.tables).items() if name in read}

    def rows(self, plan: dict[str, Any]) -> dict[str, float]:
        return _rows_of(plan, self.tables)

    def run(self, handle: Any, threads: int, target: Target) -> float:
        from headrace._src.query.compiled_query import bindings_of

        started = time.perf_counter()
        options = programs.run_options(target.ranks, threads, self.memory, target.settings())
        bindings = bindings_of(self.tables)
        programs.translated(lambda: handle.run(bindings, **options))
        return time.perf_counter() - started


@dataclass(frozen=True)
class ProgramSubject:
    """A tensor program: the text of its function, the arrays that it is called with, and its queries."""

    text: str
    arrays: tuple[Any, ...] | None = None  # none: made by the shapes of the function
    queries: tuple[tuple[int, QueryTensor], ...] = ()  # arguments that are columns of queries
    memory: int | str | None = None  # of all ranks together, in runs

    @cached_property
    def program(self) -> str:
        from headrace._src.array import program

        return program.program_hash(self.text, self.queries)

    def compile(self, target: Target) -> CompiledQuery:
        from headrace._src.array import program

        return program.compiled(self.text, self.queries, target)

    @cached_property
    def _tables(self) -> dict[str, Table]:
        from headrace._src.array import program

        return program.tables_of(self.queries)

    def sizes(self, plan: dict[str, Any]) -> dict[str, int]:
        from headrace._src.query import statistics

        return statistics.table_sizes(self._tables)

    def rows(self, plan: dict[str, Any]) -> dict[str, float]:
        tensors = {slot["name"]: 1.0 for slot in plan.get("slots", []) if slot["kind"] == "tensor"}
        return {**_rows_of(plan, self._tables), **tensors}

    @cached_property
    def _cache(self) -> dict[str, Any]:
        return {}

    def _arrays(self, plan_json: str) -> dict[str, Any]:
        import numpy as np

        slots = [slot for slot in json.loads(plan_json)["slots"] if slot["kind"] == "tensor"]
        if self.arrays is not None:
            if len(self.arrays) != len(slots):
                raise HeadraceError(f"the program takes {len(slots)} arrays, got {len(self.arrays)}")
            return dict(zip((slot["name"] for slot in slots), self.arrays, strict=True))
        random = np.random.default_rng(0)
        types = {"f32": np.float32, "f64": np.float64, "i64": np.int64}
        made = {}
        for slot in slots:
            shape = slot.get("shape", [])  # all extents of an argument are known
            kind = types[slot.get("element", "f32")]
            made[slot["name"]] = (
                random.integers(-8, 8, shape) if kind is np.int64 else random.standard_normal(shape)
            ).astype(kind)
        return made

    def run(self, handle: Any, threads: int, target: Target) -> float:
        from headrace._src.array import program

        bindings = self._cache.get("bindings")
        if bindings is None:
            bindings = {**program.bindings(self.queries), **self._arrays(self._cache["plan"])}
            self._cache["bindings"] = bindings
        options = programs.run_options(target.ranks, threads, self.memory, target.settings())
        started = time.perf_counter()
        programs.translated(lambda: handle.run(bindings, **options))
        return time.perf_counter() - started

    def remember(self, plan_json: str) -> None:
        """The arguments are those of this plan."""
        self._cache["plan"] = plan_json


def _rows_of(plan: dict[str, Any], tables: dict[str, Table]) -> dict[str, float]:
    """Rows of the tables that a plan reads."""
    from headrace._src.query import statistics

    read = {slot["name"] for slot in plan.get("slots", [])} & set(tables)
    return {name: float(json.loads(statistics.statistics_of(tables[name]))["rows"]) for name in sorted(read)}


def target_for(target: Target, choice: Any) -> Target:
    return replace(target, choice=choice, note="")
