"""Shape arithmetic of the array API: broadcasting, axes, reshaping."""

from __future__ import annotations

import math
from collections.abc import Sequence

from headrace._src.array.graph import Rows, Shape, same_extent, same_shape


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


def normalize_shape(shape: int | Rows | Sequence[int | Rows], source: Shape) -> Shape:
    """The shape with its -1, if any, filled in so that it holds the elements of `source` in their order."""
    given = (shape,) if isinstance(shape, (int, Rows)) else tuple(shape)
    numbers = [extent for extent in given if isinstance(extent, int)]
    if numbers.count(-1) > 1 or any(extent < -1 for extent in numbers):
        raise ValueError(f"not a shape: got {given}")
    for extent in _rows(source):
        if not any(extent is other for other in given):
            given = tuple(extent if same_extent(other, -1) else other for other in given)
            break
    size = math.prod(_numbers(source))
    if any(same_extent(extent, -1) for extent in given):
        known = math.prod(extent for extent in _numbers(given) if extent != -1)
        if known == 0 or size % known:
            raise ValueError(f"cannot reshape {source} to: {given}")
        given = tuple(size // known if same_extent(extent, -1) else extent for extent in given)
    if not same_shape(_rows(source), _rows(given)) or any(
        math.prod(source[d] for d in left) != math.prod(given[d] for d in right)
        for left, right in zip(_runs(source), _runs(given), strict=True)
    ):
        raise ValueError(f"cannot reshape {source} to: {given}")
    return given


def _rows(shape: Shape) -> Shape:
    return tuple(extent for extent in shape if isinstance(extent, Rows))


def _row_dimensions(shape: Shape) -> list[int]:
    return [dimension for dimension, extent in enumerate(shape) if isinstance(extent, Rows)]


def _numbers(shape: Shape) -> list[int]:
    return [extent for extent in shape if isinstance(extent, int)]


def _runs(shape: Shape) -> list[list[int]]:
    """The dimensions of known extent before, between and behind those that are rows of a query."""
    runs: list[list[int]] = [[]]
    for dimension, extent in enumerate(shape):
        if isinstance(extent, Rows):
            runs.append([])
        else:
            runs[-1].append(dimension)
    return runs


Groups = list[tuple[list[int], list[int]]]


def common_groups(source: Shape, target: Shape) -> Groups:
    """Cuts two shapes of equal size into the shortest runs of dimensions with equal products.

    (2, 6, 5) and (4, 3, 5) give [([0, 1], [0, 1]), ([2], [2])]. Extents of 1 join the run before
    them (the first run if they lead). Both shapes must have at least one dimension. Rows of a query are in a
    run of their own, but for such extents of 1.
    """
    groups: Groups = []
    leading: tuple[list[int], list[int]] = ([], [])

    def add(left: list[int], right: list[int]) -> None:
        groups.append((leading[0] + left, leading[1] + right))
        leading[0].clear()
        leading[1].clear()

    rows = zip(*(_row_dimensions(shape) for shape in (source, target)), strict=True)
    for left, right in zip(_runs(source), _runs(target), strict=True):
        if left and right:
            for pair in _common_runs(source, target, left, right):
                add(*pair)
        else:  # only extents of 1, on one side
            joined = groups[-1] if groups else leading
            joined[0].extend(left)
            joined[1].extend(right)
        if dimensions := next(rows, None):
            add([dimensions[0]], [dimensions[1]])
    return groups


def _common_runs(source: Shape, target: Shape, left: list[int], right: list[int]) -> Groups:
    """As common_groups, of dimensions of known extent."""
    if math.prod(source[d] for d in left) == 0:  # products say nothing: through one dimension
        return [(left, right)]
    groups: Groups = []
    s = t = 0
    while s < len(left) or t < len(right):
        run: tuple[list[int], list[int]] = ([], [])
        left_size = right_size = 1
        while not run[0] or not run[1] or left_size != right_size:
            if (left_size <= right_size or t == len(right)) and s < len(left):
                run[0].append(left[s])
                left_size *= source[left[s]]
                s += 1
            elif t < len(right):
                run[1].append(right[t])
                right_size *= target[right[t]]
                t += 1
            else:  # only extents of 1 were left on one side
                break
        if run[0] and run[1]:
            groups.append(run)
        else:
            groups[-1][0].extend(run[0])
            groups[-1][1].extend(run[1])
    return groups
