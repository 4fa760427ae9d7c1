"""`headrace.cluster`: processes that a launcher has started, as the ranks of every query."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from headrace._src.arguments import checked
from headrace._src.errors import HeadraceError, InputOutputError, UserError, translated

_current: Cluster | None = None

#: Losses after which a call is run again: a query that itself ends its ranks would end them all.
_LOSSES_OF_A_CALL_MAX = 3


def current() -> Cluster | None:
    """The cluster of the `with` block that this process is in."""
    return _current


def ranks_here() -> int | None:
    """The number of ranks of that cluster; None outside of one."""
    return _current.size if _current else None


#: In a training run of 54 days 16,384 GPUs had 419 unexpected interruptions (The Llama 3 Herd of Models,
#: arXiv 2407.21783, section 3.3.4).
RANK_HOURS = 50_000.0


class Cluster:
    """The ranks of a session, of which this process is one, unless an engine runs them. Made by `cluster`.

    rank, size: which of how many this process is; they change when ranks are lost, and rank 0 stays rank 0.
    name: "rank 2 on host node7", as errors name it.
    """

    #: Whether every rank runs the script, as a launcher has started it.
    runs_script_on_all = True

    def __init__(self, handle: Any, on_loss: str, commits: str = "", rank_hours: float = RANK_HOURS) -> None:
        self._handle = handle
        self._on_loss = on_loss
        #: The folder of commit points, or empty, and after how many hours a rank is lost in the mean.
        self.commits = commits
        self.rank_hours = rank_hours
        self._calls = threading.Lock()
        self._leading: threading.Thread | None = None
        self._call = ""

    @property
    def rank(self) -> int:
        return translated(lambda: self._handle.rank)

    @property
    def size(self) -> int:
        return translated(lambda: self._handle.size)

    @property
    def name(self) -> str:
        return translated(lambda: self._handle.name)

    def __enter__(self) -> Cluster:
        global _current
        if _current:
            raise UserError("this process is a rank of a cluster already: leave that one first")
        _current = self
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def resize(self, ranks: int) -> None:
        """Goes on with so many of the engine's processes as ranks, from the next call on.

        Waits for `joinTimeout` seconds until they are there: Dask's workers are the script's to start, Ray's
        actors are made and ended here, Spark's tasks are started anew. What ranks have of tables of the
        script is divided anew by the next call that reads it.

        Raises UserError with a launcher, which has said how many there are, and where Spark has no room for
        as many; InputOutputError if fewer processes come. The ranks stay as they are then.
        """
        raise UserError("resize is for ranks of an engine: a launcher has said how many there are")

    def close(self) -> None:
        """Leaves the cluster: calls of the other ranks that need this one fail from then on."""
        global _current
        if _current is self:
            _current = None
        self._handle.leave()

    @property
    def epoch(self) -> int:
        """Another number once the ranks have changed."""
        return translated(lambda: self._handle.epoch)

    @property
    def memory(self) -> int:
        """The bytes that this rank may use."""
        return translated(lambda: self._handle.memory)

    def call(
        self,
        name: str,
        lead: Callable[[], Any],
        *,
        tables: Mapping[str, Any] | None = None,
        arrays: tuple[object, ...] = (),
        kept: Callable[[Cluster, list[Any], str], Any] | None = None,
        **options: Any,
    ) -> Any:
        """What `lead` gives, on rank 0; None on the others, which take part in its runs.

        name: of what is called; the same on all ranks. tables, arrays: those in memory, which every rank
        has. kept: of a call whose rows stay on the ranks, the result on the others, from their parts and the
        note of rank 0's result. options: threads, memory, settings and poll of this rank.
        """
        if self._leading is threading.current_thread():
            return lead()
        with self._calls:
            if self.rank:
                from headrace._src import store_parts
                from headrace._src.query.dataset import Dataset

                held = {
                    table: data.here if isinstance(data, Dataset) else data
                    for table, data in (tables or {}).items()
                }
                with store_parts.of_a_call():
                    parts, note = translated(lambda: self._handle.follow(name, held, list(arrays), **options))
                return kept(self, parts, note) if kept and note else None
            self._leading = threading.current_thread()
            self._call = name
            try:
                result = self._led(lead, options.get("poll"))
            except HeadraceError as error:
                self._end(error.kind, str(error))
                raise
            except KeyboardInterrupt:
                self._end("cancelled", "stopped by the user")
                raise
            except BaseException as error:
                self._end("user", f"{type(error).__name__}: {error}")
                raise
            finally:
                self._leading = None
            self._end(note=result.note() if kept else "")
            return result

    def _led(self, lead: Callable[[], Any], poll: Callable[[], None] | None) -> Any:
        """What `lead` gives, on the ranks that are there; again on those that are left after a loss."""
        losses = 0
        while True:
            self._mend(poll)
            try:
                return lead()
            except HeadraceError:
                losses += 1
                again = self._on_loss == "shrink" and losses <= _LOSSES_OF_A_CALL_MAX
                if not (again and self._is_short()):
                    raise

    def _lost(self) -> str:
        return translated(lambda: self._handle.lost)

    def _is_short(self) -> bool:
        """Whether ranks are no longer there."""
        return bool(self._lost())

    def _mend(self, poll: Callable[[], None] | None) -> None:
        """Goes on with the ranks that are there, if they are others than before."""
        # In this order: a loss that is noticed in between is one.
        awaited = translated(lambda: self._handle.awaited)
        lost = self._lost()
        if not lost and not awaited:
            return
        if lost and self._on_loss == "fail":
            raise InputOutputError(lost)
        translated(lambda: self._handle.regroup(poll))
        if not lost:
            return
        ranks = "1 rank" if self.size == 1 else f"{self.size} ranks"
        warnings.warn(f"{lost}; the cluster goes on with {ranks}", RuntimeWarning, stacklevel=2)

    def _end(self, kind: str = "", message: str = "", note: str = "") -> None:
        translated(lambda: self._handle.end(kind, message, note=note))

    def run(
        self, program: Any, plan: str, kernels: bytes, bindings: dict[str, Any], options: dict[str, Any]
    ) -> Any:
        """Rank 0's part in a call: runs a program on all ranks."""
        if options.pop("simulation_seed", None) is not None:
            raise UserError("simulation_seed is for ranks of one process, not of a cluster")
        options.pop("ranks")
        return self._handle.run(program, plan, kernels, self._call, bindings, **options)


