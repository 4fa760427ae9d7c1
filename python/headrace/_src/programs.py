"""Programs compiled, kept and loaded in this process: what queries and arrays share."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from headrace._src.arguments import shown
from headrace._src.cluster import current, ranks_here
from headrace._src.errors import HeadraceError, SqlError, UnsupportedError, UserError
from headrace._src.errors import translated as translated
from headrace._src.query import plan_cache
from headrace._src.query.plan_cache import CompiledQuery
from headrace._src.query.temporary_files import current_settings
from headrace._src.sql.place import located
from headrace._src.tuning.choice import Choice


@dataclass
class LoadedProgram:
    """A compiled program and the runtime's handle on it."""

    compiled: CompiledQuery
    handle: Any
    #: Of every run, by name: what the tuner found.
    settings: dict[str, str] = field(default_factory=dict)


_sessions: dict[str, Any] = {}
_loaded: dict[str, LoadedProgram] = {}

#: Loaded programs kept in this process.
_LOADED_MAX = 256


#: Ranks along several axes, the last the fastest: {"node": 2, "gpu": 4}, or as text "node:2,gpu:4"; or
#: "nodes": an axis `node` of the topology's nodes and an axis `rank` of the ranks on each.
Mesh = str | Mapping[str, int]
_OF_TOPOLOGY = "nodes"
_RANKS_MAX = 2**31 - 1
#: And that a process runs, as the setting `ranks` has it.
RUN_RANKS_MAX = 1024


def mesh_text(mesh: Mesh | None) -> str:
    """As the compiler reads it; empty for the one axis of all ranks."""
    if mesh is None:
        return ""
    if not isinstance(mesh, (str, Mapping)):
        raise UserError(f"mesh is a str or a dict of axes and their sizes, got {shown(mesh)}")
    return mesh if isinstance(mesh, str) else ",".join(f"{name}:{size}" for name, size in mesh.items())


def axes_of(mesh: Mesh | None) -> tuple[str, ...]:
    """The names of the axes of a mesh; of none, that of all ranks."""
    text = mesh_text(mesh)
    if text == _OF_TOPOLOGY:
        return "node", "rank"
    return tuple(axis.partition(":")[0].strip() for axis in text.split(",")) if text else ("ranks",)


def axis_sizes(text: str) -> tuple[tuple[str, int], ...]:
    """The axes of a mesh that names them, with their sizes."""
    axes = (axis.partition(":") for axis in text.split(","))
    return tuple((name.strip(), int(size)) for name, _, size in axes)


def ranks_of(ranks: int, mesh: Mesh | None, *, most: int = _RANKS_MAX) -> int:
    """The number of ranks: that of the cluster or mesh if there is one; then no other may be asked for.

    most: that may be asked for.
    """
    if not 1 <= ranks <= most:
        raise HeadraceError(f"ranks must be between 1 and {most}, got {ranks}")
    text = mesh_text(mesh)
    here = ranks_here()
    if here is not None and ranks not in (1, here):
        raise HeadraceError(f"the cluster has {here} ranks, got ranks={ranks}")
    if text in ("", _OF_TOPOLOGY):
        return here or ranks
    sizes = [size.strip() for _, _, size in (axis.partition(":") for axis in text.split(","))]
    if not all(size.isdecimal() and int(size) > 0 for size in sizes):
        raise HeadraceError(f"mesh names axes with their sizes, such as node:2,gpu:4, got {text}")
    made = math.prod(map(int, sizes))
    if ranks not in (1, made):
        raise HeadraceError(f"the mesh {text} has {made} ranks, got ranks={ranks}")
    if here not in (None, made):
        raise HeadraceError(f"the mesh {text} has {made} ranks, the cluster {here}")
    return made


