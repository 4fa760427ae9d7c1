"""The functions of the array namespace (headrace.array), named and shaped as in the array API standard."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Iterable, Iterator, Sequence

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
    "float64", "int64", "matmul", "matrix_transpose", "max", "maximum", "mean", "min", "minimum", "moveaxis",
    "multiply", "negative", "permute_dims", "relu", "repeat", "reshape", "roll", "sqrt", "square", "squeeze",
    "stack", "subtract", "sum", "take", "tanh", "tile", "unstack",
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


def moveaxis(x: Array, source: int | Sequence[int], destination: int | Sequence[int], /) -> Array:
    """x with its dimensions `source` at the places `destination`; the others keep their order."""
    sources, places = ((axes,) if isinstance(axes, int) else tuple(axes) for axes in (source, destination))
    shapes.normalize_axes(sources, x.ndim), shapes.normalize_axes(places, x.ndim)
    if len(sources) != len(places):
        raise ValueError(f"moveaxis needs a destination for each source: got {source} and {destination}")
    moved = {to % x.ndim: axis % x.ndim for axis, to in zip(sources, places, strict=True)}
    others = iter(d for d in range(x.ndim) if d not in moved.values())
    return permute_dims(x, [moved[d] if d in moved else next(others) for d in range(x.ndim)])


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


def take(x: Array, indices: Array | Sequence[int], /, *, axis: int | None = None) -> Array:
    """The elements of x at places along the axis: numbers, or an array of i64, whose dimensions then take the
    place of the axis."""
    if axis is None and x.ndim != 1:
        raise ValueError(f"take needs an axis of an array of {x.ndim} dimensions")
    axis = 0 if axis is None else axis
    (position,) = shapes.normalize_axes(axis, x.ndim)
    if isinstance(indices, Array):
        return tracer.gather(x, indices, position)
    # Each run of places at a constant distance is copied at once.
    extent = operator.index(x.shape[position])
    places = [operator.index(index) for index in indices]
    for index in places:
        if not -extent <= index < extent:
            raise IndexError(f"take has no element of an extent of {extent} at: {index}")
    before = (slice(None),) * position
    pieces = []
    for first, step, count in _progressions([index % extent for index in places]):
        if step == 0:
            shape = (*x.shape[:position], count, *x.shape[position + 1 :])
            pieces.append(broadcast_to(x[(*before, slice(first, first + 1))], shape))
        else:
            stop = first + step * count
            pieces.append(x[(*before, slice(first, stop if stop >= 0 else None, step))])
    return tracer.concat(pieces or [x[(*before, slice(0, 0))]], position)


def _progressions(numbers: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """First number, step and count of runs in which each number is as far from the one before it."""
    begin = 0
    while begin < len(numbers):
        step = numbers[begin + 1] - numbers[begin] if begin + 1 < len(numbers) else 1
        end = begin + 1
        while end < len(numbers) and numbers[end] - numbers[end - 1] == step:
            end += 1
        if end == begin + 2 and end < len(numbers):  # two numbers are no run: the second may begin one
            end, step = begin + 1, 1
        yield numbers[begin], step, end - begin
        begin = end


def repeat(x: Array, repeats: int | Sequence[int], /, *, axis: int | None = None) -> Array:
    """Each element along the axis so many times in succession; None: of all elements, as one row."""
    if axis is None:
        return repeat(reshape(x, -1), repeats, axis=0)
    (position,) = shapes.normalize_axes(axis, x.ndim)
    extent = operator.index(x.shape[position])
    counts = list(repeats) if isinstance(repeats, Iterable) else [repeats]
    if len(counts) not in (1, extent) or builtins.min(counts, default=0) < 0:
        raise ValueError(f"repeat needs one number or {extent}, none negative: got {repeats}")
    if len(counts) == 1:
        count = operator.index(counts[0])
        before, behind = x.shape[: position + 1], x.shape[position + 1 :]
        wider = broadcast_to(reshape(x, (*before, 1, *behind)), (*before, count, *behind))
        return reshape(wider, (*x.shape[:position], extent * count, *behind))
    indices = [index for index, count in enumerate(counts) for _ in range(operator.index(count))]
    return take(x, indices, axis=position)


def tile(x: Array, repetitions: Sequence[int], /) -> Array:
    """x so many times along each dimension; leading dimensions, or numbers, that are missing are 1."""
    counts = [operator.index(count) for count in repetitions]
    if builtins.min(counts, default=0) < 0:
        raise ValueError(f"tile needs numbers that are not negative: got {repetitions}")
    counts = [1] * (x.ndim - len(counts)) + counts
    shape = (1,) * (len(counts) - x.ndim) + x.shape
    pairs = [(count, extent) for count, extent in zip(counts, shape, strict=True)]
    x = reshape(x, [each for _, extent in pairs for each in (1, extent)])
    x = broadcast_to(x, [each for pair in pairs for each in pair])
    return reshape(x, [extent if count == 1 else count * operator.index(extent) for count, extent in pairs])
