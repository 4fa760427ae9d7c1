"""The driver's side: ranks in processes of an engine come to it, and it leads their calls through rank 0.

The driver is no rank: it compiles, rank 0 runs what it is sent, and answers. The processes connect to the
driver, so an engine has only to start them; one that the engine starts again comes by itself.
"""

from __future__ import annotations

import secrets
import socket
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from headrace._src.array.resident import KeptResults, here
from headrace._src.cluster import Cluster
from headrace._src.engines.lobby import ANSWER_SECONDS, Lobby, Member, value_of
from headrace._src.engines.member import Invitation
from headrace._src.engines.places import number_of
from headrace._src.engines.scattered import Part, RemoteArray, Sent, Tables, own_parts, parts_of
from headrace._src.errors import HeadraceError, InputOutputError, UserError
from headrace._src.query.dataset import Dataset, MovedError, Parts
from headrace._src.query.tables import absolute

#: Seconds for the words of a rank that its peers have given up.
_LAST_WORDS_SECONDS = 2.0
_POLL_SECONDS = 0.05
#: How often the engine is asked whether its processes cannot come.
_LOOK_SECONDS = 0.25
#: For leaving, beyond `peerTimeout`, for which a rank that follows one that is stopped hears nothing.
_PART_SECONDS = 2.0
_JOIN_SECONDS = 15
#: Ranks that go while a call uses a dataset: as many times its rows are made again.
_MOVES_MAX = 3
#: That a rank surely takes in of a table.
_HELD_BYTES_A_SECOND = 10e6


class Engine(Protocol):
    """What starts processes."""

    #: The number of ranks to begin with.
    ranks: int
    #: Whether ranks that the engine gets later are added, and those that it gives up leave.
    follows: bool
    #: Whether all its processes end with one of them, and are started together again.
    together: bool

    def address(self) -> str:
        """Of this machine, at which the engine's processes reach it."""

    def start(self, invitation: Invitation) -> None:
        """Has every process of the engine call `serve`, also those that it starts again."""

    def resize(self, ranks: int) -> bool:
        """Has so many processes, if it is the one that says how many there are; else False.

        Those of an engine that starts all together are so many once it is started again.
        """

    def trouble(self) -> str:
        """Why processes do not come, if it knows."""

    def stop(self) -> None:
        """Of those that are started from now on none calls it; `start` may follow."""


@dataclass(frozen=True)
class Offer:
    """What the ranks beside rank 0 are told of a call."""

    call: str = ""
    tables: dict[str, Any] = field(default_factory=dict)
    arrays: list[Any] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)


@dataclass
class RemoteResult:
    """As the runtime's Result."""

    table: Any
    tensors: list[Any]
    #: Of a resident result; its rows are none of this process.
    part_statistics: list[str] = field(default_factory=list)
    part_keys: list[str] = field(default_factory=list)
    #: Of one that the ranks have written: what each tells of it.
    written: list[str] = field(default_factory=list)
    #: Its arrays that stay on the ranks.
    kept: list[RemoteArray] = field(default_factory=list)
    parts: tuple[()] = ()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


