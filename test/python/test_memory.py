"""Memory limits: what is refused, by whom, before and during a run; and that nothing is kept afterwards."""

from __future__ import annotations

import re
from pathlib import Path

import headrace as hr
import numpy as np
import pytest
from test_tpch import QUERIES, rows

SETTING = "--memory (memory= in Python)"


def query(name: str) -> str:
    return (QUERIES / f"q{name}.sql").read_text()


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("name", ["09", "18"])
def test_over_the_limit_names_tier_operator_bytes_and_setting(
    name: str, ranks: int, tpch_small: Path
) -> None:
    expected = rows(hr.sql(query(name), tpch_small, ranks=ranks))
    kinds = set()
    for memory in (64 << 10, 1 << 20, 2 << 20, 4 << 20, 8 << 20):
        try:
            hr.sql(query(name), tpch_small, ranks=ranks, memory=memory)
        except hr.HeadraceError as error:
            assert error.kind == "memory", error
            message = str(error)
            # An operator of the query, or what the ranks need to talk to each other.
            assert re.match(r"([\w ]+: )?out of host memory: ", message), message
            assert re.search(
                r"(asked for|need at least|a block of) .*\(\d+ bytes\).* of the limit of ", message
            )
            assert f"raise {SETTING}" in message, message
            kinds.add("and what is held with it need at least" in message)
        # Nothing is kept by the run that failed: the next one has all of the memory.
        assert rows(hr.sql(query(name), tpch_small, ranks=ranks)) == expected
    assert kinds == {True, False}  # refused before the run, and during it


def test_an_operator_is_named_with_its_place(tpch_small: Path) -> None:
    text = "select l_orderkey, l_partkey, sum(l_quantity) as q from lineitem group by l_orderkey, l_partkey"
    with pytest.raises(hr.HeadraceError, match=r"aggregate.* of the limit of ") as error:
        hr.sql(text, tpch_small, memory=4 << 20)
    assert error.value.place


def test_every_state_has_an_estimate_and_a_reservation(tpch_small: Path) -> None:
    plan = hr.explain(query("18"), tpch_small, ranks=2, tasks=True)
    states = re.findall(r"^state \d+ '(\w+)' (\w+), rows of \d+ bytes, about (\d+) \(", plan, re.MULTILINE)
    assert states
    assert {"group_table", "join_table", "sort_buffer"} <= {kind for _, kind, _ in states}
    assert sum(int(expected) > 0 for _, _, expected in states) > len(states) / 2
    for name, _, _ in states:
        assert f"reserve 'reserve_{name}'" in plan
        assert f"release 'release_{name}'" in plan


def test_tensors_are_given_back_after_their_last_use() -> None:
    x = np.random.default_rng(5).random((512, 512), dtype=np.float32) / 256  # 1 MiB each

    def power(x):
        y = x
        for _ in range(16):
            y = y @ x
        return y

    got = hr.jit(power, threads=1, memory=9 << 20)(x)
    np.testing.assert_allclose(got, power(x), rtol=1e-4)
    with pytest.raises(hr.HeadraceError, match="out of host memory.*--memory"):
        hr.jit(power, threads=1, memory=2 << 20)(x)
