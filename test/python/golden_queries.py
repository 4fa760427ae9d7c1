"""TPC-H queries as Substrait plans with statistics, for tests that need neither tables nor SQL."""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).parents[1] / "data" / "tpch"


def substrait(name: str) -> str:
    return (DATA / "substrait" / f"{name}.json").read_text()


def statistics() -> dict[str, str]:
    """Of TPC-H at scale 1, by table."""
    return {path.stem: path.read_text() for path in sorted((DATA / "statistics").glob("*.json"))}
