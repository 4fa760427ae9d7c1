// `frame.window`: adds columns computed from the rows around each row.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.window %{{.*}} partition ["k"] order [#frame.sort_key<"x" desc nulls_last>] functions [#frame.window_function<rank -> "place">
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

// -----

// CHECK: #frame.window_function<lag("k", 1 : i64) -> "r" over <rows unbounded_preceding to current_row> ordered [#frame.sort_key<"k" asc nulls_last>] ignore_nulls>
!t = !frame.table<"k": i64>
func.func @neighbour_of_frame(%t: !t) {
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<lag("k", 1 : i64) -> "r" over <rows unbounded_preceding to current_row> ordered [#frame.sort_key<"k" asc nulls_last>] ignore_nulls>] : !t -> !frame.table<"k": i64, "r": !frame.nullable<i64>>
  return
}

// -----

// CHECK: #frame.window_function<quantiles("l", 1 : i64, 1 : i64, 2 : i64, 4 : i64, 5 : i64) -> "r" over <rows preceding(9 : i64) to current_row> ordered [#frame.sort_key<"k" asc nulls_last>]>
// CHECK-SAME: "r": !frame.nullable<!frame.list<f64>>, "s": !frame.nullable<!frame.list<i64>>
!t = !frame.table<"k": i64, "l": !frame.list<i64>>
func.func @quantiles(%t: !t) {
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<quantiles("l", 1 : i64, 1 : i64, 2 : i64, 4 : i64, 5 : i64) -> "r" over <rows preceding(9 : i64) to current_row> ordered [#frame.sort_key<"k" asc nulls_last>]>, #frame.window_function<quantiles_distinct("l", 0 : i64, 1 : i64, 2 : i64) -> "s" over <rows preceding(9 : i64) to current_row> ordered [#frame.sort_key<"k" asc nulls_last>]>] : !t -> !frame.table<"k": i64, "l": !frame.list<i64>, "r": !frame.nullable<!frame.list<f64>>, "s": !frame.nullable<!frame.list<i64>>>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @function_c1(%t: !t) {
  // expected-error @+1 {{unknown aggregate function: median}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<aggregate median("k") -> "r">] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @function_unknown(%t: !t) {
  // expected-error @+1 {{unknown window function: fill}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<fill("k") -> "r">] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @function_c2_missing(%t: !t) {
  // expected-error @+1 {{needs a frame: first_value}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<first_value("k") -> "r">] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @function_c2(%t: !t) {
  // expected-error @+1 {{has no frame: dense_rank}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<dense_rank -> "r" over <rows unbounded_preceding to current_row>>] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @function_c3(%t: !t) {
  // expected-error @+1 {{wrong arguments of lag: ["k"]}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<lag("k") -> "r">] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64, "l": !frame.list<i64>>
func.func @function_c3_share(%t: !t) {
  // expected-error @+1 {{wrong arguments of quantiles: ["l", 1, 1]}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<quantiles("l", 1 : i64, 1 : i64) -> "r" over <rows unbounded_preceding to current_row> ordered [#frame.sort_key<"k" asc nulls_last>]>] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64, "l": !frame.list<i64>>
func.func @function_c3_kind(%t: !t) {
  // expected-error @+1 {{wrong arguments of quantiles: ["l", 4, 1, 2]}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<quantiles("l", 4 : i64, 1 : i64, 2 : i64) -> "r" over <rows unbounded_preceding to current_row> ordered [#frame.sort_key<"k" asc nulls_last>]>] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64, "l": !frame.list<i64>>
func.func @function_c3_outside(%t: !t) {
  // expected-error @+1 {{wrong arguments of quantiles: ["l", 1, 3, 2]}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<quantiles("l", 1 : i64, 3 : i64, 2 : i64) -> "r" over <rows unbounded_preceding to current_row> ordered [#frame.sort_key<"k" asc nulls_last>]>] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64, "l": !frame.list<i64>>
func.func @function_c3_column(%t: !t) {
  // expected-error @+1 {{wrong arguments of quantiles: ["l", "k", 1, 2]}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<quantiles("l", "k", 1 : i64, 2 : i64) -> "r" over <rows unbounded_preceding to current_row> ordered [#frame.sort_key<"k" asc nulls_last>]>] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64, "l": !frame.list<i64>>
func.func @function_c5_quantiles(%t: !t) {
  // expected-error @+1 {{has no such order: quantiles}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<quantiles("l", 1 : i64, 1 : i64, 2 : i64) -> "r" over <rows unbounded_preceding to current_row>>] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @window_c2_quantiles(%t: !t) {
  // expected-error @+1 {{argument must be a list, got}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<quantiles("k", 1 : i64, 1 : i64, 2 : i64) -> "r" over <rows unbounded_preceding to current_row> ordered [#frame.sort_key<"k" asc nulls_last>]>] : !t -> !frame.table<"k": i64, "r": !frame.nullable<!frame.list<f64>>>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @function_c4(%t: !t) {
  // expected-error @+1 {{has no NULLs to ignore: ntile}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<ntile(4 : i64) -> "r" ignore_nulls>] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @function_c4_frame(%t: !t) {
  // expected-error @+1 {{has no NULLs to ignore: lag}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<lag("k", 1 : i64) -> "r" over <rows unbounded_preceding to current_row> ignore_nulls>] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @function_c5(%t: !t) {
  // expected-error @+1 {{has no such order: rank [#frame.sort_key<"k" asc nulls_last>]}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<rank -> "r" ordered [#frame.sort_key<"k" asc nulls_last>]>] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @function_c5_mode(%t: !t) {
  // expected-error @+1 {{has no such order: mode [#frame.sort_key<"k" asc nulls_last>]}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<mode("k") -> "r" over <rows unbounded_preceding to current_row> ordered [#frame.sort_key<"k" asc nulls_last>]>] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64, "l": !frame.list<i64>>
func.func @function_c5_distinct(%t: !t) {
  // expected-error @+1 {{has no such order: collect_distinct}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<collect_distinct("l") -> "r" over <rows unbounded_preceding to current_row>>] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64, "l": !frame.list<i64>>
func.func @function_c2_collect(%t: !t) {
  // expected-error @+1 {{needs a frame: collect}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<collect("l", 2 : i64) -> "r">] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @function_c5_aggregate(%t: !t) {
  // expected-error @+1 {{has no such order: aggregate [#frame.sort_key<"k" asc nulls_last>]}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<aggregate sum("k") -> "r" over <rows unbounded_preceding to current_row> ordered [#frame.sort_key<"k" asc nulls_last>]>] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @function_name(%t: !t) {
  // expected-error @+1 {{a window function needs a result name}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<rank -> "">] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @frame_c1(%t: !t) {
  // expected-error @+1 {{exactly preceding and following need a distance, a column or an i64 that is not negative, got preceding -1 : i64}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<first_value("k") -> "r" over <rows preceding(-1 : i64) to current_row>>] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @frame_c2(%t: !t) {
  // expected-error @+1 {{a frame cannot go from unbounded_following to current_row}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<first_value("k") -> "r" over <rows unbounded_following to current_row>>] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @frame_c3(%t: !t) {
  // expected-error @+1 {{a distance of range must be a column, got 1 : i64}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<first_value("k") -> "r" over <range preceding(1 : i64) to current_row>>] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @window_c1(%t: !t) {
  // expected-error @+1 {{partition key is not a column of the input: "z"}}
  %0 = frame.window %t partition ["z"] order [] functions [#frame.window_function<rank -> "r">] : !t -> !frame.table<"k": i64, "r": i64>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @window_c1_unique(%t: !t) {
  // expected-error @+1 {{lists a partition key twice: "k"}}
  %0 = frame.window %t partition ["k", "k"] order [] functions [#frame.window_function<rank -> "r">] : !t -> !frame.table<"k": i64, "r": i64>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @window_c8(%t: !t) {
  // expected-error @+1 {{key is not a column of the input: "z"}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<rank -> "r" over <rows unbounded_preceding to current_row> ordered [#frame.sort_key<"z" asc nulls_last>]>] : !t -> !frame.table<"k": i64, "r": i64>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @window_c1_order(%t: !t) {
  // expected-error @+1 {{key is not a column of the input: "z"}}
  %0 = frame.window %t partition [] order [#frame.sort_key<"z" asc nulls_last>] functions [#frame.window_function<rank -> "r">] : !t -> !frame.table<"k": i64, "r": i64>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @window_c2_argument(%t: !t) {
  // expected-error @+1 {{argument is not a column of the input: "z"}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<lag("z", 1 : i64) -> "r">] : !t -> !frame.table<"k": i64, "r": i64>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @window_c2_value(%t: !t) {
  // expected-error @+1 {{argument must be a column, got 1 : i64}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<lag(1 : i64, 1 : i64) -> "r">] : !t -> !frame.table<"k": i64, "r": i64>
  return
}

// -----

!t = !frame.table<"s": !frame.string>
func.func @window_c2_count(%t: !t) {
  // expected-error @+1 {{argument must be an i64, got "s": '!frame.string'}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<ntile("s") -> "r">] : !t -> !frame.table<"s": !frame.string, "r": i64>
  return
}

// -----

!t = !frame.table<"s": !frame.string>
func.func @window_c2_distance(%t: !t) {
  // expected-error @+1 {{distance must be an i64, got "s": '!frame.string'}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<first_value("s") -> "r" over <rows preceding("s") to current_row>>] : !t -> !frame.table<"s": !frame.string, "r": !frame.nullable<!frame.string>>
  return
}

// -----

!t = !frame.table<"s": !frame.string>
func.func @window_c2_unknown_distance(%t: !t) {
  // expected-error @+1 {{distance is not a column of the input: "z"}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<first_value("s") -> "r" over <rows preceding("z") to current_row>>] : !t -> !frame.table<"s": !frame.string, "r": !frame.nullable<!frame.string>>
  return
}

// -----

!t = !frame.table<"k": i64, "x": f64>
func.func @window_c3(%t: !t) {
  // expected-error @+1 {{distance of range needs one order key, of its type, got "x": 'f64' for}}
  %0 = frame.window %t partition [] order [#frame.sort_key<"k" asc nulls_last>] functions [#frame.window_function<first_value("k") -> "r" over <range preceding("x") to current_row>>] : !t -> !frame.table<"k": i64, "x": f64, "r": !frame.nullable<i64>>
  return
}

// -----

!t = !frame.table<"k": !frame.ui128, "x": !frame.ui128>
func.func @window_c3_no_distance(%t: !t) {
  // expected-error @+1 {{distance of range needs an order key that is computed with, got "x": '!frame.ui128'}}
  %0 = frame.window %t partition [] order [#frame.sort_key<"k" asc nulls_last>] functions [#frame.window_function<first_value("k") -> "r" over <range preceding("x") to current_row>>] : !t -> !frame.table<"k": !frame.ui128, "x": !frame.ui128, "r": !frame.nullable<!frame.ui128>>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @window_c4(%t: !t) {
  // expected-error @+1 {{result must have the input's columns and one per function, got '!frame.table<"r": i64>'}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<rank -> "r">] : !t -> !frame.table<"r": i64>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @window_c4_name(%t: !t) {
  // expected-error @+1 {{result column must be named like its function "r", got "s"}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<rank -> "r">] : !t -> !frame.table<"k": i64, "s": i64>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @window_c5(%t: !t) {
  // expected-error @+1 {{result column "r" must be '!frame.nullable<i64>', got 'i64'}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<lag("k", 1 : i64) -> "r">] : !t -> !frame.table<"k": i64, "r": i64>
  return
}

// -----

!t = !frame.table<"k": i64, "x": f64>
func.func @window_c5_default(%t: !t) {
  // expected-error @+1 {{default must have the type of the result '!frame.nullable<i64>', got "x": 'f64'}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<lag("k", 1 : i64, "x") -> "r">] : !t -> !frame.table<"k": i64, "x": f64, "r": !frame.nullable<i64>>
  return
}

// -----

!t = !frame.table<"s": !frame.string>
func.func @window_c5_numeric(%t: !t) {
  // expected-error @+1 {{function needs a numeric argument, got #frame.window_function<aggregate sum("s")}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<aggregate sum("s") -> "r" over <rows unbounded_preceding to current_row>>] : !t -> !frame.table<"s": !frame.string, "r": !frame.nullable<i64>>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @window_c6(%t: !t) {
  // expected-error @+1 {{needs at least one function}}
  %0 = frame.window %t partition ["k"] order [] functions [] : !t -> !t
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @window_c7(%t: !t) {
  // expected-error @+1 {{only row_number and rank can have the first rows only, at least 1, got 3 of [#frame.window_function<dense_rank -> "r">]}}
  %0 = frame.window %t partition ["k"] order [] functions [#frame.window_function<dense_rank -> "r">] first 3 : !t -> !frame.table<"k": i64, "r": i64>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @window_c2_list(%t: !t) {
  // expected-error @+1 {{argument must be a list, got #frame.window_function<collect("k") -> "l">}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<collect("k") -> "l">] : !t -> !frame.table<"k": i64, "l": !frame.nullable<i64>>
  return
}
