"""Ranks in the tasks of a barrier stage of Spark, which start together, and end when one of them does."""

from __future__ import annotations

import itertools
import math
import os
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pyspark

from headrace._src.engines.member import Invitation, serve
from headrace._src.engines.places import MEMORY_SHARE, checked_ranks, number_of, reason

#: For tasks to end by themselves, and once Spark is told to end them: it gives Python two seconds.
_LEAVE_SECONDS = 5.0
_CANCEL_SECONDS = 20.0
#: Executors come one after another: how long their number has to be the same.
_STEADY_SECONDS = 1.0
_POLL_SECONDS = 0.05
#: The limit, in MiB, that Spark has given a Python process.
_PYTHON_MEMORY = "PYSPARK_EXECUTOR_MEMORY_MB"
_numbers = itertools.count()


class SparkEngine:
    """The executors of a `SparkContext` of this process."""

    follows = False
    together = True

    def __init__(self, context: Any, ranks: int | None, settings: Mapping[str, str]) -> None:
        self._context = context
        self._group = f"headrace-{next(_numbers)}"
        self._running: pyspark.InheritableThread | None = None
        self._trouble = ""
        self._stopped = threading.Event()
        self.ranks = self._checked(ranks, number_of(settings, "joinTimeout", 60))

    def _checked(self, ranks: int | None, seconds: float) -> int:
        """How many ranks, once Spark has executors for them, or after so many seconds without them."""
        slots, since = 0, time.monotonic()
        end = since + seconds
        while time.monotonic() < end and slots < (ranks or math.inf):
            now = self._slots()
            if now != slots:
                slots, since = now, time.monotonic()
            elif ranks is None and slots and time.monotonic() > since + _STEADY_SECONDS:
                break
            time.sleep(_POLL_SECONDS)
        return checked_ranks(ranks, slots, "the Spark cluster")

    def _slots(self) -> int:
        """How many tasks run at a time; what Spark compares a barrier stage with."""
        spark = self._context._jsc.sc()
        profile = spark.resourceProfileManager().resourceProfileFromId(0)
        return int(spark.maxNumConcurrentTasks(profile))

    def address(self) -> str:
        return str(self._context.getConf().get("spark.driver.host"))

    def start(self, invitation: Invitation) -> None:
        self._trouble = ""
        self._stopped = threading.Event()
        self._running = pyspark.InheritableThread(target=self._run, args=(invitation, self._stopped))
        self._running.daemon = True
        self._running.start()

    def resize(self, ranks: int) -> bool:
        self.ranks = checked_ranks(ranks, self._slots(), "the Spark cluster")
        return True

    def _run(self, invitation: Invitation, stopped: threading.Event) -> None:
        context, ranks = self._context, self.ranks
        try:
            # An executor that was lost may be on its way back; Spark looks every 15 seconds only.
            while self._slots() < ranks and not stopped.wait(_POLL_SECONDS):
                pass
            if not stopped.is_set():
                context.setJobGroup(self._group, "ranks of headrace", interruptOnCancel=True)
                tasks = context.parallelize(range(ranks), ranks).barrier()
                tasks.mapPartitions(partial(rank, invitation)).collect()
        except Exception as error:  # of Spark, of Java, of a connection to it that is closed
            self._trouble = f"Spark's tasks have ended: {reason(error)}"

    def trouble(self) -> str:
        return self._trouble

    def stop(self) -> None:
        self._stopped.set()
        if self._running:
            self._running.join(_LEAVE_SECONDS)
            if self._running.is_alive() and self._context._jsc:
                self._context.cancelJobGroup(self._group)
                self._running.join(_CANCEL_SECONDS)
        self._running = None


def rank(invitation: Invitation, _: Iterable[object]) -> Iterable[object]:
    """What a task does, with its CPUs and the memory of its Python process."""
    from pyspark import BarrierTaskContext

    own = {"threads": str(BarrierTaskContext.get().cpus())}
    if limit := os.environ.get(_PYTHON_MEMORY):
        own["memory"] = str(int(int(limit) * (1 << 20) * MEMORY_SHARE))
    serve(replace(invitation, settings={**own, **invitation.settings}))
    return ()
