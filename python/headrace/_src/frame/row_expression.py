"""The methods of expressions that see, choose or order the rows beside a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from headrace._src.errors import UserError

if TYPE_CHECKING:
    from headrace._src.frame.expression import Expr, IntoExpr


class RowExpression:
    """What `Expr` can do with the rows of its column."""

    def _made(self, kind: str, *operands: IntoExpr, **options: Any) -> Expr:
        from headrace._src.frame.expression import make

        return make(kind, self, *operands, **options)

    # Some of the rows: alone in a select, or for the aggregate that follows

    def filter(self, *predicates: Expr) -> Expr:
        """The rows where all hold."""
        from headrace._src.frame.expression import all_of

        return self._made("filter", all_of(predicates))

    def head(self, n: int = 10) -> Expr:
        """The first rows, of a negative n all but the last."""
        return self._made("rows", offset=0, length=n) if n >= 0 else self.reverse().slice(-n).reverse()

    limit = head

    def tail(self, n: int = 10) -> Expr:
        """The last rows."""
        return self._made("rows", offset=-n or 0, length=None if n else 0)

    def slice(self, offset: int, length: int | None = None) -> Expr:
        """The rows from an offset, of a negative one from the end."""
        return self._made("rows", offset=offset, length=length)

    def gather_every(self, n: int, offset: int = 0) -> Expr:
        """Each n-th row."""
        if n < 1 or offset < 0:
            raise UserError(
                f"gather_every takes n of at least 1 and an offset of at least 0, got {n}, {offset}"
            )
        return self._made("gather_every", n=n, offset=offset)

    def drop_nulls(self) -> Expr:
        return self._made("drop_nulls")

    def drop_nans(self) -> Expr:
        return self._made("drop_nans")

    def unique(self, *, maintain_order: bool = False) -> Expr:
        """One row of each value."""
        return self._made("unique", maintain_order=maintain_order)

    def top_k(self, k: int = 5) -> Expr:
        """The k greatest."""
        return self._made("most", k=k, descending=True)

    def bottom_k(self, k: int = 5) -> Expr:
        """The k least."""
        return self._made("most", k=k, descending=False)

    # Another order, for the same

    def sort(self, *, descending: bool = False, nulls_last: bool = False) -> Expr:
        return self._made("sorted", descending=descending, nulls_last=nulls_last)

    def sort_by(
        self,
        by: IntoExpr | Iterable[IntoExpr],
        *more_by: IntoExpr,
        descending: bool | Sequence[bool] = False,
        nulls_last: bool | Sequence[bool] = False,
    ) -> Expr:
        """In the order of other columns."""
        from headrace._src.frame.expression import columns, flags

        keys = columns(by, *more_by)
        return self._made(
            "sorted_by",
            *keys,
            descending=flags(descending, len(keys), "descending"),
            nulls_last=flags(nulls_last, len(keys), "nulls_last"),
        )

    def reverse(self) -> Expr:
        return self._made("reversed")

    # Lists

    def implode(self) -> Expr:
        """The values of a group as a list, in their order; what agg() makes of what is not one value."""
        return self._made("implode")

    # Rows beside a row

    def rank(self, method: str = "average", *, descending: bool = False) -> Expr:
        """method: average, min, max, dense or ordinal (which needs an order of the rows)."""
        return self._made("rank", method=method, descending=descending)

    def shift(self, n: int = 1, *, fill_value: IntoExpr = None) -> Expr:
        """Of the row n before it; the rows must have an order."""
        return self._made("shift", fill_value, n=n)

    def diff(self, n: int = 1) -> Expr:
        """The step from the row n before it."""
        return self._made("diff", n=n)

    def pct_change(self, n: int = 1) -> Expr:
        """The share by which it differs from the row n before it."""
        return self._made("share_of_change", n=n)

    def forward_fill(self) -> Expr:
        """The last value up to this row in place of nulls."""
        return self._made("filled", backward=False)

    def backward_fill(self) -> Expr:
        """The next value from this row on in place of nulls."""
        return self._made("filled", backward=True)

    def is_duplicated(self) -> Expr:
        """Whether another row has the same value; null is one."""
        return self._made("duplicated")

    def is_unique(self) -> Expr:
        """Whether no other row has the same value; null is one."""
        from headrace._src.frame.expression import make

        return make("not", self.is_duplicated())

    def is_first_distinct(self) -> Expr:
        """Whether no row before it has the same value."""
        return self._made("end_of_equals", last=False)

    def is_last_distinct(self) -> Expr:
        """Whether no row behind it has the same value."""
        return self._made("end_of_equals", last=True)

    def rle_id(self) -> Expr:
        """How often the value has changed up to this row."""
        return self._made("rle_id")

    def cum_sum(self, *, reverse: bool = False) -> Expr:
        return self._made("cumulative", function="sum", reverse=reverse)

    def cum_min(self, *, reverse: bool = False) -> Expr:
        return self._made("cumulative", function="min", reverse=reverse)

    def cum_max(self, *, reverse: bool = False) -> Expr:
        return self._made("cumulative", function="max", reverse=reverse)

    def cum_count(self, *, reverse: bool = False) -> Expr:
        return self._made("cumulative", function="count", reverse=reverse)

    def rolling_sum(self, window_size: int, *, min_samples: int | None = None, center: bool = False) -> Expr:
        """Of the last rows up to this one, or (center) around it; null of fewer than min_samples values.

        min_samples: window_size if it is not given.
        """
        return self._rolling("sum", window_size, min_samples, center)

    def rolling_mean(self, window_size: int, *, min_samples: int | None = None, center: bool = False) -> Expr:
        return self._rolling("mean", window_size, min_samples, center)

    def rolling_min(self, window_size: int, *, min_samples: int | None = None, center: bool = False) -> Expr:
        return self._rolling("min", window_size, min_samples, center)

    def rolling_max(self, window_size: int, *, min_samples: int | None = None, center: bool = False) -> Expr:
        return self._rolling("max", window_size, min_samples, center)

    def rolling_std(
        self, window_size: int, *, min_samples: int | None = None, center: bool = False, ddof: int = 1
    ) -> Expr:
        return self._rolling("std", window_size, min_samples, center, ddof)

    def rolling_var(
        self, window_size: int, *, min_samples: int | None = None, center: bool = False, ddof: int = 1
    ) -> Expr:
        return self._rolling("var", window_size, min_samples, center, ddof)

    def _rolling(self, function: str, size: int, samples: int | None, center: bool, ddof: int = 1) -> Expr:
        samples = size if samples is None else samples
        if not 0 <= samples <= size or size < 1:
            raise UserError(f"min_samples is from 0 to window_size, got {samples} of {size}")
        return self._made("rolling", function=function, size=size, samples=samples, center=center, ddof=ddof)

    def rolling_sum_by(
        self, by: IntoExpr, window_size: str, *, min_samples: int = 0, closed: str = "right"
    ) -> Expr:
        """Of the rows whose `by` is at most window_size (such as 3d, 2h, or 5i of integers) before its own.

        closed: which ends of that length belong to it: right, left, both or none. The rows need no order.
        """
        return self._rolling_by("sum", by, window_size, min_samples, closed)

    def rolling_mean_by(
        self, by: IntoExpr, window_size: str, *, min_samples: int = 0, closed: str = "right"
    ) -> Expr:
        """As `rolling_sum_by`."""
        return self._rolling_by("mean", by, window_size, min_samples, closed)

    def rolling_min_by(
        self, by: IntoExpr, window_size: str, *, min_samples: int = 0, closed: str = "right"
    ) -> Expr:
        """As `rolling_sum_by`."""
        return self._rolling_by("min", by, window_size, min_samples, closed)

    def rolling_max_by(
        self, by: IntoExpr, window_size: str, *, min_samples: int = 0, closed: str = "right"
    ) -> Expr:
        """As `rolling_sum_by`."""
        return self._rolling_by("max", by, window_size, min_samples, closed)

    def rolling_std_by(
        self, by: IntoExpr, window_size: str, *, min_samples: int = 0, closed: str = "right", ddof: int = 1
    ) -> Expr:
        """As `rolling_sum_by`."""
        return self._rolling_by("std", by, window_size, min_samples, closed, ddof)

    def rolling_var_by(
        self, by: IntoExpr, window_size: str, *, min_samples: int = 0, closed: str = "right", ddof: int = 1
    ) -> Expr:
        """As `rolling_sum_by`."""
        return self._rolling_by("var", by, window_size, min_samples, closed, ddof)

    def _rolling_by(
        self, function: str, by: IntoExpr, size: str, samples: int, closed: str, ddof: int = 1
    ) -> Expr:
        from headrace._src.frame.expression import column

        return self._made(
            "rolling_by",
            column(by),
            function=function,
            size=size,
            samples=samples,
            closed=closed,
            ddof=ddof,
        )
