// The pipe dialect (L3): fused pipelines of sub-operators between states, on local rows.
// Exists from the phase `form` to the phase `lower`.
#ifndef HEADRACE_DIALECTS_PIPE_TD
#define HEADRACE_DIALECTS_PIPE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Pipe_Dialect : Dialect {
  let name = "pipe";
  let cppNamespace = "::headrace::pipe";
  let summary = "Fused pipelines of sub-operators between contracted states";
  let description = [{
    A `pipe.pipeline` moves rows from a source (scan, state, stream) through pure sub-operators to a sink
    (state or stream). All state is behind `pipe.state`, which names its kind, its fields and how two copies
    combine. Bodies are scalar `arith`/`math` per row, device neutral; NULLs are explicit: a nullable column is
    a value and an `i1` (1 = valid).
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

// ---- types ----

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

// ---- enums ----

def Pipe_StateKind : I32EnumAttr<"StateKind", "how a state keeps its rows", [
    I32EnumAttrCase<"Scalar", 0, "scalar">,
    I32EnumAttrCase<"Group", 1, "group">,
    I32EnumAttrCase<"Dense", 2, "dense">,
    I32EnumAttrCase<"Join", 3, "join">,
    I32EnumAttrCase<"Sort", 4, "sort">,
    I32EnumAttrCase<"Dictionary", 5, "dictionary">,
    I32EnumAttrCase<"Rows", 6, "rows">]> {
  let cppNamespace = "::headrace::pipe";
}
def Pipe_LookupKind : I32EnumAttr<"LookupKind", "what a lookup keeps of a row and its matches", [
    I32EnumAttrCase<"Inner", 0, "inner">,
    I32EnumAttrCase<"Left", 1, "left">,
    I32EnumAttrCase<"Semi", 2, "semi">,
    I32EnumAttrCase<"Anti", 3, "anti">,
    I32EnumAttrCase<"Mark", 4, "mark">,
    I32EnumAttrCase<"Full", 5, "full">]> {
  let cppNamespace = "::headrace::pipe";
}

// ---- attributes ----

class Pipe_Attr<string name, string attrMnemonic> : AttrDef<Pipe_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Pipe_FieldAttr : Pipe_Attr<"Field", "field"> {
  let summary = "a field of a state's row";
  let description = [{
    `combine` is `key`, `sum`, `min`, `max`, `any`, or `payload`. Offsets are chosen by `lower`.

    ```
    #pipe.field<"revenue", i128, "sum">
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::Type":$type,
                        "::mlir::StringAttr":$combine, DefaultValuedParameter<"bool", "false">:$nullable);
  let assemblyFormat = "`<` $name `,` $type `,` $combine (`,` `nullable` `=` $nullable^)? `>`";
}

def Pipe_SortKeyAttr : Pipe_Attr<"SortKey", "sort_key"> {
  let summary = "a sort key: field, direction, place of NULLs";
  let parameters = (ins "::mlir::StringAttr":$field, "bool":$descending, "bool":$nullsFirst);
  let assemblyFormat = "`<` $field `,` `descending` `=` $descending `,` `nulls_first` `=` $nullsFirst `>`";
}

// ---- ops ----

class Pipe_Op<string opMnemonic, list<Trait> traits = []> : Op<Pipe_Dialect, opMnemonic, traits>;

def Pipe_StateOp : Pipe_Op<"state", [Symbol]> {
  let summary = "a state: rows behind a contract";
  let description = [{
    Two copies of a state combine field by field as the fields say (`key` fields decide which rows meet). A `join`
    state is filled by `pipe.insert` and read by `pipe.lookup`; `group`, `dense` and `scalar` by `pipe.combine`; `sort` by
    `pipe.insert`, keeping the first `limit` rows in the order of `sort_keys`, of which who reads it does not see the
    first `offset` (an attribute); `rows` by `pipe.insert`, keeping all.

    ```mlir
    pipe.state @revenue scalar [#pipe.field<"revenue", i128, "sum">]
    ```

    C1: field names are unique. C2: only a `sort` state has sort keys, and they name its fields.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Pipe_StateKind:$kind,
                       TypedArrayAttrBase<Pipe_FieldAttr, "fields">:$fields,
                       OptionalAttr<TypedArrayAttrBase<Pipe_SortKeyAttr, "sort keys">>:$sort_keys,
                       OptionalAttr<I64Attr>:$limit, OptionalAttr<I64Attr>:$expected_rows);
  let assemblyFormat = "$sym_name $kind $fields (`order` $sort_keys^)? (`limit` $limit^)? (`expected` $expected_rows^)? attr-dict";
  let hasVerifier = 1;
}

def Pipe_StreamOp : Pipe_Op<"stream", [Symbol]> {
  let summary = "a bounded channel of chunks between two pipelines of a rank";
  let description = [{
    `exchange` says what happens to the chunks on the way: `none` (written by both ways of a `pipe.choice`, or, with the
    attribute `writers`, by that many pipelines, all of whose rows count), `hash` (output i of the producer goes to rank i),
    `broadcast`, `gather` (to rank 0), `result` (to the caller), or `to_tensor` (their rows become tensors).

    ```mlir
    pipe.stream @s0 "hash" : !pipe.rows<"l_orderkey": i32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$exchange, TypeAttrOf<Pipe_RowsType>:$rows,
                       OptionalAttr<ArrayAttr>:$logical);
  let assemblyFormat = "$sym_name $exchange `:` $rows attr-dict";
}

def Pipe_ChoiceOp : Pipe_Op<"choice", [Symbol]> {
  let summary = "which pipelines run is decided when a state has been filled";
  let description = [{
    If the state has `at_most` rows or fewer, summed over all ranks, the pipelines with `choice` this symbol and
    `branch` "few" run, else those with `branch` "many". Both write the same stream, of exchange `none`. `expected` is
    the estimate of the rows.

    ```mlir
    pipe.state @rows0 rows [#pipe.field<"k", i32, "payload">]
    pipe.choice @choice0 by @rows0 at_most 5000 expected 1200
    ```

    C1: the bound is not negative.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$state, I64Attr:$at_most,
                       OptionalAttr<I64Attr>:$expected);
  let assemblyFormat = "$sym_name `by` $state `at_most` $at_most (`expected` $expected^)? attr-dict";
  let hasVerifier = 1;
}

def Pipe_PipelineOp : Pipe_Op<"pipeline", [Symbol, NoTerminator, SingleBlock]> {
  let summary = "one kernel's worth of work: source, sub-operators, sink";
  let description = [{
    The body is a chain: the first op is a source, the last a sink, each op uses the rows of the one before. The
    attributes `choice` and `branch` put a pipeline into a branch of a `pipe.choice`; `after` names a pipeline that must
    have ended before this one begins.

    ```mlir
    pipe.state @count scalar [#pipe.field<"n", i64, "sum">]
    pipe.pipeline @p0 {
      %0 = pipe.scan "nation" [{file = "n_nationkey", column = "n_nationkey"} ] : !pipe.rows<"n_nationkey": i32>
      %1 = pipe.map %0 ["n"] [] {
        %one = arith.constant 1 : i64
        pipe.yield %one : i64
      } : !pipe.rows<"n_nationkey": i32> -> !pipe.rows<"n": i64>
      pipe.combine %1, @count keys [] : !pipe.rows<"n": i64>
    }
    ```

    C1: the body starts with a source and ends with its only sink.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $body attr-dict";
  let hasVerifier = 1;
}

def Pipe_ScanOp : Pipe_Op<"scan"> {
  let summary = "source: the columns of an input table, as storage promises them";
  let description = [{
    `columns` has one dictionary a column: `file` (name in the file), `column`, and where statistics prove it `min`, `max`
    (storage verifies them), `logical`, and for the cost model `pages` (the form in which kernels will find them: "values",
    "code" of a dictionary that registers hold, or "gathered" from a larger one), `page_bytes` and `file_bytes` (of a row, in memory and in the file), `text_bytes`
    (of a string) and `ordered` (rows come in the order of its values, by and large). `bounds` prune row groups. With `split` each rank reads its share, otherwise every rank reads all.

    ```mlir
    pipe.state @all join [#pipe.field<"n_nationkey", i32, "key">]
    pipe.pipeline @p0 {
      %0 = pipe.scan split "nation" [{column = "n_nationkey", file = "n_nationkey", max = 24 : i64, min = 0 : i64} ] expected 25 : <"n_nationkey": i32>
      pipe.insert %0, @all keys ["n_nationkey"] : <"n_nationkey": i32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$table, ArrayAttr:$columns, OptionalAttr<ArrayAttr>:$bounds,
                       OptionalAttr<I64Attr>:$expected_rows, UnitAttr:$split);
  let results = (outs Pipe_RowsType:$rows);
  let assemblyFormat = "(`split` $split^)? $table $columns (`bounds` $bounds^)? (`expected` $expected_rows^)? attr-dict `:` type($rows)";
}

def Pipe_ValuesOp : Pipe_Op<"values"> {
  let summary = "source: literal rows";
  let description = [{
    `cells` has an array of literals per row, in the order of the columns: integers (scaled decimals, days, 0 and 1),
    floats, strings, or `unit` for NULL. Every rank has all rows.

    ```mlir
    pipe.stream @out "result" : !pipe.rows<"n": i32, "word": !pipe.string?>
    pipe.pipeline @p0 {
      %0 = pipe.values [[1 : i128, "one"], [2 : i128, unit]] ["i64", "string"] : <"n": i32, "word": !pipe.string?>
      pipe.emit %0, @out keys [] : <"n": i32, "word": !pipe.string?>
    }
    ```
  }];
  let arguments = (ins ArrayAttr:$cells, StrArrayAttr:$logical);
  let results = (outs Pipe_RowsType:$rows);
  let assemblyFormat = "$cells $logical attr-dict `:` type($rows)";
}

def Pipe_ReadOp : Pipe_Op<"read"> {
  let summary = "source: the rows of a finished state";
  let description = [{
    ```mlir
    pipe.state @count scalar [#pipe.field<"n", i64, "sum">]
    pipe.stream @out "result" : !pipe.rows<"n": i64>
    pipe.pipeline @p1 {
      %0 = pipe.read @count : <"n": i64>
      pipe.emit %0, @out keys [] : <"n": i64>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$state);
  let results = (outs Pipe_RowsType:$rows);
  let assemblyFormat = "$state attr-dict `:` type($rows)";
}

def Pipe_ReceiveOp : Pipe_Op<"receive"> {
  let summary = "source: the chunks of a stream";
  let description = [{
    ```mlir
    pipe.stream @in "gather" : !pipe.rows<"n": i64>
    pipe.state @total scalar [#pipe.field<"n", i64, "sum">]
    pipe.pipeline @p2 {
      %0 = pipe.receive @in : <"n": i64>
      pipe.combine %0, @total keys [] : <"n": i64>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$stream);
  let results = (outs Pipe_RowsType:$rows);
  let assemblyFormat = "$stream attr-dict `:` type($rows)";
}

def Pipe_FilterOp : Pipe_Op<"filter"> {
  let summary = "keeps the rows for which the body yields 1";
  let description = [{
    Body arguments: for each column of `columns` its value, and after it its `i1` validity if it is nullable.
    `selectivity` is the share of rows that is expected to be kept, `text_bytes` the mean length of the strings read.
    C1: the body yields one `i1`. C2: the selectivity is not negative.

    ```mlir
    pipe.stream @in "none" : !pipe.rows<"a": i32?>
    pipe.stream @out "result" : !pipe.rows<"a": i32?>
    pipe.pipeline @positive {
      %0 = pipe.receive @in : <"a": i32?>
      %1 = pipe.filter %0 ["a"] {
      ^bb0(%a: i32, %valid: i1):
        %zero = arith.constant 0 : i32
        %positive = arith.cmpi sgt, %a, %zero : i32
        %keep = arith.andi %positive, %valid : i1
        pipe.yield %keep : i1
      } : <"a": i32?> -> <"a": i32?>
      pipe.emit %1, @out keys [] : <"a": i32?>
    }
    ```
  }];
  let arguments = (ins Pipe_RowsType:$input, StrArrayAttr:$columns,
                       OptionalAttr<F64Attr>:$selectivity, OptionalAttr<F64Attr>:$text_bytes);
  let results = (outs Pipe_RowsType:$rows);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$input $columns $body attr-dict `:` type($input) `->` type($rows)";
  let hasVerifier = 1;
}

def Pipe_MapOp : Pipe_Op<"map"> {
  let summary = "computes columns from columns of the same row";
  let description = [{
    Yields for each name of `names` a value, and after it an `i1` validity if the result column is nullable. The
    result rows may leave out input columns that nobody reads. `text_bytes` is the mean length of the strings read.

    ```mlir
    pipe.stream @in "none" : !pipe.rows<"a": i32>
    pipe.stream @out "result" : !pipe.rows<"a": i32, "b": i32>
    pipe.pipeline @doubled {
      %0 = pipe.receive @in : <"a": i32>
      %1 = pipe.map %0 ["b"] ["a"] {
      ^bb0(%a: i32):
        %b = arith.addi %a, %a : i32
        pipe.yield %b : i32
      } : <"a": i32> -> <"a": i32, "b": i32>
      pipe.emit %1, @out keys [] : <"a": i32, "b": i32>
    }
    ```
  }];
  let arguments = (ins Pipe_RowsType:$input, StrArrayAttr:$names, StrArrayAttr:$columns,
                       OptionalAttr<F64Attr>:$text_bytes);
  let results = (outs Pipe_RowsType:$rows);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$input $names $columns $body attr-dict `:` type($input) `->` type($rows)";
  let hasVerifier = 1;
}

def Pipe_LookupOp : Pipe_Op<"lookup"> {
  let summary = "finds the rows of a join state with equal keys";
  let description = [{
    `keys` are columns of the input, in the order of the state's key fields. `inner` and `left` append the `payload`
    fields (nullable for `left`), one output row a match; `semi` and `anti` keep or drop the row; `mark` appends a bool column
    named by `mark`. `full` is `left`, and sets the state's `i1` field named by `mark` in every row that was matched, so
    that another pipeline can read the others. A row with a NULL key matches nothing. The optional body is the residual condition over
    `columns` (of the row, then of the match), and yields one `i1`. `selectivity` is how many rows are expected to come out
    for each that goes in.

    C1: the selectivity is not negative.

    ```mlir
    pipe.state @nations join [#pipe.field<"n_nationkey", i32, "key">, #pipe.field<"n_name", !pipe.string, "payload">]
    pipe.stream @in "none" : !pipe.rows<"s_nationkey": i32>
    pipe.stream @out "result" : !pipe.rows<"n_name": !pipe.string>
    pipe.pipeline @named {
      %0 = pipe.receive @in : <"s_nationkey": i32>
      %1 = pipe.lookup %0, @nations inner keys ["s_nationkey"] payload ["n_name"] columns [] {
      } : <"s_nationkey": i32> -> <"n_name": !pipe.string>
      pipe.emit %1, @out keys [] : <"n_name": !pipe.string>
    }
    ```
  }];
  let arguments = (ins Pipe_RowsType:$input, FlatSymbolRefAttr:$state, Pipe_LookupKind:$kind,
                       StrArrayAttr:$keys, StrArrayAttr:$payload, OptionalAttr<StrAttr>:$mark,
                       StrArrayAttr:$columns, OptionalAttr<F64Attr>:$selectivity);
  let results = (outs Pipe_RowsType:$rows);
  let regions = (region AnyRegion:$residual);
  let assemblyFormat = "$input `,` $state $kind `keys` $keys `payload` $payload (`mark` $mark^)? `columns` $columns $residual attr-dict `:` type($input) `->` type($rows)";
  let hasVerifier = 1;
}

def Pipe_InsertOp : Pipe_Op<"insert"> {
  let summary = "sink: appends rows to a join or sort state";
  let description = [{
    The input columns are the state's fields, by name. `keys` (join) are hashed; rows with a NULL key are left out when
    `drop_null_keys` is set. `text_bytes` is the mean length of a row's strings together.

    ```mlir
    pipe.stream @in "none" : !pipe.rows<"k": i32?, "v": i64>
    pipe.state @build join [#pipe.field<"k", i32, "key", nullable = true>, #pipe.field<"v", i64, "payload">]
    pipe.pipeline @filled {
      %0 = pipe.receive @in : <"k": i32?, "v": i64>
      pipe.insert %0, @build keys ["k"] drop_null_keys : <"k": i32?, "v": i64>
    }
    ```
  }];
  let arguments = (ins Pipe_RowsType:$input, FlatSymbolRefAttr:$state, StrArrayAttr:$keys,
                       UnitAttr:$drop_null_keys, OptionalAttr<F64Attr>:$text_bytes);
  let assemblyFormat = "$input `,` $state `keys` $keys (`drop_null_keys` $drop_null_keys^)? attr-dict `:` type($input)";
}

def Pipe_CombineOp : Pipe_Op<"combine"> {
  let summary = "sink: folds rows into an aggregate state";
  let description = [{
    The input columns are the state's fields, by name: keys choose the state row, the others are combined as the
    field says. A NULL input (nullable column, not a key) leaves the state row as it is. `text_bytes` is the mean length of
    a row's keys that are strings, together.

    ```mlir
    pipe.stream @in "none" : !pipe.rows<"k": i32, "total": i64>
    pipe.state @totals group [#pipe.field<"k", i32, "key">, #pipe.field<"total", i64, "sum">]
    pipe.pipeline @summed {
      %0 = pipe.receive @in : <"k": i32, "total": i64>
      pipe.combine %0, @totals keys ["k"] : <"k": i32, "total": i64>
    }
    ```
  }];
  let arguments = (ins Pipe_RowsType:$input, FlatSymbolRefAttr:$state, StrArrayAttr:$keys,
                       OptionalAttr<F64Attr>:$text_bytes);
  let assemblyFormat = "$input `,` $state `keys` $keys attr-dict `:` type($input)";
}

def Pipe_EmitOp : Pipe_Op<"emit"> {
  let summary = "sink: writes rows to a stream";
  let description = [{
    With `keys` the rows are partitioned by the hash of the keys into one chunk per rank (streams of exchange `hash`).
    `text_bytes` is the mean length of a row's strings together.

    ```mlir
    pipe.state @totals group [#pipe.field<"k", i32, "key">, #pipe.field<"total", i64, "sum">]
    pipe.stream @moved "hash" : !pipe.rows<"k": i32, "total": i64>
    pipe.pipeline @groups {
      %0 = pipe.read @totals : <"k": i32, "total": i64>
      pipe.emit %0, @moved keys ["k"] : <"k": i32, "total": i64>
    }
    ```
  }];
  let arguments = (ins Pipe_RowsType:$input, FlatSymbolRefAttr:$stream, StrArrayAttr:$keys,
                       OptionalAttr<F64Attr>:$text_bytes);
  let assemblyFormat = "$input `,` $stream `keys` $keys attr-dict `:` type($input)";
}

def Pipe_YieldOp : Pipe_Op<"yield", [Pure, Terminator]> {
  let summary = "ends a body";
  let description = [{
    ```mlir
    pipe.stream @in "none" : !pipe.rows<"a": i32>
    pipe.stream @out "result" : !pipe.rows<"b": i64?>
    pipe.pipeline @widened {
      %0 = pipe.receive @in : <"a": i32>
      %1 = pipe.map %0 ["b"] ["a"] {
      ^bb0(%a: i32):
        %b = arith.extsi %a : i32 to i64
        %valid = arith.constant true
        pipe.yield %b, %valid : i64, i1
      } : <"a": i32> -> <"b": i64?>
      pipe.emit %1, @out keys [] : <"b": i64?>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

// ---- scalar ops of bodies, beside arith and math ----

def Pipe_LiteralOp : Pipe_Op<"literal", [Pure]> {
  let summary = "a string literal of the program; an argument of the kernel, not part of its code";
  let description = [{
    ```mlir
    func.func @body() -> !pipe.string {
      %0 = pipe.literal "BUILDING"
      return %0 : !pipe.string
    }
    ```
  }];
  let arguments = (ins StrAttr:$value);
  let results = (outs Pipe_StringType:$result);
  let assemblyFormat = "$value attr-dict";
}

def Pipe_StringCompareOp : Pipe_Op<"string_compare", [Pure]> {
  let summary = "compares two strings bytewise";
  let description = [{
    `predicate` is eq, ne, lt, le, gt or ge.

    ```mlir
    func.func @body(%a: !pipe.string, %b: !pipe.string) -> i1 {
      %0 = pipe.string_compare "le" %a, %b
      return %0 : i1
    }
    ```
  }];
  let arguments = (ins StrAttr:$predicate, Pipe_StringType:$left, Pipe_StringType:$right);
  let results = (outs I1:$result);
  let assemblyFormat = "$predicate $left `,` $right attr-dict";
  let hasVerifier = 1;
}

def Pipe_StringMatchOp : Pipe_Op<"string_match", [Pure]> {
  let summary = "SQL LIKE against a constant pattern";
  let description = [{
    ```mlir
    func.func @body(%text: !pipe.string) -> i1 {
      %0 = pipe.string_match %text "%special%requests%"
      return %0 : i1
    }
    ```
  }];
  let arguments = (ins Pipe_StringType:$text, StrAttr:$pattern, OptionalAttr<StrAttr>:$escape);
  let results = (outs I1:$result);
  let assemblyFormat = "$text $pattern (`escape` $escape^)? attr-dict";
}

def Pipe_SubstringOp : Pipe_Op<"substring", [Pure]> {
  let summary = "characters start (from 1) to start + length - 1; with the largest length to the end";
  let description = [{
    ```mlir
    func.func @body(%phone: !pipe.string, %start: i64, %length: i64) -> !pipe.string {
      %0 = pipe.substring %phone, %start, %length
      return %0 : !pipe.string
    }
    ```
  }];
  let arguments = (ins Pipe_StringType:$text, I64:$start, I64:$length);
  let results = (outs Pipe_StringType:$result);
  let assemblyFormat = "$text `,` $start `,` $length attr-dict";
}

def Pipe_DatePartOp : Pipe_Op<"date_part", [Pure]> {
  let summary = "year, month or day of a date (days since 1970-01-01)";
  let description = [{
    ```mlir
    func.func @body(%date: i32) -> i64 {
      %0 = pipe.date_part "year" %date
      return %0 : i64
    }
    ```
  }];
  let arguments = (ins StrAttr:$part, I32:$date);
  let results = (outs I64:$result);
  let assemblyFormat = "$part $date attr-dict";
}

def Pipe_MultiplyOp : Pipe_Op<"multiply", [Pure]> {
  let summary = "128-bit multiplication, and whether it overflowed";
  let description = [{
    Where it did, the result is any number.

    ```mlir
    func.func @body(%a: i128, %b: i128) -> i128 {
      %product, %overflow = pipe.multiply %a, %b
      pipe.fail_if %overflow, "overflow"
      return %product : i128
    }
    ```
  }];
  let arguments = (ins I<128>:$left, I<128>:$right);
  let results = (outs I<128>:$result, I1:$overflow);
  let assemblyFormat = "$left `,` $right attr-dict";
}

def Pipe_DivideOp : Pipe_Op<"divide", [Pure]> {
  let summary = "left * scale / right, truncated towards zero, and whether it overflowed";
  let description = [{
    Where it did, or `right` is 0, the result is any number, and `overflow` is true.

    ```mlir
    func.func @body(%a: i128, %b: i128) -> i128 {
      %scale = arith.constant 10000 : i128
      %quotient, %overflow = pipe.divide %a, %scale, %b
      pipe.fail_if %overflow, "overflow"
      return %quotient : i128
    }
    ```
  }];
  let arguments = (ins I<128>:$left, I<128>:$scale, I<128>:$right);
  let results = (outs I<128>:$result, I1:$overflow);
  let assemblyFormat = "$left `,` $scale `,` $right attr-dict";
}

def Pipe_ToFloatOp : Pipe_Op<"to_float", [Pure]> {
  let summary = "the double nearest to a 128-bit integer";
  let description = [{
    ```mlir
    func.func @body(%a: i128) -> f64 {
      %0 = pipe.to_float %a
      return %0 : f64
    }
    ```
  }];
  let arguments = (ins I<128>:$value);
  let results = (outs F64:$result);
  let assemblyFormat = "$value attr-dict";
}

def Pipe_TextOp : Pipe_Op<"text", [Pure]> {
  let summary = "a string made of strings: upper, lower, concat, trim, trim_start, trim_end, replace, or their length";
  let description = [{
    The functions of `frame.text`; `length` gives an i64. A string made here lives until the next row.

    ```mlir
    func.func @body(%a: !pipe.string, %b: !pipe.string) -> i64 {
      %0 = pipe.text "concat" %a, %b : !pipe.string, !pipe.string -> !pipe.string
      %1 = pipe.text "length" %0 : !pipe.string -> i64
      return %1 : i64
    }
    ```
  }];
  let arguments = (ins StrAttr:$function, Variadic<Pipe_StringType>:$operands);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$function $operands attr-dict `:` type($operands) `->` type($result)";
}

def Pipe_PrintOp : Pipe_Op<"print", [Pure]> {
  let summary = "a number, date, timestamp or boolean as text";
  let description = [{
    `as` is integer (a decimal has `scale` digits behind its point), date, timestamp, boolean, double or float. A string made
    here lives until the next row.

    ```mlir
    func.func @body(%cents: i128) -> !pipe.string {
      %0 = pipe.print "integer" %cents scale 2 : i128
      return %0 : !pipe.string
    }
    ```
  }];
  let arguments = (ins StrAttr:$as, AnyType:$value, I64Attr:$scale);
  let results = (outs Pipe_StringType:$result);
  let assemblyFormat = "$as $value `scale` $scale attr-dict `:` type($value)";
}

def Pipe_ParseOp : Pipe_Op<"parse", [Pure]> {
  let summary = "a number, date, timestamp or boolean from text, and whether it is one";
  let description = [{
    `as` is integer, date, timestamp, boolean (an i128, an integer scaled by 10^`scale` and rounded half away from zero), double
    (an f64) or float (an f32). The value is 0 where the text is none.

    ```mlir
    func.func @body(%text: !pipe.string) -> i1 {
      %value, %valid = pipe.parse "integer" %text scale 2 : i128
      return %valid : i1
    }
    ```
  }];
  let arguments = (ins StrAttr:$as, Pipe_StringType:$text, I64Attr:$scale);
  let results = (outs AnyType:$value, I1:$valid);
  let assemblyFormat = "$as $text `scale` $scale attr-dict `:` type($value)";
}

def Pipe_ShiftDateOp : Pipe_Op<"shift_date", [Pure]> {
  let summary = "days since 1970-01-01, months and then days later; outside i32: an i64 that is";
  let description = [{
    ```mlir
    func.func @body(%date: i32) -> i64 {
      %0 = pipe.shift_date %date months 1 days 0
      return %0 : i64
    }
    ```
  }];
  let arguments = (ins I32:$date, I64Attr:$months, I64Attr:$days);
  let results = (outs I64:$result);
  let assemblyFormat = "$date `months` $months `days` $days attr-dict";
}

def Pipe_OwnsOp : Pipe_Op<"owns", [Pure]> {
  let summary = "whether the hash of these values names this rank, as an exchange by hash would";
  let description = [{
    Each value is followed by its `i1` validity where `nullable` says so. Without values the first rank owns the row.

    ```mlir
    func.func @body(%key: i32, %name: !pipe.string, %valid: i1) -> i1 {
      %0 = pipe.owns (%key, %name, %valid) [false, true] : i32, !pipe.string, i1
      return %0 : i1
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values, DenseBoolArrayAttr:$nullable);
  let results = (outs I1:$result);
  let assemblyFormat = "`(` $values `)` $nullable attr-dict (`:` type($values)^)?";
}

def Pipe_SelectOp : Pipe_Op<"select", [Pure, AllTypesMatch<["left", "right", "result"]>]> {
  let summary = "one of two strings, without copying either";
  let description = [{
    ```mlir
    func.func @body(%first: i1, %a: !pipe.string, %b: !pipe.string) -> !pipe.string {
      %0 = pipe.select %first, %a, %b
      return %0 : !pipe.string
    }
    ```
  }];
  let arguments = (ins I1:$condition, Pipe_StringType:$left, Pipe_StringType:$right);
  let results = (outs Pipe_StringType:$result);
  let assemblyFormat = "$condition `,` $left `,` $right attr-dict";
}

def Pipe_FailIfOp : Pipe_Op<"fail_if"> {
  let summary = "fails the task with a data error if the condition holds for a row";
  let description = [{
    `error` is overflow, division_by_zero, invalid_cast, more_than_one_row or raised. For the last one the op's
    location is the message.

    ```mlir
    func.func @body(%too_large: i1) {
      pipe.fail_if %too_large, "overflow"
      return
    }
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$error);
  let assemblyFormat = "$condition `,` $error attr-dict";
}

def Pipe_ToTensorOp : Pipe_Op<"to_tensor"> {
  let summary = "the rows of a stream as tensors of this rank, aligned";
  let description = [{
    Stands in the function of a tensor program for the `frame.to_tensor` whose table a pipeline writes to the
    stream. Exists from `form` to `schedule`.

    ```mlir
    pipe.stream @points "to_tensor" : !pipe.rows<"x": f64, "y": f64>
    func.func @main() -> tensor<?x2xf64> {
      %xy = pipe.to_tensor @points [["x", "y"]] -> tensor<?x2xf64>
      return %xy : tensor<?x2xf64>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$stream, ArrayAttr:$groups);
  let results = (outs Variadic<AnyRankedTensor>:$tensors);
  let assemblyFormat = "$stream $groups attr-dict `->` type($tensors)";
}

#endif
