"""What `random()` draws follows from one number a run: the setting `random_seed`, or those of `setseed`."""

from __future__ import annotations

import os
import random
import re
import threading
from collections.abc import Mapping

from headrace._src.errors import UserError

_NAME = "random_seed"
_SEEDS = 1 << 63
#: As far apart as can be, so that no round has the number of another one's query.
_STEP = 0x9E3779B97F4A7C15
_RANDOM = re.compile(r"\b(random|uuid|gen_random_uuid|uuidv4|uuidv7)\b", re.IGNORECASE)
_NUMBER = r"[\s(]*[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?[\s)]*"
_SET = re.compile(rf"\s*select\s+setseed\s*\(({_NUMBER})\)\s*;?\s*", re.IGNORECASE)


def seed_set_by(text: str) -> float | None:
    """The x of a text that is `SELECT setseed(x)` and nothing else. Raises UserError for one out of range."""
    found = _SET.fullmatch(text)
    if not found:
        return None
    seed = float(found.group(1).strip(" \t\r\n()"))
    if not -1 <= seed <= 1:
        raise UserError(f"setseed takes a number from -1 to 1, got {seed}")
    return seed


class Draws:
    """The seeds of a session's runs since its `setseed`, one after the other. Threads may share it."""

    def __init__(self, seed: float) -> None:
        self._random = random.Random(repr(seed))
        self._lock = threading.Lock()

    def settings_of(self, text: str, settings: Mapping[str, object] | None) -> Mapping[str, object] | None:
        """The settings of a query's next run. Only texts that may call random() or uuid() take a number."""
        if not _RANDOM.search(text) or _given(settings) is not None:
            return settings
        with self._lock:
            return {**(settings or {}), _NAME: self._random.randrange(_SEEDS)}


def settings_of_round(settings: Mapping[str, object] | None, number: int) -> Mapping[str, object] | None:
    """The settings of one of several runs that a query takes, so that each draws other numbers."""
    given = _given(settings) or os.environ.get("HEADRACE_RANDOM_SEED", "")
    if not given.isdecimal():  # each run draws anew, or the runtime says what is wrong
        return settings
    others = {name: value for name, value in (settings or {}).items() if not _is_seed(name)}
    return {**others, _NAME: (int(given) + number * _STEP) % _SEEDS}


def _given(settings: Mapping[str, object] | None) -> str | None:
    """The setting, however its name is spelt."""
    return next((str(value) for name, value in (settings or {}).items() if _is_seed(name)), None)


def _is_seed(name: str) -> bool:
    return re.sub("[-_]", "", name.lower()).removeprefix("headrace") == "randomseed"
