"""What a query may take from clocks, by its text and plan: no plan may outlive the answer of a clock."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from headrace._src.sql.collations import current_collation
from headrace._src.sql.zones import current_zone, zones_of

# Names anywhere in the text, quoted or not, but no parts of words ("unknown"): a plan that is made again
# without need is no harm. A test holds that every function of DuckDB that depends on the clock is among them.
# `age` of one argument takes the date.
_DATE = re.compile(r"\b(?:current_date|today|age)\b", re.IGNORECASE)
_MOMENT = re.compile(
    r"\b(?:now|(?:get_)?current_(?:local)?time\w*|localtime\w*|transaction_timestamp|uuidv7)\b", re.IGNORECASE
)
# As plans name functions: those of defaults and of generated columns stand in no text.
_DATES = ('"current_date"]', '"today"]', '"age"]')
_MOMENTS = tuple(
    f'"{name}"]'
    for name in (
        "now", "get_current_timestamp", "transaction_timestamp", "current_localtimestamp",
        "current_localtime", "get_current_time", "uuidv7",
    )
)  # fmt: skip


_FIRST = datetime(1970, 1, 1, tzinfo=UTC)


class Uses(enum.Enum):
    """The finest part of the clock that a text may use."""

    NOTHING = 0
    DATE = 1
    MOMENT = 2


@dataclass(frozen=True)
class Clock:
    """The moment that a query is compiled at, as far as its text may use it."""

    uses: Uses
    #: Microseconds since 1970-01-01, UTC.
    microseconds: int
    #: The session's zone; empty: UTC.
    zone: str = ""
    #: What of the session's zone and collation belongs to the key of a plan.
    session: tuple[str, ...] = ()

    def key(self) -> list[int | str]:
        """What belongs to the key of a plan."""
        if self.uses is Uses.MOMENT:
            return [self.microseconds, *self.session]
        # A day begins at a quarter of an hour somewhere.
        day = 900_000_000 if self.zone else 86_400_000_000
        return [*([self.microseconds // day] if self.uses is Uses.DATE else []), *self.session]

    @property
    def moment(self) -> datetime:
        return _FIRST + timedelta(microseconds=self.microseconds)

    @property
    def lasting(self) -> bool:
        """Whether the same plan may answer again."""
        return self.uses is not Uses.MOMENT


def clock_of(text: str, plan: str = "", *, now: datetime | None = None) -> Clock:
    """The clock for a text with its definitions, or for the plan (JSON) that it was bound to, too.

    now: must know its zone (default: the system's).
    """
    moment = (now or datetime.now(UTC)) - _FIRST
    microseconds = (moment.days * 86_400 + moment.seconds) * 1_000_000 + moment.microseconds
    uses = Uses.NOTHING
    if _MOMENT.search(text) or any(name in plan for name in _MOMENTS):
        uses = Uses.MOMENT
    elif _DATE.search(text) or any(name in plan for name in _DATES):
        uses = Uses.DATE
    zone, collation = current_zone(), current_collation()
    return Clock(uses, microseconds, zone, (*zones_of(text, zone), *([collation] if collation else [])))
