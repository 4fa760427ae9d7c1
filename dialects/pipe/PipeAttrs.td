// The dialect, its types, enums and attributes.
#ifndef HEADRACE_PIPE_ATTRS_TD
#define HEADRACE_PIPE_ATTRS_TD

include "dialects/interfaces/KnownAttributes.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Pipe_Dialect : Dialect {
  let name = "pipe";
  let cppNamespace = "::headrace::pipe";
  let summary = "Fused pipelines of sub-operators between contracted states";
  let description = [{
    A `pipe.pipeline` moves rows from a source (scan, state, stream) through pure sub-operators to a sink
    (state or stream). All state is behind `pipe.state`, which names its kind, its fields and how two copies
    combine. Bodies are scalar `arith`/`math` per row, device neutral; NULLs are explicit: a nullable column is
    a value and an `i1` (1 = valid). No op takes an attribute that it does not declare.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::headrace::frame::FrameDialect",
                           "::headrace::dist::DistDialect"]; // skew of a stream
  let hasOperationAttrVerify = 1;
}

class Pipe_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Pipe_Dialect, opMnemonic, !listconcat(traits, [KnownAttributes])>;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Pipe_Type<string name, string typeMnemonic> : TypeDef<Pipe_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Pipe_StringType : Pipe_Type<"String", "string"> {
  let summary = "a string value inside a body (a 16-byte view in memory)";
}

def Pipe_RowsType : Pipe_Type<"Rows", "rows"> {
  let summary = "rows in flight between two sub-operators";
  let description = [{
    Columns by name with their physical type; `?` marks a nullable column.

    ```
    !pipe.rows<"l_orderkey": i32, "l_comment": !pipe.string?>
    ```

    C1: names are unique. C2: types are i1, i8, i16, i32, i64, i128, f32, f64 or `!pipe.string`.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names,
                        ArrayRefParameter<"::mlir::Type">:$types,
                        ArrayRefParameter<"bool">:$nullable);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Index of a column, or -1.
    int64_t indexOf(::llvm::StringRef name) const;
    size_t size() const { return getNames().size(); }
  }];
}

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

class Pipe_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::headrace::pipe";
  let genSpecializedAttr = 0;
}

def Pipe_StateKind : Pipe_Enum<"StateKind", "how a state keeps its rows", [
  I32EnumAttrCase<"Scalar", 0, "scalar">, // one row
  I32EnumAttrCase<"Group", 1, "group">,   // a row for each combination of keys
  I32EnumAttrCase<"Join", 2, "join">,     // all rows, found by their keys
  I32EnumAttrCase<"Sort", 3, "sort">,     // all rows or the first of them, in order
  I32EnumAttrCase<"Rows", 4, "rows">,     // all rows
  I32EnumAttrCase<"Window", 5, "window">]>; // all rows, with what window functions make of those around them
def Pipe_StateKindAttr : EnumAttr<Pipe_Dialect, Pipe_StateKind, "state_kind">;

def Pipe_Combine : Pipe_Enum<"Combine", "what a field does when a row meets another", [
  I32EnumAttrCase<"Key", 0, "key">,         // decides which rows meet
  I32EnumAttrCase<"Sum", 1, "sum">,
  I32EnumAttrCase<"SumDoubleDouble", 2, "sum_double_double">, // of two doubles each, see frame.exact_product
  I32EnumAttrCase<"Min", 3, "min">,
  I32EnumAttrCase<"Max", 4, "max">,
  I32EnumAttrCase<"Payload", 5, "payload">, // rows do not meet
  I32EnumAttrCase<"Computed", 6, "computed">, // of a window function that folds nothing
  I32EnumAttrCase<"BitAnd", 7, "bit_and">, I32EnumAttrCase<"BitOr", 8, "bit_or">,
  I32EnumAttrCase<"BitXor", 9, "bit_xor">, I32EnumAttrCase<"Product", 10, "product">]>;

def Pipe_StreamKind : Pipe_Enum<"StreamKind", "where the chunks of a stream go", [
  I32EnumAttrCase<"Local", 0, "local">,         // to another pipeline of the rank
  I32EnumAttrCase<"Hash", 1, "hash">,           // output i of the producer to rank i
  I32EnumAttrCase<"Broadcast", 2, "broadcast">, // to every rank
  I32EnumAttrCase<"Gather", 3, "gather">,       // to rank 0
  I32EnumAttrCase<"Result", 4, "result">,       // to the caller
  I32EnumAttrCase<"ToTensor", 5, "to_tensor">,  // their rows become tensors
  I32EnumAttrCase<"Range", 6, "range">,         // to the rank of their range of an order, once all are there
  I32EnumAttrCase<"Parted", 7, "parted">]>;     // kept on the rank in parts by their keys, until a repeat reads them
def Pipe_StreamKindAttr : EnumAttr<Pipe_Dialect, Pipe_StreamKind, "stream_kind">;

