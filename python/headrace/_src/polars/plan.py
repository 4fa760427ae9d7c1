"""Polars' optimised plans as frames, one rule for each operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pyarrow as pa

from headrace._src.errors import UnsupportedError
from headrace._src.frame.expression import Expr, transformed
from headrace._src.frame.functions import col
from headrace._src.frame.joins import Ways, joined
from headrace._src.frame.lazy_frame import LazyFrame, concat
from headrace._src.frame.sources import from_arrow, scan_parquet
from headrace._src.frame.types import is_decimal, is_integer, is_list, type_of
from headrace._src.polars.expressions import expression


@dataclass(frozen=True)
class Built:
    """An operation as a frame."""

    frame: LazyFrame
    #: Whether anything is computed but the rows of a source.
    computes: bool = True
    #: What is computed once for several expressions of a selection above, which is not of as many rows.
    shared: Mapping[str, Expr] = field(default_factory=dict)
    #: The columns of Polars' type Null.
    untyped: frozenset[str] = frozenset()


#: The column of a data frame that has rows alone.
_ROWS = "~rows"

#: Of the plan, the operation, its inputs and its schema in Polars' types.
Rule = Callable[[Any, Any, Sequence[Built], Mapping[str, Any]], Built]


def built(nt: Any, inputs: Sequence[Built]) -> Built:
    """The operation that is being viewed. Raises UnsupportedError for one that frames do not have."""
    import polars

    node, schema = nt.view_current_node(), dict(nt.get_schema())
    kind = type(node).__name__
    if kind not in _RULES:
        raise UnsupportedError("an operation that frames do not have")
    out = _RULES[kind](nt, node, inputs, schema)
    _check(out.frame, schema, exact=not inputs)
    return replace(out, untyped=frozenset(n for n, dtype in schema.items() if dtype == polars.Null))


def _check(frame: LazyFrame, schema: Mapping[str, Any], *, exact: bool) -> None:
    """The columns must be those of Polars."""
    if not schema and frame.columns == [_ROWS]:
        return
    if frame.columns != list(schema):
        raise UnsupportedError(f"other columns: {frame.columns} for {list(schema)}")
    for name, each in frame._columns.items():
        if not _fits(each.type, schema[name], exact=exact):
            # no test: an operation whose type differs is mended when it is found
            raise UnsupportedError(f"a column of another type: {name}, {each.type} for {schema[name]}")


def _fits(ours: pa.DataType, theirs: Any, *, exact: bool) -> bool:
    import polars

    if isinstance(theirs, polars.Array):
        return is_list(ours) and _fits(ours.value_type, theirs.inner, exact=exact)
    if isinstance(theirs, polars.List):
        return is_list(ours) and _fits(ours.value_type, theirs.inner, exact=exact)
    if isinstance(theirs, polars.Categorical):  # in the order of texts
        return ours == pa.string()
    if isinstance(theirs, polars.Decimal):
        return is_decimal(ours) and ours.scale == theirs.scale
    if theirs == polars.Null:
        return ours == pa.int32()
    try:
        known = type_of(theirs)
    except Exception:
        return False
    # Counts, for example, are wider; the result is cast.
    return ours == known or (
        not exact and is_integer(ours) and is_integer(known) and ours.bit_width > known.bit_width
    )


def _named(nt: Any, exprs: Sequence[Any], of: Built) -> list[Expr]:
    made = [expression(nt, each.node) for each in exprs]
    for each in made:
        is_plain = each.kind == "col" or of.untyped.isdisjoint(_read(each))
        _only(is_plain, "a column without a type in an expression")  # a sum of which is null, not 0
    return [expr.alias(each.output_name) for expr, each in zip(made, exprs, strict=True)]


def _read(expr: Expr) -> set[str]:
    """The columns that an expression names."""
    own = set(expr.options["names"]) if expr.kind == "col" else set()
    return own.union(*map(_read, expr.operands))


def _only(condition: bool, what: str) -> None:
    if not condition:
        raise UnsupportedError(what)


def _scan(nt: Any, node: Any, _inputs: Sequence[Built], schema: Mapping[str, Any]) -> Built:
    kind, options = node.scan_type[0], node.file_options
    _only(kind == "parquet", f"a scan of {kind}")
    _only(node.hive_parts is None, "a scan of Hive partitions")
    for name in ("n_rows", "row_index", "include_file_paths", "deletion_files", "pre_slice"):
        _only(getattr(options, name, None) is None, f"a scan with {name}")
    paths = [str(path) for path in node.paths]
    _only(bool(paths) and all("://" not in path for path in paths), "a scan of what is no file")
    frame = scan_parquet(paths, hive_partitioning=False)
    if node.predicate is not None:
        frame = frame.filter(expression(nt, node.predicate.node))
    return Built(_chosen(frame, schema), computes=False)


def _chosen(frame: LazyFrame, schema: Mapping[str, Any]) -> LazyFrame:
    for name in schema:
        _only(name in frame._columns, f"a column that cannot be read: {name}")
    return frame.select(*map(col, schema)) if schema else frame


def _data_frame(_nt: Any, node: Any, _inputs: Sequence[Built], schema: Mapping[str, Any]) -> Built:
    import polars

    _only(node.selection is None, "a selection of a data frame")
    data = polars.DataFrame._from_pydf(node.df)
    if not schema:
        return Built(from_arrow(pa.table({_ROWS: pa.nulls(data.height, pa.int32())})), computes=False)
    nulls = polars.selectors.by_dtype(polars.Null)
    return Built(
        _chosen(from_arrow(data.select(list(schema)).cast({nulls: polars.Int32})), schema), computes=False
    )


def _select(nt: Any, node: Any, inputs: Sequence[Built], _schema: Mapping[str, Any]) -> Built:
    (of,) = inputs
    exprs = [transformed(each, partial(_put, of.shared)) for each in _named(nt, node.expr, of)]
    return Built(of.frame.select(*exprs))


def _put(shared: Mapping[str, Expr], expr: Expr) -> Expr | None:
    """What a column stands for that is computed once for several expressions."""
    return shared.get(expr.options["names"][0]) if expr.kind == "col" else None


def _with_columns(nt: Any, node: Any, inputs: Sequence[Built], _schema: Mapping[str, Any]) -> Built:
    (of,) = inputs
    exprs = _named(nt, node.exprs, of)
    if node.should_broadcast:
        return Built(of.frame.with_columns(*exprs))
    shared = {each.options["name"]: transformed(each.operands[0], partial(_put, of.shared)) for each in exprs}
    return Built(of.frame.with_columns(**shared), shared={**of.shared, **shared})


def _filter(nt: Any, node: Any, inputs: Sequence[Built], _schema: Mapping[str, Any]) -> Built:
    (of,) = inputs
    return Built(of.frame.filter(expression(nt, node.predicate.node)), of.computes)


def _project(_nt: Any, _node: Any, inputs: Sequence[Built], schema: Mapping[str, Any]) -> Built:
    (of,) = inputs
    return Built(_chosen(of.frame, schema), of.computes)


def _group(nt: Any, node: Any, inputs: Sequence[Built], _schema: Mapping[str, Any]) -> Built:
    (of,) = inputs
    _only(not node.apply, "a function over groups")
    options = node.options
    _only(options.dynamic is None and options.rolling is None, "groups by windows of time")
    groups = of.frame.group_by(*_named(nt, node.keys, of), maintain_order=node.maintain_order)
    frame = groups.agg(*_named(nt, node.aggs, of))
    return Built(_sliced(frame, options.slice))


def _sliced(frame: LazyFrame, part: Any) -> LazyFrame:
    if part is None:
        return frame
    offset, length, *_ = part
    return frame.slice(offset, length)


_JOINS = {
    "Inner": "inner",
    "IEJoin": "inner",
    "Left": "left",
    "Right": "right",
    "Full": "full",
    "Semi": "semi",
    "Anti": "anti",
    "Cross": "cross",
}


_SIGNS = {"Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}


def _join(nt: Any, node: Any, inputs: Sequence[Built], _schema: Mapping[str, Any]) -> Built:
    left, right = inputs
    how, nulls_equal, part, suffix, coalesce, order = node.options
    kind, *more = (how,) if isinstance(how, str) else how
    left_on, right_on = (
        [expression(nt, each.node) for each in side] for side in (node.left_on, node.right_on)
    )
    if kind == "AsOf":
        return Built(_sliced(_join_asof(left, right, left_on, right_on, more, suffix, coalesce), part))
    _only(kind in _JOINS, f"a join: {kind}")
    # Beside the kind the plan has one or two comparisons, or how a condition is tried.
    signs = tuple(_SIGNS[sign] for each in more if (sign := str(each).rpartition(".")[2]) in _SIGNS)
    also = None if node.predicate is None else expression(nt, node.predicate.node)
    _only(also is None or kind not in ("Semi", "Anti"), "a semi or anti join with another condition")
    how = "inner" if kind == "Cross" and also is not None else _JOINS[kind]
    if signs:  # the keys are two columns
        nulls_equal = coalesce = False
    ways = Ways(how, suffix, nulls_equal, coalesce, signs, order, also)
    frame = joined(left.frame, right.frame, None, left_on, right_on, ways)
    return Built(_sliced(frame, part))


def _join_asof(
    left: Built,
    right: Built,
    left_on: list[Expr],
    right_on: list[Expr],
    more: list[Any],
    suffix: str,
    coalesce: bool,
) -> LazyFrame:
    strategy, number, text, by_left, by_right, exact, _sorted = more
    _only(all(each.kind == "col" for each in (*left_on, *right_on)), "an asof join by expressions")
    tolerance = number if text is None else text
    _only(tolerance is None or isinstance(tolerance, (int, float, str)), "a tolerance of another kind")
    return left.frame.join_asof(
        right.frame,
        left_on=left_on[0].options["names"][0],
        right_on=right_on[0].options["names"][0],
        by_left=by_left,
        by_right=by_right,
        strategy=strategy,
        suffix=suffix,
        tolerance=tolerance,
        coalesce=coalesce,
        allow_exact_matches=exact,
    )


def _distinct(_nt: Any, node: Any, inputs: Sequence[Built], _schema: Mapping[str, Any]) -> Built:
    (of,) = inputs
    keep, subset, maintain_order, part = node.options
    return Built(_sliced(of.frame.unique(subset, keep=keep, maintain_order=maintain_order), part))


def _sort(nt: Any, node: Any, inputs: Sequence[Built], _schema: Mapping[str, Any]) -> Built:
    (of,) = inputs
    maintain_order, nulls_last, descending = node.sort_options
    by = [expression(nt, each.node) for each in node.by_column]
    frame = of.frame.sort(by, descending=descending, nulls_last=nulls_last, maintain_order=maintain_order)
    return Built(_sliced(frame, node.slice))


def _slice(_nt: Any, node: Any, inputs: Sequence[Built], _schema: Mapping[str, Any]) -> Built:
    (of,) = inputs
    return Built(of.frame.slice(node.offset, node.len))


def _union(_nt: Any, node: Any, inputs: Sequence[Built], _schema: Mapping[str, Any]) -> Built:
    return Built(_sliced(concat([each.frame for each in inputs]), node.slice))


def _beside(_nt: Any, node: Any, inputs: Sequence[Built], _schema: Mapping[str, Any]) -> Built:
    _only(node.options == (True, True, False), "frames of other lengths beside each other")
    return Built(concat([each.frame for each in inputs], how="horizontal"))


def _cache(_nt: Any, _node: Any, inputs: Sequence[Built], _schema: Mapping[str, Any]) -> Built:
    return inputs[0]


def _map(_nt: Any, node: Any, inputs: Sequence[Built], _schema: Mapping[str, Any]) -> Built:
    (of,) = inputs
    name, *options = node.function
    if name == "hint_sorted":  # which changes no row
        return of
    if name == "row_index":
        return Built(of.frame.with_row_index(*options))
    if name == "explode":
        names, empty_as_null, keep_nulls = options
        return Built(of.frame.explode(names, empty_as_null=empty_as_null, keep_nulls=keep_nulls))
    _only(name == "unpivot", f"a function of frames: {name}")
    index, on, variable, value = options
    return Built(of.frame.unpivot(on, index=index, variable_name=variable, value_name=value))


_RULES: dict[str, Rule] = {
    "Scan": _scan,
    "DataFrameScan": _data_frame,
    "Select": _select,
    "HStack": _with_columns,
    "Filter": _filter,
    "SimpleProjection": _project,
    "GroupBy": _group,
    "Join": _join,
    "Distinct": _distinct,
    "Sort": _sort,
    "Slice": _slice,
    "Union": _union,
    "HConcat": _beside,
    "Cache": _cache,
    "MapFunction": _map,
}
