"""An engine of plain processes, which can start more and give some up."""

from __future__ import annotations

import base64
import os
import pickle
import signal
import subprocess
import sys

from headrace._src.engines.member import Invitation

_RANK = """
import base64, pickle, signal, sys, threading
from headrace._src.engines.member import serve_on_a_thread
signal.signal(signal.SIGUSR1, lambda *_: retire())
retire = serve_on_a_thread(pickle.loads(base64.b64decode(sys.argv[1]))).retire
for each in threading.enumerate():
    if each.name == "headrace rank":
        each.join()
"""


class Processes:
    """follows: as of an engine whose ranks are all that it has. started: how many come, if not all."""

    together = False

    def __init__(self, ranks: int, follows: bool = False, started: int | None = None) -> None:
        self.ranks = ranks
        self.follows = follows
        self.processes: list[subprocess.Popen[bytes]] = []
        self._to_start = ranks if started is None else started
        self._invitation: Invitation | None = None

    def address(self) -> str:
        return "127.0.0.1"

    def start(self, invitation: Invitation) -> None:
        self._invitation = invitation
        self.more(self._to_start)

    def more(self, count: int) -> None:
        words = base64.b64encode(pickle.dumps(self._invitation)).decode()
        command = [sys.executable, "-c", _RANK, words]
        environment = {**os.environ, "HEADRACE_THREADS": "1"}
        self.processes += [subprocess.Popen(command, env=environment) for _ in range(count)]

    def give_up(self, process: int) -> None:
        """In good order."""
        self._stop(process, signal.SIGUSR1)

    def kill(self, process: int) -> None:
        self._stop(process, signal.SIGKILL)

    def _stop(self, process: int, how: signal.Signals) -> None:
        (chosen,) = [each for each in self.processes if each.pid == process]
        chosen.send_signal(how)
        chosen.wait(timeout=30)

    def resize(self, ranks: int) -> bool:
        return False

    def trouble(self) -> str:
        return ""

    def stop(self) -> None:
        pass

    def end(self) -> None:
        """All of them end by themselves once the driver has gone."""
        try:
            for each in self.processes:
                each.wait(timeout=20)
        finally:
            for each in self.processes:
                each.kill()
