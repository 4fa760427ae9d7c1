"""A connection between the driver and a rank: both ends prove the session's secret, then send messages."""

from __future__ import annotations

import hmac
import os
import pickle
import socket
import struct
import threading
from contextlib import suppress
from typing import Any

from headrace._src.errors import InputOutputError

#: What a rank says, unasked, that its engine gives up.
RETIRED = ("retired",)
_PROOF_SECONDS = 3.0
_NONCE_BYTES = 32
_LENGTH = struct.Struct("!Q")
#: A peer whose machine vanishes is noticed by the kernel after about so many seconds.
_SILENCE_SECONDS = 8


class Channel:
    """Messages to and from one peer, once both have proved the secret.

    `send` may be called on any thread, `receive` on one at a time. Messages are pickled: they are read only
    from a peer that knows the secret, which may run code here anyway.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._sending = threading.Lock()

    @staticmethod
    def proved(connection: socket.socket, secret: bytes, *, listening: bool) -> Channel:
        """The channel over a new connection. InputOutputError if the peer does not know the secret."""
        try:
            connection.settimeout(_PROOF_SECONDS)
            _prove(connection, secret, listening)
            _let_the_kernel_watch(connection)
        except OSError as error:
            connection.close()
            raise InputOutputError(f"the other end does not know the session: {error}") from None
        except BaseException:
            connection.close()
            raise
        return Channel(connection)

    @property
    def own_address(self) -> str:
        """At which the peer sees this machine."""
        return str(self._socket.getsockname()[0])

    def send(self, message: object) -> None:
        """InputOutputError if the peer is gone."""
        data = pickle.dumps(message, protocol=5)
        try:
            with self._sending:
                self._socket.sendall(_LENGTH.pack(len(data)))
                self._socket.sendall(data)
        except OSError as error:
            raise InputOutputError(f"a message did not go out: {error.strerror}") from None

    def receive(self) -> Any:
        """The next message. InputOutputError once the peer is gone."""
        try:
            (length,) = _LENGTH.unpack(_exactly(self._socket, _LENGTH.size))
            return pickle.loads(_exactly(self._socket, length))
        except OSError as error:
            raise InputOutputError(f"the other end is gone: {error}") from None

    def close(self) -> None:
        """Both ends' `receive` ends. May be called again."""
        with suppress(OSError):  # it is closed already
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def _exactly(connection: socket.socket, count: int) -> bytearray:
    data = bytearray(count)
    view = memoryview(data)
    while view:
        got = connection.recv_into(view)
        if not got:
            raise ConnectionError("closed")
        view = view[got:]
    return data


def _prove(connection: socket.socket, secret: bytes, listening: bool) -> None:
    """Numbers that both have just drawn, signed with the secret by each end under its own name."""
    own = os.urandom(_NONCE_BYTES)
    connection.sendall(own)
    other = bytes(_exactly(connection, _NONCE_BYTES))
    names = (b"driver", b"rank") if listening else (b"rank", b"driver")
    connection.sendall(hmac.digest(secret, names[0] + own + other, "sha256"))
    proof = bytes(_exactly(connection, 32))
    if not hmac.compare_digest(proof, hmac.digest(secret, names[1] + other + own, "sha256")):
        raise ConnectionError("wrong secret")


def _let_the_kernel_watch(connection: socket.socket) -> None:
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _SILENCE_SECONDS // 4)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _SILENCE_SECONDS // 4)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _SILENCE_SECONDS * 1000)
