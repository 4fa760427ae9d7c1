"""Ranks in actors of Ray: each starts one when it is made, and when Ray makes it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import ray

from headrace._src.engines.member import Invitation, Serving, serve_on_a_thread
from headrace._src.engines.places import MEMORY_SHARE, address_towards, checked_ranks, reason

#: For an actor's rank to leave before the actor is ended.
_LEAVE_SECONDS = 5.0


class Rank:
    """An actor."""

    def __init__(self, invitation: Invitation) -> None:
        self._serving: Serving = serve_on_a_thread(invitation)

    def is_made(self) -> None:
        """Answers once it is."""

    def retire(self) -> None:
        self._serving.retire()
        self._serving.join(_LEAVE_SECONDS)


class RayEngine:
    """The cluster that `ray.init` has connected this process with."""

    follows = False
    together = False

    def __init__(self, ranks: int | None, settings: Mapping[str, str]) -> None:
        alive = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        nodes = [node for node in alive if node.get("CPU", 0) >= 1]
        cpus = [int(node["CPU"]) for node in nodes]
        of_one = int(settings.get("threads", 0))
        room = sum(count // (of_one or 1) for count in cpus)
        self.ranks = checked_ranks(min(room, len(nodes)) if ranks is None else ranks, room, "the Ray cluster")
        self._cpus = of_one or cpus_of_each(self.ranks, cpus)
        self._memory = min(int(node.get("memory", 0) * self._cpus / node["CPU"]) for node in nodes)
        self._invitation: Invitation | None = None
        self._actors: list[Any] = []
        self._made: list[Any] = []

    def address(self) -> str:
        host, port = ray.get_runtime_context().gcs_address.rsplit(":", 1)
        return address_towards(host, int(port))

    def start(self, invitation: Invitation) -> None:
        own = {"threads": str(self._cpus), "memory": str(int(self._memory * MEMORY_SHARE))}
        self._invitation = replace(invitation, settings={**own, **invitation.settings})
        self.resize(self.ranks)

    def resize(self, ranks: int) -> bool:
        self.ranks = ranks
        actor = ray.remote(Rank).options(
            num_cpus=self._cpus, memory=self._memory, max_restarts=-1, scheduling_strategy="SPREAD"
        )
        new = [actor.remote(self._invitation) for _ in range(len(self._actors), ranks)]
        _end(self._actors[ranks:])
        self._actors = [*self._actors[:ranks], *new]
        self._made = [each.is_made.remote() for each in new]
        return True

    def trouble(self) -> str:
        made, _ = ray.wait(self._made, num_returns=len(self._made), timeout=0) if self._made else ([], [])
        for each in made:
            try:
                ray.get(each)
            except ray.exceptions.RayError as error:
                return f"an actor of Ray does not start: {reason(error)}"
        return ""

    def stop(self) -> None:
        if ray.is_initialized():
            _end(self._actors)
        self._actors = []


def _end(actors: Sequence[Any]) -> None:
    """Ends actors, whose ranks leave in good order; those that Ray has not made yet too."""
    asked = [each.retire.remote() for each in actors]
    if asked:
        ray.wait(asked, num_returns=len(asked), timeout=_LEAVE_SECONDS)
    for each in actors:
        ray.kill(each, no_restart=True)


def cpus_of_each(ranks: int, nodes: Sequence[int]) -> int:
    """The most that each of so many ranks may have for all to find a place, by the CPUs of each node."""
    return next(each for each in range(max(nodes), 0, -1) if sum(count // each for count in nodes) >= ranks)
