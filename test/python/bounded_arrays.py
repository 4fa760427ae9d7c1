"""The functions of headrace.array in NumPy, each value with a bound of what rounding can have done to it.

Whoever adds in another order gets other last digits, and after a subtraction perhaps other first digits: the
bound says which. It is the usual running error analysis. An infinite bound: nothing is known of the element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Extent = int | str  # a name: rows of a query
_LIMIT = {np.dtype("float32"): 1e37, np.dtype("float64"): 1e306}
_DTYPES = {"f32": np.float32, "f64": np.float64, "i64": np.int64}


@dataclass(frozen=True)
class Bounded:
    """`extents`: as `value.shape`, but for rows of a query, which have their name."""

    value: np.ndarray
    error: np.ndarray
    extents: tuple[Extent, ...]

    @staticmethod
    def exact(value: np.ndarray, extents: tuple[Extent, ...] | None = None) -> Bounded:
        return Bounded(value, np.zeros(value.shape), value.shape if extents is None else extents)

    @property
    def dtype(self) -> np.dtype:
        return self.value.dtype

    @property
    def is_float(self) -> bool:
        return self.value.dtype.kind == "f"


def mismatch(got: np.ndarray, wanted: Bounded) -> str:
    """What is wrong with it, or nothing."""
    if got.shape != wanted.value.shape or got.dtype != wanted.dtype:
        return f"{got.dtype}{got.shape} instead of {wanted.dtype}{wanted.value.shape}"
    with np.errstate(all="ignore"):
        near = np.abs(got.astype("float64") - wanted.value.astype("float64")) <= wanted.error
    same = (got == wanted.value) | ((got != got) & (wanted.value != wanted.value))
    bad = ~(near | same | np.isinf(wanted.error))
    if not bad.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"{got[at]!r} instead of {wanted.value[at]!r} ± {wanted.error[at]} at {at}"


def _made(
    value: np.ndarray, error: np.ndarray, extents: Sequence[Extent], ulps: float, *of: Bounded
) -> Bounded:
    """With the rounding of the operation itself; numbers that are not finite have no digits to lose."""
    value = np.asarray(value)
    if value.dtype.kind == "f":
        size = np.abs(value.astype("float64"))
        error = (
            error + ulps * np.finfo(value.dtype).eps * size + ulps * np.finfo(value.dtype).smallest_subnormal
        )
        known = np.isfinite(value)
        if all(np.isfinite(operand.error).all() for operand in of):
            error = np.where(known, error, 0.0)
        # Near the greatest numbers the order of operations decides what overflows.
        error = np.where(known & (size + error > _LIMIT[value.dtype]), np.inf, error)
    error = np.where(np.isnan(error), np.inf, np.broadcast_to(error, value.shape))
    return Bounded(value, error, tuple(extents))


def _wide(x: Bounded) -> np.ndarray:
    return np.abs(x.value.astype("float64"))


def broadcast_extents(*shapes: tuple[Extent, ...]) -> tuple[Extent, ...] | None:
    """None if they do not broadcast: rows of a query only meet themselves and 1."""
    result: list[Extent] = []
    for position in range(max(map(len, shapes))):
        found = {s[len(s) - 1 - position] for s in shapes if position < len(s)} - {1}
        if len(found) > 1:
            return None
        result.append(found.pop() if found else 1)
    return tuple(reversed(result))


def _both(a: Bounded, b: Bounded | float) -> tuple[Bounded, Bounded, tuple[Extent, ...]]:
    if not isinstance(b, Bounded):
        b = Bounded.exact(np.asarray(b, a.dtype))
    extents = broadcast_extents(a.extents, b.extents)
    assert extents is not None
    return a, b, extents


def add(a: Bounded, b: Bounded | float) -> Bounded:
    a, b, extents = _both(a, b)
    return _made(a.value + b.value, a.error + b.error, extents, 1, a, b)


def subtract(a: Bounded, b: Bounded | float) -> Bounded:
    a, b, extents = _both(a, b)
    return _made(a.value - b.value, a.error + b.error, extents, 1, a, b)


def multiply(a: Bounded, b: Bounded | float) -> Bounded:
    a, b, extents = _both(a, b)
    error = _wide(a) * b.error + _wide(b) * a.error + a.error * b.error
    return _made(a.value * b.value, error, extents, 1, a, b)


def divide(a: Bounded, b: Bounded | float) -> Bounded:
    a, b, extents = _both(a, b)
    value = a.value / b.value
    error = (a.error + np.abs(value) * b.error) / (_wide(b) - b.error)
    exact = (a.error == 0) & (b.error == 0)
    error = np.where(exact, 0.0, np.where(_wide(b) > b.error, error, np.inf))
    return _made(value, error, extents, 1, a, b)


def _extreme(function: np.ufunc, a: Bounded, b: Bounded | float) -> Bounded:
    a, b, extents = _both(a, b)
    return _made(
        function(a.value, b.value), np.maximum(*np.broadcast_arrays(a.error, b.error)), extents, 0, a, b
    )


def maximum(a: Bounded, b: Bounded | float) -> Bounded:
    return _extreme(np.maximum, a, b)


def minimum(a: Bounded, b: Bounded | float) -> Bounded:
    return _extreme(np.minimum, a, b)


def relu(x: Bounded) -> Bounded:
    return maximum(x, 0)


def square(x: Bounded) -> Bounded:
    return multiply(x, x)


def negative(x: Bounded) -> Bounded:
    return Bounded(-x.value, x.error, x.extents)


def abs(x: Bounded) -> Bounded:
    return Bounded(np.abs(x.value), x.error, x.extents)


def exp(x: Bounded) -> Bounded:
    value = np.exp(x.value)
    return _made(value, np.abs(value.astype("float64")) * np.expm1(x.error), x.extents, 4, x)


def tanh(x: Bounded) -> Bounded:
    return _made(np.tanh(x.value), np.minimum(x.error, 2.0), x.extents, 6, x)


def sqrt(x: Bounded) -> Bounded:
    value = np.sqrt(x.value)
    sure = x.value.astype("float64") > x.error
    error = np.where(
        sure, x.error / np.maximum(np.sqrt(np.maximum(_wide(x) - x.error, 0)), 1e-300), np.sqrt(2 * x.error)
    )
    # Whether a number that may be negative gives NaN is open.
    return _made(value, np.where((x.error > 0) & ~sure, np.inf, error), x.extents, 1, x)


def astype(x: Bounded, dtype: str) -> Bounded:
    kind = _DTYPES[dtype]
    if x.is_float and dtype == "i64":
        whole = np.trunc(x.value.astype("float64"))
        inside = (whole >= -(2.0**63)) & (whole < 2.0**63)
        value = np.where(inside, whole, 0).astype("int64")
        value = np.where(whole >= 2.0**63, np.iinfo("int64").max, value)
        value = np.where(whole < -(2.0**63), np.iinfo("int64").min, value)
        return Bounded(
            value, np.where(x.error == 0, 0.0, np.where(np.isinf(x.error), np.inf, x.error + 1)), x.extents
        )
    return _made(x.value.astype(kind), x.error, x.extents, 1 if dtype == "f32" else 0, x)


def _axes(axis: int | tuple[int, ...] | None, rank: int) -> tuple[int, ...]:
    given = tuple(range(rank)) if axis is None else (axis,) if isinstance(axis, int) else axis
    return tuple(a % rank for a in given)


def _reduced(x: Bounded, axis: int | tuple[int, ...] | None, keepdims: bool) -> tuple[Extent, ...]:
    axes = _axes(axis, len(x.extents))
    if keepdims:
        return tuple(1 if d in axes else extent for d, extent in enumerate(x.extents))
    return tuple(extent for d, extent in enumerate(x.extents) if d not in axes)


def sum(x: Bounded, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Bounded:
    options = {"axis": _axes(axis, x.value.ndim), "keepdims": keepdims}
    value = np.asarray(np.sum(x.value, **options), x.dtype)
    terms = max(1, x.value.size // max(1, value.size))
    error = np.sum(x.error, **options)
    if x.is_float:
        error = error + terms * np.finfo(x.dtype).eps * np.sum(_wide(x), **options)
        if _may_cancel_infinities(x):
            error = np.where(np.isnan(value), 0.0, error)
    return _made(value, np.asarray(error), _reduced(x, axis, keepdims), 1, x)


def _may_cancel_infinities(x: Bounded) -> bool:
    return not np.isfinite(x.value).all()


def _most(function: np.ufunc, x: Bounded, axis: int | tuple[int, ...] | None, keepdims: bool) -> Bounded:
    options = {"axis": _axes(axis, x.value.ndim), "keepdims": keepdims}
    value = np.asarray(function.reduce(x.value, **options), x.dtype)
    return _made(value, np.asarray(np.max(x.error, **options)), _reduced(x, axis, keepdims), 0, x)


def max_(x: Bounded, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Bounded:
    return _most(np.maximum, x, axis, keepdims)


def min_(x: Bounded, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Bounded:
    return _most(np.minimum, x, axis, keepdims)


def mean(x: Bounded, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Bounded:
    total = sum(x, axis=axis, keepdims=keepdims)
    return divide(total, x.value.size // total.value.size if total.value.size else 0)


def matmul(a: Bounded, b: Bounded) -> Bounded:
    value = np.asarray(np.matmul(a.value, b.value))
    x, y = _wide(a), _wide(b)
    error = np.matmul(x, b.error) + np.matmul(a.error, y) + np.matmul(a.error, b.error)
    if a.is_float:
        error = error + 2 * (a.value.shape[-1] + 1) * np.finfo(a.dtype).eps * np.matmul(x, y)
        error = np.where(
            np.isnan(value) & np.isfinite(a.error).all() & np.isfinite(b.error).all(), 0.0, error
        )
    rows = a.extents[:-1] if len(b.extents) <= 2 else b.extents[:-2] + a.extents[-2:-1] * (len(a.extents) > 1)
    return _made(value, np.asarray(error), rows + (b.extents[-1:] if len(b.extents) > 1 else ()), 1, a, b)


def permute_dims(x: Bounded, axes: tuple[int, ...]) -> Bounded:
    return Bounded(x.value.transpose(axes), x.error.transpose(axes), tuple(x.extents[a] for a in axes))


def reshape(x: Bounded, shape: tuple[int, ...]) -> Bounded:
    value = x.value.reshape(shape)
    return Bounded(value, x.error.reshape(shape), value.shape)


def expand_dims(x: Bounded, *, axis: int) -> Bounded:
    position = axis % (len(x.extents) + 1)
    extents = (*x.extents[:position], 1, *x.extents[position:])
    return Bounded(np.expand_dims(x.value, axis), np.expand_dims(x.error, axis), extents)


def broadcast_to(x: Bounded, shape: tuple[int, ...], extents: tuple[Extent, ...]) -> Bounded:
    return Bounded(np.broadcast_to(x.value, shape), np.broadcast_to(x.error, shape), extents)


def squeeze(x: Bounded, *, axis: int) -> Bounded:
    extents = (*x.extents[:axis], *x.extents[axis + 1 :])
    return Bounded(np.squeeze(x.value, axis), np.squeeze(x.error, axis), extents)


def index(x: Bounded, *, key: tuple) -> Bounded:
    """A key for each dimension, and None for new ones."""
    value, extents, dimension = np.asarray(x.value[key]), [], 0
    for item in key:
        if item is None:
            extents.append(1)
            continue
        if isinstance(item, slice):
            whole = item == slice(None)
            extents.append(x.extents[dimension] if whole else value.shape[len(extents)])
        dimension += 1
    return Bounded(value, np.asarray(x.error[key]), tuple(extents))


def take(x: Bounded, places: Bounded, *, axis: int) -> Bounded:
    """At the places within the dimension that are nearest to those."""
    extent = x.value.shape[axis]
    within = np.clip(places.value, -extent, extent - 1)
    extents = (*x.extents[:axis], *places.extents, *x.extents[axis + 1 :])
    return Bounded(np.take(x.value, within, axis=axis), np.take(x.error, within, axis=axis), extents)


def concat(*arrays: Bounded, axis: int) -> Bounded:
    value = np.concatenate([x.value for x in arrays], axis=axis)
    extents = list(arrays[0].extents)
    extents[axis] = value.shape[axis]
    return Bounded(value, np.concatenate([x.error for x in arrays], axis=axis), tuple(extents))
