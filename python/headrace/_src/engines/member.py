"""A process of an engine as a rank: it does what the driver says, on one thread, until the driver is gone."""

from __future__ import annotations

import hashlib
import math
import os
import queue
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from headrace._src import store_parts
from headrace._src.engines.channel import RETIRED, Channel
from headrace._src.engines.scattered import Held, Part, RemoteArray
from headrace._src.errors import CancelledError, HeadraceError, InputOutputError, translated

#: Programs that a rank keeps loaded for the next run of the same.
_PROGRAMS_MAX = 64
#: Settings that each call is given as arguments.
_OF_CALLS = ("threads", "memory")


@dataclass(frozen=True)
class Invitation:
    """Where a process of the engine finds its driver; the engine hands it over."""

    host: str
    port: int
    secret: bytes
    #: Of the rank, by name, which override the environment of its process: threads and memory too.
    settings: Mapping[str, str] = field(default_factory=dict)


def serve(invitation: Invitation) -> None:
    """Takes part in the driver's runs until the driver is gone. Ends quietly if there is none any more."""
    if member := _come(invitation):
        member.serve()


class Serving:
    """`serve` on a thread, beside what the process does otherwise.

    A rank that its driver has given up, because it was stopped and silent, comes to it again.
    """

    def __init__(self, invitation: Invitation) -> None:
        self._invitation = invitation
        self._member: Member | None = None
        self._retired = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="headrace rank", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _serve(self) -> None:
        while not self._retired.is_set():
            self._member = _come(self._invitation)
            if self._member is None:
                return  # the driver is gone
            if self._retired.is_set():
                self._member.retire()
            self._member.serve()

    def retire(self) -> None:
        """Tells the driver that this process goes, which takes part in nothing more."""
        self._retired.set()
        if member := self._member:
            member.retire()

    def join(self, seconds: float) -> None:
        """Until the rank has left its cluster."""
        self._thread.join(seconds)


def serve_on_a_thread(invitation: Invitation) -> Serving:
    serving = Serving(invitation)
    serving.start()
    return serving


def _come(invitation: Invitation) -> Member | None:
    try:
        connection = socket.create_connection((invitation.host, invitation.port), timeout=10)
        channel = Channel.proved(connection, invitation.secret, listening=False)
    except (OSError, InputOutputError):
        return None
    return Member(channel, invitation.settings)


