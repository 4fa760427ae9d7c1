"""Numbers of the columns of Parquet files, by which Iceberg and its like find them: COPY … (FIELD_IDS …)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from headrace._src.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa

#: What a column with parts is told its own number by.
_OWN = "__duckdb_field_id"
_KEY = b"PARQUET:field_id"


def are_field_ids(value: Any) -> bool:
    """Whether an option is 'auto', or numbers by name."""
    if isinstance(value, str):
        return value.lower() == "auto"
    return isinstance(value, Mapping) and all(map(_is_number, value.values()))


def _is_number(value: Any) -> bool:
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return is_integer or isinstance(value, Mapping) and are_field_ids(value)


def with_field_ids(schema: pa.Schema, given: str | Mapping[str, Any]) -> pa.Schema:
    """With the numbers of its columns and of their parts. Raises UserError for what does not fit."""
    import pyarrow as pa

    if isinstance(given, str):
        numbers = itertools.count()
        return pa.schema([_numbered(field, numbers) for field in schema], schema.metadata)
    return pa.schema(_fields(list(schema), given, "", set()), schema.metadata)


def _parts(kind: pa.DataType) -> list[pa.Field]:
    """The fields that a column has inside, by the names that SQL has for them."""
    import pyarrow as pa

    if pa.types.is_map(kind):
        return [kind.key_field.with_name("key"), kind.item_field.with_name("value")]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):  # an array has one number
        return [kind.value_field.with_name("element")]
    return [kind.field(part) for part in range(kind.num_fields)] if pa.types.is_struct(kind) else []


def _made_of(kind: pa.DataType, parts: list[pa.Field]) -> pa.DataType:
    import pyarrow as pa

    if pa.types.is_map(kind):
        return pa.map_(parts[0].with_nullable(False), parts[1])
    if pa.types.is_large_list(kind):
        return pa.large_list(parts[0].with_name(kind.value_field.name))
    if pa.types.is_list(kind):
        return pa.list_(parts[0].with_name(kind.value_field.name))
    return pa.struct(parts)


def _with_number(field: pa.Field, number: int, parts: list[pa.Field]) -> pa.Field:
    field = field.with_type(_made_of(field.type, parts)) if parts else field
    return field.with_metadata({_KEY: str(number).encode()})


def _numbered(field: pa.Field, numbers: Iterator[int]) -> pa.Field:
    number = next(numbers)
    return _with_number(field, number, [_numbered(part, numbers) for part in _parts(field.type)])


def _fields(fields: list[pa.Field], given: Mapping[str, Any], place: str, used: set[int]) -> list[pa.Field]:
    told = {name.lower(): (name, value) for name, value in given.items() if name != _OWN}
    known = {field.name.lower() for field in fields}
    for low, (name, _) in told.items():
        if low not in known:
            raise UserError(f"field_ids: no such column: {place}{name}")
    return [
        _told(field, told[field.name.lower()][1], place, used) if field.name.lower() in told else field
        for field in fields
    ]


def _told(field: pa.Field, given: Any, place: str, used: set[int]) -> pa.Field:
    inside = given if isinstance(given, Mapping) else {}
    parts = _parts(field.type)
    if isinstance(given, Mapping) and not parts:
        raise UserError(f"field_ids: the column has no parts: {place}{field.name}")
    number = given.get(_OWN) if isinstance(given, Mapping) else given
    if number in used:
        raise UserError(f"field_ids: two columns have the number {number}")
    if number is not None:
        used.add(number)
    made = _fields(parts, inside, f"{place}{field.name}.", used) if inside else parts
    typed = field.with_type(_made_of(field.type, made)) if inside else field
    return typed if number is None else typed.with_metadata({_KEY: str(number).encode()})
