"""The functions of the array namespace (headrace.array), named and shaped as in the array API standard."""

from __future__ import annotations

import math
from collections.abc import Sequence

from headrace._src.array import shapes, tracer
from headrace._src.array.tracer import Array as Array
from headrace._src.array.tracer import broadcast_to, matmul, permute_dims, reshape

Axis = int | Sequence[int] | None

float32 = "f32"
float64 = "f64"
int64 = "i64"

__all__ = [
    "Array",
    "abs", "add", "astype", "broadcast_to", "concat", "divide", "exp", "expand_dims", "flip", "float32",
    "float64", "int64", "matmul", "matrix_transpose", "max", "maximum", "mean", "min", "minimum", "multiply",
    "negative", "permute_dims", "relu", "reshape", "roll", "sqrt", "square", "squeeze", "stack", "subtract",
    "sum", "tanh", "unstack",
]  # fmt: skip


def add(x1: Array, x2: Array | float, /) -> Array:
    return tracer.elementwise("add", x1, x2)


def subtract(x1: Array, x2: Array | float, /) -> Array:
    return tracer.elementwise("subtract", x1, x2)


def multiply(x1: Array, x2: Array | float, /) -> Array:
    return tracer.elementwise("multiply", x1, x2)


def divide(x1: Array, x2: Array | float, /) -> Array:
    return tracer.elementwise("divide", x1, x2)


def maximum(x1: Array, x2: Array | float, /) -> Array:
    """The larger of the two; NaN if either is."""
    return tracer.elementwise("maximum", x1, x2)


def minimum(x1: Array, x2: Array | float, /) -> Array:
    """The smaller of the two; NaN if either is."""
    return tracer.elementwise("minimum", x1, x2)


def negative(x: Array, /) -> Array:
    return tracer.elementwise("negative", x)


def abs(x: Array, /) -> Array:
    return tracer.elementwise("abs", x)


def exp(x: Array, /) -> Array:
    return tracer.elementwise("exp", x)


def sqrt(x: Array, /) -> Array:
    return tracer.elementwise("sqrt", x)


def tanh(x: Array, /) -> Array:
    return tracer.elementwise("tanh", x)


def square(x: Array, /) -> Array:
    return tracer.elementwise("multiply", x, x)


def relu(x: Array, /) -> Array:
    """maximum(x, 0)."""
    return tracer.elementwise("maximum", x, 0)


def astype(x: Array, dtype: str, /) -> Array:
    """x converted; floats to integers toward zero."""
    if dtype not in (float32, float64, int64):
        raise TypeError(f"dtype is not one of f32, f64, i64: got {dtype}")
    return x if x.dtype == dtype else tracer.elementwise("convert", x, dtype=dtype)


def sum(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    return tracer.reduce("sum", x, axis, keepdims)


def max(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    return tracer.reduce("maximum", x, axis, keepdims)


def min(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    return tracer.reduce("minimum", x, axis, keepdims)


def mean(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    total = tracer.reduce("sum", x, axis, keepdims)
    count = math.prod(x.shape[d] for d in shapes.normalize_axes(axis, x.ndim))
    return tracer.elementwise("divide", total, count)


def matrix_transpose(x: Array, /) -> Array:
    return x.mT


def expand_dims(x: Array, /, *, axis: int = 0) -> Array:
    """x with a dimension of extent 1 before `axis`."""
    (position,) = shapes.normalize_axes(axis, x.ndim + 1)
    return reshape(x, (*x.shape[:position], 1, *x.shape[position:]))


def squeeze(x: Array, /, axis: int | Sequence[int]) -> Array:
    """x without the named dimensions, whose extent must be 1."""
    axes = shapes.normalize_axes(axis, x.ndim)
    for position in axes:
        if x.shape[position] != 1:
            raise ValueError(f"squeeze needs an extent of 1: got {x.shape[position]}")
    return reshape(x, tuple(extent for d, extent in enumerate(x.shape) if d not in axes))


def concat(arrays: Sequence[Array], /, *, axis: int | None = 0) -> Array:
    """The arrays one after another along the axis; None: of all their elements one row."""
    return tracer.concat(arrays, axis)


def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Array:
    """The arrays, which have one shape, along a new axis."""
    return tracer.stack(arrays, axis)


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The arrays that `stack` makes x of."""
    (position,) = shapes.normalize_axes(axis, x.ndim)
    before = (slice(None),) * position
    return tuple(x[(*before, index)] for index in range(x.shape[position]))


def flip(x: Array, /, *, axis: Axis = None) -> Array:
    """x with the elements along the axes (all, if None) in opposite order."""
    axes = shapes.normalize_axes(axis, x.ndim)
    return x[tuple(slice(None, None, -1 if d in axes else 1) for d in range(x.ndim))]


def roll(x: Array, /, shift: int | Sequence[int], *, axis: Axis = None) -> Array:
    """x moved by `shift` elements along the axis; those that leave it come in again at its other end."""
    if axis is None:
        return reshape(roll(reshape(x, -1), shift, axis=0), x.shape)
    axes = axis if isinstance(axis, Sequence) else (axis,)
    shifts = shift if isinstance(shift, Sequence) else (shift,) * len(axes)
    if len(shifts) != len(axes):
        raise ValueError(f"roll needs a shift for each axis: got {shift} for {axis}")
    for by, along in zip(shifts, axes, strict=True):
        (position,) = shapes.normalize_axes(along, x.ndim)
        before = (slice(None),) * position
        if cut := by % (x.shape[position] or 1):
            x = tracer.concat([x[(*before, slice(-cut, None))], x[(*before, slice(None, -cut))]], position)
    return x
