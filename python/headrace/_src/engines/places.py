"""How many ranks an engine has, and where the driver is."""

from __future__ import annotations

import socket

from headrace._src.errors import UserError


def checked_ranks(ranks: int | None, workers: int, engine: str) -> int:
    """The number of ranks: what is asked for, else one in each of the engine's processes."""
    if ranks is None:
        ranks = workers
    if not 1 <= ranks <= workers:
        raise UserError(f"{engine} has {workers} workers, got ranks={ranks}")
    return ranks


def address_towards(host: str, port: int) -> str:
    """This machine's address on the way to another; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, port))
        return str(probe.getsockname()[0])
