"""The rows of a result by the values of columns, and the folders that they get: a=1/b=x, as in DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from headrace._src.errors import UserError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

#: The folder of NULL.
_NULL = "__HIVE_DEFAULT_PARTITION__"


class Partitions:
    """Of batches of one schema by columns of it."""

    def __init__(self, schema: pa.Schema, keys: Sequence[str]) -> None:
        """keys: columns, as the plan has found. Raises UserError if they are all there is."""
        import pyarrow as pa

        self._keys = [schema.get_field_index(key) for key in keys]
        self._rest = [place for place in range(len(schema.names)) if place not in self._keys]
        if not self._rest:
            raise UserError("partition_by: no column is left for the files")
        self._names = [quote(key, safe="") for key in keys]
        #: Of the files.
        self.schema = pa.schema([schema.field(place) for place in self._rest], schema.metadata)

    def of(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Folders with rows of theirs; those of a batch once each, with its order of rows."""
        for batch in batches:
            if batch.num_rows:
                yield from self._of_batch(batch)

    def _of_batch(self, batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        import numpy as np
        import pyarrow as pa

        encoded = [_encoded(batch.column(place)) for place in self._keys]
        codes = np.zeros(batch.num_rows, np.int64)
        for numbers, texts in encoded:
            codes = codes * (len(texts) + 1) + numbers
        rows = pa.RecordBatch.from_arrays([batch.column(place) for place in self._rest], schema=self.schema)
        if (np.diff(codes) < 0).any():  # those in order stay where they are
            order = np.argsort(codes, kind="stable")
            codes, rows = codes[order], rows.take(pa.array(order))
            encoded = [(numbers[order], texts) for numbers, texts in encoded]
        begins = np.flatnonzero(np.diff(codes, prepend=codes[0] - 1))
        for begin, end in zip(begins, [*begins[1:], len(codes)], strict=True):
            values = (texts[numbers[begin]] for numbers, texts in encoded)
            folder = "/".join(f"{name}={value}" for name, value in zip(self._names, values, strict=True))
            yield folder, rows.slice(begin, end - begin)


def _encoded(column: pa.Array) -> tuple[np.ndarray, list[str]]:
    """Numbers of the values of a column, and by number the names of folders; the last is that of NULL."""
    import pyarrow as pa
    import pyarrow.compute as compute

    try:
        coded = compute.dictionary_encode(column)
        texts = (
            coded.dictionary if coded.type.value_type == pa.string() else _texts_of_duckdb(coded.dictionary)
        )
    except pa.ArrowNotImplementedError:  # nested types
        coded = compute.dictionary_encode(_texts_of_duckdb(column))
        texts = coded.dictionary
    names = [quote(text, safe="") for text in texts.to_pylist()]
    return coded.indices.fill_null(len(names)).to_numpy(), [*names, _NULL]


def _texts_of_duckdb(column: pa.Array) -> pa.Array:
    import duckdb
    import pyarrow as pa

    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'")
        connection.register("rows", pa.table({"x": column}))
        found = connection.sql("select cast(x as varchar) as x from rows").to_arrow_table()
    return found["x"].combine_chunks()
