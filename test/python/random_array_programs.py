"""Random programs of arrays for hypothesis, which makes a failing one as small as it can.

A program is a list of steps over a pool of arrays: its arguments first, then what each step gives. The same
steps run on traced arrays and on NumPy with bounds (bounded_arrays).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import bounded_arrays as reference
import numpy as np
from bounded_arrays import Bounded, Extent, broadcast_extents
from headrace import array as xp
from hypothesis import strategies as st

EXTENTS = (0, 1, 2, 3, 4, 5, 7, 8, 17)
_SIZE_MAX = 2000
_SPECIAL = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1.5,
    -2.5,
    1e-30,
    -1e-40,
    1e30,
    3e38,
    2.0**63,
    -(2.0**63),
    -1e19,
]
_INTEGERS = [0, 1, -1, 2**62, -(2**62), 2**63 - 1, -(2**63), 2**53 + 1, 3, 10**9]


@dataclass(frozen=True)
class Step:
    """A function of headrace.array, positions in the pool, numbers beside them, and named arguments."""

    function: str
    operands: tuple[int, ...]
    numbers: tuple[float | int, ...] = ()
    named: dict[str, Any] = field(default_factory=dict)

    def traced(self, pool: list[xp.Array]) -> xp.Array:
        arrays = [pool[index] for index in self.operands]
        if self.function == "broadcast_to":
            return xp.broadcast_to(arrays[0], arrays[1].shape)
        if self.function in ("reshape", "permute_dims", "astype"):
            return getattr(xp, self.function)(arrays[0], *self.named.values())
        if self.function == "index":
            return arrays[0][self.named["key"]]
        if self.function == "concat":
            return xp.concat(arrays, **self.named)
        if self.function == "take":  # at any places, as some within the dimension
            extent = arrays[0].shape[self.named["axis"]]
            return xp.take(arrays[0], xp.maximum(xp.minimum(arrays[1], extent - 1), -extent), **self.named)
        if self.function == "swapped":  # the number on the left
            return {"subtract": lambda n, a: n - a, "divide": lambda n, a: n / a}[self.named["operator"]](
                self.numbers[0], arrays[0]
            )
        return getattr(xp, self.function)(*arrays, *self.numbers, **self.named)

    def bounded(self, pool: list[Bounded]) -> Bounded:
        arrays = [pool[index] for index in self.operands]
        if self.function == "broadcast_to":
            return reference.broadcast_to(arrays[0], arrays[1].value.shape, arrays[1].extents)
        if self.function in ("reshape", "permute_dims", "astype"):
            return getattr(reference, self.function)(arrays[0], *self.named.values())
        if self.function == "swapped":
            left = Bounded.exact(np.asarray(self.numbers[0], arrays[0].dtype))
            return getattr(reference, self.named["operator"])(left, arrays[0])
        name = {"max": "max_", "min": "min_"}.get(self.function, self.function)
        return getattr(reference, name)(*arrays, *self.numbers, **self.named)

    def __str__(self) -> str:
        arguments = [f"v{index}" for index in self.operands] + [repr(number) for number in self.numbers]
        arguments += [f"{name}={value!r}" for name, value in self.named.items()]
        return f"xp.{self.function}({', '.join(arguments)})"


@dataclass(frozen=True)
class ArrayProgram:
    arguments: tuple[Bounded, ...]
    steps: tuple[Step, ...]
    results: tuple[int, ...]

    def traced(self, *arguments: xp.Array) -> tuple[xp.Array, ...]:
        pool = list(arguments)
        for step in self.steps:
            pool.append(step.traced(pool))
        return tuple(pool[index] for index in self.results)

    def bounded(self) -> tuple[Bounded, ...]:
        pool = list(self.arguments)
        with np.errstate(all="ignore"):
            for step in self.steps:
                pool.append(step.bounded(pool))
        return tuple(pool[index] for index in self.results)

    def __repr__(self) -> str:
        lines = [f"v{i} = {a.value!r}  # {a.extents}" for i, a in enumerate(self.arguments)]
        lines += [f"v{len(self.arguments) + i} = {step}" for i, step in enumerate(self.steps)]
        return "\n".join(["", *lines, f"return {', '.join(f'v{index}' for index in self.results)}"])


def _elements(shape: tuple[int, ...], dtype: str, kind: str, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    if dtype == "i64":
        values = random.integers(-9, 10, size=shape)
        special = np.array(_INTEGERS)
    else:
        values = random.integers(-8, 9, size=shape) / 2 if kind == "small" else random.normal(size=shape)
        special = np.array(_SPECIAL)
    if kind == "special":
        values = np.where(random.random(shape) < 0.3, random.choice(special, size=shape), values)
    with np.errstate(all="ignore"):
        return np.asarray(values, dtype={"f32": "float32", "f64": "float64", "i64": "int64"}[dtype])


@st.composite
def arguments(draw: st.DrawFn, dtypes: tuple[str, ...] = ("f32", "f64", "i64")) -> Bounded:
    shape = tuple(draw(st.lists(st.sampled_from(EXTENTS), max_size=3)))
    if math.prod(shape) > _SIZE_MAX:
        shape = shape[:1]
    kind = draw(st.sampled_from(["small", "normal", "special"]))
    return Bounded.exact(_elements(shape, draw(st.sampled_from(dtypes)), kind, draw(st.integers(0, 999))))


def _number(draw: st.DrawFn, x: Bounded) -> float | int:
    return draw(st.sampled_from([2, -1, 3, 0] if x.dtype.kind == "i" else [0.5, -2, 3, 0.0, -1.25]))


def _candidates(pool: list[Bounded], fits: Any) -> list[int]:
    return [index for index, y in enumerate(pool) if fits(y)]


def _axes(draw: st.DrawFn, rank: int) -> Any:
    single = st.integers(-rank, rank - 1)
    several = st.lists(st.integers(0, rank - 1), min_size=1, max_size=rank, unique=True).map(tuple)
    return draw(st.one_of(single, st.none(), several))


def _is_rows(extent: Extent) -> bool:
    return isinstance(extent, str)


def _too_many_rows(extents: tuple[Extent, ...]) -> bool:
    return sum(map(_is_rows, extents)) > 2


@st.composite
def steps(draw: st.DrawFn, pool: list[Bounded]) -> Step:  # noqa: PLR0911 - a case each
    at = draw(st.integers(max(0, len(pool) - 4), len(pool) - 1))
    x = pool[at]
    rank = len(x.extents)
    rows = any(map(_is_rows, x.extents))
    unary = ["negative", "abs", "square", "relu"] + (["exp", "tanh", "sqrt"] if x.is_float else [])
    kinds = ["unary", "number", "binary", "convert"]
    kinds += ["reduce", "reduce", "permute", "expand"] if rank else []
    kinds += ["matmul", "matmul", "index", "index", "concat"] if rank else []
    kinds += [] if rows else ["reshape"]
    kinds += ["take"] if rank else []
    kinds += ["squeeze"] if 1 in x.extents else []
    kinds += ["stretch"] if any(1 in y.extents or not y.extents for y in pool) else []
    kind = draw(st.sampled_from(kinds))
    if kind == "number":
        functions = ["add", "subtract", "multiply", "maximum", "minimum"] + (["divide"] if x.is_float else [])
        if draw(st.integers(0, 4)) == 0:
            operator = draw(st.sampled_from(["subtract", "divide"] if x.is_float else ["subtract"]))
            return Step("swapped", (at,), (_number(draw, x),), {"operator": operator})
        return Step(draw(st.sampled_from(functions)), (at,), (_number(draw, x),))
    if kind == "binary":
        partners = _candidates(
            pool,
            lambda y: (
                y.dtype == x.dtype
                and (both := broadcast_extents(x.extents, y.extents)) is not None
                and not _too_many_rows(both)
            ),
        )
        functions = ["add", "subtract", "multiply", "maximum", "minimum"] + (["divide"] if x.is_float else [])
        return Step(draw(st.sampled_from(functions)), (at, draw(st.sampled_from(partners))))
    if kind == "convert":
        return Step("astype", (at,), (), {"dtype": draw(st.sampled_from(["f32", "f64", "i64"]))})
    if kind == "reduce":
        axis = _axes(draw, rank)
        reduced = (
            range(rank)
            if axis is None
            else [a % rank for a in (axis if isinstance(axis, tuple) else (axis,))]
        )
        functions = ["sum"]
        if not any(_is_rows(x.extents[a]) for a in reduced) and x.is_float:
            functions.append("mean")
        if all(x.value.shape[a] > 0 for a in reduced):
            functions += ["max", "min"]
        return Step(
            draw(st.sampled_from(functions)), (at,), (), {"axis": axis, "keepdims": draw(st.booleans())}
        )
    if kind == "permute":
        return Step("permute_dims", (at,), (), {"axes": tuple(draw(st.permutations(range(rank))))})
    if kind == "expand" and rank < 4:
        return Step("expand_dims", (at,), (), {"axis": draw(st.integers(0, rank))})
    if kind == "index":
        return Step("index", (at,), (), {"key": draw(keys(x))})
    if kind == "concat":
        known = [d for d, extent in enumerate(x.extents) if not _is_rows(extent)]
        partners = _candidates(pool, lambda y: y.dtype == x.dtype and _follows(x.extents, y.extents, known))
        if partners:
            others = [draw(st.sampled_from(partners)) for _ in range(draw(st.integers(1, 2)))]
            shared = [d for d in known if all(_follows(x.extents, pool[y].extents, [d]) for y in others)]
            if shared:
                return Step("concat", (at, *others), (), {"axis": draw(st.sampled_from(shared))})
    if kind == "take":
        axes = [d for d, extent in enumerate(x.extents) if not _is_rows(extent) and extent > 0]
        partners = _candidates(
            pool,
            lambda y: (
                y.dtype.kind == "i"
                and len(y.extents) < 3
                and not y.error.any()
                and not _too_many_rows((*x.extents, *y.extents))
            ),
        )
        if axes and partners:
            places = draw(st.sampled_from(partners))
            return Step("take", (at, places), (), {"axis": draw(st.sampled_from(axes))})
    if kind == "squeeze":
        return Step("squeeze", (at,), (), {"axis": x.extents.index(1)})
    if kind == "reshape":
        size = x.value.size
        if size == 0:
            shape = draw(st.sampled_from([(0,), (3, 0), (0, 2)]))
        else:
            factors = [extent for extent in range(1, size + 1) if size % extent == 0]
            first = draw(st.sampled_from(factors))
            shape = draw(
                st.sampled_from([(size,), (first, size // first), (1, first, size // first), (-1, first)])
            )
        return Step("reshape", (at,), (), {"shape": shape})
    if kind == "stretch":
        small = draw(st.sampled_from(_candidates(pool, lambda y: 1 in y.extents or not y.extents)))
        targets = _candidates(pool, lambda y: broadcast_extents(pool[small].extents, y.extents) == y.extents)
        if targets:
            return Step("broadcast_to", (small, draw(st.sampled_from(targets))))
    if kind == "matmul":
        partners = _candidates(pool, lambda y: y.dtype == x.dtype and _multiplies(x.extents, y.extents))
        if partners:
            return Step("matmul", (at, draw(st.sampled_from(partners))))
    return Step(draw(st.sampled_from(unary)), (at,))


def _follows(a: tuple[Extent, ...], b: tuple[Extent, ...], axes: list[int]) -> bool:
    """Whether they can be concatenated along one of the axes."""
    return len(a) == len(b) and any(
        not _is_rows(b[axis]) and a[:axis] + a[axis + 1 :] == b[:axis] + b[axis + 1 :] for axis in axes
    )


@st.composite
def keys(draw: st.DrawFn, x: Bounded) -> tuple:
    """What basic indexing has, for each dimension; rows of a query are taken whole."""
    found: list[Any] = []
    for extent in x.extents:
        if len(x.extents) < 4 and draw(st.integers(0, 9)) == 0:
            found.append(None)
        kind = draw(st.sampled_from(["all", "slice", "slice", "integer"]))
        if _is_rows(extent) or kind == "all":
            found.append(slice(None))
        elif kind == "integer" and extent > 0:
            found.append(draw(st.integers(-extent, extent - 1)))
        else:
            bound = st.none() | st.integers(-extent - 2, extent + 2)
            step = st.sampled_from([None, 1, 2, 3, -1, -2])
            found.append(slice(draw(bound), draw(bound), draw(step)))
    return tuple(found)


def _multiplies(a: tuple[Extent, ...], b: tuple[Extent, ...]) -> bool:
    if not a or not b or a[-1] != (b[0] if len(b) == 1 else b[-2]):
        return False
    if len(b) > 2 and len(a) > 1 and a[:-2] != b[:-2]:
        return False
    # A stack of matrices times a matrix joins the leading dimensions, which rows of a query cannot be.
    leading = a[:-1] if len(b) <= 2 else b[:-2]
    if any(map(_is_rows, leading)) and sum(extent != 1 for extent in leading) > 1:
        return False
    result = (*(a[:-1] if len(b) <= 2 else (*b[:-2], *a[-2:-1])), *(b[-1:] if len(b) > 1 else ()))
    return not _too_many_rows(result)


@st.composite
def array_programs(draw: st.DrawFn, of: st.SearchStrategy[tuple[Bounded, ...]] | None = None) -> ArrayProgram:
    """`of`: its arguments, if others than tables of numbers of any shape."""
    given = draw(of if of is not None else st.lists(arguments(), min_size=1, max_size=3).map(tuple))
    pool = list(given)
    made: list[Step] = []
    for _ in range(draw(st.integers(1, 8))):
        step = draw(steps(pool))
        with np.errstate(all="ignore"):
            result = step.bounded(pool)
        if result.value.size > _SIZE_MAX:
            continue
        pool.append(result)
        made.append(step)
    last = len(pool) - 1
    results = draw(
        st.lists(st.integers(0, last), max_size=2).map(lambda more: tuple(dict.fromkeys([last, *more])))
    )
    return ArrayProgram(given, tuple(made), results)
