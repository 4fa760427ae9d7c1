"""Functions of lists: `expr.list.…`, and their rules."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from headrace._src.errors import UserError
from headrace._src.frame.expression import Expr, IntoExpr, make
from headrace._src.frame.scope import Scope, Value, combined, common_type, converted
from headrace._src.frame.translate import rule
from headrace._src.frame.types import (
    counted_in,
    is_float,
    is_integer,
    is_list,
    is_numeric,
    sql_type,
)

_COUNT = pa.int64()
_DOUBLE = pa.float64()
_BOOL = pa.bool_()


@dataclass(frozen=True)
class ListFunctions:
    """Functions of lists: `expr.list.…`. A list that is null gives null."""

    of: Expr

    def len(self) -> Expr:
        """How many elements it has."""
        return make("list_len", self.of)

    def get(self, index: IntoExpr, *, null_on_oob: bool = False) -> Expr:
        """The element at a place, of a negative one from the end; where there is none null, or an error."""
        return make("list_get", self.of, index, null_on_oob=null_on_oob)

    def first(self) -> Expr:
        """Null of no elements."""
        return self.get(0, null_on_oob=True)

    def last(self) -> Expr:
        """Null of no elements."""
        return self.get(-1, null_on_oob=True)

    def sum(self) -> Expr:
        """0 of no elements."""
        return make("list_sum", self.of)

    def mean(self) -> Expr:
        return make("list_mean", self.of)

    def min(self) -> Expr:
        return make("list_end", self.of, function="list_min")

    def max(self) -> Expr:
        return make("list_end", self.of, function="list_max")

    def contains(self, item: IntoExpr) -> Expr:
        """Whether an element is in it."""
        return make("list_contains", self.of, item)

    def sort(self, *, descending: bool = False, nulls_last: bool = False) -> Expr:
        return make("list_sort", self.of, descending=descending, nulls_last=nulls_last)

    def reverse(self) -> Expr:
        return make("list_same", self.of, function="list_reverse")

    def slice(self, offset: int, length: int | None = None) -> Expr:
        """From an offset, of a negative one from the end."""
        return make("list_slice", self.of, offset=offset, length=length)

    def head(self, n: int = 5) -> Expr:
        return make("list_slice", self.of, offset=0, length=n)

    def tail(self, n: int = 5) -> Expr:
        return make("list_slice", self.of, offset=-n or 0, length=None if n else 0)

    def concat(self, other: IntoExpr) -> Expr:
        """With the elements of another list behind its own."""
        return make("list_concat", self.of, other)

    def join(self, separator: str, *, ignore_nulls: bool = True) -> Expr:
        """The texts one behind the other; nulls are passed over, or else make null."""
        return make("list_join", self.of, separator=separator, ignore_nulls=ignore_nulls)


def _list(value: Value, what: str) -> pa.DataType:
    """The type of its elements."""
    if not is_list(value.type):
        raise UserError(f"list.{what} takes lists, got {value.type}")
    return value.type.value_type


@rule("list_len")
def _len(scope: Scope, value: Value) -> Value:
    _list(value, "len")
    return combined(f"len({value.sql})", _COUNT, value)


@rule("list_get")
def _get(scope: Scope, value: Value, index: Value, null_on_oob: bool) -> Value:
    dtype = _list(value, "get")
    if not is_integer(index.type):
        raise UserError(f"list.get takes a whole number, got {index.type}")
    if index.literal and index.value is not None:
        place = str(index.value + 1 if index.value >= 0 else index.value)
    else:
        place = f"case when {index.sql} >= 0 then {index.sql} + 1 else {index.sql} end"
    if null_on_oob:
        return combined(f"list_extract({value.sql}, {place})", dtype, value, index)
    value, index = scope.once(value), scope.once(index)
    inside = f"{index.sql} < len({value.sql}) and {index.sql} >= -len({value.sql})"
    checked = f"case when {inside} then {place} else error('list.get of a place that is not there') end"
    sql = f"case when {value.sql} is not null then list_extract({value.sql}, {checked}) end"
    return combined(sql, dtype, value, index)


@rule("list_sum")
def _sum(scope: Scope, value: Value) -> Value:
    dtype = _list(value, "sum")
    if dtype == _BOOL or not is_numeric(dtype):
        raise UserError(f"list.sum takes lists of numbers, got {value.type}")
    dtype = counted_in(dtype) if is_integer(dtype) else dtype
    value = scope.once(value)
    sql = f"cast(coalesce(list_sum({value.sql}), 0) as {sql_type(dtype)})"
    return combined(f"case when {value.sql} is not null then {sql} end", dtype, value)


@rule("list_mean")
def _mean(scope: Scope, value: Value) -> Value:
    of = _list(value, "mean")
    if not is_numeric(of):
        raise UserError(f"list.mean takes lists of numbers, got {value.type}")
    dtype = of if of == pa.float32() else _DOUBLE
    return combined(f"cast(list_avg({value.sql}) as {sql_type(dtype)})", dtype, value)


@rule("list_end")
def _end(scope: Scope, value: Value, function: str) -> Value:
    dtype = _list(value, function.removeprefix("list_"))
    if is_float(dtype) and function == "list_max":
        from headrace._src.errors import UnsupportedError

        raise UnsupportedError("list.max of floats is not supported: explode and group")
    return combined(f"{function}({value.sql})", dtype, value)


@rule("list_contains")
def _contains(scope: Scope, value: Value, item: Value) -> Value:
    of = _list(value, "contains")
    one = Value("", of)
    dtype = common_type(one, item, "list.contains")
    if dtype != of:
        raise UserError(f"list.contains of {item.type} in {value.type}: cast one of them")
    item = converted(item, of)
    value, item = scope.once(value), scope.once(item)
    nulls = f"list_count({value.sql}) < len({value.sql})"
    found = f"coalesce(list_contains({value.sql}, {item.sql}), false)"
    sql = f"case when {value.sql} is null then null when {item.sql} is null then {nulls} else {found} end"
    return combined(sql, _BOOL, value, item)


@rule("list_sort")
def _sort(scope: Scope, value: Value, descending: bool, nulls_last: bool) -> Value:
    _list(value, "sort")
    how = f"'{'desc' if descending else 'asc'}', 'nulls {'last' if nulls_last else 'first'}'"
    return combined(f"list_sort({value.sql}, {how})", value.type, value)


@rule("list_same")
def _same(scope: Scope, value: Value, function: str) -> Value:
    _list(value, function.removeprefix("list_"))
    return combined(f"{function}({value.sql})", value.type, value)


@rule("list_slice")
def _slice(scope: Scope, value: Value, offset: int, length: int | None) -> Value:
    _list(value, "slice")
    if length is not None and length < 0:
        raise UserError(f"a length is at least 0, got {length}")
    value = scope.once(value)
    start = str(offset + 1) if offset >= 0 else f"greatest(len({value.sql}) {offset} + 1, 1)"
    if length is None:
        end = f"len({value.sql})"
    elif offset >= 0:
        end = str(offset + length)
    else:
        end = f"len({value.sql}) {offset} + {length}"
    # What lies before the first element counts for the length, as it does in Polars.
    sql = f"list_slice({value.sql}, {start}, greatest({end}, 0))"
    if offset < 0 or length is not None:
        empty = f"cast([] as {sql_type(value.type)})"
        sql = f"case when {end} < {start} then {empty} else {sql} end"
    return combined(f"case when {value.sql} is not null then {sql} end", value.type, value)


@rule("list_concat")
def _concat(scope: Scope, *values: Value) -> Value:
    first = values[0]
    _list(first, "concat")
    for each in values[1:]:
        if each.type != first.type:
            raise UserError(f"list.concat of {first.type} and {each.type}: cast one of them")
    return combined(f"({' || '.join(each.sql for each in values)})", first.type, *values)


@rule("list_join")
def _join(scope: Scope, value: Value, separator: str, ignore_nulls: bool) -> Value:
    from headrace._src.sql.literals import literal

    if _list(value, "join") != pa.string():
        raise UserError(f"list.join takes lists of texts, got {value.type}")
    value = scope.once(value)
    sql = f"coalesce(array_to_string({value.sql}, {literal(separator)}), '')"
    condition = f"{value.sql} is not null" if ignore_nulls else f"list_count({value.sql}) = len({value.sql})"
    return combined(f"case when {condition} then {sql} end", pa.string(), value)
