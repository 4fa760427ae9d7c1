"""Compiles and runs texts of a level, each in a child with limits of time and memory.

Run as a program it reads a request a line (pickled, as hexadecimal digits) and answers each with a line. It
loads the compiler once and forks for each text, so that nothing that a text does reaches the next one.
"""

from __future__ import annotations

import os
import pickle
import resource
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: A mutant takes less than a tenth of one, and may be one of many processes.
SECONDS = 20
#: Address space; a contained compilation reserves a GiB for its stack.
_BYTES = 8 << 30


@dataclass(frozen=True)
class Request:
    program: str
    phase: str
    text: str


@dataclass(frozen=True)
class Outcome:
    """What became of a text: "answer" (`rows`, and their Arrow types), "refused", or how it "failed"."""

    verdict: str
    message: str = ""
    rows: Any = None
    types: tuple[Any, ...] = ()


class Worker:
    """A process of this program."""

    def __init__(self) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen([sys.executable, __file__], **pipes)

    def run(self, request: Request) -> Outcome:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(pickle.dumps(request).hex().encode() + b"\n")
        self._process.stdin.flush()
        return pickle.loads(bytes.fromhex(self._process.stdout.readline().decode()))

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def _outcome(session: Any, request: Request) -> Outcome:
    from level_programs import PROGRAMS

    (program,) = (program for program in PROGRAMS if program.name == request.program)
    answer = session.compile_mlir(program.request(request.text, request.phase))
    if answer.died:
        return Outcome("failed", answer.error)
    if not answer.ok:
        return Outcome("refused", answer.error)
    try:
        result = program.run(answer)
    except RuntimeError as error:
        return Outcome("refused", f"run: {error}")
    types = tuple(result.schema.types) if hasattr(result, "schema") else ()
    return Outcome("answer", rows=program.comparable(result), types=types)


def _child(session: Any, request: Request, pipe: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        outcome = _outcome(session, request)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is what became of the text
        outcome = Outcome("failed", f"{type(error).__name__}: {error}")
    with os.fdopen(pipe, "wb") as out:
        pickle.dump(outcome, out)
    os._exit(0)


def _contained(session: Any, request: Request) -> Outcome:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _child(session, request, write)
    os.close(write)
    data = b""
    end = time.monotonic() + SECONDS
    while select.select([read], [], [], max(0.0, end - time.monotonic()))[0]:
        part = os.read(read, 1 << 16)
        data += part
        if not part:
            break
    else:
        os.kill(child, signal.SIGKILL)
    os.close(read)
    _, status = os.waitpid(child, 0)
    if data:
        return pickle.loads(data)
    code = os.waitstatus_to_exitcode(status)
    return Outcome("failed", "does not end" if code == -signal.SIGKILL else f"ended with {code}")


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parent))
    sys.modules["mutant_worker"] = sys.modules["__main__"]  # whose classes are pickled by that name
    for one in (Request, Outcome):
        one.__module__ = "mutant_worker"
    import level_programs  # noqa: F401 - before the first fork
    from headrace import _compiler

    session = _compiler.Session()
    for line in sys.stdin.buffer:
        outcome = _contained(session, pickle.loads(bytes.fromhex(line.decode())))
        sys.stdout.buffer.write(pickle.dumps(outcome).hex().encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
