"""Fixtures of the Python tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from dev import tpch_data
from headrace._src.programs import Target
from rank_processes import Processes


@pytest.fixture(scope="session")
def tpch() -> Path:
    """TPC-H at scale 1 (HEADRACE_TEST_SCALE changes it)."""
    return tpch_data.ensure(os.environ.get("HEADRACE_TEST_SCALE", "1"))


@pytest.fixture(scope="session")
def tpch_tenth() -> Path:
    """TPC-H at scale 0.1, for what must be of some size."""
    return tpch_data.ensure("0.1")


@pytest.fixture(scope="session")
def tpch_small() -> Path:
    """TPC-H at scale 0.01."""
    return tpch_data.ensure("0.01")


@pytest.fixture(scope="session")
def tpch_tiny() -> Path:
    """TPC-H at scale 0.001, for what runs row by row."""
    return tpch_data.ensure("0.001")


@pytest.fixture(scope="session", autouse=True)
def _in_rounds() -> Iterator[None]:
    """With HEADRACE_TEST_ROUNDS=1 plans divide all states that can be, whatever the memory of the run."""
    with pytest.MonkeyPatch.context() as patch:
        if os.environ.get("HEADRACE_TEST_ROUNDS"):
            patch.setattr(Target, "within", lambda target, _memory: replace(target, memory=1))
        yield


@pytest.fixture
def engine() -> Iterator[Processes]:
    """Three processes that an engine has started, for a driver's ranks."""
    made = Processes(3)
    yield made
    made.end()
