"""Time zones: the one that queries of this thread are bound, compiled and answered in; and files of all."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from headrace._src.errors import UserError
from headrace._src.sql.thread_value import ThreadValue

if TYPE_CHECKING:
    import pyarrow as pa

#: Where no zone is asked for.
UTC = "UTC"
_SET = re.compile(
    r"\s*(?:set\s+(?:session\s+)?(?:timezone\s*(?:=|\bto\b)|time\s+zone\b)\s*(?P<quote>['\"]?)"
    r"(?P<name>[\w+/:-]+)(?P=quote)|(?P<reset>reset\s+timezone))\s*;?\s*",
    re.IGNORECASE,
)
_FIXED = re.compile(r"(?:UTC|GMT)([+-])(\d{1,2})(?::?00)?", re.IGNORECASE)
#: Words of texts that may name zones, and be it in a function's name.
_NAMED = re.compile(r"time\s*zone|timestamptz", re.IGNORECASE)


@cache
def _folder() -> Path:
    import tzdata

    return Path(tzdata.__file__).parent


def zone_folder() -> str:
    """The folder with files of zones."""
    return str(_folder() / "zoneinfo")


def zones_of(text: str, zone: str) -> list[str]:
    """What belongs to the key of a plan: the zone, and which rules there are, if the text may need them."""
    if not zone and not _NAMED.search(text):
        return []
    import tzdata

    return [zone, tzdata.IANA_VERSION]


@cache
def _names() -> dict[str, str]:
    """The names of zones as they are spelt, by those in small letters."""
    return {name.lower(): name for name in (_folder() / "zones").read_text().split()}


def checked_zone(name: str) -> str:
    """A zone's name as it is spelt. Raises UserError if there is none."""
    fixed = _FIXED.fullmatch(name)
    if fixed and name.lower() not in _names():
        name = f"Etc/GMT{'-' if fixed[1] == '+' else '+'}{int(fixed[2])}"
    try:
        return _names()[name.lower()]
    except KeyError:
        raise UserError(f"unknown time zone: {name}") from None


_zone = ThreadValue("zone", checked_zone)
#: Empty: none was asked for, which is UTC.
current_zone = _zone.current
in_zone = _zone.within


def zone_set_by(text: str) -> str | None:
    """The zone of a text that is SET TimeZone = 'name' and nothing else, or RESET TimeZone."""
    found = _SET.fullmatch(text)
    if not found:
        return None
    name = found["name"]
    is_default = found["reset"] or (not found["quote"] and name.lower() in ("default", "local"))
    return UTC if is_default else checked_zone(name)


def _retyped(dtype: pa.DataType, zone: str) -> pa.DataType:
    import pyarrow as pa

    if pa.types.is_timestamp(dtype):
        return dtype if dtype.tz is None else pa.timestamp(dtype.unit, zone)
    if pa.types.is_struct(dtype):
        fields = [dtype.field(part) for part in range(dtype.num_fields)]
        return pa.struct([field.with_type(_retyped(field.type, zone)) for field in fields])
    if pa.types.is_map(dtype):
        key, item = dtype.key_field, dtype.item_field
        return pa.map_(key.with_type(_retyped(key.type, zone)), item.with_type(_retyped(item.type, zone)))
    if pa.types.is_fixed_size_list(dtype) or pa.types.is_list(dtype):
        value = dtype.value_field.with_type(_retyped(dtype.value_type, zone))
        return pa.list_(value, dtype.list_size if pa.types.is_fixed_size_list(dtype) else -1)
    return dtype


def schema_in_zone(schema: pa.Schema, zone: str) -> pa.Schema:
    """With moments in a zone, where they have one; empty: as they are."""
    import pyarrow as pa

    if not zone:
        return schema
    return pa.schema([field.with_type(_retyped(field.type, zone)) for field in schema])


def table_in_zone(table: pa.Table, zone: str) -> pa.Table:
    schema = schema_in_zone(table.schema, zone)
    return table if schema == table.schema else table.cast(schema)


def batches_in_zone(batches: pa.RecordBatchReader, zone: str) -> pa.RecordBatchReader:
    import pyarrow as pa

    schema = schema_in_zone(batches.schema, zone)
    if schema == batches.schema:
        return batches
    return pa.RecordBatchReader.from_batches(schema, (batch.cast(schema) for batch in batches))
