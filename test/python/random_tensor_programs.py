"""Random programs of arrays: functions over headrace.array that a seed stands for, with their arguments."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from headrace import array as xp

_EXTENTS = (1, 2, 3, 4, 5, 7, 8, 13)


@dataclass
class TensorProgram:
    """`function` takes the arguments as positional arrays."""

    function: Callable[..., Any]
    arguments: list[np.ndarray]


def _unary(random: Random, x: xp.Array) -> xp.Array:
    # Nothing grows without bound and nothing divides by zero.
    return random.choice(
        [
            xp.tanh,
            xp.relu,
            xp.negative,
            xp.abs,
            lambda v: xp.exp(xp.tanh(v)),
            lambda v: xp.sqrt(xp.abs(v)),
            lambda v: v * random.choice([0.5, -1.5]) + 0.25,
            lambda v: v / (xp.square(v) + 1.0),
        ]
    )(x)


def _binary(random: Random, a: xp.Array, b: xp.Array) -> xp.Array:
    return random.choice([xp.add, xp.subtract, xp.multiply, xp.maximum, xp.minimum])(a, b)


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    pairs = zip(reversed(a), reversed(b), strict=False)
    return all(x == y or x == 1 or y == 1 for x, y in pairs)


def _reduced(random: Random, x: xp.Array) -> xp.Array:
    axis = random.randrange(len(x.shape))
    function = random.choice([xp.sum, xp.max, xp.min, xp.mean])
    return function(x, axis=axis, keepdims=random.random() < 0.4)


def _reshaped(random: Random, x: xp.Array) -> xp.Array:
    size = math.prod(x.shape)
    factors = [extent for extent in range(1, size + 1) if size % extent == 0]
    first = random.choice(factors)
    return xp.reshape(x, random.choice([(size,), (first, size // first)]))


def _sliced(random: Random, x: xp.Array) -> xp.Array:
    """Some of each dimension, at least one element."""
    keys = []
    for extent in x.shape:
        start = random.randrange(extent)
        key = slice(start, random.randrange(start, extent) + 1, random.choice([1, 1, 2]))
        keys.append(random.choice([slice(None), slice(None, None, -1), key]))
    return x[tuple(keys)]


def _step(random: Random, pool: list[xp.Array]) -> xp.Array:
    x = random.choice(pool[-3:])
    choice = random.randrange(10)
    if choice < 3 and len(x.shape) == 2:
        partners = [y for y in pool if len(y.shape) == 2 and y.shape[0] == x.shape[1]]
        if partners:
            return xp.matmul(x, random.choice(partners)) * (1.0 / x.shape[1])
        return xp.matmul(x, xp.matrix_transpose(x)) * (1.0 / x.shape[1])
    if choice == 3 and x.shape:
        return _reduced(random, x)
    if choice == 4 and len(x.shape) > 1:
        return xp.matrix_transpose(x)
    if choice == 5 and x.shape and random.random() < 0.4:
        return _reshaped(random, x)
    if choice == 6:
        partners = [y for y in pool if _broadcasts(x.shape, y.shape) and y is not x]
        if partners:
            return _binary(random, x, random.choice(partners))
    if choice == 7 and x.shape:
        return _sliced(random, x)
    if choice == 8 and x.shape:
        axis = random.randrange(len(x.shape))
        return xp.concat([x, _sliced(random, x) if len(x.shape) == 1 else -x], axis=axis)
    return _unary(random, x)


def random_tensor_program(seed: int) -> TensorProgram:
    """Of three arguments and up to eight steps."""
    random = Random(seed)
    values = np.random.default_rng(seed)
    m, k, n = (random.choice(_EXTENTS) for _ in range(3))
    shapes = [(m, k), (k, n), random.choice([(n,), (1, n), (k,), (m, n)])]
    dtype = random.choice([np.float32, np.float32, np.float64])
    arguments = [values.normal(size=shape).astype(dtype) for shape in shapes]
    steps = random.randrange(2, 9)
    body_seed = random.random()

    def function(a, b, c):
        choices = Random(body_seed)
        pool = [a, b, c]
        for _ in range(steps):
            pool.append(_step(choices, pool))
        return pool[-1], pool[-2]

    return TensorProgram(function, arguments)
