"""hr.jit: a function over arrays, traced for the shapes and types of its arguments."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

import numpy as np

from headrace._src.arguments import checked
from headrace._src.array.emit import emit
from headrace._src.array.evaluate import evaluate
from headrace._src.array.graph import NUMPY_TYPES, Node, Place, Shape, in_order
from headrace._src.array.mistakes import mistaken, placed
from headrace._src.array.program import Lowered, Options, Program, bindings, in_memory
from headrace._src.array.queries import QueryTensor
from headrace._src.array.resident import (
    KeptResults,
    Layout,
    ResidentArray,
    check_residents,
    element_of,
    layout_of,
)
from headrace._src.array.tracer import Array
from headrace._src.errors import UserError
from headrace._src.programs import Mesh, axes_of, axis_sizes, ranks_of
from headrace._src.stop import stopper

_TYPES = {dtype: name for name, dtype in NUMPY_TYPES.items()}


@dataclass(frozen=True)
class TensorType:
    """The shape and element type ("f32", "f64", "i64") of an argument, for tracing without a value."""

    shape: Shape
    dtype: str
    #: Of one that lies on the ranks.
    layout: Layout | None = None

    @staticmethod
    def of(value: object, name: str) -> TensorType:
        if isinstance(value, QueryTensor):
            return TensorType(value.shape, value.dtype)
        if isinstance(value, ResidentArray):
            return TensorType(value.shape, element_of(value), layout_of(value))
        if isinstance(value, TensorType):
            if value.dtype not in _TYPES.values():
                raise mistaken(f"argument '{name}' needs elements of f32, f64 or i64: got {value.dtype}")
            return TensorType(tuple(value.shape), value.dtype, value.layout)
        array = np.asarray(value)
        if array.dtype not in _TYPES:
            raise mistaken(f"argument '{name}' needs elements of f32, f64 or i64: got {array.dtype}")
        return TensorType(array.shape, _TYPES[array.dtype])


@dataclass(frozen=True)
class Traced:
    """A function traced for one set of argument types."""

    name: str
    parameters: tuple[Node, ...]
    results: tuple[Node, ...]
    place: Place
    several: bool  # it returns a tuple
    options: Options = Options()
    queries: tuple[tuple[int, QueryTensor], ...] = ()  # arguments that are columns of queries
    keeps: bool = False  # its results stay on the ranks

    @property
    def text(self) -> str:
        """The function as MLIR."""
        return emit(self.name, self.parameters, self.results, self.place, keeps=self.keeps)

    __str__ = text.fget

    def lower(self) -> Lowered:
        """The phases of the compiler for the options of `jit`."""
        return Lowered(self.text, self.options, self.queries)

    def evaluate(self, *arguments: object) -> np.ndarray | tuple[np.ndarray, ...]:
        """Runs the trace with NumPy, op by op."""
        values = {
            node.number: np.asarray(value) for node, value in zip(self.parameters, arguments, strict=True)
        }
        results = evaluate(self.results, values)
        return results if self.several else results[0]


class Jit:
    """What `jit` makes of a function."""

    def __init__(self, function: Callable, options: Options) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._names = _parameter_names(function)
        self._options = options
        #: By types and ranks: what its queries took from clocks, and the program.
        self._programs: dict[tuple[object, ...], tuple[list[object], Traced, Program]] = {}

    def __call__(self, *arguments: object) -> Any:
        """Compiles for arguments of these shapes and types, if they are new, and runs."""
        return self._called(arguments, keeps=False)

    def persist(self, *arguments: object) -> Any:
        """Runs it, and leaves its results on the ranks: a `ResidentArray`, or a tuple of them.

        Each rank keeps the part that it has made. Later functions on the same ranks read it there; nothing
        goes through the caller, rank 0 or the other ranks. `headrace.place` says how a result is divided,
        else the compiler chooses. In a cluster all ranks get it.
        """
        return self._called(arguments, keeps=True)

    def _called(self, arguments: tuple[object, ...], *, keeps: bool) -> Any:
        arrays = tuple(
            value if isinstance(value, ResidentArray) else np.asarray(value)
            for value in arguments
            if not isinstance(value, QueryTensor)
        )
        queries = tuple(enumerate(value for value in arguments if isinstance(value, QueryTensor)))
        call = f"{'persist ' if keeps else ''}{self.__name__} {self._types(arguments)}"

        def lead() -> Any:
            check_residents(arrays)  # or it would be compiled for ranks that are not there any more
            traced, program = self._program(arguments, keeps)
            results = program.run(arrays)
            if keeps:
                return replace(results, several=traced.several)
            return tuple(results) if traced.several else results[0]

        made = self._options.on_all_ranks(call, lead, in_memory(bindings(queries)), arrays, keeps)
        return made.given() if isinstance(made, KeptResults) else made

    def compile(self, *arguments: object, persist: bool = False) -> Program:
        """The program for arrays (or TensorTypes) of these shapes and types. persist: its results stay on the
        ranks.
        """
        return self._program(arguments, persist)[1]

    def explain(
        self, *arguments: object, runner_up: bool = False, tasks: bool = False, persist: bool = False
    ) -> str:
        """What was decided for arguments of these shapes and types and why; see `headrace.explain`."""
        return self.compile(*arguments, persist=persist).explain(runner_up=runner_up, tasks=tasks)

    def _program(self, arguments: tuple[object, ...], keeps: bool) -> tuple[Traced, Program]:
        ranks = ranks_of(self._options.ranks, self._options.mesh)
        key = (ranks, keeps, *self._types(arguments))
        query = next((value.query for value in arguments if isinstance(value, QueryTensor)), None)
        programs = self._programs if query is None else query._programs.setdefault(self, {})
        asked = dict.fromkeys(value.query for value in arguments if isinstance(value, QueryTensor))
        clocks = [query.renewed().clock.key() for query in asked]
        if key not in programs or programs[key][0] != clocks:
            traced = replace(self.trace(*arguments), keeps=keeps)
            programs[key] = clocks, traced, traced.lower().compile()
        return programs[key][1:]

    def _options_for(self, types: tuple[TensorType, ...]) -> Options:
        """With the mesh of the arguments that lie on the ranks, which must be that of the function."""
        options = self._options
        ranks = ranks_of(options.ranks, options.mesh)
        for name, type in zip(self._names, types, strict=True):
            if type.layout is None:
                continue
            lies, mesh = type.layout.mesh, type.layout.mesh_text
            own = options.target().mesh or f"{axes_of(None)[0]}:{ranks}"
            given = options.mesh is not None
            if lies != axis_sizes(own) if given else math.prod(size for _, size in lies) != ranks:
                raise UserError(
                    f"argument '{name}' lies on the mesh {mesh}, and {self.__name__} runs on {own}: "
                    f'jit it with mesh="{mesh}", or hand over numpy.asarray({name})'
                )
            options = replace(options, mesh=mesh)
        return options

    def _types(self, arguments: tuple[object, ...]) -> tuple[TensorType, ...]:
        if len(arguments) != len(self._names):
            raise mistaken(f"{self.__name__} takes {len(self._names)} arrays: got {len(arguments)}")
        return tuple(TensorType.of(value, name) for value, name in zip(arguments, self._names, strict=True))

    def trace(self, *arguments: object) -> Traced:
        """Traces the function for arrays (or TensorTypes) of these shapes and types."""
        types = self._types(arguments)
        options = self._options_for(types)
        code = self._function.__code__
        place = Place(code.co_filename, code.co_firstlineno)
        parameters = tuple(
            Node("parameter", type.shape, type.dtype, place, (), {"name": name, "layout": type.layout})
            for type, name in zip(types, self._names, strict=True)
        )
        with placed(place):
            returned = self._function(*map(Array, parameters))
        several = isinstance(returned, (tuple, list))
        results = tuple(returned) if several else (returned,)
        if not results:
            with placed(place):
                raise TypeError(f"{self.__name__} must return traced arrays: got none")
        for result in results:
            if not isinstance(result, Array):
                with placed(place):
                    raise TypeError(f"{self.__name__} must return traced arrays: got {type(result).__name__}")
        nodes = tuple(result._node for result in results)
        self._check(nodes, parameters, options)
        queries = tuple(
            (index, value) for index, value in enumerate(arguments) if isinstance(value, QueryTensor)
        )
        return Traced(self.__name__, parameters, nodes, place, several, options, queries)

    @staticmethod
    def _check(results: tuple[Node, ...], parameters: tuple[Node, ...], options: Options) -> None:
        """Refuses arrays of another trace, and axes that the mesh does not have."""
        axes = axes_of(options.mesh)
        for node in in_order(results):
            with placed(node.place):
                if node.operation == "parameter" and node not in parameters:
                    raise ValueError(
                        f"an array of another function, or of an earlier call: {node.attributes['name']}"
                    )
                if node.operation == "place":
                    for axis in itertools.chain(*node.attributes["axes"]):
                        if axis not in axes:
                            raise ValueError(f"the mesh has no axis {axis}; it has {', '.join(axes)}")


@overload
def jit(function: Callable, /) -> Jit: ...
@overload
def jit(
    *,
    ranks: int = 1,
    threads: int | None = None,
    memory: int | str | None = None,
    topology: str | Path | None = None,
    layout_seed: int | None = None,
    settings: Mapping[str, object] | None = None,
    mesh: Mesh | None = None,
    timeout: float | None = None,
) -> Callable[[Callable], Jit]: ...
@checked
def jit(
    function: Callable | None = None,
    /,
    *,
    ranks: int = 1,
    threads: int | None = None,
    memory: int | str | None = None,
    topology: str | Path | None = None,
    layout_seed: int | None = None,
    settings: Mapping[str, object] | None = None,
    mesh: Mesh | None = None,
    timeout: float | None = None,
) -> Jit | Callable[[Callable], Jit]:
    """Compiles a function over arrays, written with the functions of headrace.array, when it is called.

    ranks: the number of ranks, in this process, that share the work.
    threads: workers of all ranks together (default: HEADRACE_THREADS, else the processors that this process
        may use).
    memory: limit of all ranks together, in bytes or as "4GB".
    topology: a topology file or the name of a shipped one; default: this machine, divided among the ranks.
    layout_seed: takes a random layout and order of tasks instead of the cheapest, for tests.
    settings: settings of the runs by name, which override the environment: {"trace": "t.json"}.
    mesh: ranks along several axes, {"node": 2, "gpu": 4} or "node:2,gpu:4": a tensor's dimensions may be
        divided over different ones, and collectives go over some of them; then the number of ranks is that of
        the mesh. "nodes": the axes `node` and `rank` of the topology, for `ranks` ranks.
    timeout: seconds after which a run is stopped with QueryTimeoutError; what is compiled before it does not
        count.
    """
    ranks_of(ranks, mesh)  # or it is refused
    stopper(timeout, None)  # likewise
    options = Options(ranks, threads, memory, topology, layout_seed, settings, mesh, timeout)
    return Jit(function, options) if function else lambda function: Jit(function, options)


def _parameter_names(function: Callable) -> list[str]:
    names = []
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        raise mistaken(f"jit takes functions whose parameters Python knows, got {function!r}") from None
    for parameter in parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise mistaken(f"jit takes functions of positional arrays only: got parameter '{parameter}'")
        names.append(parameter.name)
    return names
