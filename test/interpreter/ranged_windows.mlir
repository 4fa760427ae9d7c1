// Windows without partition keys on many ranks: what the compiler makes of them at every stage, under many layouts, gives
// what the window gives.
// Sources: passes/shard/carry_windows.cpp, passes/shard/carried_windows.cpp, passes/interpreter/placement.cpp
// RUN: headrace-interpret %s --check --tables %S/tables --layouts 12 --mesh ranks:1 --mesh ranks:3 --mesh a:2,b:2 | FileCheck %s

!l = !frame.table<"k": !frame.nullable<!frame.string>, "x": !frame.nullable<i64>>
!places = !frame.table<"k": !frame.nullable<!frame.string>, "x": !frame.nullable<i64>, "number": i64, "rank": i64, "dense": i64,
                       "percent": f64, "share": f64, "part": i64>

// CHECK: compared {{[1-9][0-9]+}} stages
func.func @main() -> !places {
  %l = frame.scan "left" ["k", "x"] : !l
  %w = frame.window %l partition [] order [#frame.sort_key<"k" desc nulls_first>, #frame.sort_key<"x" asc nulls_last>] functions [
      #frame.window_function<row_number -> "number">, #frame.window_function<rank -> "rank">,
      #frame.window_function<dense_rank -> "dense">, #frame.window_function<percent_rank -> "percent">,
      #frame.window_function<cume_dist -> "share">, #frame.window_function<ntile(3 : i64) -> "part">] : !l -> !places
  return %w : !places
}

// -----

!l = !frame.table<"k": !frame.nullable<!frame.string>, "x": !frame.nullable<i64>>
!folds = !frame.table<"k": !frame.nullable<!frame.string>, "x": !frame.nullable<i64>, "sum": !frame.nullable<i64>, "least": !frame.nullable<!frame.string>,
                      "most": !frame.nullable<i64>, "count": i64, "rows": i64, "rest": !frame.nullable<i64>, "all": !frame.nullable<i64>, "first": !frame.nullable<!frame.string>,
                      "last": !frame.nullable<i64>>

// CHECK: compared {{[1-9][0-9]+}} stages
func.func @main() -> !folds {
  %l = frame.scan "left" ["k", "x"] : !l
  %w = frame.window %l partition [] order [#frame.sort_key<"x" asc nulls_first>, #frame.sort_key<"k" asc nulls_last>] functions [
      #frame.window_function<aggregate sum("x") -> "sum" over <range unbounded_preceding to current_row>>,
      #frame.window_function<aggregate min("k") -> "least" over <rows unbounded_preceding to current_row>>,
      #frame.window_function<aggregate max("x") -> "most" over <groups unbounded_preceding to current_row>>,
      #frame.window_function<aggregate count("k") -> "count" over <range unbounded_preceding to current_row>>,
      #frame.window_function<aggregate count_star -> "rows" over <range current_row to unbounded_following>>,
      #frame.window_function<aggregate sum("x") -> "rest" over <range current_row to unbounded_following>>,
      #frame.window_function<aggregate sum("x") -> "all" over <rows unbounded_preceding to unbounded_following>>,
      #frame.window_function<first_value("k") -> "first" over <range unbounded_preceding to current_row>>,
      #frame.window_function<last_value("x") -> "last" over <rows current_row to unbounded_following>>] : !l -> !folds
  return %w : !folds
}

// -----

!l = !frame.table<"k": !frame.nullable<!frame.string>, "x": !frame.nullable<i64>>
!near = !frame.table<"k": !frame.nullable<!frame.string>, "x": !frame.nullable<i64>, "before": !frame.nullable<i64>, "behind": !frame.nullable<!frame.string>,
                     "around": !frame.nullable<i64>, "number": i64>

// CHECK: compared {{[1-9][0-9]+}} stages
func.func @main() -> !near {
  %l = frame.scan "left" ["k", "x"] : !l
  %w = frame.window %l partition [] order [#frame.sort_key<"x" desc nulls_last>, #frame.sort_key<"k" asc nulls_last>] functions [
      #frame.window_function<lag("x", 2 : i64) -> "before">, #frame.window_function<lead("k", 1 : i64) -> "behind">,
      #frame.window_function<aggregate sum("x") -> "around" over <rows preceding(3 : i64) to following(1 : i64)>>,
      #frame.window_function<row_number -> "number">] : !l -> !near
  return %w : !near
}
