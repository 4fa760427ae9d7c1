"""Files that Arrow's library reads as tables in memory: its own, and JSON lines; here or in stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace._src.errors import InputOutputError, UserError, reason
from headrace._src.query.store_files import is_store, opened, shown

if TYPE_CHECKING:
    import pyarrow as pa


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
    import pyarrow.json

    try:
        return pyarrow.json.read_json(opened(path))
    except pa.ArrowInvalid as error:
        raise UserError(f"not a file of JSON lines: {shown(path)}: {error}") from None
    except OSError as error:
        # no test: it takes a disk that fails
        raise InputOutputError(f"cannot read the file: {shown(path)}: {reason(error)}") from None
