"""The virtual environment with the Python packages of requirements.txt, shared by all checkouts of a user."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dev import places
from dev.steps import Step, run, step


def key() -> str:
    """What the environment was made from: changed requirements bring it up to date."""
    files = (places.ROOT / "requirements.txt", places.PACKAGE_REQUIREMENTS)
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def _key_file() -> Path:
    return places.environment() / "requirements.sha256"


def _current() -> bool:
    try:
        return _key_file().read_text().strip() == key() and places.environment_python().exists()
    except OSError:
        return False


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Holds an advisory lock on a file: two ./dev at a time must not write the same folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def ensure() -> None:
    """Makes the environment, or brings it up to date with requirements.txt."""
    if _current():
        return
    with exclusive(places.home() / "venv.lock"):
        if _current():
            return
        with step("Python packages") as current:
            current.always = True
            if not _works(places.environment_python()):
                run([sys.executable, "-m", "venv", "--clear", places.environment()], "venv")
            _install(places.environment_python(), places.ROOT / "requirements.txt", "pip", current)
            _key_file().write_text(key() + "\n")


def ensure_peers() -> None:
    """The engines that only benchmarks run beside headrace, in the environment itself."""
    made_from = places.environment() / "peers.sha256"
    wanted = hashlib.sha256(places.PEER_REQUIREMENTS.read_bytes()).hexdigest()
    with exclusive(places.home() / "venv.lock"):
        if made_from.exists() and made_from.read_text().strip() == wanted:
            return
        with step("Engines of benchmarks") as current:
            current.always = True
            _install(places.environment_python(), places.PEER_REQUIREMENTS, "peers-pip", current)
            made_from.write_text(f"{wanted}\n")


def ensure_engines() -> None:
    """The environment of the engines, which sees the packages of the other one too."""
    python = places.engines_python()
    folder = python.parents[1]
    made_from = folder / "requirements.sha256"
    wanted = hashlib.sha256(places.ENGINE_REQUIREMENTS.read_bytes()).hexdigest()
    with exclusive(places.home() / "engines.lock"):
        if made_from.exists() and made_from.read_text().strip() == wanted:
            return
        with step("Engines (Dask, Ray, Spark)") as current:
            current.always = True
            run([places.environment_python(), "-m", "venv", "--clear", folder], "engines-venv")
            _install(python, places.ENGINE_REQUIREMENTS, "engines-pip", current)
            packages = next(folder.glob("lib/python*/site-packages"))
            seen = next(places.environment().glob("lib/python*/site-packages"))
            (packages / "headrace.pth").write_text(f"{seen}\n")
            made_from.write_text(f"{wanted}\n")


def _install(python: Path, requirements: Path, log: str, current: Step) -> None:
    """The packages of a file into the environment of this Python; `log` is of pip's output."""
    run(
        [
            python,
            *("-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-r", requirements),
        ],
        log,
        on_line=lambda line: current.progress(line[:60]),
    )


def _works(python: Path) -> bool:
    if not python.exists():
        return False
    check = [python, "-c", "import sys, pip; sys.exit(sys.version_info < (3, 11))"]
    return subprocess.run(check, capture_output=True, check=False).returncode == 0


def variables() -> dict[str, str]:
    """The environment variables under which the virtual environment is the Python of child processes."""
    folder = places.environment()
    path = os.pathsep.join([str(folder / "bin"), os.environ.get("PATH", "")])
    return {"VIRTUAL_ENV": str(folder), "PATH": path}
