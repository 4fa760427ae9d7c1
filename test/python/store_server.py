"""Servers of files for tests: one of HTTP with ranges, and moto's S3 behind it; with faults on demand."""

from __future__ import annotations

import hashlib
import http.client
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from launched_ranks import free_port

#: In one answer of moto.
KEYS_OF_LISTING = 20


@dataclass
class Asked:
    """A request, and how many bytes its answer had."""

    method: str
    path: str
    range: str
    headers: dict[str, str]
    sent: int = 0


@dataclass
class Served:
    """A file, and whether it says which version it is."""

    data: bytes
    tag: bool = True
    modified: str = "Thu, 26 Nov 2026 12:00:00 GMT"
    weak: bool = False
    ranges: bool = True

    def __post_init__(self) -> None:
        self.digest = hashlib.md5(self.data).hexdigest()


#: What a fault does to an answer: a status, or one of "reset", "stall", "truncate", "shift", "silent",
#: "more", "elsewhere".
Fault = int | str | None


@dataclass
class StoreServer:
    """Counts what it is asked, and spoils some of it."""

    files: dict[str, Served] = field(default_factory=dict)
    #: Another server that has the files; requests are sent on to it.
    upstream: tuple[str, int] | None = None
    latency: float = 0.0
    #: Told the request and how many came before it.
    fault: Callable[[Asked, int], Fault] = lambda _asked, _before: None
    asked: list[Asked] = field(default_factory=list)
    concurrent: int = 0
    concurrent_most: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    url: str = ""

    def put(self, path: str, data: bytes, **options: Any) -> str:
        """The address of a new file."""
        self.files[path] = Served(data, **options)
        return self.url + path

    def forget(self) -> None:
        self.asked.clear()
        self.concurrent_most = 0

    @property
    def bytes_sent(self) -> int:
        return sum(each.sent for each in self.asked)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def log_message(self, *_: Any) -> None:
        pass

    def _handle(self) -> None:
        store: StoreServer = self.server.store
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = Asked(self.command, self.path, self.headers.get("Range", ""), dict(self.headers))
        with store.lock:
            before = len(store.asked)
            store.asked.append(asked)
            store.concurrent += 1
            store.concurrent_most = max(store.concurrent_most, store.concurrent)
        try:
            time.sleep(store.latency)
            fault = store.fault(asked, before)
            if fault == "elsewhere":
                self._answer(asked, 301, {"x-amz-bucket-region": "eu-west-9"}, b"")
            elif isinstance(fault, int):
                self._answer(asked, fault, {}, b"<Error><Code>Injected</Code></Error>")
            elif fault == "reset":
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.close_connection = True
                self.connection.close()
            elif fault == "stall":
                time.sleep(8)
                self.close_connection = True
            elif store.upstream:
                self._answer(asked, *_forwarded(store.upstream, self, body), fault=fault)
            else:
                self._answer(asked, *_served(store, asked), fault=fault)
        except OSError:
            self.close_connection = True
        finally:
            with store.lock:
                store.concurrent -= 1

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _handle  # noqa: N815

    def _answer(
        self, asked: Asked, status: int, headers: dict[str, str], body: bytes, fault: Fault = None
    ) -> None:
        self.send_response_only(status)
        if fault == "shift" and "Content-Range" in headers:
            headers = {**headers, "Content-Range": headers["Content-Range"].replace("bytes ", "bytes 1")}
        if fault == "silent":
            headers.pop("Content-Range", None)
        if fault == "more":
            body += b"more"
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        sent = body[: len(body) // 2] if fault == "truncate" else body
        asked.sent = len(sent)
        if self.command != "HEAD":
            self.wfile.write(sent)
        if fault == "truncate":
            self.close_connection = True


def _served(store: StoreServer, asked: Asked) -> tuple[int, dict[str, str], bytes]:
    file = store.files.get(asked.path)
    if file is None:
        return 404, {}, b"no such file"
    tag = f'"{file.digest}"'
    headers = {"Last-Modified": file.modified} if file.modified else {}
    if file.tag:
        headers["ETag"] = f"W/{tag}" if file.weak else tag
    wanted = asked.headers.get("If-Match")
    if wanted and wanted != headers.get("ETag"):
        return 412, headers, b""
    if asked.method == "PUT":
        return 200, {}, file.data
    if not asked.range or not file.ranges:
        return 200, headers, file.data
    first, last = asked.range.removeprefix("bytes=").split("-")
    begin = int(first) if first else max(0, len(file.data) - int(last))
    end = min(int(last) + 1 if first and last else len(file.data), len(file.data))
    if begin >= len(file.data):
        return 416, {**headers, "Content-Range": f"bytes */{len(file.data)}"}, b""
    headers["Content-Range"] = f"bytes {begin}-{end - 1}/{len(file.data)}"
    return 206, headers, file.data[begin:end]


def _forwarded(
    upstream: tuple[str, int], handler: _Handler, body: bytes
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(*upstream, timeout=60)
    try:
        connection.putrequest(handler.command, handler.path, skip_host=True, skip_accept_encoding=True)
        for name, value in handler.headers.items():
            if name.lower() != "connection":
                connection.putheader(name, value)
        connection.endheaders(body or None)
        answer = connection.getresponse()
        data = answer.read()
        left_out = ("content-length", "connection", "transfer-encoding", "date", "server")
        headers = {name: value for name, value in answer.getheaders() if name.lower() not in left_out}
        return answer.status, headers, data
    finally:
        connection.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: Any) -> None:
        pass


@contextmanager
def serving(**options: Any) -> Iterator[StoreServer]:
    """A server of files in memory, or before another one."""
    store = StoreServer(**options)
    server = _Server(("127.0.0.1", 0), _Handler)
    server.store = store  # type: ignore[attr-defined]
    store.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def s3() -> Iterator[tuple[str, int]]:
    """moto's server, which speaks as S3 does: host and port."""
    port = free_port()
    environment = {**os.environ, "MOTO_S3_DEFAULT_MAX_KEYS": str(KEYS_OF_LISTING)}
    program = "from moto.server import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, "-H", "127.0.0.1", "-p", str(port)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(300):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            assert process.poll() is None, "moto's server has ended"
            time.sleep(0.1)
        yield "127.0.0.1", port
    finally:
        process.terminate()
        process.wait(10)
