"""Rows that lie on disk and are mapped: an Arrow stream in a file without a name, within `spillLimit`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from headrace._src.query.temporary_files import TemporaryFile
from headrace._src.stop import current_stop

if TYPE_CHECKING:
    import pyarrow as pa

#: Written at a time.
_BATCH_BYTES = 16 << 20
_BATCH_ROWS = 1 << 16


def kept_batches(schema: pa.Schema, batches: Iterable[pa.RecordBatch], path: str) -> pa.Table:
    """The rows as a table on disk with these batches. path: whose they are, for messages.

    They are there as long as somebody has the table, or a part of it.
    """
    import pyarrow as pa

    stop = current_stop()
    batches = iter(batches)
    first = next(batches, None)
    if first is None:
        return schema.empty_table()
    batches = chain([first], batches)
    with TemporaryFile(path) as file:
        try:
            with pa.ipc.new_stream(file, schema) as writer:
                for batch in batches:
                    if stop:
                        stop()
                    writer.write_batch(batch)
        except Exception:
            file.raise_error()
            raise
        return pa.ipc.open_stream(pa.py_buffer(file.mapped())).read_all()


def larger(parts: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Several parts in one batch, as far as they are small."""
    import pyarrow as pa

    held: list[pa.RecordBatch] = []
    size = rows = 0
    for part in parts:
        held.append(part)
        size += part.nbytes
        rows += part.num_rows
        if size >= _BATCH_BYTES or rows >= _BATCH_ROWS:
            yield pa.concat_batches(held)
            held, size, rows = [], 0, 0
    if held:
        yield pa.concat_batches(held)
