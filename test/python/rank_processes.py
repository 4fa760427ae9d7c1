"""An engine that only starts processes, and can start more and give some up."""

from __future__ import annotations

import pickle
import subprocess
import sys

from headrace._src.engines.member import Invitation

_RANK = """
import pickle, sys
from headrace._src.engines.member import serve_on_a_thread
retire = serve_on_a_thread(pickle.loads(bytes.fromhex(sys.argv[1])))
if sys.stdin.readline():
    retire()
"""


class Processes:
    """follows: as of an engine whose ranks are all that it has."""

    def __init__(self, ranks: int, follows: bool = False) -> None:
        self.ranks = ranks
        self.follows = follows
        self._told = ""
        self._started: list[subprocess.Popen[str]] = []

    def address(self) -> str:
        return "127.0.0.1"

    def start(self, invitation: Invitation) -> None:
        self._told = pickle.dumps(invitation).hex()
        self.more(self.ranks)

    def more(self, count: int) -> None:
        command = [sys.executable, "-c", _RANK, self._told]
        self._started += [
            subprocess.Popen(command, stdin=subprocess.PIPE, text=True) for _ in range(count)
        ]

    def give_up(self, process: int) -> None:
        """In good order."""
        (chosen,) = [each for each in self._started if each.pid == process]
        chosen.communicate("retire\n", timeout=30)

    def kill(self, process: int) -> None:
        (chosen,) = [each for each in self._started if each.pid == process]
        chosen.kill()
        chosen.wait()

    def stop(self) -> None:
        pass

    def end(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.communicate(timeout=30)
