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

def Frame_AggregateFunction : Frame_Enum<"AggregateFunction", "what a measure computes", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Count", 1, "count">,
  I32EnumAttrCase<"CountStar", 2, "count_star">,
  I32EnumAttrCase<"CountDistinct", 3, "count_distinct">, I32EnumAttrCase<"Min", 4, "min">,
  I32EnumAttrCase<"Max", 5, "max">, I32EnumAttrCase<"Avg", 6, "avg">,
  I32EnumAttrCase<"SumDistinct", 7, "sum_distinct">]>;

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

def Frame_TextFunction : Frame_Enum<"TextFunction", "a function of strings", [
  I32EnumAttrCase<"Upper", 0, "upper">, I32EnumAttrCase<"Lower", 1, "lower">,
  I32EnumAttrCase<"Length", 2, "length">, I32EnumAttrCase<"Concat", 3, "concat">,
  I32EnumAttrCase<"Trim", 4, "trim">, I32EnumAttrCase<"TrimStart", 5, "trim_start">,
  I32EnumAttrCase<"TrimEnd", 6, "trim_end">, I32EnumAttrCase<"Replace", 7, "replace">]>;

def Frame_SortDirection : Frame_Enum<"SortDirection", "ascending or descending", [
  I32EnumAttrCase<"Asc", 0, "asc">, I32EnumAttrCase<"Desc", 1, "desc">]>;
def Frame_NullsOrder : Frame_Enum<"NullsOrder", "where NULL goes in an order", [
  I32EnumAttrCase<"First", 0, "nulls_first">, I32EnumAttrCase<"Last", 1, "nulls_last">]>;

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

def Frame_ContractAttr : Frame_Attr<"Contract", "contract"> {
  let summary = "how the partial states of an aggregate combine";
  let description = [{
    One entry per slot of the state: the function whose identity and combine hold, and optionally
    the storage type. Every entry is associative and commutative and partitions by key; `count`
    combines by addition. Functions without such a state (`avg`, `count_distinct`, `sum_distinct`) are lowered to
    others before a contract is made.
    Example: `#frame.contract<[sum<i128>, count, min]>`.

    **Constraints:**
    - (C1) no entry is `avg`, `count_distinct` or `sum_distinct`.
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
