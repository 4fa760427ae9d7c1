// The attributes of `frame`: enums, aggregate measures, sort keys, and the contracts of states.
#ifndef HEADRACE_FRAME_ATTRS_TD
#define HEADRACE_FRAME_ATTRS_TD

include "dialects/frame/FrameDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Frame_Attr<string name, string attrMnemonic> : AttrDef<Frame_Dialect, name> {
  let mnemonic = attrMnemonic;
}

class Frame_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::headrace::frame";
}

def Frame_JoinKind : Frame_Enum<"JoinKind", "which rows a join keeps", [
  I32EnumAttrCase<"Inner", 0, "inner">, I32EnumAttrCase<"Left", 1, "left">,
  I32EnumAttrCase<"Right", 2, "right">, I32EnumAttrCase<"Full", 3, "full">,
  I32EnumAttrCase<"Semi", 4, "semi">, I32EnumAttrCase<"Anti", 5, "anti">,
  I32EnumAttrCase<"Mark", 6, "mark">, I32EnumAttrCase<"Single", 7, "single">]>;

def Frame_AggregateFunction : Frame_Enum<"AggregateFunction", "what a measure computes (AggregateFunctions.h says what each is)", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Count", 1, "count">,
  I32EnumAttrCase<"CountStar", 2, "count_star">,
  I32EnumAttrCase<"CountDistinct", 3, "count_distinct">, I32EnumAttrCase<"Min", 4, "min">,
  I32EnumAttrCase<"Max", 5, "max">, I32EnumAttrCase<"Avg", 6, "avg">,
  I32EnumAttrCase<"SumDistinct", 7, "sum_distinct">,
  I32EnumAttrCase<"AvgDistinct", 8, "avg_distinct">, I32EnumAttrCase<"BitAnd", 9, "bit_and">,
  I32EnumAttrCase<"BitOr", 10, "bit_or">, I32EnumAttrCase<"BitXor", 11, "bit_xor">,
  I32EnumAttrCase<"Product", 12, "product">]>; // of doubles

def Frame_AggregateStage : Frame_Enum<"AggregateStage", "which part of an aggregate an op does", [
  I32EnumAttrCase<"Complete", 0, "complete">, // all of it
  I32EnumAttrCase<"Partial", 1, "partial">,   // of one rank's rows; a final one follows
  I32EnumAttrCase<"Final", 2, "final">]>;     // combines partial results

def Frame_CompareKind : Frame_Enum<"CompareKind", "a comparison", [
  I32EnumAttrCase<"Eq", 0, "eq">, I32EnumAttrCase<"Ne", 1, "ne">, I32EnumAttrCase<"Lt", 2, "lt">,
  I32EnumAttrCase<"Le", 3, "le">, I32EnumAttrCase<"Gt", 4, "gt">, I32EnumAttrCase<"Ge", 5, "ge">,
  I32EnumAttrCase<"IsNotDistinctFrom", 6, "is_not_distinct_from">]>;

def Frame_DateField : Frame_Enum<"DateField", "a part of a date", [
  I32EnumAttrCase<"Year", 0, "year">, I32EnumAttrCase<"Month", 1, "month">,
  I32EnumAttrCase<"Day", 2, "day">]>;

def Frame_RaiseKind : Frame_Enum<"RaiseKind", "why a query fails on purpose", [
  I32EnumAttrCase<"MoreThanOneRow", 0, "more_than_one_row">, // of a scalar subquery
  I32EnumAttrCase<"User", 1, "user">]>;                      // the query's own error('…')

def Frame_NumberFunction : Frame_Enum<"NumberFunction", "a function of one number", [
  I32EnumAttrCase<"Abs", 0, "abs">, I32EnumAttrCase<"Round", 1, "round">,
  I32EnumAttrCase<"Floor", 2, "floor">, I32EnumAttrCase<"Ceiling", 3, "ceiling">,
  I32EnumAttrCase<"Truncate", 4, "truncate">, I32EnumAttrCase<"Sqrt", 5, "sqrt">]>;

def Frame_SortDirection : Frame_Enum<"SortDirection", "ascending or descending", [
  I32EnumAttrCase<"Asc", 0, "asc">, I32EnumAttrCase<"Desc", 1, "desc">]>;
def Frame_NullsOrder : Frame_Enum<"NullsOrder", "where NULL goes in an order", [
  I32EnumAttrCase<"First", 0, "nulls_first">, I32EnumAttrCase<"Last", 1, "nulls_last">]>;

