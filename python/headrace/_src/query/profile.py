"""What queries took: of the last one, for `headrace.last_profile`."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from headrace._src.errors import UserError
from headrace._src.explain import OperatorRows, operator_rows
from headrace._src.programs import LoadedProgram


@dataclass
class Profile:
    """What a query took, by phase, and where its plan came from."""

    compile_seconds: float = 0.0
    run_seconds: float = 0.0
    phases: dict[str, float] = field(default_factory=dict)
    plan_cached: bool = False
    kernels_compiled: int = 0
    #: How often a cluster has kept rows in files on the way; phases, run and plan are of what is behind that.
    commit_points: int = 0
    run: dict[str, Any] = field(default_factory=dict)
    plan_json: str = field(default="", repr=False)

    def operators(self) -> list[OperatorRows]:
        """The operators of the plan, those that feed another before it. UserError: nothing has run."""
        if not self.plan_json:
            raise UserError("nothing has run in this process: the operators are those of the last query")
        return operator_rows(self.plan_json, json.dumps(self.run))


_last_profile = Profile()


def last_profile() -> Profile:
    """The profile of the last query of this process."""
    return _last_profile


def remember(profile: Profile) -> None:
    global _last_profile
    _last_profile = profile


def profile_of(program: LoadedProgram, compile_seconds: float, run_seconds: float) -> Profile:
    """Of a program that has just run."""
    return Profile(
        compile_seconds=compile_seconds,
        run_seconds=run_seconds,
        phases=dict(program.compiled.phase_seconds),
        plan_cached=program.compiled.from_cache,
        kernels_compiled=program.compiled.kernels_compiled,
        run=json.loads(program.handle.profile() or "{}"),
        plan_json=program.compiled.plan_json,
    )
