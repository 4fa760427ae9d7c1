"""Arrow tables as the runtime holds them: read once for as long as the caller keeps an unchangeable one."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

_read: dict[int, tuple[Any, Any]] = {}


def read(data: Any) -> Any:
    """The runtime's table over what has `__arrow_c_stream__`; its buffers are not copied.

    What cannot change (pyarrow's tables and batches) is read once in its life, and so is what can be read
    only once (a RecordBatchReader). Everything else, such as a data frame that may be edited in place, is
    read at every call.
    """
    import pyarrow as pa

    from headrace import _runtime

    known = _read.get(id(data))
    if known is not None and known[0]() is data:
        return known[1]
    table = _runtime.ArrowTable(data)
    if isinstance(data, (pa.Table, pa.RecordBatch, pa.RecordBatchReader)):
        key = id(data)
        _read[key] = (weakref.ref(data, lambda _: _read.pop(key, None)), table)
    return table


def joined(batches: Sequence[tuple[pa.Table, int]]) -> Any:
    """The runtime's table of record batches of others, by their numbers among those with rows."""
    from headrace import _runtime

    tables = {id(table): table for table, _ in batches}
    places = {table: place for place, table in enumerate(tables)}
    return _runtime.ArrowTable.joined(
        [read(table) for table in tables.values()], [(places[id(table)], number) for table, number in batches]
    )
