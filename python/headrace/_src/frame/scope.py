"""What an expression is translated in: the columns of a frame, and the stages that its SQL is computed in.

SQL has no window in a window, and no window in an aggregate. So every window becomes a column of a stage, a
selection below the one that uses it:

    select "a", "a" - "~1" as "b" from (select *, avg("a") over () as "~1" from f0)

A value's level is the number of stages that it needs below it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from headrace._src.errors import UnsupportedError, UserError
from headrace._src.frame.types import is_unsigned, sql_type, supertype
from headrace._src.sql.literals import literal
from headrace._src.sql.tables import quoted


@dataclass(frozen=True)
class Column:
    """A column of a frame."""

    sql: str  # its name in SQL, quoted
    type: pa.DataType


@dataclass(frozen=True)
class Key:
    """A part of an order."""

    sql: str
    descending: bool = False
    nulls_last: bool = False

    def __str__(self) -> str:
        return (
            f"{self.sql}{' desc' if self.descending else ''} nulls {'last' if self.nulls_last else 'first'}"
        )

    @property
    def reversed(self) -> Key:
        return Key(self.sql, not self.descending, not self.nulls_last)


@dataclass(frozen=True)
class Value:
    """A translated expression."""

    sql: str
    type: pa.DataType
    #: Stages that must be below it.
    level: int = 0
    #: Of a literal whose type bends to what stands beside it; `literal` tells it from None.
    value: Any = None
    literal: bool = False
    #: Which rows an aggregate of it sees; empty: all.
    where: str = ""
    #: The order of its rows, if it is not that of the frame.
    order: tuple[Key, ...] = ()
    #: Whether rows of one group have the same: an aggregate of the group.
    grouped: bool = False


@dataclass
class Stages:
    """The columns that are computed below an operation, by the stage; the same text is computed once."""

    columns: list[dict[str, str]] = field(default_factory=list)
    made: int = 0

    def put(self, sql: str, level: int, taken: Collection[str]) -> str:
        """The name of a column with this value, in the stage above all that it needs; none of those taken."""
        self.reach(level + 1)
        stage = self.columns[level]
        if sql not in stage:
            self.made += 1
            while quoted(f"~{self.made}") in taken:
                self.made += 1
            stage[sql] = quoted(f"~{self.made}")
        return stage[sql]

    def reach(self, level: int) -> None:
        """Makes sure of so many stages."""
        while len(self.columns) < level:
            self.columns.append({})

    def around(self, source: str) -> str:
        """The table with all stages above it."""
        for stage in self.columns:
            computed = "".join(f", {sql} as {name}" for sql, name in stage.items())
            source = f"(select *{computed} from {source})"
        return source


@dataclass(frozen=True)
class Scope:
    """Where an expression is translated."""

    columns: Mapping[str, Column]
    #: The order of the rows, if they have one.
    order: tuple[Key, ...] = ()
    #: The keys of the group that a row belongs to, and the stages below them and the order.
    keys: tuple[str, ...] = ()
    floor: int = 0
    #: Whether aggregates are those of a GROUP BY; else they are windows over the group.
    grouped: bool = False
    #: Whether the rows are those of a group of a GROUP BY with keys.
    in_group: bool = False
    stages: Stages = field(default_factory=Stages)

    @property
    def rows(self) -> Scope:
        """The same for the rows within a group."""
        return replace(self, grouped=False)

    def column(self, name: str) -> Column:
        if name not in self.columns:
            raise UserError(unknown_column(name, self.columns))
        return self.columns[name]

    def window(
        self, call: str, dtype: pa.DataType, level: int, *, order: Sequence[Key] = (), frame: str = ""
    ) -> Value:
        """A window function over the group of each row, as a column of a stage."""
        parts = [f"partition by {', '.join(self.keys)}"] if self.keys else []
        parts += [f"order by {', '.join(map(str, order))}"] if order else []
        parts += [frame] if frame else []
        return self.staged(Value(f"{call} over ({' '.join(parts)})", dtype, max(level, self.floor)))

    def staged(self, value: Value) -> Value:
        """The same value as a column of a stage."""
        taken = {each.sql for each in self.columns.values()}
        name = self.stages.put(value.sql, value.level, taken)
        return Value(name, value.type, value.level + 1, where=value.where, order=value.order)

    def once(self, value: Value) -> Value:
        """A value that is to be written several times: a long one becomes a column."""
        if value.grouped or value.literal or len(value.sql) < 80:
            return value
        return self.staged(value)

    def ordered(self, what: str) -> tuple[Key, ...]:
        if not self.order:
            raise UserError(f"{what} needs an order of the rows: sort before it, or say over(…, order_by=…)")
        return self.order


def unknown_column(name: str, columns: Mapping[str, Column]) -> str:
    import difflib

    near = difflib.get_close_matches(name, columns, 3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(columns) or 'none'}"
    return f"no such column: {name}; {hint}"


def combined(sql: str, dtype: pa.DataType, *values: Value) -> Value:
    """A value that is made of others of its row."""
    wheres = {value.where for value in values if value.where}
    if len(wheres) > 1:
        raise UserError("an expression is made of values of different filters: filter once, behind it")
    order = next((value.order for value in values if value.order), ())
    if order and any(value.order != order and not value.literal for value in values):
        raise UnsupportedError("values in another order beside others: sort the frame")
    return Value(
        sql,
        dtype,
        max((value.level for value in values), default=0),
        where=next(iter(wheres), ""),
        order=order,
        grouped=any(value.grouped for value in values),
    )


_UNITS = {"s": "second", "ms": "millisecond", "us": "microsecond"}
#: The nanoseconds of a unit.
_STEPS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def converted(value: Value, dtype: pa.DataType) -> Value:
    """The value as this type, where it has another; a literal is written as one."""
    if value.type == dtype:
        return value
    if value.literal:
        return Value(typed_literal(value.value, dtype), dtype, value.level, value.value, True)
    return replace(value, sql=f"cast({floored(value, dtype)} as {sql_type(dtype)})", type=dtype)


def floored(value: Value, dtype: pa.DataType) -> str:
    """What SQL casts to a coarser timestamp as Polars does, which rounds down."""
    if not (pa.types.is_timestamp(value.type) and pa.types.is_timestamp(dtype)):
        return value.sql
    steps = _STEPS[dtype.unit] // _STEPS[value.type.unit]
    if steps <= 1:
        return value.sql
    if value.type.unit != "ns":
        return f"date_trunc('{_UNITS[dtype.unit]}', {value.sql})"
    number = f"epoch_ns({value.sql})"  # date_trunc takes microseconds
    return f"make_timestamp_ns({number} - ({number} % {steps} + {steps}) % {steps})"


def typed_literal(value: Any, dtype: pa.DataType) -> str:
    """A literal of a type."""
    if value is None:
        return "NULL" if pa.types.is_null(dtype) else f"cast(NULL as {sql_type(dtype)})"
    if dtype in (pa.float64(), pa.float32()) and not isinstance(value, bool):
        value = float(value)
    if pa.types.is_timestamp(dtype) and hasattr(value, "microsecond"):
        step = max(_STEPS[dtype.unit] // _STEPS["us"], 1)
        value = value.replace(microsecond=value.microsecond // step * step)
    plain = literal(value)
    natural = (pa.bool_(), pa.duration("us"), pa.float64(), pa.string(), pa.date32(), pa.timestamp("us"))
    if dtype in natural and not (dtype == pa.timestamp("us") and not hasattr(value, "hour")):
        return plain
    if dtype == pa.int32() and isinstance(value, int) and not isinstance(value, bool):
        return plain
    return f"cast({plain} as {sql_type(dtype)})"


def common_type(left: Value, right: Value, what: str) -> pa.DataType:
    """The type in which two values meet: a literal takes that of a column where that can hold it."""
    if left.literal != right.literal:
        column, other = (right, left) if left.literal else (left, right)
        bent = _bent(other, column.type)
        if bent is not None:
            return bent
    found = supertype(left.type, right.type)
    if found is None:
        raise UserError(f"{what} of {left.type} and {right.type}: cast one of them")
    return found


def _bent(literal_value: Value, dtype: pa.DataType) -> pa.DataType | None:
    value = literal_value.value
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        if pa.types.is_integer(dtype):
            bits = dtype.bit_width - (0 if is_unsigned(dtype) else 1)
            least = 0 if is_unsigned(dtype) else -(1 << bits)
            return dtype if least <= value < 1 << bits else None
        return dtype if pa.types.is_floating(dtype) else None
    if isinstance(value, float):
        return dtype if pa.types.is_floating(dtype) else None
    return None


#: What translates one kind of expression.
Rule = Callable[..., Value]
