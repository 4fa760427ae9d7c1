"""The graph that tracing builds: immutable nodes on tensors of known shape, each with its place."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np


def _unknown(*_: object) -> NoReturn:
    raise ValueError("the number of rows of a query is known only when the program runs")


class Rows:
    """The number of rows of a query's result, which only the run knows: whoever asks for it is refused."""

    def __repr__(self) -> str:
        return "?"

    def __mul__(self, other: object) -> Rows:
        return self if isinstance(other, int) and other == 1 else _unknown()

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return True if self is other else _unknown()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return id(self)

    __bool__ = __index__ = __int__ = __float__ = __lt__ = __le__ = __gt__ = __ge__ = _unknown
    __add__ = __radd__ = __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = _unknown
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = __neg__ = _unknown


Shape = tuple[int | Rows, ...]

#: The element types by name.
NUMPY_TYPES = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64), "i64": np.dtype(np.int64)}


def same_extent(left: int | Rows, right: int | Rows) -> bool:
    """Whether they are known to be equal: rows of a query are to nothing but themselves."""
    return left is right or (isinstance(left, int) and isinstance(right, int) and left == right)


def same_shape(left: Shape, right: Shape) -> bool:
    """Whether they are known to be equal."""
    return len(left) == len(right) and all(map(same_extent, left, right))


_numbers = itertools.count()


@dataclass(frozen=True)
class Place:
    """A line of the user's program."""

    file: str
    line: int


@dataclass(frozen=True)
class Operand:
    """A tensor as an elementwise node reads it: its dimension d runs with loop dimension `dimensions[d]`.

    Loop dimensions that are not named broadcast.
    """

    node: Node
    dimensions: tuple[int, ...]


@dataclass(frozen=True)
class Constant:
    """A scalar operand of an elementwise node; its type is that of the node's operands."""

    value: float | int


@dataclass(frozen=True, eq=False)
class Node:
    """One tensor. `operation` is one of

    parameter        attributes: name, and layout, of one that lies on the ranks
    elementwise      attributes: function; inputs are Operands and Constants over the loops of `shape`
    transpose        attributes: axes; result dimension d is input dimension axes[d]
    reshape          row-major order is kept
    slice            attributes: box, the elements that are taken
    concat           attributes: axis, along which the inputs follow each other
    gather           (n, x…) (i…, 1) of i64 -> (i…, x…): what is at the places along the first dimension
    reduce           attributes: combine ("sum", "maximum", "minimum"), axes (sorted, removed from the shape)
    matmul           (b…, m…, k) (b…, k, n) -> (b…, m…, n); one m if there is a batch b
    place            attributes: axes, of each dimension those of the mesh that divide it
    """

    operation: str
    shape: Shape
    dtype: str  # "f32", "f64", "i64"
    place: Place
    inputs: tuple[Node | Operand | Constant, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)
    number: int = field(default_factory=lambda: next(_numbers))

    def __post_init__(self) -> None:
        rows = {id(extent) for extent in self.shape if isinstance(extent, Rows)}
        if len(rows) > 1:
            raise ValueError("rows of two queries cannot be dimensions of one array yet")

    def input_nodes(self) -> list[Node]:
        """The tensors this one is computed from."""
        nodes = []
        for value in self.inputs:
            if isinstance(value, Operand):
                nodes.append(value.node)
            elif isinstance(value, Node):
                nodes.append(value)
        return nodes


def in_order(results: tuple[Node, ...]) -> list[Node]:
    """All nodes that the results need, each after its inputs, in the order they were traced."""
    found: dict[int, Node] = {}
    pending = list(results)
    while pending:
        node = pending.pop()
        if node.number not in found:
            found[node.number] = node
            pending.extend(node.input_nodes())
    return [found[number] for number in sorted(found)]
