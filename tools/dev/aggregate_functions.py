"""The table of aggregates (passes/import/aggregates.def), for the reference page and for tests."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dev import places

SOURCE = "passes/import/aggregates.def"
_TEXT = """All skip NULL, and rows where either argument is NULL; of no values all but counts are NULL. Each
takes `FILTER`, and `DISTINCT` but for quantiles. In windows there are no `arg_min`, `arg_max`
and the like, and no `DISTINCT` of lists, `bit_xor`, `product`, variances and the like. Quantiles between two
values are of numbers (decimals of at most 15 digits), dates and times; SQL's `percentile_cont` and
`percentile_disc` `WITHIN GROUP` are the same, and a negative share counts from the greatest.
"""
_LINE = re.compile(r'^HR_(\w+)\("([^"]*)", (?:"([^"]*)", )?(.*?)(?:, )?"([^"]*)"\)$')
_ROWS_OF = ("ROW_OF", "ROW_OF_ANY", "ROW_OF_ALL")
_QUANTILES = ("QUANTILE", "EXACT_QUANTILE")
#: What an aggregate wants beside its values.
_MORE = {"histogram_exact": ["[1, 2]"], "approx_top_k": ["3"]}


@dataclass(frozen=True)
class Aggregate:
    kind: str
    duckdb: tuple[str, ...]
    substrait: tuple[str, ...]
    arguments: int
    text: str

    def call(self, *arguments: str, name: str | None = None, distinct: bool = False) -> str:
        more = ["0.3"] if self._has_share(name) else _MORE.get(name or self.duckdb[0], [])
        listed = ", ".join([*arguments, *more])
        return f"{name or self.duckdb[0]}({'distinct ' if distinct else ''}{listed})"

    def _has_share(self, name: str | None) -> bool:
        return self.kind in _QUANTILES and (name or self.duckdb[0]) != "median"

    @property
    def in_windows(self) -> bool:
        return self.kind not in (*_ROWS_OF, *_QUANTILES, "MOST", "COLLECT")

    @property
    def of_distinct(self) -> bool:
        return self.kind not in (*_QUANTILES, "MOST")


def table() -> list[Aggregate]:
    aggregates = []
    for line in (places.ROOT / SOURCE).read_text().splitlines():
        if not line.startswith("HR_"):
            continue
        found = _LINE.match(line)
        if not found:
            raise ValueError(f"a line of {SOURCE} is not one aggregate: {line}")
        kind, duckdb, substrait, rest, text = found.groups()
        arguments = 2 if kind in _ROWS_OF else int(rest[0]) if kind == "DEVIATIONS" else 1
        names = tuple(duckdb.split())
        aggregates.append(
            Aggregate(
                kind, names, tuple((substrait or "").split()), 0 if "count_star" in names else arguments, text
            )
        )
    return aggregates


def section() -> str:
    """The aggregates of docs/reference/functions.md."""
    rows = []
    for aggregate in table():
        if aggregate.arguments == 0:
            continue  # COUNT(*): nobody writes its name
        pair = ("x", "y") if aggregate.kind in _ROWS_OF else ("y", "x")
        arguments = ("x",) if aggregate.arguments == 1 else pair
        calls = ", ".join(f"`{aggregate.call(*arguments, name=name)}`" for name in aggregate.duckdb)
        substrait = ", ".join(f"`{name}`" for name in aggregate.substrait)
        rows.append(f"| {calls} | {aggregate.text} | {substrait} |")
    return f"""{_TEXT}
| SQL | what it is | Substrait |
|---|---|---|
{chr(10).join(rows)}
"""
