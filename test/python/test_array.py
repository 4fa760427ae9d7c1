"""Arrays: programs are traced to MLIR that verifies, and mean what NumPy says they mean."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable

import headrace as hr
import numpy as np
import pytest
from array_programs import PROGRAMS, assert_equal, normal
from headrace import array as xp


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> tuple[Callable, Callable, list[np.ndarray]]:
    function, expected, arguments = PROGRAMS[request.param]
    return hr.jit(function), expected, arguments


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
    ("a", "b"),
    [
        ((2, 3, 4), (1, 4, 5)),
        ((1, 3, 4), (2, 4, 5)),
        ((3, 4), (2, 4, 5)),
        ((4,), (2, 4, 5)),
        ((6, 1, 3, 4), (2, 4, 5)),
        ((7, 2, 3, 4), (7, 1, 4, 5)),
        ((2, 3, 4), (4, 5)),
        ((2, 3, 4), (4,)),
    ],
)
def test_batches_of_products_broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    x, y = normal(*a, dtype="float64"), normal(*b, dtype="float64")
    for ranks in (1, 3):
        found = hr.jit(lambda x, y: x @ y, ranks=ranks)(x, y)
        assert found.shape == (x @ y).shape
        np.testing.assert_allclose(found, x @ y)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x, y: x + y, ValueError, r"shapes do not broadcast: \(2, 3\) and \(4, 5\)"),
        (lambda x, y: xp.broadcast_to(x, (1, 3)), ValueError, r"does not broadcast to: \(1, 3\)"),
        (lambda x, y: xp.sum(x) @ y, ValueError, "matmul needs at least one dimension: got"),
        (
            lambda x, y: xp.broadcast_to(x, (2, 2, 3)) @ xp.broadcast_to(xp.sum(y), (4, 3, 5)),
            ValueError,
            r"batches of matmul do not broadcast: got \(2, 2, 3\) and \(4, 3, 5\)",
        ),
        (lambda x, y: (), TypeError, "must return traced arrays: got none"),
        (lambda x, y: x @ y, ValueError, r"equal inner extents: got \(2, 3\) and \(4, 5\)"),
        (lambda x, y: xp.sum(x, axis=2), ValueError, "axis out of range for 2 dimensions: got 2"),
        (lambda x, y: xp.sum(x, axis=(0, 0)), ValueError, r"an axis is named twice: got \(0, 0\)"),
        (lambda x, y: xp.reshape(x, (4, -1)), ValueError, r"cannot reshape \(2, 3\) to: \(4, -1\)"),
        (lambda x, y: xp.reshape(x, (-1, -1)), ValueError, r"not a shape: got \(-1, -1\)"),
        (lambda x, y: xp.squeeze(x, 0), ValueError, "squeeze needs an extent of 1: got 2"),
        (
            lambda x, y: xp.permute_dims(x, (0, 0)),
            ValueError,
            r"axes are not a permutation of 2 dimensions: got \(0, 0\)",
        ),
        (
            lambda x, y: xp.expand_dims(x).T,
            ValueError,
            "T is for matrices, use permute_dims: got 3 dimensions",
        ),
        (lambda x, y: xp.sum(x).mT, ValueError, "mT needs two dimensions: got 0"),
        (lambda x, y: x + np.ones(3), TypeError, "as arguments of the function.*got ndarray"),
        (lambda x, y: x + xp.astype(x, "f64"), TypeError, "of one type.*f32 and f64"),
        (lambda x, y: xp.exp(3), TypeError, "exp needs a traced array: got int"),
        (lambda x, y: xp.astype(x, "f16"), TypeError, "dtype is not one of f32, f64, i64: got f16"),
        (lambda x, y: xp.astype(x, "i64") + 2**64, OverflowError, "number does not fit i64: got 18446"),
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


def test_nothing_has_no_largest_element() -> None:
    with pytest.raises(ValueError, match=r"maximum of no elements: got shape \(0, 3\)"):
        hr.jit(lambda x: xp.max(x)).trace(normal(0, 3))


def test_functions_that_cannot_be_traced() -> None:
    with pytest.raises(
        TypeError, match=r"jit takes functions of positional arrays only: got parameter '\*xs'"
    ):
        hr.jit(lambda *xs: xs[0])


def test_names_that_do_not_exist() -> None:
    with pytest.raises(AttributeError, match=r"no such array function \(there are .*exp.*\): nothing"):
        _ = xp.nothing
    with pytest.raises(AttributeError, match="module 'headrace' has no attribute: nothing"):
        _ = hr.nothing


def test_refuses_other_element_types() -> None:
    with pytest.raises(TypeError, match="argument 'x' needs elements of f32, f64 or i64: got int32"):
        hr.jit(lambda x: x).trace(np.ones(3, "int32"))
