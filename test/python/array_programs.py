"""Array programs with NumPy's answer, for the tests of tracing and of running."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from headrace import array as xp

SEED = 20261121


def normal(*shape: int, dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(SEED + sum(shape)).normal(size=shape).astype(dtype)


def integers(*shape: int) -> np.ndarray:
    return np.random.default_rng(SEED).integers(-1000, 1000, size=shape)


def relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def traced_softmax(x: xp.Array) -> xp.Array:
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


# name: (traced function, NumPy's answer, arguments)
PROGRAMS: dict[str, tuple[Callable, Callable, list[np.ndarray]]] = {
    "two_layers": (
        lambda x, w1, b1, w2: xp.relu(x @ w1 + b1) @ w2,
        lambda x, w1, b1, w2: relu(x @ w1 + b1) @ w2,
        [normal(33, 17), normal(17, 29), normal(29), normal(29, 5)],
    ),
    "softmax": (traced_softmax, softmax, [normal(9, 37)]),
    "arithmetic": (
        lambda x, y: (2 * x - y / 3 + 1) * -abs(x) / (1 + xp.exp(y)) - 0.5,
        lambda x, y: (2 * x - y / 3 + 1) * -abs(x) / (1 + np.exp(y)) - 0.5,
        [normal(7, 23), normal(23)],
    ),
    "functions_f64": (
        lambda x: xp.tanh(x) + xp.sqrt(abs(x)) + xp.minimum(x, 0.25) - xp.square(x),
        lambda x: np.tanh(x) + np.sqrt(abs(x)) + np.minimum(x, 0.25) - np.square(x),
        [normal(5, 41, dtype="float64")],
    ),
    "outer_product": (
        lambda x, y: xp.expand_dims(x, axis=1) * xp.expand_dims(y, axis=0),
        lambda x, y: x[:, None] * y[None, :],
        [normal(6), normal(19)],
    ),
    "stretch": (
        lambda x: xp.broadcast_to(x, (3, 4, 5)) + 1,
        lambda x: np.broadcast_to(x, (3, 4, 5)) + 1,
        [normal(4, 1)],
    ),
    "column_sums": (lambda x: xp.sum(x, axis=0), lambda x: x.sum(axis=0), [normal(40, 21)]),
    "means": (
        lambda x: (xp.mean(x), xp.mean(x, axis=(0, 2)), xp.mean(x, axis=1, keepdims=True)),
        lambda x: (x.mean(), x.mean(axis=(0, 2)), x.mean(axis=1, keepdims=True)),
        [normal(4, 5, 6)],
    ),
    "extremes_i64": (
        lambda x, y: (xp.max(x - y, axis=1), xp.min(x * y, axis=0), -abs(x), xp.sum(x)),
        lambda x, y: ((x - y).max(axis=1), (x * y).min(axis=0), -abs(x), x.sum()),
        [integers(11, 13), integers(13)],
    ),
    "permute": (
        lambda x: xp.permute_dims(x, (2, 0, 1)) * 2,
        lambda x: np.transpose(x, (2, 0, 1)) * 2,
        [normal(3, 4, 5)],
    ),
    "gram": (lambda x: x.T @ x, lambda x: x.T @ x, [normal(31, 8)]),
    "reshapes": (
        lambda x: xp.reshape(xp.reshape(x, (4, 3, 5)) + 1, (-1, 2)),
        lambda x: (x.reshape(4, 3, 5) + 1).reshape(-1, 2),
        [normal(2, 6, 5)],
    ),
    "vectors": (
        lambda x, y, m: (x @ y, m @ x, x @ m.T),
        lambda x, y, m: (x @ y, m @ x, x @ m.T),
        [normal(9), normal(9), normal(3, 9)],
    ),
    "batches": (lambda x, y: x @ y, lambda x, y: x @ y, [normal(3, 4, 5), normal(3, 5, 6)]),
    "stacked_rows": (lambda x, y: x @ y, lambda x, y: x @ y, [normal(3, 4, 5), normal(5, 6)]),
    "convert": (
        lambda x, y: xp.astype(xp.astype(x, xp.float64) + y, xp.float32),
        lambda x, y: (x.astype("float64") + y).astype("float32"),
        [integers(8), normal(8, dtype="float64")],
    ),
    "empty": (
        lambda x, y: (x @ y, xp.sum(x, axis=0), x + 1),
        lambda x, y: (x @ y, x.sum(axis=0), x + 1),
        [normal(0, 3), normal(3, 2)],
    ),
}


def as_tuple(values: object) -> tuple:
    return values if isinstance(values, tuple) else (values,)


def assert_equal(actual: object, expected: object) -> None:
    for got, wanted in zip(as_tuple(actual), as_tuple(expected), strict=True):
        assert np.shape(got) == np.shape(wanted)
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
