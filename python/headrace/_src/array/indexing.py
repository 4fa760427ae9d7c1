"""What `x[…]` takes of an array: the basic indices of the array API, and the box of elements they mean."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

from headrace._src.array.data_model import Valueless
from headrace._src.array.graph import Rows, Shape, same_extent

Key = int | slice | EllipsisType | None


@dataclass(frozen=True)
class Box:
    """Of each dimension of an array elements start, start + step, …: `sizes` of them.

    Rows of a query are taken whole: their size is themselves. Of an empty dimension the start is 0.
    """

    starts: tuple[int, ...]
    sizes: Shape
    steps: tuple[int, ...]
    #: Dimensions of one element that the result does not have.
    dropped: tuple[int, ...] = ()

    @property
    def shape(self) -> Shape:
        return tuple(size for d, size in enumerate(self.sizes) if d not in self.dropped)

    def keys(self) -> tuple[int | slice, ...]:
        """The index that takes it."""
        found: list[int | slice] = []
        for d, (start, size, step) in enumerate(zip(self.starts, self.sizes, self.steps, strict=True)):
            if isinstance(size, Rows):
                found.append(slice(None))
            else:
                stop = start + size * step
                found.append(start if d in self.dropped else slice(start, stop if stop >= 0 else None, step))
        return tuple(found)

    def of(self, inner: Box) -> Box:
        """This box of the elements of `inner`, as one of what `inner` is a box of."""
        starts, sizes, steps = list(inner.starts), list(inner.sizes), list(inner.steps)
        kept = [d for d in range(len(starts)) if d not in inner.dropped]
        for d, start, size, step in zip(kept, self.starts, self.sizes, self.steps, strict=True):
            starts[d] = 0 if same_extent(size, 0) else starts[d] + start * steps[d]
            sizes[d] = size
            steps[d] = 1 if same_extent(size, 0) or same_extent(size, 1) else steps[d] * step
        dropped = (*inner.dropped, *(kept[d] for d in self.dropped))
        return Box(tuple(starts), tuple(sizes), tuple(steps), tuple(sorted(dropped)))


def array_index(
    key: Key | Valueless | tuple[Key | Valueless, ...], kind: type[Valueless]
) -> tuple[Any, tuple[Key, ...], int] | None:
    """Of a key with an array: the array, the key with all of its dimension in its place, and the dimension of
    what that takes, from the end if it stands behind `...`. Nothing if there is no array."""
    keys = key if isinstance(key, tuple) else (key,)
    at = [position for position, item in enumerate(keys) if isinstance(item, kind)]
    if not at:
        return None
    beside = [
        item for item in keys if not (item is None or item is Ellipsis or isinstance(item, (slice, kind)))
    ]
    if len(at) > 1 or beside:
        got = type(beside[0]).__name__ if beside else f"{len(at)} arrays"
        raise TypeError(
            "an array index has slices, `...` and None beside it (x[0][:, i] takes one number, then "
            f"by an array): got {got}"
        )
    (position,) = at
    rest = (*keys[:position], slice(None), *keys[position + 1 :])
    return keys[position], rest, position - len(keys) if Ellipsis in keys[:position] else position


def box_of(key: Key | tuple[Key, ...], shape: Shape) -> tuple[Box, Shape]:
    """The elements that `x[key]` takes of an array of the shape, and the shape of the result."""
    keys = key if isinstance(key, tuple) else (key,)
    for item in keys:
        _check_kind(item)
    gaps = [position for position, item in enumerate(keys) if item is Ellipsis]
    if len(gaps) > 1:
        raise IndexError("an index has at most one `...`")
    named = sum(item is not None and item is not Ellipsis for item in keys)
    if named > len(shape):
        raise IndexError(f"more indices than the {len(shape)} dimensions of the array: got {named}")
    gap = gaps[0] if gaps else len(keys)
    rest = (slice(None),) * (len(shape) - named)
    keys = (*keys[:gap], *rest, *keys[gap + 1 :])
    starts, sizes, steps, dropped, result = [], [], [], [], []
    for item in keys:
        if item is None:
            result.append(1)
            continue
        d = len(starts)
        start, size, step = _range_of(item, d, shape[d])
        starts.append(start)
        sizes.append(size)
        steps.append(step)
        if isinstance(item, slice):
            result.append(size)
        else:
            dropped.append(d)
    return Box(tuple(starts), tuple(sizes), tuple(steps), tuple(dropped)), tuple(result)


def _check_kind(item: object) -> None:
    plain = item is None or item is Ellipsis or isinstance(item, (slice, Rows))
    integer = hasattr(type(item), "__index__") and getattr(item, "shape", ()) == ()
    mask = isinstance(item, bool) or getattr(getattr(item, "dtype", None), "kind", "") == "b"
    if not plain and (not integer or mask or isinstance(item, Valueless)):
        raise TypeError(
            "traced arrays are indexed by integers, slices, `...`, None and traced arrays of i64, not by masks or "
            f"other arrays (pass them as arguments of the function): got {type(item).__name__}"
        )


def _range_of(item: object, dimension: int, extent: int | Rows) -> tuple[int, int | Rows, int]:
    """Start, number and step of the elements."""
    if isinstance(extent, Rows):
        start, stop, step = (item.start, item.stop, item.step) if isinstance(item, slice) else (0, item, 1)
        if start not in (None, 0) or stop is not None or step not in (None, 1):
            operator.index(extent)  # refused: only the run knows it
        return 0, extent, 1
    if isinstance(item, slice):
        start, stop, step = item.indices(extent)
        size = len(range(start, stop, step))
        return (0, 0, 1) if size == 0 else (start, size, step if size > 1 else 1)
    index = operator.index(item)
    if not -extent <= index < extent:
        raise IndexError(f"index out of range for dimension {dimension} of extent {extent}: got {index}")
    return index % extent, 1, 1
