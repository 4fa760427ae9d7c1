"""Where rows with given keys may be in a part of a table: numbers of its keys in their order.

Equal keys have one number. Others may have it too, so what is found is looked at by a query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace._src.query.temporary_files import TemporaryFile

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

#: Odd, with bits all over: times it, small numbers differ in all of them.
_FACTOR = 0x9E3779B97F4A7C15
#: Times that it is 1, of the numbers that have 64 bits.
_INVERSE = pow(_FACTOR, -1, 1 << 64)
#: Of a text only so many bytes at its end count, and its length.
_TEXT_BYTES = 64
#: Indexes of fewer rows are not worth a file.
_FILE_ROWS = 1 << 13


@dataclass(frozen=True, eq=False)
class KeyIndex:
    #: Of the rows that have a key, in their order; and the places of these rows in the part.
    hashes: np.ndarray
    rows: np.ndarray

    def find(self, hashes: np.ndarray) -> np.ndarray:
        """The places of rows that may have a key of one of these hashes."""
        import numpy as np

        begins = np.searchsorted(self.hashes, hashes, "left")
        ends = np.searchsorted(self.hashes, hashes, "right")
        found = np.flatnonzero(begins < ends)
        stretches = [self.rows[begins[place] : ends[place]] for place in found]
        return np.concatenate(stretches) if stretches else self.rows[:0]


def indexed(batches: Sequence[pa.RecordBatch], key: Sequence[str], path: str) -> list[KeyIndex]:
    """The indexes of parts, on disk where they are large. path: whose they are, for messages."""
    if sum(batch.num_rows for batch in batches) < _FILE_ROWS:
        return [KeyIndex(*_in_order(batch, key)) for batch in batches]
    return _in_file(batches, key, path)


def _in_file(batches: Sequence[pa.RecordBatch], key: Sequence[str], path: str) -> list[KeyIndex]:
    import numpy as np

    counts = []
    with TemporaryFile(path) as file:
        for batch in batches:
            hashes, rows = _in_order(batch, key)
            counts.append(rows.size)
            file.write(hashes.tobytes())
            file.write(np.append(rows, rows[:1]).tobytes() if rows.size % 2 else rows.tobytes())
        mapped = file.mapped()
    indexes, offset = [], 0
    for count in counts:
        hashes = np.frombuffer(mapped, np.uint64, count, offset)
        rows = np.frombuffer(mapped, np.uint32, count, offset + 8 * count)
        indexes.append(KeyIndex(hashes, rows))
        offset += 8 * count + 4 * (count + count % 2)
    return indexes


def _in_order(batch: pa.RecordBatch, key: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    import numpy as np

    hashes, rows = hashes_of(batch, key)
    order = np.argsort(hashes)
    return hashes[order], rows[order]


def hashes_of(batch: pa.RecordBatch, key: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The hashes of the rows whose key has no NULL, and their places."""
    import numpy as np

    hashes, has_key = np.zeros(batch.num_rows, np.uint64), np.ones(batch.num_rows, bool)
    for name in key:
        column = batch.column(name)
        hashes = hashes * np.uint64(_FACTOR) + _numbers(column)
        if column.null_count:
            has_key &= column.is_valid().to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(has_key).astype(np.uint32)
    return hashes[rows] * np.uint64(_FACTOR), rows


def are_known(schema: pa.Schema, key: Sequence[str]) -> bool:
    """Whether equal values of these columns have equal hashes."""
    return all(_is_known(schema.field(name).type) for name in key)


def _is_known(kind: pa.DataType) -> bool:
    import pyarrow as pa

    is_text = pa.types.is_string(kind) or pa.types.is_binary(kind)
    is_moment = pa.types.is_date(kind) or pa.types.is_time(kind) or pa.types.is_timestamp(kind)
    is_number = pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_decimal128(kind)
    return is_text or is_moment or is_number or pa.types.is_floating(kind) or kind == pa.uuid()


def _numbers(column: Any) -> np.ndarray:
    """One for each value; any for a NULL."""
    import numpy as np
    import pyarrow as pa

    kind = column.type
    if kind == pa.uuid():
        return _of_words(column.storage, 2)
    if pa.types.is_decimal128(kind):
        return _of_words(column, 2)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _of_texts(column)
    if pa.types.is_boolean(kind):
        return column.fill_null(False).to_numpy(zero_copy_only=False).astype(np.uint64)
    if pa.types.is_floating(kind):
        values = column.cast(pa.float64()).fill_null(0).to_numpy(zero_copy_only=False) + 0.0  # not -0.0
        values[np.isnan(values)] = np.nan
        return values.view(np.uint64)
    width = kind.bit_width // 8
    values = np.frombuffer(column.buffers()[1], f"i{width}", len(column), column.offset * width)
    return values.astype(np.int64).view(np.uint64)


def _of_words(column: Any, count: int) -> np.ndarray:
    import numpy as np

    width = 8 * count
    words = np.frombuffer(column.buffers()[1], np.uint64, count * len(column), column.offset * width)
    number = words[::count]
    for place in range(1, count):
        number = number * np.uint64(_FACTOR) + words[place::count]
    return number


def _of_texts(column: Any) -> np.ndarray:
    """Sums of the bytes of a text times powers of a number, which are differences of sums of all bytes."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    lengths = pc.binary_length(column).fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint64)
    ends = pc.binary_slice(column.cast(pa.binary()).fill_null(b""), -_TEXT_BYTES, None)
    offsets = np.frombuffer(ends.buffers()[1], np.int32, len(ends) + 1, 4 * ends.offset)
    begin, end = int(offsets[0]), int(offsets[-1])
    data = ends.buffers()[2]
    used = np.frombuffer(data, np.uint8, end - begin, begin) if end > begin else np.zeros(0, np.uint8)
    sums = np.zeros(used.size + 1, np.uint64)
    np.cumsum(used * _powers(_FACTOR, used.size), out=sums[1:])
    places = offsets - begin
    # As if each text began where all of them do.
    own = (sums[places[1:]] - sums[places[:-1]]) * _powers(_INVERSE, used.size + 1)[places[:-1]]
    return own * np.uint64(_FACTOR) + lengths


def _powers(base: int, count: int) -> np.ndarray:
    import numpy as np

    powers = np.full(count, base, np.uint64)
    powers[:1] = 1
    return np.multiply.accumulate(powers)