def Frame_WindowFunctionKind : Frame_Enum<"WindowFunctionKind", "what a column of a window computes", [
  I32EnumAttrCase<"RowNumber", 0, "row_number">, I32EnumAttrCase<"Rank", 1, "rank">,
  I32EnumAttrCase<"DenseRank", 2, "dense_rank">, I32EnumAttrCase<"PercentRank", 3, "percent_rank">,
  I32EnumAttrCase<"CumeDist", 4, "cume_dist">, I32EnumAttrCase<"Ntile", 5, "ntile">,
  I32EnumAttrCase<"Lag", 6, "lag">, I32EnumAttrCase<"Lead", 7, "lead">,
  I32EnumAttrCase<"FirstValue", 8, "first_value">, I32EnumAttrCase<"LastValue", 9, "last_value">,
  I32EnumAttrCase<"NthValue", 10, "nth_value">,
  I32EnumAttrCase<"Aggregate", 11, "aggregate">, // of the rows of the frame
  I32EnumAttrCase<"Collect", 12, "collect">,     // all lists of the partition as one
  I32EnumAttrCase<"CollectDistinct", 13, "collect_distinct">, // of rows equal in its last key one
  I32EnumAttrCase<"Mode", 14, "mode">,           // the most frequent value
  I32EnumAttrCase<"Quantiles", 15, "quantiles">, // what shares of the values are in front of
  I32EnumAttrCase<"QuantilesDistinct", 16, "quantiles_distinct">]>; // of rows equal in its order one
def Frame_FrameUnit : Frame_Enum<"FrameUnit", "what the bounds of a window frame count", [
  I32EnumAttrCase<"Rows", 0, "rows">,
  I32EnumAttrCase<"Range", 1, "range">,     // values of the order key
  I32EnumAttrCase<"Groups", 2, "groups">]>; // groups of rows with equal order keys
def Frame_FrameBoundKind : Frame_Enum<"FrameBoundKind", "where a window frame begins or ends", [
  I32EnumAttrCase<"UnboundedPreceding", 0, "unbounded_preceding">,
  I32EnumAttrCase<"Preceding", 1, "preceding">, I32EnumAttrCase<"CurrentRow", 2, "current_row">,
  I32EnumAttrCase<"Following", 3, "following">,
  I32EnumAttrCase<"UnboundedFollowing", 4, "unbounded_following">]>;
def Frame_FrameExclusion : Frame_Enum<"FrameExclusion", "which rows a window frame leaves out", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"CurrentRow", 1, "current_row">,
  I32EnumAttrCase<"Group", 2, "group">,  // the row and those with the same order keys
  I32EnumAttrCase<"Ties", 3, "ties">]>;  // those, without the row itself

def Frame_MeasureAttr : Frame_Attr<"Measure", "measure"> {
  let summary = "one result column of an aggregate: function, input column, result name";
  let description = [{
    `count_star` has no input; every other function has one.
    Example: `#frame.measure<sum("l_quantity") -> "sum_qty">`, `#frame.measure<count_star -> "n">`.
  }];
  let parameters = (ins EnumParameter<Frame_AggregateFunction>:$function,
                        OptionalParameter<"::mlir::StringAttr">:$input,
                        "::mlir::StringAttr":$name);
  let assemblyFormat = "`<` $function (`(` $input^ `)`)? `->` $name `>`";
  let genVerifyDecl = 1;
}
def Frame_MeasureArrayAttr : TypedArrayAttrBase<Frame_MeasureAttr, "array of #frame.measure">;

def Frame_SortKeyAttr : Frame_Attr<"SortKey", "sort_key"> {
  let summary = "one key of an order: column, direction, place of NULL";
  let description = [{ Example: `#frame.sort_key<"revenue" desc nulls_last>`. }];
  let parameters = (ins "::mlir::StringAttr":$column,
                        EnumParameter<Frame_SortDirection>:$direction,
                        EnumParameter<Frame_NullsOrder>:$nulls);
  let assemblyFormat = "`<` $column $direction $nulls `>`";
}
def Frame_SortKeyArrayAttr : TypedArrayAttrBase<Frame_SortKeyAttr, "array of #frame.sort_key">;

def Frame_WindowFrameAttr : Frame_Attr<"WindowFrame", "window_frame"> {
  let summary = "the rows around a row that a window function sees";
  let description = [{
    From `start` to `end`, both included. The distance of a `preceding` or `following` bound is a column or, of
    `rows` and `groups`, also a number; of `range` the column has the value of the order key up to which the frame
    goes (the key minus or plus the distance), in the key's type.
    Example: `#frame.window_frame<rows preceding(10 : i64) to current_row exclude ties>`.

    **Constraints:**
    - (C1) exactly `preceding` and `following` have a distance: a column's name or an i64 that is not negative.
    - (C2) a frame neither starts with `unbounded_following` nor ends with `unbounded_preceding`.
    - (C3) the distances of `range` are columns.
  }];
  let parameters = (ins EnumParameter<Frame_FrameUnit>:$unit,
                        EnumParameter<Frame_FrameBoundKind>:$start,
                        OptionalParameter<"::mlir::Attribute">:$startDistance,
                        EnumParameter<Frame_FrameBoundKind>:$end,
                        OptionalParameter<"::mlir::Attribute">:$endDistance,
                        DefaultValuedParameter<"::headrace::frame::FrameExclusion",
                            "::headrace::frame::FrameExclusion::None">:$exclude);
  let assemblyFormat = [{
    `<` $unit $start (`(` $startDistance^ `)`)? `to` $end (`(` $endDistance^ `)`)?
    (`exclude` $exclude^)? `>`
  }];
  let genVerifyDecl = 1;
}

