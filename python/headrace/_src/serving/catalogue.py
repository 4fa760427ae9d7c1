"""What a server says of itself and of its tables, in the schemas of Flight SQL."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from headrace._src.errors import HeadraceError
from headrace._src.serving.messages import Fields
from headrace._src.session.session import Session
from headrace._src.sql.tables import own_name

CATALOGUE, SCHEMA = "memory", "main"  # as the binder calls them
_NAME = [pa.field("catalog_name", pa.string()), pa.field("db_schema_name", pa.string())]
_VALUE = pa.dense_union(
    [
        pa.field("string_value", pa.string()),
        pa.field("bool_value", pa.bool_()),
        pa.field("bigint_value", pa.int64()),
        pa.field("int32_bitmask", pa.int32()),
        pa.field("string_list", pa.list_(pa.string())),
        pa.field("int32_to_int32_list_map", pa.map_(pa.int32(), pa.list_(pa.int32()))),
    ]
)
#: Numbers of SqlInfo.
_SERVER, _VERSION, _ARROW, _READ_ONLY, _SQL, _SUBSTRAIT, _TRANSACTIONS, _CANCEL = 0, 1, 2, 3, 4, 5, 8, 9
_QUOTE = 504

SCHEMAS: dict[str, pa.Schema] = {
    "CommandGetCatalogs": pa.schema([pa.field("catalog_name", pa.string(), nullable=False)]),
    "CommandGetDbSchemas": pa.schema([_NAME[0], pa.field("db_schema_name", pa.string(), nullable=False)]),
    "CommandGetTables": pa.schema(
        [
            *_NAME,
            pa.field("table_name", pa.string(), nullable=False),
            pa.field("table_type", pa.string(), nullable=False),
        ]
    ),
    "CommandGetTableTypes": pa.schema([pa.field("table_type", pa.string(), nullable=False)]),
    "CommandGetSqlInfo": pa.schema(
        [pa.field("info_name", pa.uint32(), nullable=False), pa.field("value", _VALUE, nullable=False)]
    ),
    "CommandGetPrimaryKeys": pa.schema(
        [
            *_NAME,
            pa.field("table_name", pa.string(), nullable=False),
            pa.field("column_name", pa.string(), nullable=False),
            pa.field("key_sequence", pa.int32(), nullable=False),
            pa.field("key_name", pa.string()),
        ]
    ),
}


def schema_of(name: str, command: Fields) -> pa.Schema:
    """The columns of the answer to a command. Raises KeyError for one that is not known."""
    schema = SCHEMAS[name]
    if name == "CommandGetTables" and command.truth(5):
        schema = schema.append(pa.field("table_schema", pa.binary(), nullable=False))
    return schema


def answer(name: str, command: Fields, session: Session) -> pa.Table:
    """The answer to a command that SCHEMAS has."""
    schema = schema_of(name, command)
    if name == "CommandGetCatalogs":
        rows = [{"catalog_name": CATALOGUE}]
    elif name == "CommandGetDbSchemas":
        schemas = (SCHEMA, *session._names.schemas.values())
        rows = [
            {"catalog_name": CATALOGUE, "db_schema_name": each}
            for each in schemas
            if _is_here(command, 2, each)
        ]
    elif name == "CommandGetTableTypes":
        rows = [{"table_type": "TABLE"}, {"table_type": "VIEW"}]
    elif name == "CommandGetSqlInfo":
        return _infos(set(command.numbers(1)))
    elif name == "CommandGetTables":
        rows = _tables(command, session)
    else:  # tables have no keys
        rows = []
    return pa.Table.from_pylist(rows, schema)


def _is_here(command: Fields, pattern: int, schema: str) -> bool:
    """Whether the catalogue and the pattern of schemas of a command mean a schema."""
    return (not command.has(1) or command.text(1) == CATALOGUE) and _fits(command, pattern, schema)


def _fits(command: Fields, number: int, name: str) -> bool:
    """Whether a name is of the pattern, in which % is any text and _ a character."""
    if not command.has(number):
        return True
    pieces = ({"%": ".*", "_": "."}.get(piece, re.escape(piece)) for piece in command.text(number))
    return re.fullmatch("".join(pieces), name, re.DOTALL) is not None


def _tables(command: Fields, session: Session) -> list[dict[str, Any]]:
    kinds = command.texts(4)
    rows = []
    views = session.views
    for name in session.tables:
        kind = "VIEW" if name in views else "TABLE"
        inside = session._names.schema_of(name.lower())
        schema, own = inside or SCHEMA, own_name(inside, name)
        if not _is_here(command, 2, schema) or not _fits(command, 3, own) or (kinds and kind not in kinds):
            continue
        row = {"catalog_name": CATALOGUE, "db_schema_name": schema, "table_name": own, "table_type": kind}
        if command.truth(5):
            try:
                columns = session.table(name).schema
            except HeadraceError:  # a table with a column that headrace cannot read is there all the same
                columns = pa.schema([])
            row["table_schema"] = columns.serialize().to_pybytes()
        rows.append(row)
    return rows


def _infos(wanted: set[int]) -> pa.Table:
    import headrace

    values: dict[int, tuple[int, object]] = {
        _SERVER: (0, "headrace"),
        _VERSION: (0, headrace.__version__),
        _ARROW: (0, pa.__version__),
        _READ_ONLY: (1, False),
        _SQL: (1, True),
        _SUBSTRAIT: (1, False),
        _TRANSACTIONS: (3, 1),  # SQL_SUPPORTED_TRANSACTION_TRANSACTION
        _CANCEL: (1, False),
        _QUOTE: (0, '"'),
    }
    chosen = {name: value for name, value in values.items() if not wanted or name in wanted}
    children: list[list[object]] = [[] for _ in _VALUE]
    kinds, offsets = [], []
    for kind, value in chosen.values():
        kinds.append(kind)
        offsets.append(len(children[kind]))
        children[kind].append(value)
    value = pa.UnionArray.from_dense(
        pa.array(kinds, pa.int8()),
        pa.array(offsets, pa.int32()),
        [pa.array(each, field.type) for each, field in zip(children, _VALUE, strict=True)],
        [field.name for field in _VALUE],
    )
    names = pa.array(chosen, pa.uint32())
    return pa.Table.from_arrays([names, value], schema=SCHEMAS["CommandGetSqlInfo"])
