"""Arrays that stay on the ranks: what a jitted function has made, for the functions that follow."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headrace._src.array.graph import NUMPY_TYPES
from headrace._src.cluster import Cluster, current
from headrace._src.errors import UserError
from headrace._src.query.dataset import check_there

#: Gives all of an array, by a program of the same options as that which made it.
Gather = Callable[["ResidentArray"], Any]


@dataclass(frozen=True)
class Layout:
    """How an array is divided over the ranks of a mesh."""

    #: The names of its axes and their sizes.
    mesh: tuple[tuple[str, int], ...]
    #: Of each dimension of the array the axes over which it is divided.
    axes: tuple[tuple[str, ...], ...]

    @property
    def mesh_text(self) -> str:
        """As `mesh=` takes it."""
        return ",".join(f"{name}:{size}" for name, size in self.mesh)

    @property
    def text(self) -> str:
        """As explanations have it."""
        divided = [f"dim {dim} over {','.join(axes)}" for dim, axes in enumerate(self.axes) if axes]
        return ", ".join(divided) or "replicated"

    @staticmethod
    def of_buffer(plan: Mapping[str, Any], number: int) -> Layout:
        """In which a plan, whose JSON leaves out what is as by default, has one of its buffers."""
        mesh = tuple((axis["name"], axis.get("size", 1)) for axis in plan["mesh"])
        buffer = plan["buffers"][number]
        axes: list[tuple[str, ...]] = [()] * len(buffer.get("shape", ()))
        for split in buffer.get("splits", ()):
            axes[split["dimension"]] = tuple(mesh[axis][0] for axis in split["axes"])
        return Layout(mesh, tuple(axes))

    @staticmethod
    def of_arguments(plan: Mapping[str, Any]) -> dict[str, Layout | None]:
        """By name, of a plan's arguments in their order; None of one that is handed over whole."""
        buffers = {task["slot"]: task["output"] for task in plan["tasks"] if task["kind"] == "input"}
        return {
            slot["name"]: Layout.of_buffer(plan, buffers[number]) if slot.get("resident") else None
            for number, slot in enumerate(plan["slots"])
            if slot.get("kind") == "tensor"
        }

    @staticmethod
    def of_results(plan: Mapping[str, Any]) -> list[Layout]:
        return [
            Layout.of_buffer(plan, task["buffer"])
            for task in plan["tasks"]
            if task["kind"] == "tensor_result"
        ]


class ResidentArray:
    """An array that stays on the ranks which made it, each with its part. Made by `persist` of what `jit`
    gives.

    It is an argument for functions of `jit` on the same ranks, which read the parts where they are, and
    counts for the `memory` of the ranks until it is closed or dropped. `numpy()`, or any function of NumPy,
    gathers it.
    """

    def __init__(self, kept: Any, layout: Layout, gather: Gather) -> None:
        """kept: the runtime's."""
        self._kept = kept
        self._layout = layout
        self._gather = gather
        self._cluster = current()
        self._epoch = self._cluster.epoch if self._cluster else 0
        self._shape = tuple(kept.shape)
        self._dtype = str(kept.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def ndim(self) -> int:
        return len(self._shape)

    @property
    def size(self) -> int:
        return math.prod(self._shape)

    @property
    def dtype(self) -> np.dtype:
        return NUMPY_TYPES[self._dtype]

    @property
    def nbytes(self) -> int:
        """Of the whole array; where it is replicated, each rank has as many."""
        return self.size * self.dtype.itemsize

    @property
    def layout(self) -> str:
        """Which axes of the mesh divide which dimension: "dim 0 over ranks"; "replicated": every rank has
        all.
        """
        return self._layout.text

    @property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        """The same as `headrace.place` takes it."""
        return self._layout.axes

    @property
    def mesh(self) -> dict[str, int]:
        """The axes of the ranks that it is on, as `mesh=` takes them."""
        return dict(self._layout.mesh)

    @property
    def closed(self) -> bool:
        return self._kept is None

    def close(self) -> None:
        """Gives its memory back, once no run reads it any more. In a cluster, each rank that of its part."""
        self._kept = None

    def __enter__(self) -> ResidentArray:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def numpy(self) -> np.ndarray:
        """All of it, gathered from the ranks. In a cluster all ranks call it, and rank 0 has the array."""
        return self._gather(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("an array that lies on the ranks is copied to become one of NumPy")
        whole = self.numpy()
        if whole is None:
            raise UserError("rank 0 has the elements: call numpy() on all ranks")
        return whole if dtype is None else whole.astype(dtype, copy=False)

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of an array without dimensions")
        return self._shape[0]

    def __repr__(self) -> str:
        ranks = math.prod(size for _, size in self._layout.mesh)
        where = "closed" if self.closed else self.layout
        return f"ResidentArray of {self._shape} {self.dtype} on {ranks} ranks: {where}"


def element_of(array: ResidentArray) -> str:
    """f32, f64 or i64."""
    return array._dtype


def layout_of(array: ResidentArray) -> Layout:
    return array._layout


def here(array: ResidentArray) -> Any:
    """What the runtime reads of it in this process; None once it is closed."""
    return array._kept


def check_residents(arrays: Sequence[object]) -> None:
    """Of who leads a program with these arguments: raises if parts of one are not there; MovedError if ranks
    have changed.
    """
    for array in arrays:
        if isinstance(array, ResidentArray):
            if array.closed:
                raise UserError("the array is closed")
            check_there(array._cluster, array._epoch, "the parts of an array", "the program")


@dataclass(frozen=True)
class KeptResults:
    """The results of a function, which stay on the ranks."""

    arrays: tuple[ResidentArray, ...]
    several: bool = True  # it returns a tuple

    def given(self) -> ResidentArray | tuple[ResidentArray, ...]:
        """As the function gives them."""
        return self.arrays if self.several else self.arrays[0]

    @staticmethod
    def of_result(result: Any, layouts: Sequence[Layout], gather: Gather) -> KeptResults:
        """Of a run on ranks of this process, or, on rank 0, of its cluster."""
        tensors = list(result.kept)
        for kept in tensors:
            kept.identity = secrets.token_hex(8)
        made = zip(tensors, layouts, strict=True)
        return KeptResults(tuple(ResidentArray(kept, layout, gather) for kept, layout in made))

    def note(self) -> str:
        """What rank 0 tells the other ranks of it."""
        told = [
            {"identity": here(array).identity, "mesh": layout_of(array).mesh, "axes": layout_of(array).axes}
            for array in self.arrays
        ]
        return json.dumps([self.several, told])

    @staticmethod
    def of_note(gather: Gather) -> Callable[[Cluster, Sequence[Any], str], KeptResults]:
        """On another rank, from its parts."""

        def made(cluster: Cluster, parts: Sequence[Any], note: str) -> KeptResults:
            arrays = []
            several, each = json.loads(note)
            for kept, told in zip(parts, each, strict=True):
                kept.identity = told["identity"]
                mesh = tuple((name, size) for name, size in told["mesh"])
                layout = Layout(mesh, tuple(map(tuple, told["axes"])))
                arrays.append(ResidentArray(kept, layout, gather))
            return KeptResults(tuple(arrays), several)

        return made