class RemoteRanks:
    """Ranks of an engine as the handle of a `Cluster`, as if this process were their rank 0."""

    rank = 0

    def __init__(self, engine: Engine, settings: Mapping[str, str]) -> None:
        """settings: as `rank_settings` makes them."""
        self._engine = engine
        self._session = secrets.token_hex(8)
        self._epoch = 0
        self._ranks: list[Member] = []
        self._following: list[tuple[Member, int]] = []
        self.offer = Offer()
        self.name = f"the driver on host {socket.gethostname()}"
        self.memory = 0
        self._wanted = None if engine.follows else engine.ranks
        self._gone: deque[str] = deque()  # tables that the driver has no more
        self._tables = Tables(self._gone.append)
        self._named = False  # whether the last run had such tables
        self._silence_seconds = number_of(settings, "peerTimeout", 8)
        self._join_seconds = number_of(settings, "joinTimeout", 60)
        self._settings_of_ranks = {**settings, "joinTimeout": str(_JOIN_SECONDS)}
        self._address = engine.address()
        self._lobby = Lobby(self._address)
        try:
            self._start(None)
            self._begin()
        except BaseException:
            self.leave()
            raise

    def _start(self, poll: Callable[[], None] | None) -> None:
        lobby = self._lobby
        self._engine.start(Invitation(self._address, lobby.port, lobby.secret, self._settings_of_ranks))
        self._await(self._engine.ranks, poll)

    def _await(self, wanted: int, poll: Callable[[], None] | None = None) -> None:
        lobby = self._lobby
        end = time.monotonic() + self._join_seconds
        while True:
            with lobby.changed:
                lobby.changed.wait_for(lambda: len(lobby.members) >= wanted, _LOOK_SECONDS)
                places = [(each.host, each.process) for each in lobby.members]
            if len(places) >= wanted:
                break
            if poll:
                poll()
            if trouble := self._engine.trouble():
                raise InputOutputError(trouble)
            if time.monotonic() > end:
                raise InputOutputError(
                    f"the engine has no room for {wanted} ranks, or its processes do not reach {lobby.port} "
                    f"of this machine, or lack headrace: of {wanted} came {len(places)}"
                )
        if len(set(places)) < len(places):
            raise UserError(
                "each rank needs a process of its own: start the engine with processes, not threads"
            )

    def _begin(self) -> None:
        """Makes a cluster of those that are there, up to the number that is wanted."""
        self._epoch += 1
        lobby = self._lobby
        with lobby.changed:
            chosen = sorted(lobby.members, key=lambda each: (each.host, each.process))[: self._wanted]
        if not chosen:
            raise InputOutputError("no process of the engine is left")
        meeting = lobby.answer(chosen[0], lobby.ask(chosen[0], "place"))
        asked = []
        for rank, member in enumerate(chosen):
            variables = {
                "HEADRACE_RANK": str(rank),
                "HEADRACE_SIZE": str(len(chosen)),
                "HEADRACE_MEETING": meeting,
                "HEADRACE_SECRET": lobby.secret.hex(),
                "HEADRACE_SESSION": f"{self._session}-{self._epoch}",
            }
            asked.append((member, lobby.ask(member, "join", variables)))
        joined: list[tuple[str, int]] = []
        failed: HeadraceError | None = None
        for member, number in asked:
            try:
                joined.append(lobby.answer(member, number, _JOIN_SECONDS + ANSWER_SECONDS))
            except HeadraceError as error:
                failed = failed or error
        if failed:
            raise failed
        for member in chosen:
            member.divide(len(chosen))
        self._ranks, self._following = chosen, []
        self.memory = min(memory for _, memory in joined)

    @property
    def size(self) -> int:
        return len(self._ranks)

    @property
    def epoch(self) -> int:
        return self._epoch

    @property
    def lost(self) -> str:
        if self.retired:
            return ""
        for rank, member in enumerate(self._ranks):
            if member.gone:
                return f"the process of a rank has ended: rank {rank} on host {member.host}"
        try:
            return self._of_rank_0("lost") if self._ranks else "no rank is left"
        except InputOutputError as error:
            return str(error)

    def _of_rank_0(self, name: str, *arguments: object) -> Any:
        return self._lobby.answer(self._ranks[0], self._lobby.ask(self._ranks[0], name, *arguments))

    @property
    def retired(self) -> bool:
        """Whether ranks are gone, all of which the engine has given up in good order."""
        gone = [member for member in self._ranks if member.gone]
        return bool(gone) and all(member.retired for member in gone)

    @property
    def awaited(self) -> bool:
        """Whether the next call has other ranks than the last one, without a loss."""
        with self._lobby.changed:
            there = len(self._lobby.members)
        target = there if self._wanted is None else min(there, self._wanted)
        return self.retired or (len(self._ranks) != target and target > 0)

    def resize(self, ranks: int) -> None:
        """Goes on with so many, once they are there."""
        before = self._engine.ranks
        try:
            owned = self._engine.resize(ranks)
            if not self._engine.together:
                self._await(ranks)
                if owned:
                    self._see_off(ranks)
            self._wanted = ranks
            if self.size != ranks or any(member.gone for member in self._ranks):
                self.regroup(None)
        except InputOutputError:
            if self._engine.resize(before):
                self._wanted = before
            raise

    def _see_off(self, ranks: int) -> None:
        """Waits until those that the engine has given up are gone."""
        lobby = self._lobby
        with lobby.changed:
            lobby.changed.wait_for(lambda: len(lobby.members) <= ranks, ANSWER_SECONDS)

    def regroup(self, poll: Callable[[], None] | None) -> None:
        """Goes on with the processes that are there, or, where these start together, with new ones."""
        self._part()
        if self._engine.together:
            self._lobby.renew()  # one that has not ended yet would be taken for one that is started now
            self._engine.stop()
            self._start(poll)
        with self._lobby.changed:
            attempts = len(self._lobby.members) + 1
        for attempt in range(attempts):
            if poll:
                poll()
            try:
                self._begin()
                return
            except InputOutputError:
                if attempt == attempts - 1:
                    raise

    def _part(self) -> None:
        """Every rank leaves its cluster, rank 0 first, whom the others follow; the silent are dropped."""
        end = time.monotonic() + self._silence_seconds + _PART_SECONDS
        asked = [(member, self._lobby.ask(member, "leave")) for member in self._ranks if not member.gone]
        for member, number in asked:
            with suppress(InputOutputError):  # of one that is gone
                self._lobby.answer(member, number, max(0.0, end - time.monotonic()))
        self._ranks, self._following = [], []

    def run(
        self,
        program: Any,
        plan: str,
        kernels: bytes,
        call: str,
        bindings: dict[str, Any],
        *,
        poll: Callable[[], None] | None = None,
        progress: Callable[..., None] | None = None,
        **options: Any,
    ) -> RemoteResult:
        """As the runtime's: runs a program on all ranks."""
        if not self._ranks:
            raise InputOutputError("no process of the engine is left")
        lobby, offer = self._lobby, self.offer
        kept = {name: data for name, data in bindings.items() if isinstance(data, RemoteArray)}
        held = {**offer.tables, **kept}
        self._scatter(plan, held)
        if not self._following:
            told = (call, offer.arrays, offer.options)
            self._following = [(each, lobby.ask(each, "follow", *told)) for each in self._ranks[1:]]
        bound = {name: _sent(data) for name, data in bindings.items() if name not in held}
        rank_0 = self._ranks[0]
        number = lobby.ask(rank_0, "run", plan, kernels, call, bound, options, progress is not None)
        table, tensors, profile, *parts = self._outcome(rank_0, number, poll, progress)
        program.keep_profile(profile)
        return RemoteResult(table, tensors, *parts)

    def keep(self, result: Parts | KeptResults) -> None:
        """Has each rank hold what it has of the last run's result, as its part of a table, or of arrays."""
        if isinstance(result, KeptResults):
            self._keep_arrays([here(array) for array in result.arrays])
        else:
            self._keep_rows(result)

    def _keep_arrays(self, arrays: list[RemoteArray]) -> None:
        for array in arrays:
            array.identity = self._tables.identity(array)
        asked = []
        for member, part in zip(self._ranks, own_parts(self.size), strict=True):
            keys = [(array.identity, part) for array in arrays]
            asked.append((member, self._lobby.ask(member, "keep_arrays", keys), keys))
        for member, number, keys in asked:
            self._lobby.answer(member, number)
            member.holds.update(keys)

    def _keep_rows(self, parts: Parts) -> None:
        identity = self._tables.identity(parts)
        asked = []
        for rank, (member, first_row) in enumerate(zip(self._ranks, parts.first_rows, strict=True)):
            key = (identity, Part(rank, self.size))
            asked.append((member, self._lobby.ask(member, "keep", key, first_row), key))
        for member, number, key in asked:
            self._lobby.answer(member, number)
            member.holds.add(key)

    def _scatter(self, plan: str, tables: dict[str, Any]) -> None:
        """Gives each rank what it reads of the tables in memory and does not have yet."""
        parts = {name: each for name, each in parts_of(plan, self.size).items() if name in tables}
        gone = {self._gone.popleft() for _ in range(len(self._gone))}
        with self._lobby.changed:
            idle = [member for member in self._lobby.members if member not in self._ranks]
            for member in self._lobby.members:
                member.unused |= {key for key in member.holds if key[0] in gone}
        asked = [self._let_hold(member, [], {}) for member in idle if member.unused]
        if not (asked or parts or self._named or any(member.unused for member in self._ranks)):
            return
        self._named = bool(parts)
        identities = {name: self._tables.identity(_whole(tables[name])) for name in parts}
        whole: dict[str, Sent] = {}

        def made(name: str, part: Part) -> Sent:
            if part.size > 1:
                return Sent.of(identities[name], tables[name], part)
            if name not in whole:
                whole[name] = Sent.of(identities[name], tables[name], part)
            return whole[name]

        for rank, member in enumerate(self._ranks):
            names = {name: (identities[name], each[rank]) for name, each in parts.items()}
            there = member.holds - member.unused
            sent = [made(name, key[1]) for name, key in names.items() if key not in there]
            asked.append(self._let_hold(member, sent, names))
        for member, number, seconds, keys in asked:
            self._lobby.acknowledged(member, number, seconds)
            member.holds |= keys

    def _let_hold(
        self, member: Member, sent: list[Sent], names: dict[str, tuple[str, Part]]
    ) -> tuple[Member, int, float, set[tuple[str, Part]]]:
        """Sends it rows, and has it drop what is of no use: what to wait for, how long, what it has then."""
        dropped, member.unused = member.unused, set()
        member.holds -= dropped
        number = self._lobby.ask(member, "hold", sent, dropped, names)
        seconds = ANSWER_SECONDS + sum(len(each.rows) for each in sent) / _HELD_BYTES_A_SECOND
        return member, number, seconds, set(names.values())

    def _outcome(
        self,
        rank_0: Member,
        number: int,
        poll: Callable[[], None] | None,
        progress: Callable[..., None] | None,
    ) -> Any:
        """Of the run; what `poll` or `progress` raises, once it has stopped."""
        raised: BaseException | None = None
        silent_at = float("inf")
        while True:
            said = None
            try:
                said = self._lobby.said(rank_0, number, _POLL_SECONDS)
                if raised is None and poll:
                    poll()
                if raised is None and said and said[0] == "progress" and progress:
                    progress(*said[1:])
            except InputOutputError:
                gone = f"the process of a rank has ended: rank 0 on host {rank_0.host}"
                raise raised or InputOutputError(gone) from None
            except BaseException as error:
                self._lobby.cancel(rank_0)
                raised = error  # what it has said, it will not say again
            if said and said[0] != "progress":
                if raised:
                    raise raised
                return value_of(said)
            if self._is_given_up():
                silent_at = min(silent_at, time.monotonic() + _LAST_WORDS_SECONDS)
            if time.monotonic() > silent_at:
                self._lobby.drop(rank_0)

    def _is_given_up(self) -> bool:
        """Whether another rank's part in the call has ended while rank 0 says nothing."""
        with self._lobby.changed:
            return any(member.answers or member.gone for member, _ in self._following)

    def end(self, kind: str = "", message: str = "", note: str = "") -> None:
        """Ends the call on all ranks, if they know of it. note: is for ranks that have no driver."""
        if not self._following:
            return
        with suppress(HeadraceError):  # it is lost, which the next call finds
            self._of_rank_0("end", kind, message)
        for member, number in self._following:
            with suppress(HeadraceError):  # the call's own, or it is lost
                self._lobby.answer(member, number)
        self._following = []

    def leave(self) -> None:
        self._lobby.close()
        self._engine.stop()


