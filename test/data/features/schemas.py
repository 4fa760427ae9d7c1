"""Three small tables for the features of SQL that TPC-H does not use: nullable, and NOT NULL (`r`)."""

from __future__ import annotations

import pyarrow as pa

SCHEMAS: dict[str, pa.Schema] = {
    "t": pa.schema(
        [
            ("a", pa.int64()),
            ("b", pa.string()),
            ("d", pa.decimal128(15, 2)),
            ("x", pa.date32()),
            ("f", pa.float64()),
            ("i", pa.int32()),
            ("s", pa.int16()),
            ("z", pa.bool_()),
        ]
    ),
    "u": pa.schema([("n", pa.int64())]),
    "r": pa.schema([pa.field("k", pa.int64(), nullable=False)]),
}