def Pipe_LookupKind : Pipe_Enum<"LookupKind", "what a lookup keeps of a row and its matches", [
  I32EnumAttrCase<"Inner", 0, "inner">, I32EnumAttrCase<"Left", 1, "left">,
  I32EnumAttrCase<"Semi", 2, "semi">, I32EnumAttrCase<"Anti", 3, "anti">,
  I32EnumAttrCase<"Mark", 4, "mark">, I32EnumAttrCase<"Full", 5, "full">,
  I32EnumAttrCase<"Seen", 6, "seen">]>;
def Pipe_LookupKindAttr : EnumAttr<Pipe_Dialect, Pipe_LookupKind, "lookup_kind">;

def Pipe_Branch : Pipe_Enum<"Branch", "a way of a choice", [
  I32EnumAttrCase<"Few", 0, "few">, I32EnumAttrCase<"Many", 1, "many">]>;

def Pipe_BranchAttr : EnumAttr<Pipe_Dialect, Pipe_Branch, "branch">;

def Pipe_PageForm : Pipe_Enum<"PageForm", "how kernels find the values of a column's pages", [
  I32EnumAttrCase<"Values", 0, "values">,
  I32EnumAttrCase<"Code", 1, "code">,           // codes of a dictionary that registers hold
  I32EnumAttrCase<"Gathered", 2, "gathered">]>; // codes of a larger one

def Pipe_BoundKind : Pipe_Enum<"BoundKind", "how a column of the rows wanted compares with a constant", [
  I32EnumAttrCase<"Eq", 0, "eq">, I32EnumAttrCase<"Lt", 1, "lt">, I32EnumAttrCase<"Le", 2, "le">,
  I32EnumAttrCase<"Gt", 3, "gt">, I32EnumAttrCase<"Ge", 4, "ge">]>;

def Pipe_StringPredicate : Pipe_Enum<"StringPredicate", "how two strings compare", [
  I32EnumAttrCase<"Eq", 0, "eq">, I32EnumAttrCase<"Ne", 1, "ne">, I32EnumAttrCase<"Lt", 2, "lt">,
  I32EnumAttrCase<"Le", 3, "le">, I32EnumAttrCase<"Gt", 4, "gt">, I32EnumAttrCase<"Ge", 5, "ge">]>;
def Pipe_StringPredicateAttr : EnumAttr<Pipe_Dialect, Pipe_StringPredicate, "string_predicate">;

def Pipe_DatePart : Pipe_Enum<"DatePart", "a part of a date", [
  I32EnumAttrCase<"Year", 0, "year">, I32EnumAttrCase<"Month", 1, "month">,
  I32EnumAttrCase<"Day", 2, "day">]>;
def Pipe_DatePartAttr : EnumAttr<Pipe_Dialect, Pipe_DatePart, "date_part_kind">;

def Pipe_TextForm : Pipe_Enum<"TextForm", "how a value is written as text", [
  I32EnumAttrCase<"Integer", 0, "integer">, I32EnumAttrCase<"Date", 1, "date">,
  I32EnumAttrCase<"Timestamp", 2, "timestamp">, I32EnumAttrCase<"Boolean", 3, "boolean">,
  I32EnumAttrCase<"Double", 4, "double">, I32EnumAttrCase<"Float", 5, "float">,
  I32EnumAttrCase<"ZonedTimestamp", 6, "zoned_timestamp">, I32EnumAttrCase<"Time", 7, "time">]>;
def Pipe_TextFormAttr : EnumAttr<Pipe_Dialect, Pipe_TextForm, "text_form">;

def Pipe_DataError : Pipe_Enum<"DataError", "what is wrong with a row", [
  I32EnumAttrCase<"Overflow", 0, "overflow">,
  I32EnumAttrCase<"DivisionByZero", 1, "division_by_zero">,
  I32EnumAttrCase<"InvalidCast", 2, "invalid_cast">,
  I32EnumAttrCase<"MoreThanOneRow", 3, "more_than_one_row">,
  I32EnumAttrCase<"Raised", 4, "raised">]>; // what the op's location says
