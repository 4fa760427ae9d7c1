"""Ranks in the workers of a Dask cluster: a plug-in starts one in each, and in those that nannies restart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import distributed

from headrace._src.engines.member import Invitation, serve_on_a_thread
from headrace._src.engines.places import MEMORY_SHARE, address_towards, checked_ranks


class RankPlugin(distributed.WorkerPlugin):
    """Starts a rank in each worker, with its threads and memory."""

    def __init__(self, invitation: Invitation) -> None:
        self._invitation = invitation

    def setup(self, worker: distributed.Worker) -> None:
        own = {"threads": str(worker.state.nthreads)}
        if limit := worker.memory_manager.memory_limit:
            own["memory"] = str(int(limit * MEMORY_SHARE))
        invitation = self._invitation
        self._serving = serve_on_a_thread(replace(invitation, settings={**own, **invitation.settings}))

    def teardown(self, worker: distributed.Worker) -> None:
        self._serving.retire()


class DaskEngine:
    """The workers of a `distributed.Client`."""

    together = False

    def __init__(self, client: Any, ranks: int | None) -> None:
        self._client = client
        self._plugin = ""
        self.follows = ranks is None
        self.ranks = checked_ranks(ranks, len(self._workers()), "the Dask cluster")

    def _workers(self) -> dict[str, Any]:
        return dict(self._client.scheduler_info(n_workers=-1)["workers"])

    def address(self) -> str:
        scheduler = urlsplit(self._client.scheduler.address)
        return address_towards(scheduler.hostname or "127.0.0.1", scheduler.port or 1)

    def start(self, invitation: Invitation) -> None:
        self._plugin = f"headrace-{invitation.port}"
        self._client.register_plugin(RankPlugin(invitation), name=self._plugin)

    def resize(self, ranks: int) -> bool:
        return False

    def trouble(self) -> str:
        return ""

    def stop(self) -> None:
        if self._plugin and self._client.status == "running":
            self._client.unregister_worker_plugin(self._plugin)
        self._plugin = ""
