// Windows: columns that nobody reads go, filters on partition keys move below, averages become sums and counts.
// Sources: passes/optimize/window_averages.cpp
// RUN: headrace-opt --optimize-prune-columns %s | FileCheck %s --check-prefix=PRUNE
// RUN: headrace-opt --optimize-pushdown %s | FileCheck %s --check-prefix=PUSH
// RUN: headrace-opt --optimize-avg %s | FileCheck %s --check-prefix=AVG

!t = !frame.table<"k": i64, "x": i64, "unused": i64>
!w = !frame.table<"k": i64, "x": i64, "unused": i64, "n": i64, "mean": !frame.nullable<f64>>
!r = !frame.table<"k": i64, "n": i64>

// PRUNE-LABEL: func.func @pruned
// PRUNE: frame.scan "t" ["tk", "tx"]
// PRUNE: frame.window %{{.*}} partition ["k"] order [#frame.sort_key<"x" asc nulls_last>] functions [#frame.window_function<row_number -> "n">]
func.func @pruned() -> !r {
  %t = frame.scan "t" ["tk", "tx", "tu"] : !t
  %w = frame.window %t partition ["k"] order [#frame.sort_key<"x" asc nulls_last>] functions [
    #frame.window_function<row_number -> "n">,
    #frame.window_function<aggregate avg("unused") -> "mean" over <rows unbounded_preceding to current_row>>] : !t -> !w
  %p = frame.project %w keep ["k", "n"] compute [] columns [] {
    frame.yield
  } : !w -> !r
  return %p : !r
}

// PRUNE-LABEL: func.func @not_computed
// PRUNE-NOT: frame.window
func.func @not_computed() -> !frame.table<"k": i64> {
  %t = frame.scan "t" ["tk", "tx", "tu"] : !t
  %w = frame.window %t partition ["k"] order [] functions [#frame.window_function<row_number -> "n">,
    #frame.window_function<aggregate avg("unused") -> "mean" over <rows unbounded_preceding to current_row>>] : !t -> !w
  %p = frame.project %w keep ["k"] compute [] columns [] {
    frame.yield
  } : !w -> !frame.table<"k": i64>
  return %p : !frame.table<"k": i64>
}

// The conjunct about the key goes below, those about others decide which rows a partition has.
// PRUNE-LABEL: func.func @pushed
// PUSH-LABEL: func.func @pushed
// PUSH: %[[BELOW:.*]] = frame.filter %arg0 columns ["k"]
// PUSH: %[[WINDOW:.*]] = frame.window %[[BELOW]] partition ["k"]
// PUSH: frame.filter %[[WINDOW]] columns ["x"]
// AVG-LABEL: func.func @pushed
// AVG: aggregate sum("unused") -> "sum_mean" over <rows unbounded_preceding to current_row>>, #frame.window_function<aggregate count("unused") -> "count_mean"
// AVG: frame.divide
func.func @pushed(%t: !t) -> !w {
  %w = frame.window %t partition ["k"] order [] functions [#frame.window_function<row_number -> "n">,
    #frame.window_function<aggregate avg("unused") -> "mean" over <rows unbounded_preceding to current_row>>] : !t -> !w
  %f = frame.filter %w columns ["k", "x"] {
  ^bb0(%k: i64, %x: i64):
    %one = frame.constant 1 : i64
    %a = frame.compare eq %k, %one : (i64, i64) -> i1
    %b = frame.compare eq %x, %one : (i64, i64) -> i1
    %p = frame.and %a, %b : (i1, i1) -> i1
    frame.yield %p : i1
  } : !w
  return %f : !w
}
