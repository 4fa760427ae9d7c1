"""Array: the stand-in for a tensor while a function is traced. Its operators record nodes of the graph."""

from __future__ import annotations

import math
import operator
import os
import sys
from collections.abc import Iterator, Sequence

from headrace._src.array import shapes
from headrace._src.array.data_model import Valueless
from headrace._src.array.graph import Constant, Node, Operand, Place, Rows, Shape, same_extent, same_shape
from headrace._src.array.indexing import Box, Key, array_index, box_of

_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_FLOATS = ("f32", "f64")


def user_place() -> Place:
    """The innermost line outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno)


class Array(Valueless):
    """A traced tensor: shape and dtype are known, values are not."""

    def __init__(self, node: Node) -> None:
        self._node = node

    @property
    def shape(self) -> Shape:
        return self._node.shape

    @property
    def dtype(self) -> str:
        return self._node.dtype

    @property
    def ndim(self) -> int:
        return len(self._node.shape)

    @property
    def size(self) -> int:
        return math.prod(self._node.shape)

    @property
    def T(self) -> Array:  # noqa: N802 - the name of the standard
        if self.ndim != 2:
            raise ValueError(f"T is for matrices, use permute_dims: got {self.ndim} dimensions")
        return permute_dims(self, (1, 0))

    @property
    def mT(self) -> Array:  # noqa: N802 - the name of the standard
        if self.ndim < 2:
            raise ValueError(f"mT needs two dimensions: got {self.ndim}")
        return permute_dims(self, (*range(self.ndim - 2), self.ndim - 1, self.ndim - 2))

    def __array_namespace__(self, *, api_version: str | None = None):  # noqa: ANN204
        from headrace import array

        return array

    def __repr__(self) -> str:
        return f"Array(shape={self.shape}, dtype={self.dtype})"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return operator.index(self.shape[0])

    def __getitem__(self, key: Key | tuple[Key, ...]) -> Array:
        by_array = array_index(key, Array)
        if by_array:
            indices, rest, axis = by_array
            taken = self[rest]
            return gather(taken, indices, axis % taken.ndim)
        box, shape = box_of(key, self.shape)
        place = user_place()
        return Array(_reshape(_slice(self._node, box, place), shape, place))

    def __iter__(self) -> Iterator[Array]:
        return (self[index] for index in range(len(self)))

    def __add__(self, other):
        return elementwise("add", self, other)

    def __radd__(self, other):
        return elementwise("add", other, self)

    def __sub__(self, other):
        return elementwise("subtract", self, other)

    def __rsub__(self, other):
        return elementwise("subtract", other, self)

    def __mul__(self, other):
        return elementwise("multiply", self, other)

    def __rmul__(self, other):
        return elementwise("multiply", other, self)

    def __truediv__(self, other):
        return elementwise("divide", self, other)

    def __rtruediv__(self, other):
        return elementwise("divide", other, self)

    def __pos__(self):
        return self

    def __neg__(self):
        return elementwise("negative", self)

    def __abs__(self):
        return elementwise("abs", self)

    def __matmul__(self, other):
        return matmul(self, other)

    def __rmatmul__(self, other):
        return matmul(other, self)


def _node_of(value: object, what: str) -> Node:
    if not isinstance(value, Array):
        raise TypeError(
            f"{what} needs a traced array (pass arrays as arguments of the function): "
            f"got {type(value).__name__}"
        )
    return value._node


def _constant(value: object, dtype: str) -> Constant:
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:  # NumPy scalars
        value = value.item()
    if isinstance(value, Rows):
        value = int(value)  # refused: only the run knows it
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(
            "operands are traced arrays and numbers (pass arrays as arguments of the function): "
            f"got {type(value).__name__}"
        )
    if dtype in _FLOATS:
        return Constant(float(value))
    if isinstance(value, float):
        raise TypeError(f"a float cannot be combined with an array of {dtype}: got {value}")
    if not -(2**63) <= value < 2**63:
        raise OverflowError(f"number does not fit {dtype}: got {value}")
    return Constant(value)


def _broadcast_operand(node: Node, shape: Shape) -> Operand:
    """Drops the dimensions of extent 1 that are stretched; what is left runs with loops of `shape`."""
    offset = len(shape) - len(node.shape)
    kept = [d for d, extent in enumerate(node.shape) if same_extent(extent, shape[d + offset])]
    squeezed = tuple(node.shape[d] for d in kept)
    return Operand(_reshape(node, squeezed, node.place), tuple(d + offset for d in kept))


def elementwise(function: str, *operands: object, dtype: str | None = None) -> Array:
    """function(operands…) with broadcasting; numbers take the type of the arrays beside them."""
    nodes = [operand._node for operand in operands if isinstance(operand, Array)]
    if not nodes:
        raise TypeError(
            f"{function} needs a traced array: got {', '.join(type(v).__name__ for v in operands)}"
        )
    types = sorted({node.dtype for node in nodes})
    if len(types) > 1:
        raise TypeError(
            f"{function} needs operands of one type (convert with astype): got {' and '.join(types)}"
        )
    if types[0] not in _FLOATS and function in ("divide", "exp", "sqrt", "tanh"):
        raise TypeError(f"{function} needs a floating-point array: got {types[0]}")
    shape = shapes.broadcast(*(node.shape for node in nodes))
    inputs = tuple(
        _broadcast_operand(value._node, shape) if isinstance(value, Array) else _constant(value, types[0])
        for value in operands
    )
    return Array(Node("elementwise", shape, dtype or types[0], user_place(), inputs, {"function": function}))


def broadcast_to(x: Array, shape: Sequence[int]) -> Array:
    """x stretched to the shape."""
    node, target = _node_of(x, "broadcast_to"), tuple(shape)
    if not same_shape(shapes.broadcast(node.shape, target), target):
        raise ValueError(f"shape {node.shape} does not broadcast to: {target}")
    if same_shape(node.shape, target):
        return x
    inputs = (_broadcast_operand(node, target),)
    return Array(Node("elementwise", target, node.dtype, user_place(), inputs, {"function": "copy"}))


def _reshape(node: Node, shape: int | Sequence[int], place: Place) -> Node:
    target = shapes.normalize_shape(shape, node.shape)
    while node.operation == "reshape":
        (node,) = node.inputs  # type: ignore[assignment]
    return node if same_shape(node.shape, target) else Node("reshape", target, node.dtype, place, (node,))


def reshape(x: Array, shape: int | Sequence[int]) -> Array:
    """The same elements in row-major order; one extent may be -1."""
    return Array(_reshape(_node_of(x, "reshape"), shape, user_place()))


def _slice(node: Node, box: Box, place: Place) -> Node:
    """The elements of the box, without its dropped dimensions."""
    if any(same_extent(extent, 0) for extent in node.shape):  # nothing to take
        return _reshape(node, box.shape, place)
    if node.operation == "slice":
        box = box.of(node.attributes["box"])
        (node,) = node.inputs  # type: ignore[assignment]
    if same_shape(box.shape, node.shape) and all(step == 1 for step in box.steps):
        return node
    return Node("slice", box.shape, node.dtype, place, (node,), {"box": box})


def concat(arrays: Sequence[Array], axis: int | None = 0) -> Array:
    """The arrays one after another along the axis; None flattens them first."""
    nodes = [_node_of(x, "concat") for x in arrays]
    place = user_place()
    if not nodes:
        raise ValueError("concat needs at least one array")
    types = sorted({node.dtype for node in nodes})
    if len(types) > 1:
        raise TypeError(f"concat needs arrays of one type (convert with astype): got {' and '.join(types)}")
    if axis is None:
        nodes = [_reshape(node, -1, place) for node in nodes]
        axis = 0
    first = nodes[0].shape
    if not first:
        raise ValueError("concat needs arrays of at least one dimension (there is stack)")
    (axis,) = shapes.normalize_axes(axis, len(first))
    others = [(len(node.shape), *node.shape[:axis], *node.shape[axis + 1 :]) for node in nodes]
    if any(not same_shape(other, others[0]) for other in others):
        raise ValueError(
            f"concat needs arrays of equal extents but along the axis {axis}: "
            f"got {' and '.join(str(node.shape) for node in nodes)}"
        )
    if len(nodes) == 1:
        return Array(nodes[0])
    extent = sum(node.shape[axis] for node in nodes)
    shape = (*first[:axis], extent, *first[axis + 1 :])
    return Array(Node("concat", shape, nodes[0].dtype, place, tuple(nodes), {"axis": axis}))


def stack(arrays: Sequence[Array], axis: int = 0) -> Array:
    """The arrays, which have one shape, along a new axis."""
    nodes = [_node_of(x, "stack") for x in arrays]
    if any(not same_shape(node.shape, nodes[0].shape) for node in nodes):
        raise ValueError(
            f"stack needs arrays of one shape: got {' and '.join(str(node.shape) for node in nodes)}"
        )
    place = user_place()
    (position,) = shapes.normalize_axes(axis, len(nodes[0].shape) + 1) if nodes else (0,)
    wider = [(*node.shape[:position], 1, *node.shape[position:]) for node in nodes]
    parts = [Array(_reshape(node, shape, place)) for node, shape in zip(nodes, wider, strict=True)]
    return concat(parts, position)


def gather(x: Array, indices: Array, axis: int) -> Array:
    """What x has along the axis at the places, whose dimensions take the place of the axis."""
    node, places = _node_of(x, "take"), _node_of(indices, "take")
    if places.dtype != "i64":
        raise TypeError(f"indices are arrays of i64 (convert with astype): got {places.dtype}")
    by, place = len(places.shape), user_place()
    front = permute_dims(x, (axis, *(d for d in range(x.ndim) if d != axis)))._node
    apart = _reshape(places, (*places.shape, 1), place)
    shape = (*places.shape, *front.shape[1:])
    taken = Array(Node("gather", shape, node.dtype, place, (front, apart)))
    before = range(by, by + axis)
    return permute_dims(taken, (*before, *range(by), *range(by + axis, len(shape))))


def permute_dims(x: Array, axes: Sequence[int]) -> Array:
    """Result dimension d is dimension axes[d] of x."""
    node = _node_of(x, "permute_dims")
    order = tuple(axes)
    if sorted(order) != list(range(len(node.shape))):
        raise ValueError(f"axes are not a permutation of {len(node.shape)} dimensions: got {order}")
    if order == tuple(range(len(order))):
        return x
    shape = tuple(node.shape[axis] for axis in order)
    return Array(Node("transpose", shape, node.dtype, user_place(), (node,), {"axes": order}))


def reduce(combine: str, x: Array, axis: int | Sequence[int] | None, keepdims: bool) -> Array:
    """Combines the elements along the axes (all, if None)."""
    node = _node_of(x, combine)
    axes = shapes.normalize_axes(axis, len(node.shape))
    if combine != "sum" and any(same_extent(node.shape[axis], 0) for axis in axes):
        raise ValueError(f"{combine} of no elements: got shape {node.shape}")
    place = user_place()
    result = node
    if axes:
        shape = tuple(extent for d, extent in enumerate(node.shape) if d not in axes)
        attributes = {"combine": combine, "axes": axes}
        result = Node("reduce", shape, node.dtype, place, (node,), attributes)
    if keepdims:
        kept = tuple(1 if d in axes else extent for d, extent in enumerate(node.shape))
        result = _reshape(result, kept, place)
    return Array(result)


def place(x: Array, axes: Sequence[str | Sequence[str] | None]) -> Array:
    """The same array, divided over the ranks as said: for each dimension the axis of the mesh, or the axes,
    along which each rank has a part of it, or None where every rank has all.

    The compiler takes it as given and brings the parts there; without it, it chooses by cost.
    """
    node = _node_of(x, "place")
    asked = [() if axis is None else (axis,) if isinstance(axis, str) else tuple(axis) for axis in axes]
    if len(asked) != len(node.shape):
        raise ValueError(
            f"place needs an axis or None for each of {len(node.shape)} dimensions: got {axes!r}"
        )
    named = [axis for dimension in asked for axis in dimension]
    if len(set(named)) != len(named):
        raise ValueError(f"place uses an axis of the mesh for one dimension only: got {axes!r}")
    return Array(Node("place", node.shape, node.dtype, user_place(), (node,), {"axes": tuple(asked)}))


def matmul(x1: Array, x2: Array) -> Array:
    """The matrix product of the last two dimensions, as in the array API standard."""
    a, b = _node_of(x1, "matmul"), _node_of(x2, "matmul")
    place = user_place()
    if a.dtype != b.dtype:
        raise TypeError(
            f"matmul needs operands of one type (convert with astype): got {a.dtype} and {b.dtype}"
        )
    if not a.shape or not b.shape:
        raise ValueError(f"matmul needs at least one dimension: got {a.shape} and {b.shape}")
    inner = b.shape[0] if len(b.shape) == 1 else b.shape[-2]
    if not same_extent(a.shape[-1], inner):
        raise ValueError(f"matmul needs equal inner extents: got {a.shape} and {b.shape}")
    vector = len(b.shape) == 1
    if vector:
        b = _reshape(b, (*b.shape, 1), place)
    row = len(a.shape) == 1
    if row:
        a = _reshape(a, (1, a.shape[0]), place)
    batch = b.shape[:-2]  # without a batch all leading dimensions of `a` are rows
    if batch:
        try:
            batch = shapes.broadcast(a.shape[:-2], batch)
        except ValueError:
            raise ValueError(f"batches of matmul do not broadcast: got {a.shape} and {b.shape}") from None
        a, b = (broadcast_to(Array(each), (*batch, *each.shape[-2:]))._node for each in (a, b))
    rows = a.shape[len(batch) : -1]
    product = Node("matmul", (*batch, *rows, b.shape[-1]), a.dtype, place, (a, b))
    shape = (*batch, *(() if row else rows), *(() if vector else b.shape[-1:]))
    return Array(_reshape(product, shape, place))
