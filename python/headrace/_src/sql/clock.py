"""What a query may take from clocks, by its text: no plan may outlive the answer of a clock in it."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from headrace._src.sql.collations import current_collation
from headrace._src.sql.zones import current_zone, zones_of

# Names anywhere in the text, quoted or not, but no parts of words ("unknown"): a plan that is made again
# without need is no harm. A test holds that every function of DuckDB that depends on the clock is among them.
# `age` of one argument takes the date.
_DATE = re.compile(r"\b(?:current_date|today|age)\b", re.IGNORECASE)
_MOMENT = re.compile(
    r"\b(?:now|(?:get_)?current_(?:local)?time\w*|localtime\w*|transaction_timestamp|uuidv7)\b", re.IGNORECASE
)


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
    def lasting(self) -> bool:
        """Whether the same plan may answer again."""
        return self.uses is not Uses.MOMENT


def clock_of(text: str, now: datetime | None = None) -> Clock:
    """The clock for a text with its definitions; `now` (default: the system's) must know its zone."""
    moment = (now or datetime.now(UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    microseconds = (moment.days * 86_400 + moment.seconds) * 1_000_000 + moment.microseconds
    uses = Uses.MOMENT if _MOMENT.search(text) else Uses.DATE if _DATE.search(text) else Uses.NOTHING
    zone, collation = current_zone(), current_collation()
    return Clock(uses, microseconds, zone, (*zones_of(text, zone), *([collation] if collation else [])))
