"""Files that Arrow's library reads as tables in memory: its own, and JSON lines; here or in stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace._src.errors import InputOutputError, UserError, reason
from headrace._src.query.store_files import is_store, opened, shown

if TYPE_CHECKING:
    import pyarrow as pa

#: Arrow reads JSON in blocks of at most so many bytes.
_BLOCK_BYTES_MAX = 1 << 30


def read_ipc(path: str) -> pa.Table:
    """An Arrow file, mapped, or copied from a store. Raises UserError for what is none."""
    import pyarrow as pa

    try:
        return pa.ipc.open_file(opened(path) if is_store(path) else pa.memory_map(path)).read_all()
    except pa.ArrowInvalid as error:
        raise UserError(f"not an Arrow file: {shown(path)}: {error}") from None
    except OSError as error:
        # no test: it takes a disk that fails
        raise InputOutputError(f"cannot read the file: {shown(path)}: {reason(error)}") from None


def read_ndjson(path: str) -> pa.Table:
    """Objects of JSON, one behind the other. Raises UserError for what is none."""
    import pyarrow as pa

    try:
        table = _read_json(path)
        try:
            table.validate()
        except pa.ArrowInvalid:
            # Arrow loses a null before the first value of a list in a list, unless it knows the types.
            table = _read_json(path, table.schema)
        return table
    except pa.ArrowInvalid as error:
        raise UserError(f"not a file of JSON lines: {shown(path)}: {error}") from None
    except OSError as error:
        # no test: it takes a disk that fails
        raise InputOutputError(f"cannot read the file: {shown(path)}: {reason(error)}") from None


def _read_json(path: str, schema: pa.Schema | None = None) -> pa.Table:
    import pyarrow as pa
    import pyarrow.json as json

    block = 1 << 20
    while True:
        try:
            read, parse = json.ReadOptions(block_size=block), json.ParseOptions(explicit_schema=schema)
            return json.read_json(opened(path), read, parse)
        except pa.ArrowInvalid as error:
            # An object is longer than two blocks.
            if "straddl" not in str(error) or block >= _BLOCK_BYTES_MAX:
                raise
            block *= 8