@checked
def cluster(
    launcher: Any = "",
    *,
    ranks: int | None = None,
    on_loss: str = "shrink",
    commits: str | os.PathLike[str] | None = None,
    rank_hours: float = RANK_HOURS,
    settings: Mapping[str, object] | None = None,
) -> Cluster:
    """Joins the processes that a launcher has started, each of which calls it, as the ranks of what follows.

    Or starts ranks inside the processes of an engine, Dask, Ray or Spark, which the calling process leads.

    `with hr.cluster():` makes them the ranks of `sql`, `jit` and `mlir`. All processes run the same program
    and make the same calls in the same order; results are on rank 0, and the other ranks get None. Rank 0
    compiles, and the others are sent its plan, with the paths of its files, which they must see too. Tables
    and arrays in memory must be the same on all ranks. `threads`, `memory` and `settings` are those of each
    rank; its share of the machine's cores and memory, if nothing is said. An error ends a call on all ranks,
    names the rank where it came from, and leaves the cluster usable.

    When a rank is lost, because its process was killed or its machine is not heard any more, the others are
    numbered anew and run the call again, from its tables, with a RuntimeWarning on rank 0; after the fourth
    loss within one call it fails with InputOutputError. A process that is started again in place of a lost
    rank comes in at the next call, and its own calls up to that one return None. When rank 0 is lost, all
    calls fail with InputOutputError, as do those of a rank that the others have given up.

    With an engine one process runs the script. It is no rank: it compiles, has the results, and must be
    reachable from the engine's processes, which need headrace and see the files too. What the engine starts
    again after a loss, rank 0 too, is a rank again from the next call on. Where the engine gets more
    processes, or gives some up, the next call has as many ranks, or as many as `resize` has said. Arrays in
    memory are sent to the ranks, and of a table each gets the rows that it reads. They stay there while the
    script has the table, if it is a pyarrow.Table, so that the next query does not send them again.

    launcher: "torchrun", "mpi", "slurm", "kubernetes" or "environment" (the variables HEADRACE_RANK,
        HEADRACE_SIZE and HEADRACE_MEETING, a folder or HOST:PORT, which needs HEADRACE_SECRET, a text of at
        least 16 characters); default: the one whose variables are there. Or an engine: a
        `distributed.Client`, the module `ray` after `ray.init()`, a `SparkSession` or `SparkContext`.
    ranks: how many of Dask's workers are ranks (default: all, at each call), how many actors Ray has
        (default: one a node), how many tasks Spark has (default: as many as it runs at a time); launchers
        have said it already.
    on_loss: "shrink"; or "fail": all calls fail with InputOutputError once a rank is lost. Rank 0's counts.
    commits: a folder that all ranks, and with an engine this process, see. A query that runs for long is cut
        where it has few rows, if losses are expected to cost more time than it takes to keep these rows
        there; after a loss it goes on from the last of them. They are removed when the call ends. Rank 0's
        counts. Default: a call begins again.
    rank_hours: after how many hours a rank is lost in the mean, for `commits`. The default is of GPUs in a
        large cluster; machines that may be taken away are lost after tens of hours.
    settings: by name, which override the environment: {"peerTimeout": 20}. With an engine also "threads"
        and "memory" of each rank, else what the engine has given its process.

    Raises UserError if a variable is missing or the engine has no room, and InputOutputError if a rank does
    not come within `joinTimeout` seconds.
    """
    if on_loss not in ("shrink", "fail"):
        raise UserError(f"on_loss must be shrink or fail, got {on_loss}")
    kept = _folder_of(commits, rank_hours)
    if not isinstance(launcher, str):
        return _of_engine(launcher, ranks, on_loss, kept, rank_hours, settings or {})
    if ranks is not None:
        raise UserError("ranks is for engines: a launcher has said how many there are")
    from headrace import _runtime
    from headrace._src.programs import setting_texts

    texts = setting_texts(settings)
    return Cluster(translated(lambda: _runtime.Cluster(launcher, texts)), on_loss, kept, rank_hours)


def _folder_of(commits: str | os.PathLike[str] | None, rank_hours: float) -> str:
    """The folder of commit points; empty: none."""
    if not isinstance(rank_hours, (int, float)) or not rank_hours > 0:
        raise UserError(f"rank_hours is a number above 0, got {rank_hours!r}")
    if commits is None:
        return ""
    folder = os.path.abspath(os.path.expanduser(os.fspath(commits)))
    if not os.path.isdir(folder):
        raise UserError(f"commits is a folder that all ranks see, and there is none: {os.fspath(commits)}")
    return folder


def _of_engine(
    given: Any,
    ranks: int | None,
    on_loss: str,
    commits: str,
    rank_hours: float,
    settings: Mapping[str, object],
) -> Cluster:
    from headrace._src.engines.driver import Driver, RemoteRanks
    from headrace._src.engines.known import engine_of
    from headrace._src.engines.places import rank_settings
    from headrace._src.programs import setting_texts

    texts = rank_settings(setting_texts(settings))
    return Driver(RemoteRanks(engine_of(given, ranks, texts), texts), on_loss, commits, rank_hours)
