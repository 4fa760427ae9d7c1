"""Reductions that are cut along what they reduce, against NumPy, and the same bits for any number of workers.

Sources: passes/analysis/tensor_kernel.cpp, passes/lower/code/tensor_kernel.cpp,
runtime/exec/task/compute_task.cpp, runtime/exec/task/tensor_buffer.cpp
"""

from __future__ import annotations

from collections.abc import Callable

import headrace as hr
import numpy as np
import pytest
from headrace import array as xp

SHAPES = [
    (200_000, 3),
    (3, 200_000),
    (1, 300_000),
    (40, 3, 5000),
    (5, 700, 70),
    (33, 33, 33),
    (70_000, 1),
    (2, 31, 9000),
]
AXES: list[int | tuple[int, ...] | None] = [None, 0, -1, (0, 1)]


def _values(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    random = np.random.default_rng(len(shape))
    return (
        random.integers(-1000, 1000, size=shape)
        if dtype == "i64"
        else random.normal(size=shape).astype(dtype)
    )


@pytest.mark.parametrize("dtype", ["float32", "float64", "i64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_sums_and_extremes_mean_what_numpy_says(shape: tuple[int, ...], dtype: str) -> None:
    x = _values(shape, dtype)

    def reductions(n, x):
        return tuple(
            f(axis)
            for axis in AXES
            for f in (lambda a: n.max(x, axis=a), lambda a: n.min(x * 2, axis=a), lambda a: n.sum(x, axis=a))
        )

    expected = reductions(np, x)
    tolerance = {"float32": 2e-3, "float64": 1e-9, "i64": 0}[dtype]
    for target in ({"ranks": 1}, {"ranks": 2}, {"ranks": 3, "layout_seed": 1}, {"mesh": "a:2,b:2"}):
        found = hr.jit(threads=2, **target)(lambda x: reductions(xp, x))(x)
        for number, (got, wanted) in enumerate(zip(found, expected, strict=True)):
            allowed = tolerance if number % 3 == 2 else 0  # the sums are rounded in another order
            np.testing.assert_allclose(got, wanted, rtol=allowed, atol=allowed * 100, err_msg=str(target))


def test_sums_have_the_same_bits_for_any_number_of_workers() -> None:
    x = np.random.default_rng(1).normal(size=(300_000, 7)).astype(np.float32)
    found = {
        tuple(
            np.asarray(part).tobytes()
            for part in hr.jit(threads=threads)(lambda x: (xp.sum(x), xp.sum(x, axis=0)))(x)
        )
        for threads in (1, 2, 3, 5, 1, 2)
    }
    assert len(found) == 1


@pytest.mark.parametrize("at", [0, 70_000, 199_999])
def test_nan_signs_and_infinities_come_through(at: int) -> None:
    x = np.full((200_000, 2), -0.0, np.float32)
    functions: dict[str, Callable] = {"max": np.max, "min": np.min, "sum": np.sum}
    for special in (np.nan, np.inf, -np.inf, 5.0):
        x[at, 1] = special
        found = hr.jit(threads=2)(lambda x: tuple(getattr(xp, name)(x, axis=0) for name in functions))(x)
        for name, got in zip(functions, found, strict=True):
            np.testing.assert_array_equal(got, functions[name](x, axis=0), err_msg=name)


def test_of_nothing() -> None:
    for shape in ((0, 5), (5, 0), (0,), (40, 0, 3)):
        x = np.zeros(shape, np.float32)
        np.testing.assert_array_equal(hr.jit(lambda x: xp.sum(x))(x), 0)
        np.testing.assert_array_equal(hr.jit(lambda x: xp.sum(x, axis=0))(x), x.sum(axis=0))
        np.testing.assert_array_equal(hr.jit(ranks=2)(lambda x: xp.sum(x, axis=-1))(x), x.sum(axis=-1))


@pytest.mark.parametrize("target", [{"ranks": 1}, {"ranks": 2}, {"ranks": 3, "layout_seed": 2}])
def test_arguments_are_read_wherever_they_lie(target: dict) -> None:
    whole = np.arange(60_000, dtype=np.float64).reshape(300, 200)
    bytes_ = np.zeros(8 * 60_000 + 1, np.uint8)
    odd = bytes_[1:].view()[: 8 * 60_000].view(np.float64).reshape(300, 200)
    odd[...] = whole
    arguments = {
        "whole": whole,
        "columns": whole[:, 20:90],
        "lines": whole[40:80],
        "every other": whole[::2, ::3],
        "turned": whole[::-1, ::-1],
        "transposed": whole.T,
        "at an odd address": odd,
        "read only": np.broadcast_to(whole[0], (300, 200)),
    }
    for name, x in arguments.items():
        got = hr.jit(**target)(lambda x: (xp.sum(x, axis=0), x * 2, x))(x)
        for found, expected in zip(got, (x.sum(axis=0), x * 2, x), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12, err_msg=name)


def test_results_are_the_callers_own() -> None:
    x = np.arange(40_000, dtype=np.float32)
    same, more = hr.jit(lambda x: (x, x + 1))(x)
    x[...] = -1
    np.testing.assert_array_equal(same, np.arange(40_000))
    np.testing.assert_array_equal(more, np.arange(40_000) + 1)
