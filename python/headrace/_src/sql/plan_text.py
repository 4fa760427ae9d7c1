"""A plan of DuckDB's that was changed, as a text again, as DuckDB writes it: names are looked for in it."""

from __future__ import annotations

import json
from typing import Any


def plan_text(plan: Any) -> str:
    return json.dumps(plan, separators=(",", ":"), ensure_ascii=False)
