"""No phase of the compiler takes more than about n log n in the length of an array program: 2n against n."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import headrace as hr
import numpy as np
import pytest
from headrace import array as xp
from headrace._src.array.program import Options, compiled

pytestmark = pytest.mark.alone

PROGRAMS: dict[str, Callable] = {
    "tanh": lambda x, w, b, n: _repeated(n, x, lambda y: xp.tanh(y) * 0.5 + 0.1),
    "layers": lambda x, w, b, n: _repeated(n, x, lambda y: xp.tanh(y @ w + b)),
    "residual": lambda x, w, b, n: _repeated(n, x, lambda y: xp.relu(y @ w) + y),
    "softmax": lambda x, w, b, n: _repeated(n, x, _softmax),
}


def _repeated(n: int, x: xp.Array, layer: Callable) -> xp.Array:
    for _ in range(n):
        x = layer(x)
    return x


def _softmax(x: xp.Array) -> xp.Array:
    e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return e / xp.sum(e, axis=1, keepdims=True)


def seconds(body: Callable, n: int, ranks: int) -> dict[str, float]:
    """Of the processor, by phase: the compiler's share of each, since others may run on the machine."""
    x, b = np.ones((8, 8), "float32"), np.ones(8, "float32")
    start = time.process_time()
    traced = hr.jit(lambda x, w, b: body(x, w, b, n)).trace(x, x, b)
    text = traced.text
    traced_at = time.process_time()
    answer = compiled(text, (), Options(ranks).target())
    whole = time.process_time() - traced_at
    wall = sum(answer.phase_seconds.values())
    return {
        "trace": traced_at - start,
        **{phase: whole * share / wall for phase, share in answer.phase_seconds.items()},
    }


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("name", PROGRAMS)
def test_twice_the_program_takes_twice_the_time(
    name: str, ranks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def least(n: int) -> dict[str, float]:
        """Of two: other work on the machine, and Python's own, makes processor time longer, never shorter."""
        tries = []
        for attempt in range(2):
            monkeypatch.setenv(
                "HEADRACE_HOME", str(tmp_path / f"{n}.{attempt}")
            )  # nothing is compiled already
            tries.append(seconds(PROGRAMS[name], n, ranks))
        return {phase: min(each[phase] for each in tries) for phase in tries[0]}

    least(2)
    once, twice = least(150), least(300)
    # 2 for n, 2.2 for n log n, 4 for n²; what takes no time says nothing.
    slow = {phase: (once[phase], s) for phase, s in twice.items() if s > 3.2 * once[phase] + 0.15}
    assert not slow
    assert sum(twice.values()) < 10
