// The relational ops of `frame`: tables in, tables out.
#ifndef HEADRACE_FRAME_RELATIONS_TD
#define HEADRACE_FRAME_RELATIONS_TD

include "dialects/frame/FrameOpBase.td"
include "dialects/frame/RelationalOpInterface.td"

class Frame_RelationOp<string mnemonic, list<Trait> traits = []>
    : Frame_Op<mnemonic, !listconcat([Pure], traits)>;

// An op with one table as its result. `methods` are those of the interface that have a default which is not the op's.
class Frame_TableOp<string mnemonic, list<string> methods, list<Trait> traits = []>
    : Frame_RelationOp<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<RelationalOpInterface, methods>], traits)>;

// The same with an expression region: its block arguments are printed with their columns' names.
class Frame_ExpressionRegionOp<string mnemonic, list<string> methods, list<Trait> traits = []>
    : Frame_TableOp<mnemonic, !listconcat(["getRegionColumns"], methods), !listconcat([
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>], traits)>;

//===----------------------------------------------------------------------===//
// Sources and sinks
//===----------------------------------------------------------------------===//

def Frame_ScanOp : Frame_TableOp<"scan", ["getVariant"]> {
  let summary = "reads columns of a stored table";
  let description = [{
    Names the table by its slot in the plan; which files that is, is bound at load. `file_columns`
    are the names in the files, the result's names are those of the query, in the same order.
    `statistics` is a document of the storage layer about the whole table, keyed by the names in
    the files; what is absent is unknown:

    `{rows = 25 : i64, columns = {n_nationkey = {min = 0 : i64, max = 24 : i64, nulls = 0 : i64,
    distinct = 25 : i64, dictionary_entries = 25 : i64, all_dictionary = true,
    average_bytes = 8.0 : f64}}}`

    (`min` and `max`: scaled integers, days, or doubles.) With `ordinals` there is a last column of no
    file, an i64 that grows from row to row. The rows of a `resident` table lie on the ranks, each of which
    reads its own, divided by the hash of these columns of the files, if there are any. Exists from `import` to `form`.

    ```mlir
    func.func @scan() {
      %0 = frame.scan "nation" ["n_nationkey", "n_name"]
          {statistics = {rows = 25 : i64, columns = {n_nationkey = {min = 0 : i64, max = 24 : i64}}}}
          : !frame.table<"n_nationkey_1": i32, "n_name_1": !frame.string>
      return
    }
    ```

    **Constraints:**
    - (C1) there are as many file columns as result columns, but for that of the ordinals, an i64.
    - (C2) file columns are unique.
    - (C3) `rows` and `columns` of the statistics, if present, are an i64 and a dictionary.
  }];
  let arguments = (ins StrAttr:$table_name, Frame_ColumnNames:$file_columns, UnitAttr:$ordinals,
                       OptionalAttr<Frame_ColumnNames>:$resident, OptionalAttr<DictionaryAttr>:$statistics);
  let results = (outs Frame_TableType:$result);
  let assemblyFormat = "$table_name $file_columns (`ordinals` $ordinals^)? (`resident` $resident^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The types of the columns that are in the files.
    ::llvm::ArrayRef<::mlir::Type> getFileTypes() {
      return getResult().getType().getColumnTypes().take_front(getFileColumns().size());
    }
  }];
}

