"""Plans that were bound last, for texts that come again: a session binds each before it runs."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Sequence

from headrace._src.sql.catalogue import BoundPlan, bound_plan
from headrace._src.sql.clock import Uses, clock_of
from headrace._src.sql.collations import current_collation
from headrace._src.sql.described import settings_asked
from headrace._src.sql.tables import TableSchema
from headrace._src.sql.zones import current_zone

#: A plan is some ten to hundred kilobytes; larger ones are few, and bound each time.
_PLANS_MAX, _LETTERS_MAX = 64, 256 << 10
_lock = threading.Lock()
_plans: OrderedDict[object, BoundPlan] = OrderedDict()


def kept_plan(text: str, schemas: Sequence[TableSchema]) -> BoundPlan:
    """`bound_plan`, which is asked only for what it was not asked lately.

    Binding looks at the clock where the text may, or a default of a column: such a text is bound each time.
    """
    if clock_of(text).uses is not Uses.NOTHING:
        return bound_plan(text, schemas)
    asked = json.dumps(settings_asked(text), default=str)
    key = (text, tuple(schemas), current_zone(), current_collation(), asked)
    with _lock:
        if key in _plans:
            _plans.move_to_end(key)
            return _plans[key]
    plan = bound_plan(text, schemas)
    if len(plan.json) > _LETTERS_MAX or clock_of("", plan.json).uses is not Uses.NOTHING:
        return plan
    with _lock:
        _plans[key] = plan
        if len(_plans) > _PLANS_MAX:
            _plans.popitem(last=False)
    return plan
