"""Random small tables for random programs: skewed keys, NULLs, values at which comparisons and joins meet."""

from __future__ import annotations

import datetime
import json
import math
import struct
from dataclasses import dataclass
from decimal import Decimal
from random import Random

import pyarrow as pa

INTEGERS = ("i32", "i64")
_STRINGS = (
    "",
    "a",
    "ab",
    "b",
    "ba",
    "special requests",
    "žlutý kůň",
    "a text longer than sixteen bytes",
    "AB",
    "100%",
)
_FIRST_DAY = datetime.date(1992, 2, 28)


@dataclass(frozen=True)
class Column:
    """A column of a program: name, type without nullability ("i64", "decimal<8, 2>"), whether NULL may be."""

    name: str
    kind: str
    nullable: bool

    @property
    def mlir(self) -> str:
        return type_text(self.kind, self.nullable)

    @property
    def scale(self) -> int:
        return int(self.kind.rstrip(">").split(",")[1])

    @property
    def precision(self) -> int:
        return int(self.kind.split("<")[1].split(",")[0])

    @property
    def arrow(self) -> pa.DataType:
        if self.kind.startswith("decimal"):
            return pa.decimal128(self.precision, self.scale)
        known = {"i1": pa.bool_(), "i32": pa.int32(), "i64": pa.int64(), "f64": pa.float64()}
        return {**known, "string": pa.string(), "date": pa.date32()}[self.kind]


def type_text(kind: str, nullable: bool) -> str:
    value = f"!frame.{kind}" if kind in ("string", "date") or kind.startswith("decimal") else kind
    return f"!frame.nullable<{value}>" if nullable else value


def random_value(random: Random, kind: str) -> object:
    skewed = min(random.randrange(12), random.randrange(12))  # small numbers are frequent
    if kind == "i1":
        return random.random() < 0.6
    if kind in INTEGERS:
        return skewed - 3 if random.random() < 0.9 else random.randrange(-1000, 1000)
    if kind.startswith("decimal"):
        column = Column("", kind, False)
        scaled = (
            skewed * 25
            if random.random() < 0.7
            else random.randrange(-(10 ** min(column.precision, 6)) + 1, 10**4)
        )
        limit = 10**column.precision - 1
        return Decimal(max(-limit, min(limit, scaled))).scaleb(-column.scale)
    if kind == "f64":
        if random.random() < 0.08:
            return random.choice((math.nan, math.nan, math.inf, -math.inf, -0.0))
        return (skewed - 4) * 0.25  # sums are exact
    if kind == "string":
        return _STRINGS[min(skewed, len(_STRINGS) - 1)]
    return _FIRST_DAY + datetime.timedelta(days=skewed if random.random() < 0.8 else random.randrange(3000))


def literal(value: object, kind: str) -> str:
    """A value as frame.constant writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return str(int(value.scaleb(Column("", kind, False).scale)))
    if isinstance(value, (str, datetime.date)):
        return json.dumps(str(value), ensure_ascii=False)
    if isinstance(value, float) and not math.isfinite(value):
        return f'"{value}"'
    return repr(value)


@dataclass
class TableData:
    """A stored table: its columns under their names in the file, and its rows."""

    name: str
    columns: list[Column]
    rows: list[list[object]]

    @property
    def arrow(self) -> pa.Table:
        fields = [pa.field(column.name, column.arrow, nullable=column.nullable) for column in self.columns]
        arrays = [
            pa.array([row[index] for row in self.rows], column.arrow)
            for index, column in enumerate(self.columns)
        ]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def statistics(self, random: Random) -> str:
        """True statistics of the rows and of some columns, as an attribute of a scan; or nothing."""
        if random.random() < 0.4:
            return ""
        entries = []
        for index, column in enumerate(self.columns):
            # As in files: NaN is no bound.
            values = [row[index] for row in self.rows if row[index] is not None and row[index] == row[index]]
            if column.kind in ("string", "i1") or not values or random.random() < 0.2:
                continue
            low, high = (_statistic(bound(values), column) for bound in (min, max))
            kind = "f64" if column.kind == "f64" else "i64"
            nulls = sum(row[index] is None for row in self.rows)
            entries.append(
                f"{column.name} = {{min = {low} : {kind}, max = {high} : {kind}, nulls = {nulls} : i64, "
                f"distinct = {len(set(values))} : i64}}"
            )
        return f" {{statistics = {{rows = {len(self.rows)} : i64, columns = {{{', '.join(entries)}}}}}}}"


def _statistic(value: object, column: Column) -> str:
    if isinstance(value, datetime.date):
        return str((value - datetime.date(1970, 1, 1)).days)
    if isinstance(value, float):
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"  # as attributes write infinity
    return literal(value, column.kind)


def random_table(random: Random, name: str) -> TableData:
    kinds = ["i64", "i32", "string", "date", "i1", "f64", "decimal<8, 2>", "decimal<15, 2>", "decimal<4, 0>"]
    columns = [Column("k", "i64", random.random() < 0.5), Column("s", "string", random.random() < 0.5)]
    for index in range(random.randrange(1, 5)):
        columns.append(Column(f"c{index}", random.choice(kinds), random.random() < 0.5))
    rows = []
    for _ in range(random.choice([0, 1, 3, 8, 20, 30])):
        rows.append(
            [
                None if column.nullable and random.random() < 0.2 else random_value(random, column.kind)
                for column in columns
            ]
        )
    return TableData(name, columns, rows)