def _whole(table: Any) -> Any:
    """What stays the same for as long as the ranks may keep their parts of it."""
    return table.parts if isinstance(table, Dataset) else table


def _sent(data: Any) -> Any:
    """What rank 0 is given for a binding: paths or an array."""
    import numpy as np

    if isinstance(data, str):
        return absolute(data)
    if isinstance(data, list):
        return [absolute(address) for address in data]
    return np.asarray(data)


class Driver(Cluster):
    """The ranks that an engine's processes are, led by this process, which is none of them.

    rank: 0, since this process has the results. size: how many ranks there are.
    """

    runs_script_on_all = False

    _handle: RemoteRanks

    def resize(self, ranks: int) -> None:
        if ranks < 1:
            raise UserError(f"a cluster has at least one rank, got ranks={ranks}")
        with self._calls:
            self._handle.resize(ranks)

    def _is_short(self) -> bool:
        return bool(self._lost()) or self._handle.retired

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
        import numpy as np

        told = {key: value for key, value in options.items() if key != "poll"}
        given = {key: _table(key, value) for key, value in (tables or {}).items()}
        # What lies on the ranks is among their tables.
        sent = [None if isinstance(array, RemoteArray) else np.asarray(array) for array in arrays]
        offer = Offer(name, given, sent, told)

        def attempt() -> Any:
            for table in given.values():
                if isinstance(table, Dataset):
                    table.renew(options.get("poll"))
            self._handle.offer = offer
            return super(Driver, self).call(name, lead, tables=tables, arrays=arrays, kept=kept, **options)

        result = _with_datasets_there(attempt)
        if kept:
            self._handle.keep(result)
        return result


def _with_datasets_there(attempt: Callable[[], Any]) -> Any:
    """Of a call, once more each time that ranks with rows of its datasets go meanwhile."""
    for _ in range(_MOVES_MAX):
        with suppress(MovedError):
            return attempt()
    return attempt()


def _table(name: str, data: Any) -> Any:
    """What can be sent, any number of times; a dataset is with the ranks."""
    import pyarrow as pa

    if isinstance(data, Dataset):
        return data
    if isinstance(data, pa.RecordBatchReader):
        raise UserError(f"a stream can be read only once: read it first (read_all()), table: {name}")
    if not hasattr(data, "__arrow_c_stream__"):
        raise UserError(f"the driver does not send the tables in memory that an array program reads: {name}")
    return data if isinstance(data, pa.Table) else pa.table(data)