class Member:
    """What the driver says, done: requests are answered in their order, one at a time."""

    def __init__(self, channel: Channel, settings: Mapping[str, str]) -> None:
        self._channel = channel
        self._settings = dict(settings)
        self._requests: queue.SimpleQueue[tuple[Any, ...] | None] = queue.SimpleQueue()
        self._stopped = 0.0  # requests up to this number are given up
        self._request = 0
        self._handle: Any = None
        self._programs: dict[bytes, Any] = {}
        self._held = Held()
        self._made: list[Any] = []  # this rank's part of the last result that stays on the ranks
        #: The tables of the run under way, or of the next one, by name.
        self._tables: dict[str, Any] = {}

    def serve(self) -> None:
        reading = threading.Thread(target=self._read, name="headrace driver's words", daemon=True)
        reading.start()
        try:
            self._channel.send(("here", socket.gethostname(), os.getpid()))
            while (request := self._requests.get()) is not None:
                self._request, *asked = request
                self._channel.send((self._request, *self._answer(*asked)))
        except InputOutputError:
            pass  # the driver is gone
        finally:
            self._channel.close()
            self._leave()
            reading.join()

    def retire(self) -> None:
        """Tells the driver that this process goes, and takes part in nothing more."""
        with suppress(InputOutputError):  # the driver is gone
            self._channel.send(RETIRED)
        self._channel.close()

    def _read(self) -> None:
        try:
            while True:
                message = self._channel.receive()
                if message[1] == "cancel":
                    self._stopped = message[0]
                elif message[1] == "hold":  # also in a call, before its next run
                    self._channel.send((message[0], *self._answer(*message[1:])))
                else:
                    self._requests.put(message)
        except InputOutputError:
            self._stopped = math.inf
            self._requests.put(None)

    def _answer(self, name: str, *arguments: Any) -> tuple[Any, ...]:
        actions: dict[str, Callable[..., Any]] = {
            "hold": self._hold,
            "keep": self._keep,
            "keep_arrays": self._keep_arrays,
            "place": self._place,
            "join": self._join,
            "follow": self._follow,
            "run": self._run,
            "end": lambda *how: self._handle.end(*how),
            "lost": lambda: self._handle.lost,
            "leave": self._leave,
        }
        try:
            return ("done", translated(lambda: actions[name](*arguments)))
        except HeadraceError as error:
            return ("failed", error.kind, str(error))
        except Exception as error:
            return ("failed", "internal", f"{type(error).__name__}: {error}")

    def _place(self) -> str:
        """Where rank 0's store may be."""
        address = self._channel.own_address
        with socket.socket() as chosen:
            chosen.bind((address, 0))
            return f"{address}:{chosen.getsockname()[1]}"

    def _join(self, variables: dict[str, str]) -> tuple[str, int]:
        from headrace import _runtime

        self._leave()
        settings = {
            name: value for name, value in self._settings.items() if name not in ("threads", "memory")
        }
        self._handle = _runtime.Cluster("environment", settings, variables)
        return self._handle.name, int(self._settings.get("memory", 0)) or self._handle.memory

    def _leave(self) -> None:
        if self._handle is not None:
            self._handle.leave()
            self._handle = None

    def _poll(self) -> None:
        if self._request <= self._stopped:
            raise CancelledError("stopped by the user")

    def _own(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options of a call, with this rank's share of its machine where they say nothing."""
        own = {name: int(self._settings[name]) for name in _OF_CALLS if name in self._settings}
        return {**own, **{name: value for name, value in options.items() if value is not None}}

    def _hold(self, sent: list[Any], dropped: set[Any], names: dict[str, Any]) -> None:
        """Takes tables of the driver; those of the next run are the ones with names."""
        self._tables.clear()
        self._held.drop(dropped)
        self._held.take(sent)
        self._tables.update(self._held.bound(names))

    def _keep(self, key: tuple[str, Part], first_row: int) -> None:
        """Holds the part that the last run made, as one of a table that the driver calls so."""
        identity, part = key
        self._held.keep(key, self._made.pop().part(part.index, part.size, first_row, identity))

    def _keep_arrays(self, keys: list[tuple[str, Part]]) -> None:
        """Holds the parts that the last run made, of arrays that the driver calls so."""
        for key, kept in zip(keys, self._made, strict=True):
            kept.identity, _ = key
            self._held.keep(key, kept)
        self._made = []

    def _follow(self, call: str, arrays: list[Any], options: dict[str, Any]) -> None:
        options = self._own(options)
        with store_parts.of_a_call():
            self._made, _ = self._handle.follow(call, self._tables, arrays, poll=self._poll, **options)

    def _run(
        self,
        plan: str,
        kernels: bytes,
        call: str,
        bindings: dict[str, Any],
        options: dict[str, Any],
        wants_progress: bool,
    ) -> tuple[Any, list[Any], str, list[str], list[str], list[str], list[RemoteArray]]:
        """The result's rows, or None, its tensors, the profile, and what is known of what stays here.

        That is the statistics and keys of rows, or what the ranks that wrote them tell, and arrays.
        """
        import pyarrow as pa

        program = self._program(plan, kernels)
        progress = self._progress if wants_progress else None
        bindings = {**bindings, **self._tables}
        with store_parts.of_a_call():
            result = self._handle.run(
                program,
                plan,
                kernels,
                call,
                bindings,
                poll=self._poll,
                progress=progress,
                **self._own(options),
            )
        tensors, known = list(result.tensors), list(result.part_statistics)
        self._made = [*result.parts, *result.kept]
        written = list(result.written)
        kept = [RemoteArray(each.dtype, each.shape) for each in result.kept]
        rows = None if tensors or known or written else pa.table(result)
        return rows, tensors, program.profile(), known, list(result.part_keys), written, kept

    def _progress(self, *at: object) -> None:
        self._channel.send((self._request, "progress", *at))

    def _program(self, plan: str, kernels: bytes) -> Any:
        from headrace import _runtime

        key = hashlib.sha256(plan.encode() + b"\0" + kernels).digest()
        if key not in self._programs:
            if len(self._programs) >= _PROGRAMS_MAX:
                self._programs.pop(next(iter(self._programs)))
            self._programs[key] = _runtime.load_plan(plan, kernels)
        return self._programs[key]
