"""Files that Arrow's library reads as tables in memory: its own, and JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace._src.errors import InputOutputError, UserError, reason

if TYPE_CHECKING:
    import pyarrow as pa


def read_ipc(path: str) -> pa.Table:
    """An Arrow file, mapped. Raises UserError for what is none."""
    import pyarrow as pa

    try:
        return pa.ipc.open_file(pa.memory_map(path)).read_all()
    except pa.ArrowInvalid as error:
        raise UserError(f"not an Arrow file: {path}: {error}") from None
    except OSError as error:
        # no test: it takes a disk that fails
        raise InputOutputError(f"cannot read the file: {path}: {reason(error)}") from None


def read_ndjson(path: str) -> pa.Table:
    """Objects of JSON, one behind the other. Raises UserError for what is none."""
    import pyarrow as pa
    import pyarrow.json

    try:
        return pyarrow.json.read_json(path)
    except pa.ArrowInvalid as error:
        raise UserError(f"not a file of JSON lines: {path}: {error}") from None
    except OSError as error:
        # no test: it takes a disk that fails
        raise InputOutputError(f"cannot read the file: {path}: {reason(error)}") from None