@dataclass(frozen=True)
class Target:
    """What a program is compiled for: ranks, their topology, and a seed that forces a random layout."""

    ranks: int = 1
    topology: str = ""
    layout_seed: int | None = None
    #: "node:2,gpu:4"; empty: one axis of all ranks.
    mesh: str = ""
    #: x86-64, x86-64-v3 or x86-64-v4: this machine's, or a lower one set by HEADRACE_ISA.
    isa: str = ""
    #: What the tuner found for the program, and the line that says so, or why its record is not used.
    choice: Choice | None = None
    note: str = ""
    #: Bytes that a rank may use: states that do not fit are divided. 0: not known.
    memory: int = 0
    #: Kernels for GPUs beside those for the CPU: ptx, or emulation for tests; empty: none.
    gpu: str = ""
    #: For a query whose rows stay on the ranks that make them: the columns by whose hash they are to be
    #: divided, if any.
    resident: tuple[str, ...] | None = None
    #: Columns of a query's result whose equal values come one after another.
    adjacent: tuple[str, ...] = ()

    @staticmethod
    def of(
        ranks: int, topology: str | Path | None, layout_seed: int | None, mesh: Mesh | None = None
    ) -> Target:
        """`topology`: a file, the name of a shipped one, or "machine" (also if none is given).

        One that cannot be opened is an error, as is a calibration of this machine that cannot be used.
        """
        ranks = ranks_of(ranks, mesh)
        from headrace import _runtime

        isa = translated(_runtime.instruction_set)
        text = _topology_text(topology)
        try:
            topology_hash(text, ranks)
        except HeadraceError as error:
            # What was handed on is the text of the file.
            place = str(topology) if text and text != str(topology) else ""
            raise HeadraceError(str(error), error.kind, place) from None
        axes = mesh_text(mesh)
        return Target(
            ranks, text, layout_seed, _node_mesh(text, ranks) if axes == _OF_TOPOLOGY else axes, isa
        )

    def key(self) -> list[object]:
        # Without a topology it is this machine's: a home directory may be shared by unlike machines.
        figures = "" if self.topology else f"{machine()} {calibration()}"
        figures += os.environ.get("HEADRACE_COLLECTIVE_TREE", "")  # all_reduce is priced by it
        figures += f" {quick_rows()}"
        tuned = [self.choice.document() if self.choice else "", self.note] if self.choice or self.note else []
        placed = [self.ranks, self.topology, figures, self.layout_seed, self.mesh, self.isa]
        kept = [] if self.resident is None else ["resident", *self.resident]
        if self.adjacent:
            kept += ["adjacent", *self.adjacent]
        return [*placed, self.memory, *([self.gpu] if self.gpu else []), *kept, *tuned]

    def within(self, memory: int | str | None) -> Target:
        """For ranks that together (in a cluster, each) may use `memory`; None: as the settings have it."""
        limit = memory_of(memory)
        return replace(self, memory=limit if current() else max(1, limit // self.ranks))

    def on(self, device: str) -> Target:
        """For plans whose tasks run on such a device, as far as they can: cpu or cuda."""
        forms = {"cpu": "", "cuda": "ptx"}
        if device not in forms:
            raise HeadraceError(f"device must be cpu or cuda, got {device}")
        return replace(self, gpu=forms[device])

    def settings(self) -> dict[str, str]:
        """Of the run, by name."""
        return dict(self.choice.settings) if self.choice else {}

    def request(self) -> Any:
        """A request to the compiler for this target."""
        from headrace import _compiler

        request = _compiler.Request()
        request.ranks = self.ranks
        request.topology = self.topology
        request.layout_seed = -1 if self.layout_seed is None else self.layout_seed
        request.isa = self.isa
        request.gpu = self.gpu
        request.memory_bytes = self.memory
        request.resident_keys = None if self.resident is None else list(self.resident)
        request.adjacent_keys = list(self.adjacent)
        request.mesh = self.mesh
        if self.choice:
            request.layout_alternative = self.choice.alternative
            request.chunk_rows = self.choice.chunk_rows
            request.mesh = self.mesh or self.choice.mesh
        request.note = self.note
        request.kernel_cache = str(plan_cache.kernel_directory())
        return request


def _node_mesh(topology: str, ranks: int) -> str:
    """The nodes of a topology and the ranks on each as axes; one axis if there is one node."""
    from headrace import _runtime

    on_nodes = translated(lambda: _runtime.ranks_of_nodes(topology, ranks))
    if len(set(on_nodes)) > 1:
        raise HeadraceError(
            f"mesh=nodes needs as many ranks on each node, got {', '.join(map(str, on_nodes))}"
        )
    return f"node:{len(on_nodes)},rank:{on_nodes[0]}" if len(on_nodes) > 1 else ""


def quick_rows() -> str:
    """HEADRACE_QUICK_ROWS, empty if it is not set."""
    text = os.environ.get("HEADRACE_QUICK_ROWS", "")
    if text and not text.isdecimal():
        raise HeadraceError(f"HEADRACE_QUICK_ROWS must be a number of rows, got: {text}")
    return text


def machine() -> str:
    """What tells this machine from unlike ones."""
    return f"{platform.machine()} {os.cpu_count()}"


def calibration() -> str:
    """Changes when the machine is calibrated anew."""
    from headrace import _runtime

    file = _runtime.calibration_file()
    try:
        stat = os.stat(file)
    except OSError:
        return ""
    return f"{file} {stat.st_mtime_ns} {stat.st_size}"


def topology_hash(topology: str, ranks: int) -> str:
    """Of a topology's content. HeadraceError if it cannot be opened."""
    from headrace import _runtime

    return _topology_hash(topology, ranks, _runtime.calibration_file(), calibration())


@lru_cache(maxsize=64)
def _topology_hash(topology: str, ranks: int, *calibrated: str) -> str:
    """calibrated: what tells this machine from the same one calibrated anew."""
    from headrace import _runtime

    return translated(lambda: _runtime.topology_hash(topology, ranks))


def _topology_text(topology: str | Path | None) -> str:
    """A file's text; a shipped topology's name stays a name, and this machine has none."""
    if topology is None or str(topology) == "machine":
        return ""
    path = Path(topology).expanduser()
    try:
        return path.read_text() if path.suffix or path.exists() else str(topology)
    except OSError as error:
        raise HeadraceError(f"cannot read the topology file: {path}: {error.strerror}", "io") from None


def compiler() -> Any:
    """The compiler of this process."""
    from headrace import _compiler

    session = _sessions.get("compiler")
    if session is None:
        session = _sessions["compiler"] = _compiler.Session()
    return session


def checked(answer: Any, text: str = "") -> Any:
    """The compiler's answer, or its error as HeadraceError; `text`: of the query that it is an answer to."""
    if answer.ok:
        return answer
    if answer.error_position >= 0 and text:
        error = UnsupportedError if answer.error_kind == "unsupported" else SqlError
        raise located(error, answer.error, text, answer.error_position, answer.error_length)
    raise HeadraceError(answer.error, answer.error_kind)


def compiled_of(
    answer: Any,
    *,
    manifest: Mapping[str, Any] | None = None,
    parse_seconds: Mapping[str, float] | None = None,
) -> CompiledQuery:
    """The plan and kernels in the compiler's answer; parse_seconds: what was before it."""
    return CompiledQuery(
        plan_json=answer.plan_json,
        kernels=answer.kernels,
        plan_text=answer.plan_text,
        manifest=dict(manifest or {}),
        phase_seconds={**(parse_seconds or {}), **dict(answer.phase_seconds)},
        kernels_compiled=answer.kernels_compiled,
    )


def load(
    key: str,
    compiled: Callable[[], CompiledQuery],
    *,
    persistent: bool,
    settings: dict[str, str] | None = None,
) -> LoadedProgram:
    """The program of a key: of this process, else (if persistent) of the cache on disk, else compiled.

    settings: of every run of it.
    """
    from headrace import _runtime

    plan_cache.bytes_max()  # a wrong limit is an error at once, not when something is put into the cache
    if found := _loaded.get(key):
        return found
    translated(lambda: _runtime.apply_log(current_settings()))
    program = plan_cache.find(key) if persistent else None
    _runtime.log(
        "info", f"the plan {key[:12]} is {'compiled' if program is None else 'in the cache on disk'}"
    )
    if program is None:
        program = compiled()
        if persistent:
            plan_cache.put(key, program)
    handle = translated(lambda: _runtime.load_plan(program.plan_json, program.kernels))
    if len(_loaded) >= _LOADED_MAX:
        _loaded.pop(next(iter(_loaded)))
    _loaded[key] = LoadedProgram(program, handle, settings or {})
    return _loaded[key]


def default_threads() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0))


