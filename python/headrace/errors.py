"""The exceptions of headrace by kind; all of them are `HeadraceError`."""

from headrace._src.errors import (
    CancelledError,
    ConstraintError,
    CorruptError,
    DataError,
    HeadraceError,
    InputOutputError,
    InternalError,
    MemoryLimitError,
    MismatchError,
    QueryTimeoutError,
    SqlError,
    TransactionError,
    UnsupportedError,
    UserError,
)

__all__ = [
    "CancelledError",
    "ConstraintError",
    "CorruptError",
    "DataError",
    "HeadraceError",
    "InputOutputError",
    "InternalError",
    "MemoryLimitError",
    "MismatchError",
    "QueryTimeoutError",
    "SqlError",
    "TransactionError",
    "UnsupportedError",
    "UserError",
]
