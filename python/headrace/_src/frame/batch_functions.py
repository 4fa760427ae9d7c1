"""`LazyFrame.map_batches`: a function of Python between two parts of a frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headrace._src.cluster import current
from headrace._src.errors import UserError
from headrace._src.frame.nodes import Source, user_line
from headrace._src.frame.scope import Column
from headrace._src.frame.types import sql_type
from headrace._src.query import sql as queries
from headrace._src.sql.tables import quoted

if TYPE_CHECKING:
    from headrace._src.frame.lazy_frame import LazyFrame

BatchFunction = Callable[[pa.RecordBatch], Any]


class MappedBatches:
    """What a function gives for the batches of a frame, computed when it is read."""

    def __init__(self, frame: LazyFrame, function: BatchFunction, schema: pa.Schema) -> None:
        self._frame = frame
        self._function = function
        self._schema = schema
        #: Why the last reading ended early, as the function raised it.
        self.failure: Exception | None = None

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        if current() is not None:
            raise UserError("map_batches runs in one process, not in a cluster")
        reader = pa.RecordBatchReader.from_batches(self._schema, self._kept(self._batches()))
        return reader.__arrow_c_stream__(requested_schema)

    def _kept(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        self.failure = None
        try:
            yield from batches
        except Exception as error:
            self.failure = error
            raise

    def _batches(self) -> Iterator[pa.RecordBatch]:
        frame = self._frame
        for batch in frame._ask(queries.batches, {}):
            given = pa.record_batch(batch.columns, names=frame.columns).cast(frame.schema)
            made = pa.record_batch(self._function(given))
            if made.schema.names != self._schema.names:
                raise UserError(f"map_batches gave other columns than its schema: {made.schema.names}")
            yield made.cast(self._schema)


def failure_of(tables: Mapping[str, Any]) -> Exception | None:
    """What a function has raised whose batches are one of the tables."""
    failures = (each.failure for each in tables.values() if isinstance(each, MappedBatches))
    return next(filter(None, failures), None)


def mapped(frame: LazyFrame, function: BatchFunction, schema: pa.Schema | None) -> LazyFrame:
    """A frame over what the function gives."""
    from headrace._src.frame.lazy_frame import LazyFrame

    schema = frame.schema if schema is None else schema
    for field in schema:
        sql_type(field.type)
    columns = {field.name: Column(quoted(field.name), field.type) for field in schema}
    shown = ", ".join(each.sql for each in columns.values())
    owner = f"map_batches, {user_line()}"
    data = MappedBatches(frame, function, schema)
    return LazyFrame(Source(lambda table: f"select {shown} from {table}", (), owner, "mapped", data), columns)
