"""UUIDs of results as texts, which DuckDB's Arrow tables have for them; runs give them as Arrow's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

#: Where the digits of each byte begin in a text.
_PLACES = [2 * byte + sum(byte >= start for start in (4, 6, 8, 10)) for byte in range(16)]


def table_with_texts(table: pa.Table) -> pa.Table:
    import pyarrow as pa

    if not any(_has_uuids(field.type) for field in table.schema):
        return table
    columns = [
        pa.chunked_array([_array(chunk) for chunk in column.chunks], _type(column.type))
        for column in table.columns
    ]
    return pa.table(columns, schema=_schema(table.schema))


def batches_with_texts(batches: pa.RecordBatchReader) -> pa.RecordBatchReader:
    import pyarrow as pa

    if not any(_has_uuids(field.type) for field in batches.schema):
        return batches
    schema = _schema(batches.schema)
    made = (pa.record_batch(list(map(_array, batch.columns)), schema=schema) for batch in batches)
    return pa.RecordBatchReader.from_batches(schema, made)


def _schema(schema: pa.Schema) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([field.with_type(_type(field.type)) for field in schema])


def _has_uuids(dtype: pa.DataType) -> bool:
    import pyarrow as pa

    parts = [dtype.field(part).type for part in range(dtype.num_fields)]
    return isinstance(dtype, pa.UuidType) or any(map(_has_uuids, parts))


def _type(dtype: pa.DataType) -> pa.DataType:
    """The type with texts for UUIDs."""
    import pyarrow as pa

    if not _has_uuids(dtype):
        return dtype
    if isinstance(dtype, pa.UuidType):
        return pa.string()

    def retyped(field: pa.Field) -> pa.Field:
        return field.with_type(_type(field.type))

    if pa.types.is_struct(dtype):
        return pa.struct([retyped(dtype.field(part)) for part in range(dtype.num_fields)])
    if pa.types.is_map(dtype):
        return pa.map_(retyped(dtype.key_field), retyped(dtype.item_field))
    size = dtype.list_size if pa.types.is_fixed_size_list(dtype) else -1
    return pa.list_(retyped(dtype.value_field), size)


def _array(array: Any) -> pa.Array:
    import pyarrow as pa

    dtype = array.type
    if not _has_uuids(dtype):
        return array
    if isinstance(dtype, pa.UuidType):
        return _texts(array)
    made = _type(dtype)
    if pa.types.is_struct(dtype):
        fields = [_array(array.field(part)) for part in range(dtype.num_fields)]
        return pa.StructArray.from_arrays(fields, fields=list(made), mask=array.is_null())
    own = array.buffers()[: 1 if pa.types.is_fixed_size_list(dtype) else 2]
    values = [_array(array.values)]
    return pa.Array.from_buffers(made, len(array), own, array.null_count, array.offset, values)


def _texts(array: Any) -> pa.Array:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as compute

    count, first = len(array), array.storage.offset
    data = np.frombuffer(array.storage.buffers()[1] or b"", np.uint8)
    values = data[16 * first : 16 * (first + count)].reshape(count, 16)
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    text = np.full((count, 36), ord("-"), np.uint8)
    text[:, _PLACES] = digits[values >> 4]
    text[:, [place + 1 for place in _PLACES]] = digits[values & 15]
    ends = np.arange(count + 1, dtype=np.int32) * 36
    texts = pa.StringArray.from_buffers(count, pa.py_buffer(ends), pa.py_buffer(text))
    return compute.if_else(array.is_valid(), texts, None) if array.null_count else texts