def Pipe_DataErrorAttr : EnumAttr<Pipe_Dialect, Pipe_DataError, "data_error">;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Pipe_Attr<string name, string attrMnemonic> : AttrDef<Pipe_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Pipe_FieldAttr : Pipe_Attr<"Field", "field"> {
  let summary = "a field of a state's row";
  let description = [{
    `combine` says what it does when a row meets another of the state. Offsets are chosen by `lower`.

    ```
    #pipe.field<"revenue", i128, sum>
    ```

    A key that is an integer may say between which values it is.

    ```
    #pipe.field<"l_linenumber", i32, key between 1 : i64 and 7 : i64>
    ```

    C1: the type is one that rows have. C2: sums are of integers of 32 bits or more, or of floats; sums of two doubles
    are i128; least and greatest are of any type but an i1 that may be NULL only by being nullable. C3: bounds are of keys
    that are integers, both and in order, i64.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::Type":$type,
                        EnumParameter<Pipe_Combine>:$combine,
                        DefaultValuedParameter<"bool", "false">:$nullable,
                        OptionalParameter<"::mlir::IntegerAttr">:$min,
                        OptionalParameter<"::mlir::IntegerAttr">:$max);
  let assemblyFormat = [{
    `<` $name `,` $type `,` $combine (`between` $min^ `and` $max)?
    (`,` `nullable` `=` $nullable^)? `>`
  }];
  let genVerifyDecl = 1;
}

def Pipe_SortKeyAttr : Pipe_Attr<"SortKey", "sort_key"> {
  let summary = "a sort key: field, direction, place of NULLs";
  let parameters = (ins "::mlir::StringAttr":$field, "bool":$descending, "bool":$nullsFirst);
  let assemblyFormat = "`<` $field `,` `descending` `=` $descending `,` `nulls_first` `=` $nullsFirst `>`";
}

def Pipe_CardinalityAttr : Pipe_Attr<"Cardinality", "cardinality"> {
  let summary = "how many rows there will be on a rank: an estimate with bounds";
  let description = [{
    ```
    #pipe.cardinality<expected = 1500, p95 = 3000, max = 6000>
    ```

    C1: min <= p95 <= max, and expected is between min and max.
  }];
  let parameters = (ins DefaultValuedParameter<"uint64_t", "0">:$min,
                        DefaultValuedParameter<"uint64_t", "0">:$expected,
                        DefaultValuedParameter<"uint64_t", "0">:$p95,
                        DefaultValuedParameter<"uint64_t", "UINT64_MAX">:$max);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Pipe_DirectAttr : Pipe_Attr<"Direct", "direct"> {
  let summary = "the directory of a join table goes by its only key: base to base + extent - 1";
  let description = [{
    An array of all these keys, or, if it is sparse, of those that are there, by their ranks.
    C1: the extent is positive, and the last key an i64.
  }];
  let parameters = (ins "int64_t":$base, "int64_t":$extent,
                        DefaultValuedParameter<"bool", "false">:$sparse);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Pipe_ScanColumnAttr : Pipe_Attr<"ScanColumn", "scan_column"> {
  let summary = "a column of a scan: where it comes from, and what storage promises of it";
  let description = [{
    `file` is its name in the file, `column` that of the rows, `logical` the user's type. Without a file the column has
    the rows' ordinals, which grow from row to row. `min` and `max`, i64 both, are
    what statistics say, which storage verifies. For the cost model: `pages`, `page_bytes` and `file_bytes` (of a row, in
    memory and in the file), `text_bytes` (of a string), `tried_entries` (of a dictionary of texts, by a condition on it, for each row),
    `ordered` (rows come in the order of its values, by and large).

    ```
    #pipe.scan_column<file = "k", column = "k", logical = i64, min = 0 : i64, max = 24 : i64, pages = values, page_bytes = 4.0 : f64, file_bytes = 1.5 : f64, text_bytes = 0.0 : f64, ordered = true>
    ```

    C1: there are both min and max or none, and min <= max. C2: figures are not negative. C3: the logical type is one of a
    column, not nullable. C4: ordinals are i64 without min and max.
  }];
  let parameters = (ins OptionalParameter<"::mlir::StringAttr">:$file, "::mlir::StringAttr":$column,
                        OptionalParameter<"::mlir::Type">:$logical,
                        OptionalParameter<"::mlir::IntegerAttr">:$min,
                        OptionalParameter<"::mlir::IntegerAttr">:$max,
                        DefaultValuedParameter<"::headrace::pipe::PageForm", "::headrace::pipe::PageForm::Values">:$pages,
                        OptionalParameter<"::mlir::FloatAttr">:$page_bytes,
                        OptionalParameter<"::mlir::FloatAttr">:$file_bytes,
                        OptionalParameter<"::mlir::FloatAttr">:$text_bytes,
                        OptionalParameter<"::mlir::FloatAttr">:$tried_entries,
                        DefaultValuedParameter<"bool", "false">:$ordered);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Figures of a row; 0 where they are not known.
    double pageBytes() const;
    double fileBytes() const;
    double textBytes() const;
    double triedEntries() const;
  }];
}

def Pipe_BoundAttr : Pipe_Attr<"Bound", "bound"> {
  let summary = "a condition by which storage leaves out row groups";
  let description = [{
    `value` is an i64 (scaled decimal, days, microseconds), a float or a string.

    ```
    #pipe.bound<"l_shipdate" lt 9000 : i64>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$column, EnumParameter<Pipe_BoundKind>:$kind,
                        "::mlir::Attribute":$value);
  let assemblyFormat = "`<` $column $kind $value `>`";
  let genVerifyDecl = 1;
}

#endif // HEADRACE_PIPE_ATTRS_TD
