"""Faults on the simulated network: the right answer, or an error of the kind of the fault; never a hang.

HEADRACE_SIMULATED_FAULTS says how many seeds run.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import headrace as hr
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from headrace._src.programs import LoadedProgram, Target, translated
from headrace._src.query.compiled_query import bindings_of, load_query
from headrace._src.query.statistics import table_statistics
from headrace._src.query.tables import resolve
from test_adaptive import wrong

_COUNT = int(os.environ.get("HEADRACE_SIMULATED_FAULTS", "1000"))
_PARTS = 4
_ROWS = 12_000
#: Joins of keys of which one has many rows, groups, windows, orders, distinct values.
_QUERIES = {
    "skewed join": "select count(*) as n, sum(a.v) as v, sum(b.w) as w from one a join few b on a.k = b.k",
    "outer join": "select count(*) as n, sum(v) as v, count(w) as w from one a full join few b on a.k = b.k",
    "anti join": "select count(*) as n from one a where not exists (select 1 from few b where a.k = b.k)",
    "groups": "select k, t, count(*) as n, sum(v) as v from one group by k, t",
    "join and groups": "select b.t, count(*) as n, sum(v) as v from one a join few b on a.k = b.k group by 1",
    "order": "select k, v, t from one order by v, k, t limit 50",
    "window": "select k, v, row_number() over (partition by k order by v, t) as n from one where v < 90",
    "distinct": "select v % 7 as g, count(distinct k) as n from one group by g",
}
#: With so little memory that rows wait on disk.
_SPILLED = {
    "rows on disk": "select b.t, count(*) as n, sum(v) as v from many a join less b on a.k = b.k group by 1",
}
_LITTLE = 32 << 20
#: Whose rows are larger than the messages: they go in parts.
_LARGE = {
    "large rows by key": "select k, string_agg(t, '' order by v) as t from long group by k",
    "large rows joined": "select a.v, b.t from long a join long b on a.t = b.t",
    "large rows in order": "select v, t from long order by t, v",
}
_LEAST_BUFFER = {"exchangeBuffer": "4KiB"}


@dataclass(frozen=True)
class Program:
    """A query for so many ranks, and its answer."""

    name: str
    ranks: int
    loaded: LoadedProgram
    bindings: dict[str, Any]
    answer: list[Any]
    #: Of all ranks; so little that rows wait on disk, if it is not 0.
    memory: int
    settings: dict[str, str]


def _rows(table: Any) -> list[Any]:
    return sorted(map(repr, pa.table(table).to_pylist()))


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> list[Program]:
    folder = tmp_path_factory.mktemp("faults")
    draw = np.random.default_rng(5)
    for name, size, heavy in (
        ("one", 1, 0.4),
        ("few", 1 / 6, 0.002),
        ("many", 5, 0.4),
        ("less", 5 / 6, 0.002),
    ):
        rows = int(_ROWS * size)
        key = np.where(draw.random(rows) < heavy, 7, draw.integers(0, _ROWS // 4 * max(1, int(size)), rows))
        values = "v" if size >= 1 else "w"
        texts = np.char.add("a rather long text ", (key % 997).astype(str))
        table = pa.table({"k": key, "t": texts, values: draw.integers(0, 1000, rows)})
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=rows // 16)
    long = pa.table(
        {"k": [i % 5 for i in range(40)], "v": range(40), "t": [str(i % 9) * i * 400 for i in range(40)]}
    )
    pq.write_table(long, folder / "long.parquet", row_group_size=3)
    statistics = wrong(table_statistics(folder), dict.fromkeys(("one", "few", "many", "less", "long"), 100))
    tables = resolve(folder)
    made = []
    chosen = [(name, text, ranks, 0, {}) for name, text in _QUERIES.items() for ranks in (2, 4)]
    chosen += [(name, text, 3, 0, _LEAST_BUFFER) for name, text in _LARGE.items()]
    chosen += [(name, text, 3, _LITTLE, {}) for name, text in _SPILLED.items()]
    for name, text, ranks, memory, settings in chosen:
        target = Target.of(ranks, "ethernet-fast", None)
        if memory:
            target = target.within(memory // 16)  # with its states in parts
        loaded = load_query(text, tables, target, statistics)
        answer = _rows(hr.sql(text, folder))
        made.append(Program(name, ranks, loaded, bindings_of(tables), answer, memory, settings))
    return made


def _faults(draw: random.Random, ranks: int) -> tuple[dict[str, float], set[str]]:
    """One or two kinds of fault, and the kinds of errors that may come of them."""
    faults: dict[str, float] = {}
    kinds: set[str] = set()
    for fault in draw.sample(["lose", "dead", "corrupt", "duplicate", "reorder", "paused", "slow"], 2):
        if fault in ("lose", "corrupt", "duplicate", "reorder"):
            faults[fault] = 10 ** draw.uniform(-4, -1.3)
            kinds |= {"io"} if fault == "lose" else {"corrupt", "io"}
        elif fault == "dead":
            faults |= {"dead_rank": draw.randrange(ranks), "dies_at": 10 ** draw.uniform(3, 7)}
            kinds |= {"io"}
        elif fault == "paused":
            start = 10 ** draw.uniform(3, 6.5)
            paused = {"pause_from": start, "pause_to": start + 10 ** draw.uniform(4, 8)}
            faults |= {"paused_rank": draw.randrange(ranks), **paused}
        else:
            faults |= {"slow_rank": draw.randrange(ranks), "idle": draw.choice([0.67, 0.95, 0.99])}
        if draw.random() < 0.5:
            break
    return faults, kinds


@pytest.mark.parametrize("part", range(_PARTS))
def test_right_or_typed(programs: list[Program], part: int, tmp_path: Path) -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(part, _COUNT, _PARTS):
        draw = random.Random(f"faults {seed}")
        program = draw.choice(programs if draw.random() < 0.8 else programs[-1:])
        faults, kinds = _faults(draw, program.ranks)
        settings = {"spillDirectory": str(tmp_path), **program.settings}
        memory = program.memory or 256 << 20
        if program.memory:  # it is little
            kinds = kinds | {"memory"}
        if draw.random() < 0.2:  # memory is denied
            memory = int(2 ** draw.uniform(19, 25))
            kinds = kinds | {"memory"}
        if draw.random() < 0.2:  # the disk is full
            settings["spillLimit"] = str(int(2 ** draw.uniform(12, 22)))
            kinds = kinds | {"memory"}
        where = f"seed {seed}: {program.name} on {program.ranks} ranks, {memory} bytes, {settings}, {faults}"
        try:
            found = translated(
                lambda program=program, seed=seed, faults=faults, memory=memory, settings=settings: (
                    program.loaded.handle.run(
                        program.bindings,
                        ranks=program.ranks,
                        simulation_seed=seed,
                        faults=faults,
                        memory=memory,
                        settings=settings,
                    )
                )
            )
        except hr.HeadraceError as error:
            assert error.kind in kinds, f"{where}\n{error.kind}: {error}"
            outcomes[error.kind] += 1
        else:
            assert _rows(found) == program.answer, where
            outcomes["answer"] += 1
    assert list(tmp_path.iterdir()) == [], "a file is left"
    if _COUNT >= 1000:
        assert outcomes["answer"] > 50 and {"io", "corrupt", "memory"} <= outcomes.keys(), outcomes


def test_what_the_programs_do(programs: list[Program], tmp_path: Path) -> None:
    """Without faults but a slow rank: rows of heavy keys spread, rows wait on disk, ranks share morsels."""
    heavy = spilled = taken = 0
    for program in programs:
        found = program.loaded.handle.run(
            program.bindings,
            ranks=program.ranks,
            simulation_seed=1,
            faults={"slow_rank": 1, "idle": 0.95},
            memory=program.memory or 256 << 20,
            settings={"spillDirectory": str(tmp_path), **program.settings},
        )
        assert _rows(found) == program.answer
        profile = json.loads(program.loaded.handle.profile())
        taken += sum(task.get("morsels_taken", 0) for task in profile["tasks"])
        heavy += sum(task.get("heavy_rows", 0) for task in profile["tasks"])
        spilled += sum(profile["spilled_bytes"])
    assert heavy and spilled and taken


def test_nobody_is_left_to_say_why(tpch_small: Path) -> None:
    tables = resolve(tpch_small)
    loaded = load_query("select sum(l_tax) as tax from lineitem", tables, Target.of(1, None, None))
    with pytest.raises(hr.errors.InputOutputError, match="rank 0 died in the simulation"):
        translated(
            lambda: loaded.handle.run(
                bindings_of(tables), simulation_seed=1, faults={"dead_rank": 0, "dies_at": 0}
            )
        )