def memory_of(memory: int | str | None) -> int:
    """What the ranks of this process may use together, in bytes; None: as the settings have it."""
    from headrace import _runtime

    if memory is not None:
        return memory_of_all(memory)
    group = current()
    return group.memory if group else translated(_runtime.memory_limit)


def memory_of_all(memory: int | str) -> int:
    """A limit of all ranks together in bytes: of a number, or a text such as 512MiB or 4GB."""
    from headrace import _runtime

    limit = translated(lambda: _runtime.parse_bytes(memory)) if isinstance(memory, str) else memory
    if limit < 1:
        raise HeadraceError(f"memory must be at least 1 byte, of all ranks together, got {memory}")
    return limit


def run_options(
    ranks: int,
    threads: int | None,
    memory: int | str | None,
    tuned: Mapping[str, str] | None = None,
    settings: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """Keyword arguments of the runtime's run().

    tuned: settings that the tuner found; the environment's go over them, and `settings` over both.
    """
    options: dict[str, Any] = {"ranks": ranks}
    if threads:
        options["threads"] = threads
    options["tuned"] = dict(tuned or {})
    options["settings"] = setting_texts(settings)
    if memory is not None:
        options["memory"] = memory_of_all(memory)
    return options


def run(program: LoadedProgram, bindings: dict[str, Any], options: dict[str, Any]) -> Any:
    """On the ranks of this process, or as rank 0 on those of the cluster; options: see `run_options`."""
    group = current()
    if group is None:
        return translated(lambda: program.handle.run(bindings, **options))
    compiled = program.compiled
    return translated(
        lambda: group.run(program.handle, compiled.plan_json, compiled.kernels, bindings, options)
    )


def with_device(device: str | None, settings: Mapping[str, object] | None) -> dict[str, object]:
    """The settings of a run with an argument `device`, if it is given."""
    return {**(settings or {}), **({} if device is None else {"device": device})}


def device_of(settings: Mapping[str, object] | None) -> str:
    """What a plan is made for by the settings and the environment: cpu or cuda."""
    from headrace import _runtime

    texts = setting_texts(settings)
    chosen = {name: value for name, value in texts.items() if name in ("device", "--device")}
    return str(translated(lambda: _runtime.device(chosen)))


def setting_texts(settings: Mapping[str, object] | None) -> dict[str, str]:
    """Settings by name, as the runtime reads them."""
    return {
        name: {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
        for name, value in (settings or {}).items()
    }
