"""Sequences of a session: what number is next. No transaction takes back those that were given."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from headrace._src.errors import DataError
from headrace._src.sql.declared import Sequence
from headrace._src.sql.sequences import Numbers, Used, with_numbers
from headrace._src.sql.tables import own_name

if TYPE_CHECKING:
    import pyarrow as pa


#: More numbers than a statement takes.
_NEVER = 1 << 40


class KeptSequence:
    """A sequence, which all transactions and sessions over a database share."""

    def __init__(self, sequence: Sequence) -> None:
        self.sequence = sequence
        self.last: int | None = None
        self.lock = threading.RLock()  # held while a statement uses it

    @property
    def numbers(self) -> Numbers:
        """What it gives from now on."""
        told = self.sequence
        end, again = (told.most, told.least) if told.step > 0 else (told.least, told.most)
        begin = told.start if self.last is None else self.last + told.step
        if not told.cycles:
            return Numbers(begin, told.step)
        if not told.least <= begin <= told.most:
            begin = again
        count = (end - begin) // told.step + 1
        if count > _NEVER:
            return Numbers(begin, told.step)
        return Numbers(begin, told.step, count, again, (end - again) // told.step + 1)

    def use(self, count: int) -> None:
        """Raises DataError if there are not as many."""
        last = self.numbers.at(count - 1)
        if not self.sequence.least <= last <= self.sequence.most:
            raise DataError(f"a sequence has no number left: {self.sequence.name}")
        self.last = last


class Numbered:
    """A plan with the numbers of its statement."""

    def __init__(self, plan: str, sequences: Mapping[str, KeptSequence], count: Callable[[str], int]) -> None:
        """count: the number of rows of a plan."""
        self._sequences = sequences
        self.plan, used = with_numbers(plan, self._begin)
        self._used = {name: _known(each, count) for name, each in used.items()}

    def _begin(self, name: str, function: str) -> Numbers:
        kept = self._sequences[name.lower()]
        if function == "nextval":
            return kept.numbers
        if kept.last is None:
            raise DataError(f"currval of a sequence that has given no number yet: {name}")
        return Numbers(kept.last, 0)

    def has_run(self, rows: int) -> None:
        """The numbers of a statement with so many rows are used. Raises DataError if there are too few."""
        for name, used in self._used.items():
            if count := _count(used, rows):
                self._sequences[name.lower()].use(count)

    def counting(self, take: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The same, and then the numbers of the rows are used."""
        if not self._used:
            return take

        def taken(reader: pa.RecordBatchReader) -> Any:
            import pyarrow as pa

            rows = 0

            def counted() -> Iterator[pa.RecordBatch]:
                nonlocal rows
                for batch in reader:
                    rows += batch.num_rows
                    yield batch

            made = take(pa.RecordBatchReader.from_batches(reader.schema, counted()))
            self.has_run(rows)
            return made

        return taken


def _known(used: Used, count: Callable[[str], int]) -> Used:
    return Used(used.calls * count(used.counted), is_for_each_row=False) if used.counted else used


def _count(used: Used, rows: int) -> int:
    return used.calls * rows if used.is_for_each_row else used.calls


@contextmanager
def numbered(
    plan: str, sequences: Mapping[str, KeptSequence], count: Callable[[str], int]
) -> Iterator[Numbered]:
    """While a statement runs nobody else gets numbers of its sequences. count: gives the rows of a plan."""
    low = plan.lower() if sequences else ""
    with ExitStack() as held:
        for name, kept in sorted(sequences.items()):
            if own_name(kept.sequence.schema, name) in low:
                held.enter_context(kept.lock)
        yield Numbered(plan, sequences, count)
