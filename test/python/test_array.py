"""Arrays: programs are traced to MLIR that verifies, and mean what NumPy says they mean."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable

import headrace as hr
import numpy as np
import pytest
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


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> tuple[Callable, Callable, list[np.ndarray]]:
    function, expected, arguments = PROGRAMS[request.param]
    return hr.jit(function), expected, arguments


def as_tuple(values: object) -> tuple:
    return values if isinstance(values, tuple) else (values,)


def assert_equal(actual: object, expected: object) -> None:
    for got, wanted in zip(as_tuple(actual), as_tuple(expected), strict=True):
        assert np.shape(got) == np.shape(wanted)
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


def verify(text: str) -> str:
    tool = shutil.which("headrace-opt")
    assert tool, "headrace-opt is not on PATH"
    done = subprocess.run([tool, "--mlir-print-debuginfo"], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + text
    return done.stdout


def test_trace_means_what_numpy_says(program: tuple) -> None:
    function, expected, arguments = program
    assert_equal(function.trace(*arguments).evaluate(*arguments), expected(*arguments))


def test_trace_is_valid_mlir(program: tuple) -> None:
    function, _, arguments = program
    verify(function.trace(*arguments).text)


def test_ops_carry_the_line_of_the_program() -> None:
    @hr.jit
    def scaled(x, y):
        z = x @ y
        return xp.exp(z)

    line = scaled._function.__code__.co_firstlineno
    text = verify(scaled.trace(normal(2, 3), normal(3, 2)).text)
    lines = dict(re.findall(r'(#loc\d*) = loc\(".*test_array.py":(\d+):0\)', text))
    (matmul,) = re.findall(r"linalg\.matmul .* loc\((#loc\d*)\)", text)
    (exp,) = re.findall(r"math\.exp .* loc\((#loc\d*)\)", text)
    assert (int(lines[matmul]), int(lines[exp])) == (line + 2, line + 3)
    assert 'loc("x")' in text


def test_keepdims_needs_no_reshape_where_it_broadcasts() -> None:
    text = hr.jit(lambda x: x / xp.sum(x, axis=1, keepdims=True)).trace(normal(4, 5)).text
    assert "shape" not in text


@pytest.mark.parametrize("value", [1e-5, 1e30, -0.0, float("inf"), float("nan"), 3, 0.1])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_constants_keep_their_bits(value: float, dtype: str) -> None:
    text = verify(hr.jit(lambda x: x + value).trace(normal(1, dtype=dtype)).text)
    (written,) = re.findall(r"arith\.constant (\S+) :", text)
    kind = np.dtype(dtype).str.replace("f", "u")
    got = (
        np.array(int(written, 16), kind).view(dtype) if written.startswith("0x") else np.array(written, dtype)
    )
    wanted = np.array(value, dtype)
    assert np.isnan(got) == np.isnan(wanted)
    assert np.isnan(wanted) or (got == wanted and np.signbit(got) == np.signbit(wanted))


def test_traces_without_values() -> None:
    from headrace._src.array.jit import TensorType

    text = hr.jit(lambda x: x + x).trace(TensorType((3, 4), "i64")).text
    assert "tensor<3x4xi64>" in verify(text)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x, y: x + y, ValueError, r"do not broadcast: \(2, 3\) and \(4, 5\)"),
        (lambda x, y: x @ y, ValueError, r"equal inner extents: got \(2, 3\) and \(4, 5\)"),
        (lambda x, y: xp.sum(x, axis=2), ValueError, "axis out of range for 2 dimensions: got 2"),
        (lambda x, y: xp.sum(x, axis=(0, 0)), ValueError, "named twice"),
        (lambda x, y: xp.reshape(x, (4, -1)), ValueError, "cannot reshape 6 elements"),
        (lambda x, y: xp.permute_dims(x, (0, 0)), ValueError, "not a permutation"),
        (lambda x, y: x + np.ones(3), TypeError, "as arguments of the function.*got ndarray"),
        (lambda x, y: x + xp.astype(x, "f64"), TypeError, "of one type.*f32 and f64"),
        (lambda x, y: xp.exp(xp.astype(x, "i64")), TypeError, "floating-point array: got i64"),
        (
            lambda x, y: xp.astype(x, "i64") + 0.5,
            TypeError,
            "cannot be combined with an array of i64: got 0.5",
        ),
        (lambda x, y: x if x else y, TypeError, "no value yet"),
        (lambda x, y: 3, TypeError, "must return traced arrays: got int"),
    ],
)
def test_mistakes_are_explained(function: Callable, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        hr.jit(function).trace(normal(2, 3), normal(4, 5))


def test_refuses_other_element_types() -> None:
    with pytest.raises(TypeError, match="argument 'x' needs elements of f32, f64 or i64: got int32"):
        hr.jit(lambda x: x).trace(np.ones(3, "int32"))
