"""Where the processes of an engine come to the driver, and what is said between them."""

from __future__ import annotations

import secrets
import socket
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from headrace._src.engines.channel import RETIRED, Channel
from headrace._src.engines.scattered import Part
from headrace._src.errors import HeadraceError, InputOutputError

#: For the answer to what a rank does at once.
ANSWER_SECONDS = 20.0


@dataclass(eq=False)
class Member:
    """A process that has come. Fields are guarded by the lobby's condition."""

    channel: Channel
    host: str
    process: int
    answers: deque[tuple[Any, ...]] = field(default_factory=deque)
    gone: bool = False
    #: Whether it has said that it goes.
    retired: bool = False
    asked: int = 0
    #: The parts of the driver's tables that it has, and which of them it may drop.
    holds: set[tuple[str, Part]] = field(default_factory=set)
    unused: set[tuple[str, Part]] = field(default_factory=set)
    #: Of how many ranks it was one last.
    among: int = 0

    def divide(self, ranks: int) -> None:
        """It is one of so many ranks from now on: parts of tables among others are of no use."""
        if ranks != self.among:
            self.unused |= {key for key in self.holds if key[1].size > 1}
        self.among = ranks


class Lobby:
    """Where processes come in: a listener, and a thread for each that has come."""

    def __init__(self, address: str) -> None:
        self.secret = secrets.token_bytes(32)
        self.changed = threading.Condition()
        self.members: list[Member] = []
        self._closed = False
        self._listener = socket.create_server((address, 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, name="headrace lobby", daemon=True).start()

    def close(self) -> None:
        with self.changed:
            self._closed = True
        with suppress(OSError):  # it is closed already
            self._listener.shutdown(socket.SHUT_RDWR)  # which ends the wait of its thread
        self._listener.close()
        self.empty()

    def empty(self) -> None:
        """Those that are there take no part any more."""
        for member in list(self.members):
            self.drop(member)

    def renew(self) -> None:
        """Empties it for good: who knows the secret up to now, comes no more."""
        with self.changed:
            self.secret = secrets.token_bytes(32)
        self.empty()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return  # closed
            threading.Thread(
                target=self._meet, args=(connection,), name="headrace member", daemon=True
            ).start()

    def _meet(self, connection: socket.socket) -> None:
        secret = self.secret
        try:
            channel = Channel.proved(connection, secret, listening=True)
            _, host, process = channel.receive()
        except InputOutputError:
            return  # a stranger
        member = Member(channel, host, process)
        with self.changed:
            if self._closed or secret != self.secret:  # while it came
                channel.close()
                return
            self.members.append(member)
            self.changed.notify_all()
        try:
            while True:
                answer = channel.receive()
                with self.changed:
                    if answer == RETIRED:
                        member.retired = True
                        continue
                    member.answers.append(answer)
                    self.changed.notify_all()
        except InputOutputError:
            self.drop(member)

    def drop(self, member: Member) -> None:
        """It takes no part any more."""
        member.channel.close()
        with self.changed:
            member.gone = True
            if member in self.members:
                self.members.remove(member)
            self.changed.notify_all()

    def ask(self, member: Member, name: str, *arguments: object) -> int:
        """Sends a request; the number of its answer."""
        with self.changed:
            member.asked += 1
            number = member.asked
        try:
            member.channel.send((number, name, *arguments))
        except InputOutputError:
            self.drop(member)
        return number

    def cancel(self, member: Member) -> None:
        """The run that it was asked for ends with an error."""
        try:
            member.channel.send((member.asked, "cancel"))
        except InputOutputError:
            self.drop(member)

    def said(self, member: Member, number: int, seconds: float) -> tuple[Any, ...] | None:
        """What it says next to a request; None after so many seconds. InputOutputError if it is gone."""

        def heard() -> bool:
            while member.answers and member.answers[0][0] < number:
                member.answers.popleft()  # to what was given up
            return bool(member.answers)

        with self.changed:
            self.changed.wait_for(lambda: heard() or member.gone, seconds)
            if heard():
                return member.answers.popleft()[1:]
            if member.gone:
                raise InputOutputError(f"a rank has ended: process {member.process} on host {member.host}")
            return None

    def acknowledged(self, member: Member, number: int, seconds: float) -> None:
        """Waits for the answer to a request, whatever else it says meanwhile. Drops it as `answer` does."""

        def heard() -> tuple[Any, ...] | None:
            return next((each for each in member.answers if each[0] == number), None)

        with self.changed:
            self.changed.wait_for(lambda: heard() or member.gone, seconds)
            found = heard()
            if found:
                member.answers.remove(found)
        if not found:
            self.drop(member)
            raise InputOutputError(f"a rank does not answer: process {member.process} on host {member.host}")
        value_of(found[1:])

    def answer(self, member: Member, number: int, seconds: float = ANSWER_SECONDS) -> Any:
        """Its answer to a request. It is dropped if it gives none in time."""
        found = self.said(member, number, seconds)
        if found is None:
            self.drop(member)
            raise InputOutputError(f"a rank does not answer: process {member.process} on host {member.host}")
        return value_of(found)


def value_of(answer: tuple[Any, ...]) -> Any:
    if answer[0] == "failed":
        _, kind, message = answer
        raise HeadraceError(message, kind)
    return answer[1]
