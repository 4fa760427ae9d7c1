// The pipe dialect (L3): fused pipelines of sub-operators between states, on local rows.
// Exists from the phase `form` to the phase `lower`.
#ifndef HEADRACE_DIALECTS_PIPE_TD
#define HEADRACE_DIALECTS_PIPE_TD

include "dialects/frame/ColumnTypes.td"
include "dialects/pipe/PipeAttrs.td"
include "dialects/pipe/PipeScalarOps.td"
include "mlir/IR/SymbolInterfaces.td"

// ---- ops ----

def Pipe_WindowFunctions : TypedArrayAttrBase<
    Attr<CPred<"::llvm::isa<::headrace::frame::WindowFunctionAttr>($_self)">, "window function">,
    "window functions">;

def Pipe_StateOp : Pipe_Op<"state", [Symbol]> {
  let summary = "a state: rows behind a contract";
  let description = [{
    Two copies of a state combine field by field as the fields say (`key` fields decide which rows meet). A `join`
    state is filled by `pipe.insert` and read by `pipe.lookup`; `group` and `scalar` are filled by `pipe.combine`; `sort` by
    `pipe.insert`, keeping the first `limit` rows in the order of the sort keys, of which who reads it does not see the
    first `offset` (`first_come`: the rows that come first from their source are these, or as good); by so many `words` of its
    keys a row is told from the others, as estimated; `rows` by `pipe.insert`, keeping all; `window` too, and when all rows are there the `functions` are
    computed over the partitions by the keys, in the order of the sort keys, into the fields of their names; with a `limit`, rows
    that so many others of their partition come before may be left out; `within` these axes of the mesh ranks have different rows of what is no
    partition, and compute over their own. `holds` is the estimate of its rows on a rank. The directory of a
    `join` state may be `direct`.

    ```mlir
    pipe.state @revenue scalar [#pipe.field<"revenue", i128, sum>]
    pipe.state @orders join [#pipe.field<"key", i32, key>] holds <expected = 10, p95 = 20, max = 20> direct <base = 1, extent = 60>
    pipe.state @ranked window [#pipe.field<"k", i64, key>, #pipe.field<"v", i64, payload>, #pipe.field<"place", i64, computed>] order [#pipe.sort_key<"v", descending = true, nulls_first = true>] functions [#frame.window_function<rank -> "place">]
    pipe.state @first sort [#pipe.field<"v", i64, payload>] order [#pipe.sort_key<"v", descending = true, nulls_first = true>] words 1.0 limit 10 offset 2
    ```

    C1: field names are unique. C2: only `sort` and `window` states have an order, and may have a limit, only `sort` states an
    offset, and the keys name fields; `first_come` goes with a limit of a `sort` state, `words`,
    a finite number and at least 1, with an order of one. C3: `scalar` and `group` states have no payload, `sort` and `rows` states nothing else; a `join` state has keys and payload;
    a `scalar` state has no keys, a `group` state has some. C4: a limit is 1 or more, an offset not negative and at most the limit.
    C6: exactly `window` states have functions, of fields and into fields: aggregates (sum, count, min, max) into fields that
    fold, the others into `computed` fields, `lag` and the like into one of their input's type; with a limit, `row_number` and
    `rank` only.
    C5: only a `join` state with one key that is an integer of at most 64 bits and not nullable is direct.
    C7: only `window` states without keys are within axes.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Pipe_StateKindAttr:$kind,
                       TypedArrayAttrBase<Pipe_FieldAttr, "fields">:$fields,
                       OptionalAttr<TypedArrayAttrBase<Pipe_SortKeyAttr, "sort keys">>:$sort_keys,
                       OptionalAttr<F64Attr>:$order_words,
                       OptionalAttr<I64Attr>:$limit, OptionalAttr<I64Attr>:$offset, UnitAttr:$first_come,
                       OptionalAttr<Pipe_CardinalityAttr>:$holds, OptionalAttr<Pipe_DirectAttr>:$direct,
                       OptionalAttr<Pipe_WindowFunctions>:$functions, OptionalAttr<StrArrayAttr>:$within);
  let assemblyFormat = [{
    $sym_name $kind $fields (`within` $within^)? (`order` $sort_keys^)? (`words` $order_words^)? (`functions` $functions^)? (`limit` $limit^)? (`offset` $offset^)? (`first_come` $first_come^)? (`holds` $holds^)?
    (`direct` $direct^)? attr-dict
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "StateKind":$kind,
                                 "::llvm::ArrayRef<::mlir::Attribute>":$fields, "CardinalityAttr":$holds)>];
  let extraClassDeclaration = [{
    /// How many of the fields are keys.
    int64_t countKeys();
    ::llvm::LogicalResult verifyDirect();
    ::llvm::LogicalResult verifyFunctions();
    /// The field of this name; null if there is none.
    FieldAttr getField(::llvm::StringRef name);
  }];
  let hasVerifier = 1;
}

/// `#dist.skew`: its file of attributes may not be read twice.
def Pipe_ExchangeSkew : Attr<CPred<"::llvm::isa<::headrace::dist::SkewAttr>($_self)">, "skew of an exchange"> {
  let storageType = "::headrace::dist::SkewAttr";
  let returnType = "::headrace::dist::SkewAttr";
  let convertFromStorage = "$_self";
}

def Pipe_StreamOp : Pipe_Op<"stream", [Symbol]> {
  let summary = "a bounded channel of chunks between two pipelines of a rank, to other ranks or out of the program";
  let description = [{
    A `hash`, `broadcast`, `gather` or `range` stream goes to the ranks that differ `over` these axes of the mesh; `range` by
    the `order` of its rows, `hash` to where the rank that the hash names, or the place of a single key in a `cycle` of keys, is
    along them: one of those along the axes `toward` which rows go, if they go in several steps. A `local` one is written by both ways of a `pipe.choice`, or by `writers` pipelines, all of whose rows count. `names`
    and `logical` are the user's names and types of the columns of a result; `ordered` results keep the order of their
    rows; those of `resident` ones stay on the ranks that make them, divided by the hash of the columns named, if there
    are any. `carries` is the estimate of the rows that a rank puts in; `fullest` is what the fullest rank gets of an exchange by
    hash, against an even share. The rows of a `parted` one are kept until all are there, in `parts` by the hash of their keys, on
    disk where memory is short; the pipelines of a `pipe.repeat` read them, part after part. `skew` is that of the exchange.

    ```mlir
    pipe.stream @s2 parted parts 32 : !pipe.rows<"l_orderkey": i32>
    pipe.stream @s0 hash over ["ranks"] carries <expected = 100, p95 = 200> fullest 1.5 : !pipe.rows<"l_orderkey": i32>
    pipe.stream @s3 hash cycle 100000 over ["ranks"] : !pipe.rows<"l_orderkey": i32>
    pipe.stream @s1 range over ["ranks"] order [#pipe.sort_key<"l_orderkey", descending = false, nulls_first = false>] : !pipe.rows<"l_orderkey": i32>
    pipe.stream @out result names ["key"] logical [i32] ordered : !pipe.rows<"l_orderkey": i32>
    ```

    C1: only a `local` stream has writers, two or more. C2: results have a name and a logical type for each column, or
    neither, and the values can be of the type; `to_tensor` streams have logical types. C3: only `hash` has a fullest rank, which gets 1 or more. C4: only a result is ordered or resident, by columns that it has.
    C5: exactly what goes to other ranks has axes, each once. C6: exactly `range` has an order, of its columns.
    C7: exactly what is `parted` has parts, two or more. C8: only `hash` has skew. C9: only `hash` without skew goes toward
    ranks, along its own axes and others, in the order of the mesh. C10: only `hash` without skew has a cycle, of one key or more.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Pipe_StreamKindAttr:$kind, TypeAttrOf<Pipe_RowsType>:$rows,
                       OptionalAttr<I64Attr>:$cycle, OptionalAttr<StrArrayAttr>:$axes, OptionalAttr<StrArrayAttr>:$toward,
                       OptionalAttr<TypedArrayAttrBase<Pipe_SortKeyAttr, "sort keys">>:$sort_keys, OptionalAttr<StrArrayAttr>:$names, OptionalAttr<Frame_ColumnTypesAttr>:$logical, UnitAttr:$ordered, OptionalAttr<StrArrayAttr>:$resident,
                       OptionalAttr<I64Attr>:$writers, OptionalAttr<Pipe_CardinalityAttr>:$carries,
                       OptionalAttr<F64Attr>:$fullest, OptionalAttr<I64Attr>:$parts,
                       OptionalAttr<Pipe_ExchangeSkew>:$skew);
  let assemblyFormat = [{
    $sym_name $kind (`parts` $parts^)? (`cycle` $cycle^)? (`over` $axes^)? (`toward` $toward^)? (`order` $sort_keys^)? (`names` $names^)? (`logical` $logical^)? (`ordered` $ordered^)? (`resident` $resident^)? (`writers` $writers^)?
    (`carries` $carries^)? (`fullest` $fullest^)? (`skew` `(` $skew^ `)`)? `:` $rows attr-dict
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "StreamKind":$kind, "RowsType":$rows,
                                 "CardinalityAttr":$carries)>];
  let hasVerifier = 1;
}

def Pipe_ChoiceOp : Pipe_Op<"choice", [Symbol]> {
  let summary = "which pipelines run is decided when a state has been filled";
  let description = [{
    If the state has `at_most` rows or fewer, summed over all ranks, the pipelines `in` the way `few` of this choice run, else
    those in the way `many`. Both write the same stream, a `local` one. `expected` is the estimate of the rows.

    ```mlir
    pipe.state @rows0 rows [#pipe.field<"k", i32, payload>]
    pipe.choice @choice0 by @rows0 at_most 5000 expected 1200
    ```

    C1: the bound and the estimate are not negative.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$state, I64Attr:$at_most,
                       OptionalAttr<I64Attr>:$expected);
  let assemblyFormat = "$sym_name `by` $state `at_most` $at_most (`expected` $expected^)? attr-dict";
  let hasVerifier = 1;
}

def Pipe_RepeatOp : Pipe_Op<"repeat", [Symbol]> {
  let summary = "pipelines that run in rounds, so that their states hold a part of the rows at a time";
  let description = [{
    The pipelines that `repeats` this run again and again, each time over some of the parts of the `parted` streams that
    they receive. The states that only they use are new in each round, and take `room` bytes at most, unless one part needs more.
    What they write elsewhere is complete after the last round.

    C1: the room is not negative.

    ```mlir
    pipe.repeat @rounds0 room 1048576
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$room);
  let assemblyFormat = "$sym_name `room` $room attr-dict";
  let hasVerifier = 1;
}

def Pipe_PipelineOp : Pipe_Op<"pipeline", [Symbol, NoTerminator, SingleBlock]> {
  let summary = "one kernel's worth of work: source, sub-operators, sink";
  let description = [{
    The body is a chain: the first op is a source, the last a sink, each op uses the rows of the one before. A pipeline
    runs as a task of its own, or only `in` a way of a `pipe.choice`, or in each round of what it `repeats`, or it `merges` the workers' copies of a state. `after` names
    a pipeline that must have ended before this one begins.

    ```mlir
    pipe.state @count scalar [#pipe.field<"n", i64, sum>]
    pipe.pipeline @p0 {
      %0 = pipe.scan "nation" [#pipe.scan_column<file = "n_nationkey", column = "n_nationkey">] : !pipe.rows<"n_nationkey": i32>
      %1 = pipe.map %0 ["n"] [] {
        %one = arith.constant 1 : i64
        pipe.yield %one : i64
      } : !pipe.rows<"n_nationkey": i32> -> !pipe.rows<"n": i64>
      pipe.combine %1, @count keys [] : !pipe.rows<"n": i64>
    }
    ```

    C1: the body starts with a source and ends with its only sink, and each op uses the rows of the one before. C2: a
    pipeline that merges reads the state and combines into it, and is in no choice. C3: it is in both a choice and a way of it, or
    in neither. C4: what is in a choice, or merges, repeats nothing.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<FlatSymbolRefAttr>:$merges,
                       OptionalAttr<FlatSymbolRefAttr>:$choice, OptionalAttr<Pipe_BranchAttr>:$branch,
                       OptionalAttr<FlatSymbolRefAttr>:$repeat, OptionalAttr<FlatSymbolRefAttr>:$after);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`merges` $merges^)? (`in` $choice^ $branch)? (`repeats` $repeat^)? (`after` $after^)? $body attr-dict
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name)>];
  let hasRegionVerifier = 1; // after the ops in it, which it asks
}

def Pipe_ScanOp : Pipe_Op<"scan"> {
  let summary = "source: the columns of an input table, as storage promises them";
  let description = [{
    `columns` describes each column. `bounds` prune row groups. With `split` over axes of the mesh each rank reads its
    share along them, otherwise every rank reads all. Of a `resident` table each rank has its own rows, those that an exchange by
    the hash of these columns would bring it. `holds` is how many rows the table has, or is thought to have.

    ```mlir
    pipe.state @all join [#pipe.field<"n_nationkey", i32, key>]
    pipe.pipeline @p0 {
      %0 = pipe.scan split ["ranks"] "nation" [#pipe.scan_column<file = "n_nationkey", column = "n_nationkey", min = 0 : i64, max = 24 : i64>] holds 25 : <"n_nationkey": i32>
      pipe.insert %0, @all keys ["n_nationkey"] : <"n_nationkey": i32>
    }
    ```

    C1: the columns are those of the rows, in their order. C2: bounds are of columns of the scan. C3: what it holds is not negative.
    C4: it is split over one axis or more, each once. C5: only what is split is resident, by columns of the scan.
  }];
  let arguments = (ins StrAttr:$table, TypedArrayAttrBase<Pipe_ScanColumnAttr, "scan columns">:$columns,
                       OptionalAttr<TypedArrayAttrBase<Pipe_BoundAttr, "bounds">>:$bounds,
                       OptionalAttr<I64Attr>:$holds, OptionalAttr<StrArrayAttr>:$split,
                       OptionalAttr<StrArrayAttr>:$resident);
  let results = (outs Pipe_RowsType:$rows);
  let assemblyFormat = "(`split` $split^)? (`resident` $resident^)? $table $columns (`bounds` $bounds^)? (`holds` $holds^)? attr-dict `:` type($rows)";
  let hasVerifier = 1;
}

def Pipe_ValuesOp : Pipe_Op<"values"> {
  let summary = "source: literal rows";
  let description = [{
    `cells` has an array of literals per row, in the order of the columns: integers (scaled decimals, days, 0 and 1),
    floats, strings, or `unit` for NULL. Every rank has all rows.

    C1: `logical` has a type for each column, and its values can be of it.

    ```mlir
    pipe.stream @out result : !pipe.rows<"n": i32, "word": !pipe.string?>
    pipe.pipeline @p0 {
      %0 = pipe.values [[1 : i128, "one"], [2 : i128, unit]] [i64, !frame.string] : <"n": i32, "word": !pipe.string?>
      pipe.emit %0, @out keys [] : <"n": i32, "word": !pipe.string?>
    }
    ```
  }];
  let arguments = (ins ArrayAttr:$cells, Frame_ColumnTypesAttr:$logical);
  let results = (outs Pipe_RowsType:$rows);
  let assemblyFormat = "$cells $logical attr-dict `:` type($rows)";
  let hasVerifier = 1;
}

def Pipe_ReadOp : Pipe_Op<"read"> {
  let summary = "source: the rows of a finished state";
  let description = [{
    ```mlir
    pipe.state @count scalar [#pipe.field<"n", i64, sum>]
    pipe.stream @out result : !pipe.rows<"n": i64>
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
    pipe.stream @in gather over ["ranks"] : !pipe.rows<"n": i64>
    pipe.state @total scalar [#pipe.field<"n", i64, sum>]
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
    pipe.stream @in local : !pipe.rows<"a": i32?>
    pipe.stream @out result : !pipe.rows<"a": i32?>
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
    pipe.stream @in local : !pipe.rows<"a": i32>
    pipe.stream @out result : !pipe.rows<"a": i32, "b": i32>
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
    that another pipeline can read the others. `seen` does nothing else: no row comes out, and it is a sink. A row with a NULL key matches nothing. The optional body is the residual condition over
    `columns` (of the row, then of the match), and yields one `i1`. `selectivity` is how many rows are expected to come out
    for each that goes in.

    C1: the selectivity is not negative. C2: exactly `mark`, `full` and `seen` name a mark.

    ```mlir
    pipe.state @nations join [#pipe.field<"n_nationkey", i32, key>, #pipe.field<"n_name", !pipe.string, payload>]
    pipe.stream @in local : !pipe.rows<"s_nationkey": i32>
    pipe.stream @out result : !pipe.rows<"n_name": !pipe.string>
    pipe.pipeline @named {
      %0 = pipe.receive @in : <"s_nationkey": i32>
      %1 = pipe.lookup %0, @nations inner keys ["s_nationkey"] payload ["n_name"] columns [] {
      } : <"s_nationkey": i32> -> <"n_name": !pipe.string>
      pipe.emit %1, @out keys [] : <"n_name": !pipe.string>
    }
    ```
  }];
  let extraClassDeclaration = [{
    /// Whether no row comes out of it.
    bool isSink() { return getKind() == LookupKind::Seen; }
  }];
  let arguments = (ins Pipe_RowsType:$input, FlatSymbolRefAttr:$state, Pipe_LookupKindAttr:$kind,
                       StrArrayAttr:$keys, StrArrayAttr:$payload, OptionalAttr<StrAttr>:$mark,
                       StrArrayAttr:$columns, OptionalAttr<F64Attr>:$selectivity);
  let results = (outs Pipe_RowsType:$rows);
  let regions = (region AnyRegion:$residual);
  let assemblyFormat = "$input `,` $state $kind `keys` $keys `payload` $payload (`mark` $mark^)? `columns` $columns $residual attr-dict `:` type($input) `->` type($rows)";
  let hasVerifier = 1;
}

def Pipe_ExpandOp : Pipe_Op<"expand"> {
  let summary = "each row as often as a column says, numbered";
  let description = [{
    A row with 0 or less in `by` does not come; `number` is that of the copy, from 1 on. The rows may leave out input columns that
    nobody reads. `selectivity` is how many rows are expected to come out for each that goes in.

    C1: `by` is an integer of at most 64 bits, not nullable. C2: the rows have `number`, an i64, and columns of the input. C3: the
    selectivity is not negative.

    ```mlir
    pipe.stream @in local : !pipe.rows<"a": i32, "n": i64>
    pipe.stream @out result : !pipe.rows<"a": i32, "i": i64>
    pipe.pipeline @expanded {
      %0 = pipe.receive @in : <"a": i32, "n": i64>
      %1 = pipe.expand %0 by "n" number "i" : <"a": i32, "n": i64> -> <"a": i32, "i": i64>
      pipe.emit %1, @out keys [] : <"a": i32, "i": i64>
    }
    ```
  }];
  let arguments = (ins Pipe_RowsType:$input, StrAttr:$by, StrAttr:$number, OptionalAttr<F64Attr>:$selectivity);
  let results = (outs Pipe_RowsType:$rows);
  let assemblyFormat = "$input `by` $by `number` $number attr-dict `:` type($input) `->` type($rows)";
  let hasVerifier = 1;
}

def Pipe_InsertOp : Pipe_Op<"insert"> {
  let summary = "sink: appends rows to a join, sort, window or row state";
  let description = [{
    The input columns are the state's fields, by name, but for those that a window computes. `keys` (join, window) are hashed; rows with a NULL key are left out when
    `drop_null_keys` is set. `text_bytes` is the mean length of a row's strings together.

    ```mlir
    pipe.stream @in local : !pipe.rows<"k": i32?, "v": i64>
    pipe.state @build join [#pipe.field<"k", i32, key, nullable = true>, #pipe.field<"v", i64, payload>]
    pipe.pipeline @filled {
      %0 = pipe.receive @in : <"k": i32?, "v": i64>
      pipe.insert %0, @build keys ["k"] drop_null_keys : <"k": i32?, "v": i64>
    }
    ```
  }];
  let arguments = (ins Pipe_RowsType:$input, FlatSymbolRefAttr:$state, StrArrayAttr:$keys,
                       UnitAttr:$drop_null_keys, OptionalAttr<F64Attr>:$text_bytes);
  let assemblyFormat = "$input `,` $state `keys` $keys (`drop_null_keys` $drop_null_keys^)? attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Pipe_CombineOp : Pipe_Op<"combine"> {
  let summary = "sink: folds rows into an aggregate state";
  let description = [{
    The input columns are the state's fields, by name: keys choose the state row, the others are combined as the
    field says. A NULL input (nullable column, not a key) leaves the state row as it is. `text_bytes` is the mean length of
    a row's keys that are strings, together.

    ```mlir
    pipe.stream @in local : !pipe.rows<"k": i32, "total": i64>
    pipe.state @totals group [#pipe.field<"k", i32, key>, #pipe.field<"total", i64, sum>]
    pipe.pipeline @summed {
      %0 = pipe.receive @in : <"k": i32, "total": i64>
      pipe.combine %0, @totals keys ["k"] : <"k": i32, "total": i64>
    }
    ```
  }];
  let arguments = (ins Pipe_RowsType:$input, FlatSymbolRefAttr:$state, StrArrayAttr:$keys,
                       OptionalAttr<F64Attr>:$text_bytes);
  let assemblyFormat = "$input `,` $state `keys` $keys attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Pipe_EmitOp : Pipe_Op<"emit"> {
  let summary = "sink: writes rows to a stream";
  let description = [{
    With `keys` the rows are partitioned by the hash of the keys into one chunk per rank (`hash` streams) or, if `parted`, into
    one per part. `text_bytes` is the mean length of a row's strings together.

    ```mlir
    pipe.state @totals group [#pipe.field<"k", i32, key>, #pipe.field<"total", i64, sum>]
    pipe.stream @moved hash over ["ranks"] : !pipe.rows<"k": i32, "total": i64>
    pipe.pipeline @groups {
      %0 = pipe.read @totals : <"k": i32, "total": i64>
      pipe.emit %0, @moved keys ["k"] : <"k": i32, "total": i64>
    }
    ```
  }];
  let arguments = (ins Pipe_RowsType:$input, FlatSymbolRefAttr:$stream, StrArrayAttr:$keys,
                       OptionalAttr<F64Attr>:$text_bytes, UnitAttr:$parted);
  let assemblyFormat = "$input `,` $stream (`parted` $parted^)? `keys` $keys attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Pipe_YieldOp : Pipe_Op<"yield", [Pure, Terminator]> {
  let summary = "ends a body";
  let description = [{
    ```mlir
    pipe.stream @in local : !pipe.rows<"a": i32>
    pipe.stream @out result : !pipe.rows<"b": i64?>
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

def Pipe_ToTensorOp : Pipe_Op<"to_tensor"> {
  let summary = "the rows of a stream as tensors of this rank, aligned";
  let description = [{
    Stands in the function of a tensor program for the `frame.to_tensor` whose table a pipeline writes to the
    stream. Exists from `form` to `schedule`.

    ```mlir
    pipe.stream @points to_tensor logical [f64, f64] : !pipe.rows<"x": f64, "y": f64>
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
