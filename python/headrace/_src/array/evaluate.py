"""Evaluates a traced graph with NumPy, node by node: the meaning of tracing, for tests and debugging."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from headrace._src.array.graph import NUMPY_TYPES, Constant, Node, Operand, in_order

_FUNCTIONS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "negative": np.negative,
    "abs": np.abs,
    "exp": np.exp,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "copy": np.array,
    "convert": np.array,
}
_COMBINES = {"sum": np.sum, "maximum": np.max, "minimum": np.min}


def evaluate(results: tuple[Node, ...], parameters: Mapping[int, np.ndarray]) -> tuple[np.ndarray, ...]:
    """The values of the results; `parameters` maps the number of each parameter node to its value."""
    values: dict[int, np.ndarray] = {}
    for node in in_order(results):
        known = node.operation == "parameter"
        value = parameters[node.number] if known else _value(node, values)
        values[node.number] = np.asarray(value, dtype=NUMPY_TYPES[node.dtype])
        assert values[node.number].shape == node.shape, (node.operation, node.shape)
    return tuple(values[node.number] for node in results)


def _value(node: Node, values: Mapping[int, np.ndarray]) -> np.ndarray:
    if node.operation == "elementwise":
        operands = [_operand(value, node, values) for value in node.inputs]
        return np.broadcast_to(_FUNCTIONS[node.attributes["function"]](*operands), node.shape)
    inputs = [values[value.number] for value in node.input_nodes()]
    if node.operation == "transpose":
        return np.transpose(inputs[0], node.attributes["axes"])
    if node.operation == "place":
        return inputs[0]
    if node.operation == "reshape":
        return np.reshape(inputs[0], node.shape)
    if node.operation == "slice":
        return inputs[0][node.attributes["box"].keys()]
    if node.operation == "gather":
        return np.take(inputs[0], inputs[1][..., 0], axis=0)
    if node.operation == "concat":
        return np.concatenate(inputs, axis=node.attributes["axis"])
    if node.operation == "reduce":
        return _COMBINES[node.attributes["combine"]](inputs[0], axis=node.attributes["axes"])
    return np.matmul(*inputs)


def _operand(value: Operand | Constant | Node, node: Node, values: Mapping[int, np.ndarray]) -> np.ndarray:
    if isinstance(value, Constant):
        (dtype,) = {operand.dtype for operand in node.input_nodes()}
        return np.asarray(value.value, dtype=NUMPY_TYPES[dtype])
    assert isinstance(value, Operand)
    assert math.prod(value.node.shape) == values[value.node.number].size
    stretched = [1] * len(node.shape)
    for dimension, extent in zip(value.dimensions, value.node.shape, strict=True):
        stretched[dimension] = extent
    return values[value.node.number].reshape(stretched)