def Frame_WindowFunctionAttr : Frame_Attr<"WindowFunction", "window_function"> {
  let summary = "one result column of a window: function, arguments, frame, order, result name";
  let description = [{
    Arguments are columns, or numbers where they are counts: `ntile(n)`, `lag` and `lead` of (value, offset, default)
    without the last if it is NULL, `nth_value(value, n)`, `collect` and `collect_distinct` of (list, n), or without n, `quantiles` and `quantiles_distinct`
    of (list, kind, part, whole, …) with two numbers a share (`runtime/base/quantile.h`). Examples:
    `#frame.window_function<rank -> "place">`, `#frame.window_function<lag("price", 1 : i64) -> "before" ignore_nulls>`,
    `#frame.window_function<aggregate sum("price") -> "total" over <rows unbounded_preceding to current_row>>`,
    `#frame.window_function<rank -> "place" over <rows preceding(9 : i64) to current_row> ordered [#frame.sort_key<"price" desc nulls_last>]>`.

    **Constraints:**
    - (C1) exactly `aggregate` has an aggregate function.
    - (C2) `first_value`, `last_value`, `nth_value`, `mode`, `collect_distinct`, `collect` with a count, quantiles and `aggregate` have a frame,
      `dense_rank` has none, the others may.
    - (C3) the number of arguments is the function's, and each is a column's name or an i64; those of quantiles behind the list
      are numbers: a kind that there is, and shares from 0 to 1.
    - (C4) only `lag`, `lead`, `first_value`, `last_value` and `nth_value` ignore NULLs; the first two in a frame only with an order.
    - (C5) only what has a frame, and is no `aggregate` or `mode`, has an order, of one key at least; `collect_distinct` and quantiles have one.
  }];
  let parameters = (ins EnumParameter<Frame_WindowFunctionKind>:$kind,
                        OptionalParameter<"std::optional<::headrace::frame::AggregateFunction>">:$aggregate,
                        OptionalParameter<"::mlir::ArrayAttr">:$arguments,
                        "::mlir::StringAttr":$name,
                        OptionalParameter<"::headrace::frame::WindowFrameAttr">:$frame,
                        OptionalParameter<"::mlir::ArrayAttr">:$order,
                        DefaultValuedParameter<"bool", "false">:$ignoreNulls);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The arguments; none where the attribute has none.
    ::llvm::ArrayRef<::mlir::Attribute> getArgumentRange() const;
    /// An argument that is a column; null if there is none, or it is a number.
    ::mlir::StringAttr getColumn(unsigned argument) const;
    /// The columns that the function reads: arguments, distances of the frame, keys of the order.
    ::llvm::SmallVector<::mlir::StringAttr> getColumns() const;
    /// Of quantiles: what they are, and the shares whose quantiles are listed.
    ::headrace::QuantileKind getQuantileKind() const;
    ::llvm::SmallVector<::headrace::QuantileShare> getShares() const;
    /// The same function of columns under other names.
    WindowFunctionAttr renamed(
        ::llvm::function_ref<::mlir::StringAttr(::mlir::StringAttr)> newName) const;
  }];
}
def Frame_WindowFunctionArrayAttr
    : TypedArrayAttrBase<Frame_WindowFunctionAttr, "array of #frame.window_function">;

def Frame_ContractAttr : Frame_Attr<"Contract", "contract"> {
  let summary = "how the partial states of an aggregate combine";
  let description = [{
    One entry per slot of the state: the function whose identity and combine hold, and optionally
    the storage type. Every entry is associative and commutative and partitions by key; `count`
    combines by addition. Functions without such a state (`avg`, and those of distinct values) are lowered to
    others before a contract is made.
    Example: `#frame.contract<[sum<i128>, count, min]>`.

    **Constraints:**
    - (C1) no entry is `avg`, `count_distinct`, `sum_distinct` or `avg_distinct`.
  }];
  // The storage type of an entry without one is `none`.
  let parameters = (ins ArrayRefParameter<"::headrace::frame::AggregateFunction">:$functions,
                        ArrayRefParameter<"::mlir::Type">:$storageTypes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

// A list of column names. The importer keeps them unique in the query.
def Frame_ColumnNames : TypedArrayAttrBase<StrAttr, "array of column names">;
// A list of lists of column names.
def Frame_ColumnGroups : TypedArrayAttrBase<Frame_ColumnNames, "array of arrays of column names">;

#endif // HEADRACE_FRAME_ATTRS_TD
