"""Shape arithmetic of the array API: broadcasting, axes, reshaping."""

from __future__ import annotations

import math
from collections.abc import Sequence

from headrace._src.array.graph import Shape


def broadcast(*shapes: Shape) -> Shape:
    """The common shape, aligned at the last dimension; extents must agree or be 1."""
    rank = max(map(len, shapes))
    result = []
    for position in range(rank):
        extents = {shape[position - rank] for shape in shapes if position - rank >= -len(shape)} - {1}
        if len(extents) > 1:
            raise ValueError(f"shapes do not broadcast: {' and '.join(map(str, shapes))}")
        result.append(extents.pop() if extents else 1)
    return tuple(result)


def normalize_axes(axis: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Sorted non-negative axes; None means all."""
    if axis is None:
        return tuple(range(rank))
    given = (axis,) if isinstance(axis, int) else tuple(axis)
    for value in given:
        if not -rank <= value < rank:
            raise ValueError(f"axis out of range for {rank} dimensions: got {value}")
    axes = tuple(sorted(value % rank for value in given))
    if len(set(axes)) != len(axes):
        raise ValueError(f"an axis is named twice: got {given}")
    return axes


def normalize_shape(shape: int | Sequence[int], size: int) -> Shape:
    """The shape with its -1, if any, filled in so that it holds `size` elements."""
    given = (shape,) if isinstance(shape, int) else tuple(shape)
    if given.count(-1) > 1 or any(extent < -1 for extent in given):
        raise ValueError(f"not a shape: got {given}")
    known = math.prod(extent for extent in given if extent != -1)
    if -1 in given:
        if known == 0 or size % known:
            raise ValueError(f"cannot reshape {size} elements to: {given}")
        given = tuple(size // known if extent == -1 else extent for extent in given)
    if math.prod(given) != size:
        raise ValueError(f"cannot reshape {size} elements to: {given}")
    return given


def common_groups(source: Shape, target: Shape) -> list[tuple[list[int], list[int]]]:
    """Cuts two shapes of equal size into the shortest runs of dimensions with equal products.

    (2, 6, 5) and (4, 3, 5) give [([0, 1], [0, 1]), ([2], [2])]. Extents of 1 join the run before
    them (the first run if they lead). Both shapes must have at least one dimension and no extent 0.
    """
    groups: list[tuple[list[int], list[int]]] = []
    s = t = 0
    while s < len(source) or t < len(target):
        left, right = [], []
        left_size = right_size = 1
        while not left or not right or left_size != right_size:
            if (left_size <= right_size or t == len(target)) and s < len(source):
                left.append(s)
                left_size *= source[s]
                s += 1
            elif t < len(target):
                right.append(t)
                right_size *= target[t]
                t += 1
            else:  # only extents of 1 were left on one side
                break
        if left and right:
            groups.append((left, right))
        else:
            groups[-1][0].extend(left)
            groups[-1][1].extend(right)
    return groups
