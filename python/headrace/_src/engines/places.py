"""How many ranks an engine has and what each may use, where the driver is, and why processes do not come."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from typing import Any

from headrace._src.errors import HeadraceError, UserError, translated

#: Of the memory that an engine gives a process: what else is in it needs some too, and engines end processes
#: that come near their limit.
MEMORY_SHARE = 0.7
_PYTHON_ERROR = re.compile(r"\s*(?:\w+\.)*(\w+(?:Error|Exception): .*)")


def checked_ranks(ranks: int | None, workers: int, engine: str) -> int:
    """The number of ranks: what is asked for, else as many as the engine has processes."""
    if ranks is None:
        ranks = workers
    if not 1 <= ranks <= workers:
        raise UserError(f"{engine} has room for {workers} at most, got ranks={ranks}")
    return ranks


def number_of(settings: Mapping[str, str], name: str, default: float) -> float:
    """A setting, which must be a positive number."""
    try:
        number = float(settings.get(name, default))
    except ValueError:
        number = 0.0
    if number <= 0:
        raise UserError(f"the setting {name} must be a positive number, got {settings[name]}")
    return number


def rank_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Those of each rank, with `threads` and `memory`, if they are there, as whole numbers."""
    from headrace import _runtime

    found = dict(settings)
    if "threads" in found:
        found["threads"] = str(max(1, int(number_of(settings, "threads", 1))))
    if "memory" in found:
        try:
            found["memory"] = str(translated(lambda: _runtime.parse_bytes(settings["memory"])))
        except HeadraceError as error:
            raise UserError(f"the setting memory: {error}") from None
    return found


def address_towards(host: str, port: int) -> str:
    """This machine's address on the way to another; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, port))
        return str(probe.getsockname()[0])


def reason(error: BaseException | Any) -> str:
    """In one line, of an engine's error with traces of other processes: the last that Python says there."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [match[1] for line in lines if (match := _PYTHON_ERROR.match(line))]
    return (said or lines[:1] or [type(error).__name__])[-1]
