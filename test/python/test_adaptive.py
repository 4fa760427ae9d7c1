"""Wrong statistics on a simulated network: the right answer or the typed memory error, never a hang."""

from __future__ import annotations

import copy
import faulthandler
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import headrace as hr
import pytest
from headrace._src.query.statistics import table_statistics
from test_tpch import QUERIES, rows
from tpch_queries import plan_of

NAMES = ["03", "05", "09", "12", "18"]
SEEDS_EACH = 40  # 200 in all


def ways_taken() -> list[dict[str, Any]]:
    """The chooses of the last run, as rank 0 saw them."""
    return [task for task in hr.last_profile().run["tasks"] if "way" in task and task["rank"] == 0]


def wrong(documents: dict[str, Any], factors: dict[str, float]) -> dict[str, Any]:
    """Rows and distinct values times a factor a table. What storage checks or has counted stays true."""
    out = copy.deepcopy(documents)
    for name, document in out.items():
        document["rows_max"] = document["rows"]
        document["rows"] = max(1, int(document["rows"] * factors[name]))
        for column in document["columns"].values():
            if column.get("distinct"):
                column["distinct"] = max(1, int(column["distinct"] * factors[name]))
    return out


@pytest.fixture(autouse=True)
def stacks_of_a_hang() -> Iterator[None]:
    faulthandler.dump_traceback_later(240, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="module")
def documents(tpch_small: Path) -> dict[str, Any]:
    return table_statistics(tpch_small)


@pytest.fixture(scope="module")
def oracle(tpch_small: Path) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for file in tpch_small.glob("*.parquet"):
        connection.execute(f"create view {file.stem} as select * from '{file}'")
    return connection


@pytest.mark.parametrize("name", NAMES)
def test_wrong_by_a_thousand(
    name: str, tpch_small: Path, documents: dict[str, Any], oracle: duckdb.DuckDBPyConnection
) -> None:
    text = (QUERIES / f"q{name}.sql").read_text()
    expected = sorted(rows(oracle.sql(text).to_arrow_table()), key=repr)
    answers = refusals = 0
    for seed in range(SEEDS_EACH):
        draw = random.Random(f"{name} {seed}")
        ranks = draw.choice([2, 3, 4])
        memory = draw.choice([None, 4 << 20, 64 << 20, 256 << 20])
        whole = draw.choice([0.001, 1000])
        each = draw.random() < 0.5
        factors = {table: draw.choice([0.001, 1000]) if each else whole for table in sorted(documents)}
        try:
            found = hr.sql(
                text,
                tpch_small,
                ranks=ranks,
                memory=memory,
                statistics=wrong(documents, factors),
                simulation_seed=seed,
            )
        except hr.HeadraceError as error:
            assert error.kind == "memory" and memory, (seed, error)
            refusals += 1
        else:
            assert sorted(rows(found), key=repr) == expected, seed
            answers += 1
    assert answers and refusals


#: Query, ranks, and by what which tables are wrong, so that a side is a hundred times what was thought.
SWITCHES: list[tuple[str, int, dict[str, float]]] = [
    (
        "09",
        3,
        {"customer": 1000, "lineitem": 1000, "orders": 0.1, "part": 1000, "partsupp": 0.1, "supplier": 0.001},
    ),
    (
        "09",
        4,
        {"lineitem": 10, "orders": 10, "customer": 1000, "part": 1000, "partsupp": 0.001, "supplier": 0.01},
    ),
    ("09", 8, {"lineitem": 10, "part": 100, "partsupp": 0.1, "supplier": 0.1}),
    ("21", 2, {"lineitem": 1000, "nation": 0.001, "orders": 100, "supplier": 0.01}),
    ("21", 4, {"lineitem": 100, "nation": 0.001, "orders": 1000, "supplier": 0.001}),
]


def test_a_join_goes_the_other_way_than_was_thought(tpch_small: Path, documents: dict[str, Any]) -> None:
    switched = 0
    for name, ranks, factors in SWITCHES:
        text = (QUERIES / f"q{name}.sql").read_text()
        options: dict[str, Any] = {
            "ranks": ranks,
            "statistics": wrong(documents, dict.fromkeys(documents, 1) | factors),
            "topology": "ethernet-fast",  # where the costs cross depends on it
        }
        operators = plan_of(text, tpch_small, **options)["explanation"]["operators"]
        why = " ".join(operator.get("way", "") for operator in operators)
        found = re.findall(
            r"right if it has at most (\d+) rows \((\d+) expected, p95 \d+\), else shuffle", why
        )
        expected = {int(bound): int(rows) for bound, rows in found}
        hr.sql(text, tpch_small, simulation_seed=1, **options)
        ways = ways_taken()
        assert len(ways) == len(found)
        for choice in ways:
            bound = choice["at_most"]
            assert choice["way"] == ("few" if choice["chosen_by"] <= bound else "many")
            switched += choice["way"] != ("few" if expected[bound] <= bound else "many")
    assert switched, "no join went another way than was thought"
