"""SQL text and table schemas to Substrait JSON (the input of `headrace-translate --substrait-to-mlir`).

DataFusion parses and optimises; no data is read. DataFusion is imported on the first call only, because that
costs a tenth of a second.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace._src.sql import guards
from headrace._src.sql.errors import SqlError, SqlErrorKind

if TYPE_CHECKING:
    import pyarrow as pa


def substrait_json(text: str, schemas: Mapping[str, pa.Schema]) -> str:
    """The optimised plan of the query `text` over tables with these `schemas`, as Substrait JSON.

    Raises SqlError for anything but one query, for unknown names and wrong types, and for what cannot be
    expressed in the plan without changing the answer. Joins that stand for NOT IN carry `"nullAware": true`,
    which Substrait lacks.
    """
    from datafusion import substrait

    guards.refuse_text(text)
    context = _context(schemas)
    plan = _optimized_plan(context, text)
    try:
        document = json.loads(substrait.Producer.to_substrait_plan(plan, context).to_json())
    except BaseException as error:
        raise _sql_error(error, SqlErrorKind.UNSUPPORTED) from error
    guards.mark_null_aware_joins(document, str(plan))
    guards.refuse_null_blind_marks(document, str(plan), text, schemas)
    return json.dumps(document, separators=(",", ":"), sort_keys=True)


def _context(schemas: Mapping[str, pa.Schema]) -> Any:
    """A session with one empty in-memory table per schema: types without data."""
    import pyarrow as pa
    from datafusion import SessionConfig, SessionContext

    config = (
        SessionConfig()
        .with_target_partitions(1)
        .set("datafusion.sql_parser.parse_float_as_decimal", "true")
        .set("datafusion.sql_parser.map_string_types_to_utf8view", "false")
    )
    context = SessionContext(config)
    for name, schema in schemas.items():
        plain = pa.schema([field.with_type(_plain_type(field.type)) for field in schema])
        empty = pa.RecordBatch.from_pylist([], schema=plain)
        # Quoted: a table is called as it is spelt, like its file.
        context.register_record_batches(f'"{name}"', [[empty]])
    return context


def _plain_type(arrow_type: pa.DataType) -> pa.DataType:
    """The logical type: how strings are laid out does not concern the plan."""
    import pyarrow as pa

    if pa.types.is_dictionary(arrow_type):
        return _plain_type(arrow_type.value_type)
    if pa.types.is_large_string(arrow_type) or pa.types.is_string_view(arrow_type):
        return pa.string()
    return arrow_type


def _optimized_plan(context: Any, text: str) -> Any:
    from datafusion import SQLOptions

    queries_only = SQLOptions().with_allow_ddl(False).with_allow_dml(False).with_allow_statements(False)
    try:
        return context.sql_with_options(text, queries_only).optimized_logical_plan()
    except BaseException as error:  # also Rust panics, which are no Exception
        raise _sql_error(error, SqlErrorKind.INVALID) from error


def _sql_error(error: BaseException, kind: SqlErrorKind) -> BaseException:
    """DataFusion's message as an SqlError; what is not DataFusion's (an interrupt) as it is."""
    if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError, SqlError)):
        return error
    message = str(error).removeprefix("DataFusion error: ").strip()
    if "not implemented" in message.lower() or "not supported" in message.lower():
        kind = SqlErrorKind.UNSUPPORTED
    return SqlError(message, kind)
