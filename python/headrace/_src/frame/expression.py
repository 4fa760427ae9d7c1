"""Expressions over the columns of a frame, as trees; they mean nothing before a frame takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from headrace._src.arguments import checked_methods
from headrace._src.errors import UserError
from headrace._src.frame.patterns import is_text, portable, replaceable
from headrace._src.frame.row_expression import RowExpression

if TYPE_CHECKING:
    from headrace._src.frame.lists import ListFunctions

#: What an argument may be: an expression, or a value. A text is the name of a column where columns are meant.
IntoExpr = Any


@dataclass(frozen=True, eq=False, repr=False)
@checked_methods
class Expr(RowExpression):
    """An expression over columns. Made by `col`, `lit`, `when` and `len`; its methods make others of it.

    They mean what they mean in Polars. `+ - * / // % **`, comparisons, `& | ~` are operators.
    """

    kind: str
    operands: tuple[Expr, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        try:
            operands = [*map(repr, self.operands)]
        except RecursionError:  # of many thousands in each other the innermost
            operands = ["…"]
        inside = [*operands, *(f"{name}={value!r}" for name, value in self.options.items())]
        return f"{self.kind}({', '.join(inside)})"

    def __bool__(self) -> bool:
        raise UserError("an expression is neither true nor false: use & | ~ for and, or, not")

    __hash__ = object.__hash__

    # Operators

    def __add__(self, other: IntoExpr) -> Expr:
        return make("add", self, other)

    def __radd__(self, other: IntoExpr) -> Expr:
        return make("add", literal(other), self)

    def __sub__(self, other: IntoExpr) -> Expr:
        return make("subtract", self, other)

    def __rsub__(self, other: IntoExpr) -> Expr:
        return make("subtract", literal(other), self)

    def __mul__(self, other: IntoExpr) -> Expr:
        return make("multiply", self, other)

    def __rmul__(self, other: IntoExpr) -> Expr:
        return make("multiply", literal(other), self)

    def __truediv__(self, other: IntoExpr) -> Expr:
        return make("divide", self, other)

    def __rtruediv__(self, other: IntoExpr) -> Expr:
        return make("divide", literal(other), self)

    def __floordiv__(self, other: IntoExpr) -> Expr:
        return make("floor_divide", self, other)

    def __rfloordiv__(self, other: IntoExpr) -> Expr:
        return make("floor_divide", literal(other), self)

    def __mod__(self, other: IntoExpr) -> Expr:
        return make("modulo", self, other)

    def __rmod__(self, other: IntoExpr) -> Expr:
        return make("modulo", literal(other), self)

    def __pow__(self, other: IntoExpr) -> Expr:
        return make("power", self, other)

    def __rpow__(self, other: IntoExpr) -> Expr:
        return make("power", literal(other), self)

    def __neg__(self) -> Expr:
        return make("negate", self)

    def __invert__(self) -> Expr:
        return make("not", self)

    def __and__(self, other: IntoExpr) -> Expr:
        return make("and", self, other)

    def __rand__(self, other: IntoExpr) -> Expr:
        return make("and", literal(other), self)

    def __or__(self, other: IntoExpr) -> Expr:
        return make("or", self, other)

    def __ror__(self, other: IntoExpr) -> Expr:
        return make("or", literal(other), self)

    def __xor__(self, other: IntoExpr) -> Expr:
        return make("xor", self, other)

    def __eq__(self, other: IntoExpr) -> Expr:  # type: ignore[override]
        return make("equal", self, other)

    def __ne__(self, other: IntoExpr) -> Expr:  # type: ignore[override]
        return make("not_equal", self, other)

    def __lt__(self, other: IntoExpr) -> Expr:
        return make("less", self, other)

    def __le__(self, other: IntoExpr) -> Expr:
        return make("less_equal", self, other)

    def __gt__(self, other: IntoExpr) -> Expr:
        return make("greater", self, other)

    def __ge__(self, other: IntoExpr) -> Expr:
        return make("greater_equal", self, other)

    def eq_missing(self, other: IntoExpr) -> Expr:
        """Whether they are equal; two nulls are."""
        return make("equal_missing", self, other)

    def ne_missing(self, other: IntoExpr) -> Expr:
        """Whether they differ; two nulls do not."""
        return make("not", make("equal_missing", self, other))

    # Names and types

    def alias(self, name: str) -> Expr:
        """Names the column."""
        return make("alias", self, name=name)

    @property
    def name(self) -> NameFunctions:
        """`prefix` and `suffix`, for several columns at once."""
        return NameFunctions(self)

    def cast(self, dtype: Any, *, strict: bool = True) -> Expr:
        """To a type of Polars or pyarrow, or int, float, str, bool; strict=False: null where it cannot be."""
        return make("cast", self, dtype=dtype, strict=strict)

    # Nulls, NaN, choices

    def is_null(self) -> Expr:
        return make("is_null", self)

    def is_not_null(self) -> Expr:
        return make("not", make("is_null", self))

    def is_nan(self) -> Expr:
        return make("is_nan", self)

    def is_not_nan(self) -> Expr:
        return make("not", make("is_nan", self))

    def is_finite(self) -> Expr:
        return make("is_finite", self)

    def is_infinite(self) -> Expr:
        return make("is_infinite", self)

    def is_in(self, values: Iterable[Any]) -> Expr:
        """Whether it is one of the values; null stays null."""
        return make("is_in", self, values=tuple(values))

    def is_between(self, lower_bound: IntoExpr, upper_bound: IntoExpr, closed: str = "both") -> Expr:
        """closed: both, left, right or none."""
        return make("is_between", self, column(lower_bound), column(upper_bound), closed=closed)

    def fill_null(self, value: IntoExpr = None, strategy: str | None = None) -> Expr:
        """A value in place of nulls, or by a strategy: forward, backward, min, max, mean, zero or one."""
        if (value is None) == (strategy is None):
            raise UserError("fill_null takes a value or a strategy")
        if strategy is None:
            return make("coalesce", self, value)
        by = {
            "forward": self.forward_fill,
            "backward": self.backward_fill,
            **{name: lambda name=name: make("coalesce", self, make(name, self)) for name in ("min", "max")},
            "mean": lambda: make("coalesce", self, make("like", self.mean(), self)),
            **{name: lambda n=n: make("coalesce", self, n) for n, name in enumerate(("zero", "one"))},
        }
        if strategy not in by:
            raise UserError(f"a strategy is one of {', '.join(by)}, got {strategy}")
        return by[strategy]()

    def fill_nan(self, value: IntoExpr) -> Expr:
        return make("fill_nan", self, value)

    def clip(self, lower_bound: IntoExpr = None, upper_bound: IntoExpr = None) -> Expr:
        return make("clip", self, lower_bound, upper_bound)

    # Numbers

    def abs(self) -> Expr:
        return make("abs", self)

    def round(self, decimals: int = 0, mode: str = "half_to_even") -> Expr:
        """To the nearest, of two as near by mode: half_to_even or half_away_from_zero."""
        return make("round", self, decimals=decimals, mode=mode)

    def truncate(self, decimals: int = 0) -> Expr:
        """Without the digits behind some decimals."""
        return make("truncated", self, decimals=decimals)

    def floor(self) -> Expr:
        return make("floor", self)

    def ceil(self) -> Expr:
        return make("ceil", self)

    def sqrt(self) -> Expr:
        return make("sqrt", self)

    def exp(self) -> Expr:
        return make("exp", self)

    def log(self, base: float | None = None) -> Expr:
        """The natural logarithm, or that by `base`."""
        return make("log", self, base=base)

    def sign(self) -> Expr:
        return make("sign", self)

    def pow(self, exponent: IntoExpr) -> Expr:
        return make("power", self, exponent)

    # Aggregates

    def sum(self) -> Expr:
        """0 of no values."""
        return make("sum", self)

    def mean(self) -> Expr:
        return make("mean", self)

    def min(self) -> Expr:
        """NaN only of nothing else."""
        return make("min", self)

    def max(self) -> Expr:
        """NaN only of nothing else."""
        return make("max", self)

    def count(self) -> Expr:
        """How many are not null."""
        return make("count", self)

    def len(self) -> Expr:
        """How many rows there are."""
        return make("len_of", self)

    def null_count(self) -> Expr:
        return make("null_count", self)

    def n_unique(self) -> Expr:
        """How many different values there are; null is one."""
        return make("n_unique", self)

    def first(self) -> Expr:
        """Of the first row; the rows must have an order."""
        return make("first", self)

    def last(self) -> Expr:
        """Of the last row; the rows must have an order."""
        return make("last", self)

    def arg_min(self) -> Expr:
        """The place of the least; the rows must have an order."""
        return make("arg_min", self)

    def arg_max(self) -> Expr:
        """The place of the greatest; the rows must have an order."""
        return make("arg_max", self)

    def median(self) -> Expr:
        return make("median", self)

    def quantile(self, quantile: float, interpolation: str = "nearest") -> Expr:
        """interpolation: nearest, lower, higher, midpoint or linear."""
        return make("quantile", self, quantile=quantile, interpolation=interpolation)

    def std(self, ddof: int = 1) -> Expr:
        return make("std", self, ddof=ddof)

    def var(self, ddof: int = 1) -> Expr:
        return make("var", self, ddof=ddof)

    def product(self) -> Expr:
        return make("product", self)

    def any(self) -> Expr:
        """Whether any is true; nulls are passed over."""
        return make("any", self)

    def all(self) -> Expr:
        """Whether all are true; nulls are passed over."""
        return make("all", self)

    # Rows beside a row

    def over(
        self,
        partition_by: IntoExpr | Iterable[IntoExpr] | None = None,
        *more: IntoExpr,
        order_by: IntoExpr | Iterable[IntoExpr] | None = None,
        descending: bool = False,
        nulls_last: bool = False,
    ) -> Expr:
        """For each row among those that are equal in `partition_by`, in the order of `order_by`."""
        keys = columns(partition_by, *more)
        orders = columns(order_by)
        return Expr(
            "over",
            (self, *keys, *orders),
            {"keys": len(keys), "descending": descending, "nulls_last": nulls_last},
        )

    @property
    def str(self) -> StringFunctions:
        """Functions of texts."""
        return StringFunctions(self)

    @property
    def list(self) -> ListFunctions:
        """Functions of lists."""
        from headrace._src.frame.lists import ListFunctions

        return ListFunctions(self)

    @property
    def dt(self) -> TemporalFunctions:
        """Functions of dates and times."""
        return TemporalFunctions(self)


@dataclass(frozen=True)
class NameFunctions:
    """Names made of the names of columns: `expr.name.…`."""

    of: Expr

    def prefix(self, prefix: str) -> Expr:
        return make("rename", self.of, function=lambda name: prefix + name)

    def suffix(self, suffix: str) -> Expr:
        return make("rename", self.of, function=lambda name: name + suffix)


@dataclass(frozen=True)
class StringFunctions:
    """Functions of texts: `expr.str.…`. Lengths and offsets are characters, patterns texts."""

    of: Expr

    def to_lowercase(self) -> Expr:
        return make("to_lowercase", self.of)

    def to_uppercase(self) -> Expr:
        return make("to_uppercase", self.of)

    def len_chars(self) -> Expr:
        return make("len_chars", self.of)

    def len_bytes(self) -> Expr:
        return make("len_bytes", self.of)

    def contains(self, pattern: IntoExpr, *, literal: bool = False) -> Expr:
        """Whether a regular expression fits a part of it; or with literal, whether a text is in it."""
        if literal or is_text(pattern):
            return make("contains", self.of, pattern)
        return make("matches", self.of, pattern=portable(pattern))

    def starts_with(self, prefix: IntoExpr) -> Expr:
        return make("starts_with", self.of, prefix)

    def ends_with(self, suffix: IntoExpr) -> Expr:
        return make("ends_with", self.of, suffix)

    def replace(self, pattern: str, value: str, *, literal: bool = False) -> Expr:
        """`value` for what a regular expression, or a text, fits first."""
        expression = replaceable(pattern, value, literal)
        return make("replace", self.of, pattern=expression, by=value, every=False)

    def replace_all(self, pattern: IntoExpr, value: IntoExpr, *, literal: bool = False) -> Expr:
        """`value` for all that a regular expression, or a text, fits."""
        if literal or (is_text(pattern) and isinstance(value, str) and "$" not in value):
            return make("replace_all", self.of, pattern, value)
        expression = replaceable(pattern, value, literal)
        return make("replace", self.of, pattern=expression, by=value, every=True)

    def strip_chars(self, characters: str | None = None) -> Expr:
        return make("strip", self.of, function="trim", characters=characters)

    def strip_chars_start(self, characters: str | None = None) -> Expr:
        return make("strip", self.of, function="ltrim", characters=characters)

    def strip_chars_end(self, characters: str | None = None) -> Expr:
        return make("strip", self.of, function="rtrim", characters=characters)

    def slice(self, offset: int, length: int | None = None) -> Expr:
        """From an offset, of a negative one from the end."""
        return make("slice", self.of, offset=offset, length=length)

    def head(self, n: int) -> Expr:
        return make("head", self.of, n=n)

    def tail(self, n: int) -> Expr:
        return make("tail", self.of, n=n)

    def pad_start(self, length: int, fill_char: str = " ") -> Expr:
        return make("pad", self.of, function="lpad", length=length, fill=fill_char)

    def pad_end(self, length: int, fill_char: str = " ") -> Expr:
        return make("pad", self.of, function="rpad", length=length, fill=fill_char)

    def reverse(self) -> Expr:
        return make("reverse", self.of)

    def to_integer(self, *, strict: bool = True) -> Expr:
        return make("cast", self.of, dtype=int, strict=strict)

    def to_date(self) -> Expr:
        """A text such as 2020-12-31 as a date."""
        return make("text_to", self.of, dtype="Date")

    def to_datetime(self) -> Expr:
        """A text such as 2020-12-31 10:00:00 as a timestamp."""
        return make("text_to", self.of, dtype="Datetime")


@dataclass(frozen=True)
class TemporalFunctions:
    """Functions of dates and times: `expr.dt.…`."""

    of: Expr

    def year(self) -> Expr:
        return make("part", self.of, part="year")

    def iso_year(self) -> Expr:
        return make("part", self.of, part="isoyear")

    def quarter(self) -> Expr:
        return make("part", self.of, part="quarter")

    def month(self) -> Expr:
        return make("part", self.of, part="month")

    def week(self) -> Expr:
        return make("part", self.of, part="week")

    def day(self) -> Expr:
        return make("part", self.of, part="day")

    def weekday(self) -> Expr:
        """Monday is 1, Sunday 7."""
        return make("part", self.of, part="isodow")

    def ordinal_day(self) -> Expr:
        return make("part", self.of, part="doy")

    def hour(self) -> Expr:
        return make("part", self.of, part="hour")

    def minute(self) -> Expr:
        return make("part", self.of, part="minute")

    def second(self) -> Expr:
        return make("part", self.of, part="second")

    def millisecond(self) -> Expr:
        return make("part", self.of, part="millisecond")

    def microsecond(self) -> Expr:
        return make("part", self.of, part="microsecond")

    def date(self) -> Expr:
        return make("date", self.of)

    def time(self) -> Expr:
        return make("time", self.of)

    def truncate(self, every: str) -> Expr:
        """To the beginning of one unit: 1s, 1m, 1h, 1d, 1w, 1mo, 1q or 1y."""
        return make("truncate", self.of, every=every)

    def offset_by(self, by: str) -> Expr:
        """Later by units such as 3d, -1mo or 2h; a day that a month lacks becomes its last."""
        return make("offset", self.of, by=by)

    def month_start(self) -> Expr:
        """The first day of the month, at the same time."""
        return make("month_start", self.of)

    def epoch(self, time_unit: str = "us") -> Expr:
        """Units since 1970: us, ms, s or d."""
        return make("epoch", self.of, unit=time_unit)

    def strftime(self, format: str) -> Expr:
        return make("strftime", self.of, format=format)

    to_string = strftime


class When:
    """A condition that waits for its value: what `when` makes."""

    def __init__(self, chosen: Sequence[Expr], condition: Expr) -> None:
        self._chosen = chosen
        self._condition = condition

    def then(self, value: IntoExpr) -> Then:
        """The value where the condition holds; a text is the name of a column."""
        return Then("when", (*self._chosen, self._condition, column(value)))


class Then(Expr):
    """A choice: null where no condition holds."""

    def when(self, *conditions: Expr) -> When:
        """Another condition, for where those before do not hold."""
        return When(self.operands, all_of(conditions))

    def otherwise(self, value: IntoExpr) -> Expr:
        """The value where no condition holds; a text is the name of a column."""
        return Expr("when", (*self.operands, column(value)))


def make(kind: str, *operands: IntoExpr, **options: Any) -> Expr:
    return Expr(kind, tuple(map(literal, operands)), options)


def literal(value: IntoExpr) -> Expr:
    """A value as an expression; an expression as it is."""
    return value if isinstance(value, Expr) else Expr("lit", (), {"value": value})


def column(value: IntoExpr) -> Expr:
    """A text as the column of that name, another value as a literal."""
    return Expr("col", (), {"names": (value,)}) if isinstance(value, str) else literal(value)


def columns(*values: IntoExpr | Iterable[IntoExpr] | None) -> tuple[Expr, ...]:
    """Columns by name, expressions, and lists of both."""
    out: list[Expr] = []
    for value in values:
        if value is None:
            continue
        many = isinstance(value, Iterable) and not isinstance(value, (str, Expr))
        out += columns(*value) if many else [column(value)]
    return tuple(out)


def flags(value: bool | Sequence[bool], count: int, what: str) -> tuple[bool, ...]:
    """A flag for each of several keys."""
    many = (value,) * count if isinstance(value, bool) else tuple(value)
    if len(many) != count:
        raise UserError(f"{what} needs a value for each key: {count}, got {len(many)}")
    return many


def all_of(conditions: Iterable[IntoExpr]) -> Expr:
    first, *others = (column(each) for each in conditions)
    for other in others:
        first = first & other
    return first


def transformed(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """The tree with what `change` gives in place of the nodes for which it gives something."""
    changed = change(expr)
    if changed is not None:
        return changed
    operands = tuple(transformed(each, change) for each in expr.operands)
    if all(new is old for new, old in zip(operands, expr.operands, strict=True)):
        return expr
    return replace(expr, operands=operands)
