"""SET, RESET and PRAGMA of what a session's queries run with, by DuckDB's names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headrace._src.errors import UnsupportedError, UserError
from headrace._src.sql.described import OPTIONS, SETTINGS

_STATEMENT = re.compile(
    r"""\s*(?:(?:set\s+(?:(?:session|global|local)\s+)?|pragma\s+)(?P<name>\w+)\s*(?:=|\bto\b)\s*
    (?P<value>'(?:[^']|'')*'|[\w.%+-]+)|reset\s+(?:(?:session|global|local)\s+)?(?P<reset>\w+))\s*;?\s*""",
    re.IGNORECASE | re.VERBOSE,
)
NAMES = (*OPTIONS, *SETTINGS)


def is_setting(text: str) -> bool:
    """Whether a text sets a setting, and nothing else."""
    return _STATEMENT.fullmatch(text) is not None


def with_setting(
    text: str, options: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[dict[str, Any], str] | None:
    """The options of a session after a SET or RESET, and the query of its row; None for any other text.

    given: the options that the session began with. Raises UnsupportedError for what it has no setting for.
    """
    found = _STATEMENT.fullmatch(text)
    if not found:
        return None
    name = (found["name"] or found["reset"]).lower()
    if name not in NAMES:
        known = ", ".join(("TimeZone", "default_collation", *NAMES))
        raise UnsupportedError(f"a session has no setting {name}; there are {known}")
    value = found["value"]
    value = value[1:-1].replace("''", "'") if value and value.startswith("'") else value
    changed = dict(options)
    if name in OPTIONS:
        option = OPTIONS[name]
        _put(changed, option, given.get(option) if value is None else _checked(name, value))
    else:
        setting, before = SETTINGS[name], given.get("settings") or {}
        settings = dict(changed.get("settings") or {})
        _put(settings, setting, before.get(setting) if value is None else value)
        changed["settings"] = settings
    shown = "" if value is None else value.replace("'", "''")
    return changed, f"select '{shown}' as {name}"


def _put(options: dict[str, Any], name: str, value: Any) -> None:
    if value is None:
        options.pop(name, None)
    else:
        options[name] = value


def _checked(name: str, value: str) -> int | str:
    if OPTIONS[name] == "memory":
        from headrace._src.programs import memory_of_all

        memory_of_all(value)
        return value
    if not value.isdecimal() or int(value) == 0:
        raise UserError(f"{name} is a number of workers, got {value}")
    return int(value)
