"""Parts of a session's tables: record batches in files without a name, which stay as they are.

A statement that changes a few rows writes the parts anew that have them. A file goes with the last of its
parts, so those of a file that is mostly of no use are written again, and so are those of small files where
there are many: each is open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headrace._src.session.key_hashes import KeyIndex

if TYPE_CHECKING:
    import pyarrow as pa

#: Of a part, but for what comes in one piece.
PART_ROWS = 1 << 16
#: More files than that are not left as they are if they have fewer parts than that.
_FILES, _FILE_PARTS = 64, 32


@dataclass(frozen=True, eq=False)
class KeptFile:
    """Rows that were written together."""

    table: pa.Table


@dataclass(frozen=True, eq=False)
class Part:
    rows: pa.RecordBatch
    file: KeptFile
    #: Its number among the batches of the file.
    place: int
    #: Where keys are, by their columns; made when they are first asked for.
    indexes: dict[tuple[str, ...], KeyIndex] = field(default_factory=dict)

    def indexes_without(self, columns: Iterable[str]) -> dict[tuple[str, ...], KeyIndex]:
        """Those that hold where these columns have other values."""
        return {key: index for key, index in self.indexes.items() if set(key).isdisjoint(columns)}


def parts_of(table: pa.Table) -> list[Part]:
    """Those of a file, one for each batch."""
    file = KeptFile(table)
    batches = (batch for batch in table.to_batches() if batch.num_rows)
    return [Part(rows, file, place) for place, rows in enumerate(batches)]


def in_pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows in batches that are no larger than a part."""
    for batch in batches:
        for start in range(0, batch.num_rows, PART_ROWS):
            yield batch.slice(start, PART_ROWS)


def compacted(
    parts: Sequence[Part], keep: Callable[[Iterable[pa.RecordBatch]], pa.Table]
) -> tuple[Part, ...]:
    """The same rows, without neighbours that are small and files that are mostly of no use.

    keep: writes batches to a file, each as it is.
    """
    import pyarrow as pa

    stale = _stale_files(parts)
    groups = list(_neighbours(parts))
    is_written = [len(group) > 1 or id(group[0].file) in stale for group in groups]
    if not any(is_written):
        return tuple(parts)
    together = (
        pa.concat_batches([part.rows for part in group])
        for group, writes in zip(groups, is_written, strict=True)
        if writes
    )
    written = iter(parts_of(keep(together)))
    return tuple(
        next(written) if writes else group[0] for group, writes in zip(groups, is_written, strict=True)
    )


def _neighbours(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """The parts in their order, those together that are small."""
    group: list[Part] = []
    rows = 0
    for part in parts:
        if group and rows + part.rows.num_rows > PART_ROWS // 2:
            yield group
            group, rows = [], 0
        group.append(part)
        rows += part.rows.num_rows
    if group:
        yield group


def _stale_files(parts: Sequence[Part]) -> set[int]:
    """The files, by `id`, whose parts are written again."""
    rows: Counter[int] = Counter()
    for part in parts:
        rows[id(part.file)] += part.rows.num_rows
    stale = {id(part.file) for part in parts if 2 * rows[id(part.file)] < part.file.table.num_rows}
    if len(rows) > _FILES:
        counts = Counter(id(part.file) for part in parts)
        stale |= {file for file, count in counts.items() if count < _FILE_PARTS}
    return stale