def Frame_ValuesOp : Frame_TableOp<"values", []> {
  let summary = "a table of literal rows";
  let description = [{
    Each row lists one literal per column, written as for `frame.constant`, `null` for NULL.

    ```mlir
    func.func @values() {
      %0 = frame.values [[1, "one"], [2, null]]
          : !frame.table<"n": i64, "word": !frame.nullable<!frame.string>>
      return
    }
    ```

    **Constraints:**
    - (C1) every row has one literal per column, of that column's type.
  }];
  let arguments = (ins ArrayAttr:$rows);
  let results = (outs Frame_TableType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Frame_ToTensorOp : Frame_RelationOp<"to_tensor"> {
  let summary = "turns numeric columns into tensors whose rows align";
  let description = [{
    One tensor per group of columns: a group with a 2-d result gives `tensor<?xNxT>`, N the number of
    its columns; a group of one column may also give `tensor<?xT>`. All results of one op have their rows in
    the same order (layout `block`). Decimals are divided by 10^scale. Exists from `import` to `form`.

    ```mlir
    !points = !frame.table<"x": f64, "y": f64, "weight": !frame.decimal<15, 2>>
    func.func @to_tensor(%t: !points) {
      %xy, %w = frame.to_tensor %t [["x", "y"], ["weight"]]
          : !points -> tensor<?x2xf64>, tensor<?xf64>
      return
    }
    ```

    **Constraints:**
    - (C1) there are as many groups as results, and no group is empty.
    - (C2) the columns are in the input and numeric. A NULL in them is a data error of the run.
    - (C3) a result is `tensor<?xNxT>` with N the size of its group, or `tensor<?xT>` for one column.
    - (C4) the element type T is f32 or f64, or i64 for columns of integers and of decimals without a scale. A
      value that it cannot hold is a data error of the run.
  }];
  let arguments = (ins Frame_TableType:$input, Frame_ColumnGroups:$groups);
  let results = (outs Variadic<AnyRankedTensor>:$tensors);
  let assemblyFormat = "$input $groups attr-dict `:` type($input) `->` type($tensors)";
  let hasVerifier = 1;
}

def Frame_FromTensorOp : Frame_TableOp<"from_tensor", []> {
  let summary = "turns the columns of a tensor into a table";
  let description = [{
    ```mlir
    func.func @from_tensor(%t: tensor<?x2xf64>) {
      %0 = frame.from_tensor %t : tensor<?x2xf64> -> !frame.table<"x": f64, "y": f64>
      return
    }
    ```

    **Constraints:**
    - (C1) the tensor has rank 1 (one column) or rank 2 with a static second dimension.
    - (C2) the table has one column per tensor column, each of the tensor's element type.
  }];
  let arguments = (ins AnyRankedTensor:$tensor);
  let results = (outs Frame_TableType:$result);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Row by row
//===----------------------------------------------------------------------===//

def Frame_FilterOp : Frame_ExpressionRegionOp<"filter", [], [
    SingleBlock, AllTypesMatch<["input", "result"]>]> {
  let summary = "keeps the rows for which the predicate is true";
  let description = [{
    Rows for which the predicate is false or NULL are dropped.

    ```mlir
    !t = !frame.table<"a": i64, "b": !frame.nullable<i64>>
    func.func @filter(%t: !t) {
      %0 = frame.filter %t columns ["a", "b"] {
      ^bb0(%a: i64, %b: !frame.nullable<i64>):
        %p = frame.compare lt %a, %b : (i64, !frame.nullable<i64>) -> !frame.nullable<i1>
        frame.yield %p : !frame.nullable<i1>
      } : !t
      return
    }
    ```

    **Constraints:**
    - (C1) `columns` are unique columns of the input and match the block arguments.
    - (C2) the region yields one boolean.
  }];
  let arguments = (ins Frame_TableType:$input, Frame_ColumnNames:$columns);
  let regions = (region SizedRegion<1>:$predicate);
  let results = (outs Frame_TableType:$result);
  let assemblyFormat = "$input `columns` $columns $predicate attr-dict `:` type($input)";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Frame_ProjectOp : Frame_ExpressionRegionOp<"project", ["getTitle"], [SingleBlock]> {
  let summary = "passes columns through and computes others";
  let description = [{
    `kept` columns go through unchanged under their names; `computed` names are those of the yielded
    values, in order. The result's columns are these two sets in the order of the result type.

    ```mlir
    func.func @project(%t: !frame.table<"a": i64, "b": i64>) {
      %0 = frame.project %t keep ["b"] compute ["double"] columns ["a"] {
      ^bb0(%a: i64):
        %sum = frame.add %a, %a : (i64, i64) -> i64
        frame.yield %sum : i64
      } : !frame.table<"a": i64, "b": i64> -> !frame.table<"double": i64, "b": i64>
      return
    }
    ```

    **Constraints:**
    - (C1) `columns` are unique columns of the input and match the block arguments.
    - (C2) `kept` columns are in the input and in the result with the same type.
    - (C3) the region yields one value per `computed` name, of that result column's type.
    - (C4) every result column is kept or computed, and exactly once.
  }];
  let arguments = (ins Frame_TableType:$input, Frame_ColumnNames:$kept,
                       Frame_ColumnNames:$computed, Frame_ColumnNames:$columns);
  let regions = (region SizedRegion<1>:$expressions);
  let results = (outs Frame_TableType:$result);
  let assemblyFormat = [{
    $input `keep` $kept `compute` $computed `columns` $columns $expressions attr-dict
    `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasFolder = 1;
}

def Frame_RenameOp : Frame_TableOp<"rename", []> {
  let summary = "gives the columns new names, by position";
  let description = [{
    For a common subplan that is used twice in a query.

    ```mlir
    func.func @rename(%t: !frame.table<"a": i64>) {
      %0 = frame.rename %t : !frame.table<"a": i64> -> !frame.table<"a_1": i64>
      return
    }
    ```

    **Constraints:**
    - (C1) the column types of input and result are the same, in order.
  }];
  let arguments = (ins Frame_TableType:$input);
  let results = (outs Frame_TableType:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Frame_ExpandOp : Frame_TableOp<"expand", []> {
  let summary = "each row as often as a column says, numbered";
  let description = [{
    A row with 0 or less in `by` does not come. The result has the columns of the input, then the number of the copy, from 1
    on. Lists become rows by it: as many as a list has elements, and then the element of that number.

    ```mlir
    func.func @expand(%t: !frame.table<"a": i64, "n": i64>) {
      %0 = frame.expand %t by "n" number "i"
          : !frame.table<"a": i64, "n": i64> -> !frame.table<"a": i64, "n": i64, "i": i64>
      return
    }
    ```

    **Constraints:**
    - (C1) `by` is a column of the input, of type i64.
    - (C2) the result has the columns of the input, and then `number`, an i64.
  }];
  let arguments = (ins Frame_TableType:$input, StrAttr:$by, StrAttr:$number);
  let results = (outs Frame_TableType:$result);
  let assemblyFormat = "$input `by` $by `number` $number attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Several rows or tables
//===----------------------------------------------------------------------===//

def Frame_JoinOp : Frame_ExpressionRegionOp<"join", ["getEqualColumns", "getState", "getVariant"]> {
  let summary = "joins two tables on equal keys and an optional residual predicate";
  let description = [{
    A pair matches when all keys are equal (NULL equals nothing, but where `null_safe` says so, NULL
    equals NULL) and the residual is true; no keys is a cross join. The result has the columns of left,
    then of right; `semi` and `anti` those of left only; `mark` those of left and a last column, true
    where there is a match. `left`, `right` and `full` keep the unmatched rows of their side(s), with
    NULL for the other side's columns. `single` is `left`, and a left row with more than one match
    fails the query: a scalar subquery.

    `null_aware` makes `mark` the value of `x IN (query)`: the last key (if there is one) and the
    residual are one predicate in three-valued logic on the right rows that match on the other keys.
    The mark is true if it is true of one of them, else NULL if it is NULL of one, else false. `anti`
    with `null_aware` is NOT IN: it keeps the rows whose mark would be false.

    `null_safe`, `null_aware` and `single` exist until `optimize`.

    ```mlir
    !orders = !frame.table<"o_key": i64, "o_date": !frame.date>
    !lines = !frame.table<"l_key": i64, "l_date": !frame.date>
    func.func @join(%orders: !orders, %lines: !lines) {
      %0 = frame.join inner %orders, %lines on ["o_key"] = ["l_key"]
          residual ["o_date", "l_date"] {
      ^bb0(%o: !frame.date, %l: !frame.date):
        %p = frame.compare lt %o, %l : (!frame.date, !frame.date) -> i1
        frame.yield %p : i1
      } : !orders, !lines -> !frame.table<
          "o_key": i64, "o_date": !frame.date, "l_key": i64, "l_date": !frame.date>
      %1 = frame.join mark %orders, %lines null_aware on ["o_date", "o_key"] = ["l_date", "l_key"]
          null_safe [true, false]
          : !orders, !lines -> !frame.table<
              "o_key": i64, "o_date": !frame.date, "in": !frame.nullable<i1>>
      return
    }
    ```

    **Constraints:**
    - (C1) left and right keys are as many, and columns of their sides.
    - (C2) the two keys of a pair have the same type but for nullability.
    - (C3) the residual's columns are unique columns of either side and match its block arguments;
      there is a region exactly when they are listed.
    - (C4) the residual yields one boolean.
    - (C5) the result type is the one described above, nullability included: a mark may be NULL
      exactly if it is `null_aware`.
    - (C6) `null_aware` needs kind `anti` or `mark`, and a key or a residual.
    - (C7) `null_safe` has one entry per key; with `null_aware` the last one is false.
  }];
  let arguments = (ins Frame_JoinKind:$kind, Frame_TableType:$left, Frame_TableType:$right,
                       Frame_ColumnNames:$left_keys, Frame_ColumnNames:$right_keys,
                       OptionalAttr<DenseBoolArrayAttr>:$null_safe,
                       OptionalAttr<Frame_ColumnNames>:$residual_columns, UnitAttr:$null_aware);
  let regions = (region MaxSizedRegion<1>:$residual);
  let results = (outs Frame_TableType:$result);
  let assemblyFormat = [{
    $kind $left `,` $right (`null_aware` $null_aware^)? `on` $left_keys `=` $right_keys
    (`null_safe` $null_safe^)? (`residual` $residual_columns^ $residual)? attr-dict
    `:` type($left) `,` type($right) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::headrace::frame::TableType":$result,
                                 "::headrace::frame::JoinKind":$kind, "::mlir::Value":$left,
                                 "::mlir::Value":$right, "::mlir::ArrayAttr":$leftKeys,
                                 "::mlir::ArrayAttr":$rightKeys), [{
    build($_builder, $_state, result, kind, left, right, leftKeys, rightKeys,
          ::mlir::DenseBoolArrayAttr(), ::mlir::ArrayAttr(), /*null_aware=*/false);
  }]>];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether there is a residual predicate beside the keys.
    bool hasResidual() { return !getResidual().empty(); }
    /// Whether a key pair is equal also where both are NULL.
    bool isNullSafe(unsigned key) { return getNullSafe() && (*getNullSafe())[key]; }
    /// The column that a mark join adds; no name and no type for other kinds.
    Column getMark() {
      return getKind() == JoinKind::Mark ? getType().getColumns().back() : Column();
    }
    bool hasNullSafe() { return getNullSafe() && ::llvm::is_contained(*getNullSafe(), true); }
    /// The result type of a join of `kind`; `mark` is the last column of a mark join.
    static TableType inferResultType(JoinKind kind, TableType left, TableType right,
                                     Column mark = {});
  }];
}

def Frame_AggregateOp : Frame_TableOp<"aggregate", [
    "getState", "createFinal", "makePartial", "getVariant"]> {
  let summary = "groups rows by keys and computes measures per group";
  let description = [{
    The result has the keys (under their names), then one column per measure. Without keys there is
    exactly one row, also for no input. NULL keys form one group. NULL inputs are ignored; the sum,
    min, max and avg of nothing is NULL, a count of nothing is 0.

    | measure | of | result |
    |---|---|---|
    | sum, sum_distinct | decimal<p, s> | decimal<q, s>, q >= p (from SQL: q = min(p + 10, 38)) |
    | sum, sum_distinct | i8 … i64, ui8 … ui64; i128; f32, f64 | i64, i128 or decimal<q, 0>, q >= 19; i128; f64 |
    | avg, avg_distinct | decimal<p, s> | f64, or decimal<q, s + 4> (from SQL: q = p + 4), truncated |
    | avg, avg_distinct | other numbers | f64 |
    | min, max | T | T |
    | bit_and, bit_or, bit_xor | i8 … i64, ui8 … ui64 | the same |
    | product | f64 | f64 |
    | count, count_star, count_distinct | any | i64 |

    All but counts are nullable if their input is, and always without keys.

    `stage` (made by `shard`): a `partial` aggregate sees one rank's rows; the `final` one behind the exchange has the
    same keys and functions on the partial result's columns, and combines: a count adds up its inputs, also that of
    a `count_star`.

    ```mlir
    func.func @aggregate(%t: !frame.table<"k": i64, "x": !frame.decimal<15, 2>>) {
      %0 = frame.aggregate %t keys ["k"]
          measures [#frame.measure<sum("x") -> "total">, #frame.measure<count_star -> "n">]
          : !frame.table<"k": i64, "x": !frame.decimal<15, 2>>
          -> !frame.table<"k": i64, "total": !frame.decimal<25, 2>, "n": i64>
      return
    }
    ```

    **Constraints:**
    - (C1) keys are unique columns of the input.
    - (C2) measure inputs are columns of the input, of the types of the table above.
    - (C3) the result's columns are the keys, then the measures, in order.
    - (C4) the types of the measures are those of the table above.
    - (C5) the measures of a `partial` or `final` aggregate combine: no avg, and none of distinct values.
    - (C6) a measure of a `final` aggregate has an input, of its result's type.
  }];
  let arguments = (ins Frame_TableType:$input, Frame_ColumnNames:$keys,
                       Frame_MeasureArrayAttr:$measures,
                       DefaultValuedAttr<Frame_AggregateStage,
                           "::headrace::frame::AggregateStage::Complete">:$stage);
  let results = (outs Frame_TableType:$result);
  let assemblyFormat = [{
    (`stage` $stage^)? $input `keys` $keys `measures` $measures attr-dict
    `:` type($input) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::headrace::frame::TableType":$result, "::mlir::Value":$input,
                                 "::mlir::ArrayAttr":$keys, "::mlir::ArrayAttr":$measures), [{
    build($_builder, $_state, result, input, keys, measures, AggregateStage::Complete);
  }]>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The measures as attributes, in the order of the result columns behind the keys.
    auto getMeasureRange() { return getMeasures().getAsRange<MeasureAttr>(); }
  }];
}

def Frame_DistinctOp : Frame_TableOp<"distinct", ["getState", "createFinal", "makePartial"], [
    AllTypesMatch<["input", "result"]>]> {
  let summary = "removes duplicate rows";
  let description = [{
    Two rows are duplicates when all columns are equal; NULL is a duplicate of NULL.

    ```mlir
    func.func @distinct(%t: !frame.table<"a": i64>) {
      %0 = frame.distinct %t : !frame.table<"a": i64>
      return
    }
    ```
  }];
  let arguments = (ins Frame_TableType:$input);
  let results = (outs Frame_TableType:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Frame_SortOp : Frame_TableOp<"sort", ["getState"], [
    AllTypesMatch<["input", "result"]>]> {
  let summary = "orders the rows";
  let description = [{
    The order of rows with equal keys is not determined. Strings compare bytewise.

    ```mlir
    func.func @sort(%t: !frame.table<"a": i64>) {
      %0 = frame.sort %t by [#frame.sort_key<"a" desc nulls_first>] : !frame.table<"a": i64>
      return
    }
    ```

    **Constraints:**
    - (C1) there is at least one key, and the keys are unique columns of the input.
  }];
  let arguments = (ins Frame_TableType:$input, Frame_SortKeyArrayAttr:$keys);
  let results = (outs Frame_TableType:$result);
  let assemblyFormat = "$input `by` $keys attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Frame_LimitOp : Frame_TableOp<"limit", ["getState", "createFinal", "makePartial"], [
    AllTypesMatch<["input", "result"]>]> {
  let summary = "skips `offset` rows, then keeps at most `count`";
  let description = [{
    In the input's order if it has one, else any rows. Without `count` all rows after the offset.

    ```mlir
    func.func @limit(%t: !frame.table<"a": i64>) {
      %0 = frame.limit %t offset 5 count 10 : !frame.table<"a": i64>
      return
    }
    ```

    **Constraints:**
    - (C1) offset and count are not negative.
  }];
  let arguments = (ins Frame_TableType:$input, DefaultValuedAttr<I64Attr, "0">:$offset,
                       OptionalAttr<I64Attr>:$count);
  let results = (outs Frame_TableType:$result);
  let assemblyFormat = [{
    $input (`offset` $offset^)? (`count` $count^)? attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Frame_TopKOp : Frame_TableOp<"topk", [
    "getState", "createFinal", "makePartial", "getTitle"], [AllTypesMatch<["input", "result"]>]> {
  let summary = "orders the rows, skips `offset`, keeps at most `count`";
  let description = [{
    A sort and a limit in one, made by `optimize`.

    ```mlir
    func.func @topk(%t: !frame.table<"a": i64>) {
      %0 = frame.topk %t by [#frame.sort_key<"a" asc nulls_last>] count 10 : !frame.table<"a": i64>
      return
    }
    ```

    **Constraints:**
    - (C1) there is at least one key, and the keys are unique columns of the input.
    - (C2) offset and count are not negative.
  }];
  let arguments = (ins Frame_TableType:$input, Frame_SortKeyArrayAttr:$keys,
                       DefaultValuedAttr<I64Attr, "0">:$offset, I64Attr:$count);
  let results = (outs Frame_TableType:$result);
  let assemblyFormat = [{
    $input `by` $keys (`offset` $offset^)? `count` $count attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

def Frame_UnionOp : Frame_TableOp<"union", []> {
  let summary = "the rows of all inputs, duplicates kept";
  let description = [{
    Columns go by position; the result has its own names.

    ```mlir
    func.func @union(%a: !frame.table<"a": i64>, %b: !frame.table<"b": !frame.nullable<i64>>) {
      %0 = frame.union %a, %b : !frame.table<"a": i64>, !frame.table<"b": !frame.nullable<i64>>
          -> !frame.table<"u": !frame.nullable<i64>>
      return
    }
    ```

    **Constraints:**
    - (C1) there are at least two inputs, all with as many columns as the result.
    - (C2) columns at one position have the same type but for nullability; the result's column is
      nullable if any input's is.
  }];
  let arguments = (ins Variadic<Frame_TableType>:$inputs);
  let results = (outs Frame_TableType:$result);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs) `->` type($result)";
  let hasVerifier = 1;
}

def Frame_ScalarSubqueryOp : Frame_RelationOp<"scalar_subquery"> {
  let summary = "the single value of a table of one column and at most one row";
  let description = [{
    NULL for no row; an error at run time for more than one. Computed once; expression regions use
    its result directly.

    ```mlir
    !t = !frame.table<"a": i64>
    func.func @scalar_subquery(%t: !t, %one: !t) {
      %max = frame.scalar_subquery %one : !t -> !frame.nullable<i64>
      %0 = frame.filter %t columns ["a"] {
      ^bb0(%a: i64):
        %p = frame.compare lt %a, %max : (i64, !frame.nullable<i64>) -> !frame.nullable<i1>
        frame.yield %p : !frame.nullable<i1>
      } : !t
      return
    }
    ```

    **Constraints:**
    - (C1) the input has one column.
    - (C2) the result is that column's type, nullable.
  }];
  let arguments = (ins Frame_TableType:$input);
  let results = (outs Frame_Scalar:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

#endif // HEADRACE_FRAME_RELATIONS_TD
