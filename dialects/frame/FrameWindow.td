// `frame.window`: columns computed from the rows around each row.
#ifndef HEADRACE_FRAME_WINDOW_TD
#define HEADRACE_FRAME_WINDOW_TD

include "dialects/frame/FrameRelations.td"

def Frame_WindowOp : Frame_TableOp<"window", ["getState"]> {
  let summary = "adds columns computed from the rows around each row";
  let description = [{
    Rows with equal partition keys (NULL equals NULL) form a partition, which is put in order; rows that are equal in all
    order keys are peers. The result has the columns of the input, then one per function.

    | function | result |
    |---|---|
    | `row_number` | the number of the row in its partition from 1; that of peers is not determined |
    | `rank`, `dense_rank` | 1 + the rows, or the groups of peers, in front of the row's peers |
    | `percent_rank` | (rank − 1) / (rows of the partition − 1), 0 in a partition of one |
    | `cume_dist` | rows up to the row's last peer / rows of the partition |
    | `ntile(n)` | which of n parts, as even as can be, the longer ones first; NULL for NULL, an error for n < 1 |
    | `lag(x, n, d)`, `lead` | x in the row n before, or behind; d without such a row; NULL if n is NULL |
    | `first_value(x)`, `last_value(x)`, `nth_value(x, n)` | x in that row of the frame; NULL without one |
    | `collect(x)` | in the first row the elements of the partition's lists x that are not NULL, in the order, as one list; in others, and where there are none, NULL. With a frame, in each row those of the frame |
    | `collect(x, n)` | likewise of the first n lists that are not NULL of a frame; of all if n is NULL or less than 1 |
    | `collect_distinct(x, n)` | likewise, of rows that are equal in the last key of the function's order the first in this order; n may be left out |
    | `mode(x)` | the x that most rows of the frame have, NULL does not count; of several that of the row that comes first |
    | `quantiles(x, kind, part, whole, …)` | the list of what is at each share of the elements of the frame's lists of one x in the function's order, NULL of none; NULL does not count |
    | `quantiles_distinct(…)` | likewise, of rows that are equal in the function's order one |
    | `aggregate` | the measure of the rows of the frame, as `frame.aggregate` without keys has it |

    With `ignore_nulls` rows in which x is NULL do not count as rows. A row's frame goes over rows of its partition, and both
    bounds are included: `rows` counts rows; `groups` groups of peers, of which the row's own is 0; `range` goes by values of the
    only order key, where a distance of NULL ends at the row's peers. `current_row` of `range` and `groups` is all peers.
    A bound that is NULL or negative (`rows`, `groups`) or on the wrong side of the row (`range`) is an error.

    The ranks, `ntile`, `lag` and `lead` are of the partition; with a frame they are of its rows, as if these were the
    partition: a row that its frame leaves out stands where it would be among them. Of no rows `percent_rank` and
    `cume_dist` are 0, and `ntile` NULL. A function that is `ordered` sees the rows of the frame in that order, those that
    are equal in it as they stand in the partition.

    With `first k` rows that k others of their partition come before may be left out, of the result too.

    `avg` exists until `optimize`.

    ```mlir
    !t = !frame.table<"k": i64, "x": !frame.decimal<15, 2>>
    func.func @window(%t: !t) {
      %0 = frame.window %t partition ["k"] order [#frame.sort_key<"x" desc nulls_last>]
          functions [#frame.window_function<rank -> "place">,
                     #frame.window_function<aggregate sum("x") -> "total"
                         over <rows preceding(2 : i64) to current_row>>]
          : !t -> !frame.table<"k": i64, "x": !frame.decimal<15, 2>, "place": i64,
                               "total": !frame.nullable<!frame.decimal<25, 2>>>
      return
    }
    ```

    **Constraints:**
    - (C1) partition keys are unique columns of the input, and so are order keys.
    - (C2) arguments and distances are columns of the input; counts, and distances of `rows` and `groups`, are i64.
    - (C3) distances of `range` have the type of the only order key, but for nullability: a number or a moment, no
      text, bytes or what is held as such.
    - (C4) the result's columns are those of the input, then the functions' names.
    - (C5) the results of functions have the types above: i64, f64, that of the value and of the default (always
      nullable), that of the measure; `ntile` is nullable if n is, or with a frame.
    - (C6) there is at least one function.
    - (C7) `first` is at least 1, and all functions are `row_number` or `rank`, without frames.
    - (C8) keys of a function's order are unique columns of the input.
  }];
  let arguments = (ins Frame_TableType:$input, Frame_ColumnNames:$partition,
                       Frame_SortKeyArrayAttr:$order, Frame_WindowFunctionArrayAttr:$functions,
                       OptionalAttr<I64Attr>:$first);
  let results = (outs Frame_TableType:$result);
  let assemblyFormat = [{
    $input `partition` $partition `order` $order `functions` $functions (`first` $first^)? attr-dict
    `:` type($input) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::headrace::frame::TableType":$result, "::mlir::Value":$input,
                                 "::mlir::ArrayAttr":$partition, "::mlir::ArrayAttr":$order,
                                 "::mlir::ArrayAttr":$functions), [{
    build($_builder, $_state, result, input, partition, order, functions, ::mlir::IntegerAttr());
  }]>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The functions as attributes, in the order of the result columns behind the input's.
    auto getFunctionRange() { return getFunctions().getAsRange<WindowFunctionAttr>(); }
    /// Whether rows may be left out that others come before: no other row's value changes.
    bool canLeaveOutLast();
    /// The type of a function's column as SQL gives it; null if it does not apply to its arguments.
    static ::mlir::Type resultType(WindowFunctionAttr function, TableType input);
  }];
}

#endif // HEADRACE_FRAME_WINDOW_TD
