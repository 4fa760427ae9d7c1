"""`LazyFrame.group_by`: groups of rows, and their aggregates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from headrace._src.arguments import checked_methods
from headrace._src.errors import UserError
from headrace._src.frame.expression import Expr, IntoExpr, column
from headrace._src.frame.nodes import owned
from headrace._src.frame.scope import Key, Scope
from headrace._src.frame.translate import expanded, is_scalar, name_of, named, translated

if TYPE_CHECKING:
    from headrace._src.frame.lazy_frame import LazyFrame


@checked_methods
class GroupBy:
    """Groups of rows that are equal in some columns; null is a value of its own."""

    def __init__(self, frame: LazyFrame, keys: Sequence[Expr], *, maintain_order: bool = False) -> None:
        self._frame = frame
        self._maintain_order = maintain_order
        self._keys = named(keys, frame._columns)
        if not self._keys:
            raise UserError("group_by needs a column")

    def agg(self, *aggs: IntoExpr | Iterable[IntoExpr], **named_aggs: IntoExpr) -> LazyFrame:
        """A row for each group: its keys and these aggregates."""

        def made() -> LazyFrame:
            from headrace._src.frame.lazy_frame import _with_names

            frame, keys = self._frame, self._keys
            exprs = _with_names(aggs, named_aggs)
            if any(key.kind != "col" for key in keys.values()):
                # Computed keys become columns first; aggregates still see those that they hide.
                mark = "~"
                while any(name.startswith(mark) for name in frame.columns):
                    mark += "~"
                hidden = {name: mark + name for name in keys}
                frame = frame.with_columns(**{hidden[name]: key for name, key in keys.items()})
                keys = {name: column(hidden[name]).alias(name) for name in keys}
                exprs = expanded(exprs, self._frame._columns, self._keys)
            chosen = named(exprs, frame._columns, [_source(key) for key in keys.values()])
            for name in chosen:
                if name in keys:
                    raise UserError(f"two columns have the same name: {name}; alias one of them")
            return grouped(frame, keys, chosen, "agg", in_order=self._maintain_order)

        return owned("agg", made)

    def len(self, name: str = "len") -> LazyFrame:
        """How many rows each group has."""
        return self.agg(Expr("len").alias(name))


def _source(key: Expr) -> str:
    return name_of(key.operands[0] if key.kind == "alias" else key)


def grouped(
    frame: LazyFrame,
    keys: Mapping[str, Expr],
    exprs: Mapping[str, Expr],
    operation: str,
    *,
    in_order: bool = False,
) -> LazyFrame:
    """A row for each group (in_order: in that of their first rows); without keys one row for all."""
    stages_of = Scope(frame._columns, frame._order)
    key_values = {name: translated(key, stages_of) for name, key in keys.items()}
    scope = Scope(
        frame._columns,
        frame._order,
        tuple(value.sql for value in key_values.values()),
        grouped=True,
        in_group=bool(keys),
        stages=stages_of.stages,
    )
    from headrace._src.frame.lazy_frame import LazyFrame, _columns_of, _without_filter

    # What is not one value for a group is a list.
    exprs = {name: each if is_scalar(each) else Expr("implode", (each,)) for name, each in exprs.items()}
    values = {name: _without_filter(translated(each, scope)) for name, each in exprs.items()}
    made = _columns_of({**key_values, **values}, set())
    texts = [f"{value.sql} as {made[name].sql}" for name, value in {**key_values, **values}.items()]
    order: list[Key] = []
    if in_order:
        stages_of.ordered("group_by(maintain_order=True)")
        hidden = '"~row"'
        while any(each.sql == hidden for each in made.values()):
            hidden = hidden[:-1] + '~"'
        order = [Key(hidden)]
        texts.append(f"min({frame._place(stages_of)}) as {hidden}")
    by = f" group by {', '.join(scope.keys)}" if keys else ""
    select = f"select {', '.join(texts)}"
    node = frame._made(operation, lambda source: f"{select} from {scope.stages.around(source)}{by}")
    return LazyFrame(node, made, order)
