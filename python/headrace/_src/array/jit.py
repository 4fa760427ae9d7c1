"""hr.jit: a function over arrays, traced for the shapes and types of its arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from headrace._src.array.emit import emit
from headrace._src.array.evaluate import evaluate
from headrace._src.array.graph import Node, Place
from headrace._src.array.tracer import Array

_TYPES = {np.dtype(np.float32): "f32", np.dtype(np.float64): "f64", np.dtype(np.int64): "i64"}


@dataclass(frozen=True)
class TensorType:
    """The shape and element type ("f32", "f64", "i64") of an argument, for tracing without a value."""

    shape: tuple[int, ...]
    dtype: str

    @staticmethod
    def of(value: object, name: str) -> TensorType:
        if isinstance(value, TensorType):
            if value.dtype not in _TYPES.values():
                raise TypeError(f"argument '{name}' needs elements of f32, f64 or i64: got {value.dtype}")
            return TensorType(tuple(int(extent) for extent in value.shape), value.dtype)
        array = np.asarray(value)
        if array.dtype not in _TYPES:
            raise TypeError(f"argument '{name}' needs elements of f32, f64 or i64: got {array.dtype}")
        return TensorType(array.shape, _TYPES[array.dtype])


@dataclass(frozen=True)
class Traced:
    """A function traced for one set of argument types."""

    name: str
    parameters: tuple[Node, ...]
    results: tuple[Node, ...]
    place: Place
    several: bool  # it returns a tuple

    @property
    def text(self) -> str:
        """The function as MLIR."""
        return emit(self.name, self.parameters, self.results, self.place)

    __str__ = text.fget

    def evaluate(self, *arguments: object) -> np.ndarray | tuple[np.ndarray, ...]:
        """Runs the trace with NumPy, op by op."""
        values = {
            node.number: np.asarray(value) for node, value in zip(self.parameters, arguments, strict=True)
        }
        results = evaluate(self.results, values)
        return results if self.several else results[0]


class Jit:
    """What `jit` makes of a function."""

    def __init__(self, function: Callable) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._names = _parameter_names(function)

    def trace(self, *arguments: object) -> Traced:
        """Traces the function for arrays (or TensorTypes) of these shapes and types."""
        if len(arguments) != len(self._names):
            raise TypeError(f"{self.__name__} takes {len(self._names)} arrays: got {len(arguments)}")
        code = self._function.__code__
        place = Place(code.co_filename, code.co_firstlineno)
        types = [TensorType.of(value, name) for value, name in zip(arguments, self._names, strict=True)]
        parameters = tuple(
            Node("parameter", type.shape, type.dtype, place, (), {"name": name})
            for type, name in zip(types, self._names, strict=True)
        )
        returned = self._function(*map(Array, parameters))
        several = isinstance(returned, (tuple, list))
        results = tuple(returned) if several else (returned,)
        for result in results:
            if not isinstance(result, Array):
                raise TypeError(f"{self.__name__} must return traced arrays: got {type(result).__name__}")
        return Traced(self.__name__, parameters, tuple(result._node for result in results), place, several)


def jit(function: Callable) -> Jit:
    """Compiles a function over arrays (array API vocabulary: headrace.array) for the arguments it meets."""
    return Jit(function)


def _parameter_names(function: Callable) -> list[str]:
    names = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise TypeError(f"jit takes functions of positional arrays only: got parameter '{parameter}'")
        names.append(parameter.name)
    return names
