"""What was decided for a program, as text: the runtime draws the tree, for Python and for the tools alike."""

from __future__ import annotations

import json
from dataclasses import dataclass

from headrace._src import programs


@dataclass(frozen=True)
class OperatorRows:
    """An operator of a plan that was run."""

    name: str
    detail: str
    #: Of its result, on all ranks (of one, if each has all); None if it makes no table.
    estimated_rows: float | None
    #: The same, measured; None where nothing counts them.
    rows: int | None


def explained(plan_json: str, *, runner_up: bool = False, tasks: bool = False, profile: str = "") -> str:
    """The tree of a plan's operators.

    runner_up: with the cheapest other way of each decision. tasks: the plan's tables and tasks follow.
    profile: of a run, as JSON; its rows and seconds stand beside those estimated.
    """
    from headrace import _runtime

    tree = programs.translated(lambda: _runtime.explain(plan_json, runner_up, profile))
    return f"{tree}\n{_runtime.plan_text(plan_json)}" if tasks else tree


def operator_rows(plan_json: str, profile: str) -> list[OperatorRows]:
    """Estimated and measured rows of a plan's operators, in their order."""
    from headrace import _runtime

    measured = programs.translated(lambda: _runtime.measured_rows(plan_json, profile))
    operators = json.loads(plan_json)["explanation"].get("operators", [])
    return [
        OperatorRows(
            operator["name"],
            operator.get("detail", ""),
            operator.get("rows"),
            int(rows) if rows >= 0 else None,
        )
        for operator, rows in zip(operators, measured, strict=True)
    ]
