// Windows: columns that nobody reads go, filters on partition keys move below, averages become sums and counts;
// windows over the same partitions become one, over whole partitions aggregates, and first ranks leave rows out.
// Sources: passes/optimize/window_averages.cpp, passes/optimize/windows.cpp
// RUN: headrace-opt --optimize-prune-columns %s | FileCheck %s --check-prefix=PRUNE
// RUN: headrace-opt --optimize-pushdown %s | FileCheck %s --check-prefix=PUSH
// RUN: headrace-opt --optimize-avg %s | FileCheck %s --check-prefix=AVG
// RUN: headrace-opt --optimize-windows %s | FileCheck %s --check-prefix=MERGE

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

// One serves the other: an order that goes on, and any order for the sum of all.
// MERGE-LABEL: func.func @merged
// MERGE: frame.window %arg0 partition ["k"] order [#frame.sort_key<"x" asc nulls_last>, #frame.sort_key<"unused" asc nulls_last>]
// MERGE-SAME: row_number -> "n">, #frame.window_function<aggregate sum("x") -> "s" over <rows unbounded_preceding to unbounded_following>>, #frame.window_function<rank -> "r">
// MERGE-NOT: frame.window
!n = !frame.table<"k": i64, "x": i64, "unused": i64, "n": i64>
!s = !frame.table<"k": i64, "x": i64, "unused": i64, "n": i64, "s": !frame.nullable<!frame.decimal<38, 0>>>
!all = !frame.table<"k": i64, "x": i64, "unused": i64, "n": i64, "s": !frame.nullable<!frame.decimal<38, 0>>, "r": i64>
func.func @merged(%t: !t) -> !all {
  %0 = frame.window %t partition ["k"] order [#frame.sort_key<"x" asc nulls_last>] functions [#frame.window_function<row_number -> "n">] : !t -> !n
  %1 = frame.window %0 partition ["k"] order [] functions [#frame.window_function<aggregate sum("x") -> "s" over <range unbounded_preceding to current_row>>] : !n -> !s
  %2 = frame.window %1 partition ["k"] order [#frame.sort_key<"x" asc nulls_last>, #frame.sort_key<"unused" asc nulls_last>] functions [#frame.window_function<rank -> "r">] : !s -> !all
  return %2 : !all
}

// A rank knows its peers by its own order; what reads the other's result comes after it.
// MERGE-LABEL: func.func @kept_apart
// MERGE-COUNT-3: frame.window
!rank = !frame.table<"k": i64, "x": i64, "unused": i64, "r": i64>
!rank2 = !frame.table<"k": i64, "x": i64, "unused": i64, "r": i64, "r2": i64>
!rank3 = !frame.table<"k": i64, "x": i64, "unused": i64, "r": i64, "r2": i64, "m": !frame.nullable<i64>>
func.func @kept_apart(%t: !t) -> !rank3 {
  %0 = frame.window %t partition ["k"] order [#frame.sort_key<"x" asc nulls_last>] functions [#frame.window_function<rank -> "r">] : !t -> !rank
  %1 = frame.window %0 partition ["k"] order [#frame.sort_key<"x" asc nulls_last>, #frame.sort_key<"unused" asc nulls_last>] functions [#frame.window_function<rank -> "r2">] : !rank -> !rank2
  %2 = frame.window %1 partition ["k"] order [#frame.sort_key<"x" asc nulls_last>, #frame.sort_key<"unused" asc nulls_last>] functions [#frame.window_function<lag("r2", 1 : i64) -> "m">] : !rank2 -> !rank3
  return %2 : !rank3
}

// MERGE-LABEL: func.func @whole
// MERGE: %[[GROUPS:.*]] = frame.aggregate %arg0 keys ["k"] measures [#frame.measure<sum("x") -> "s">]
// MERGE: %[[NAMED:.*]] = frame.rename %[[GROUPS]] : <"k": !frame.nullable<i64>, "s": !frame.decimal<38, 0>> -> <"k.partition"
// MERGE: frame.join inner %arg0, %[[NAMED]] on ["k"] = ["k.partition"] null_safe [true]
// MERGE: frame.cast %{{.*}} : !frame.decimal<38, 0> -> !frame.nullable<!frame.decimal<38, 0>>
!maybe = !frame.table<"k": !frame.nullable<i64>, "x": i64>
!sum = !frame.table<"k": !frame.nullable<i64>, "x": i64, "s": !frame.nullable<!frame.decimal<38, 0>>>
func.func @whole(%t: !maybe) -> !sum {
  %0 = frame.window %t partition ["k"] order [] functions [#frame.window_function<aggregate sum("x") -> "s" over <range unbounded_preceding to current_row>>] : !maybe -> !sum
  return %0 : !sum
}

// MERGE-LABEL: func.func @first
// MERGE: functions [#frame.window_function<row_number -> "n">] first 4
// MERGE-LABEL: func.func @not_first
// MERGE-NOT: first 4
func.func @first(%t: !t) -> !n {
  %0 = frame.window %t partition ["k"] order [#frame.sort_key<"x" asc nulls_last>] functions [#frame.window_function<row_number -> "n">] : !t -> !n
  %1 = frame.filter %0 columns ["n"] {
  ^bb0(%n: i64):
    %five = frame.constant 5 : i64
    %p = frame.compare gt %five, %n : (i64, i64) -> i1
    frame.yield %p : i1
  } : !n
  return %1 : !n
}
func.func @not_first(%t: !t) -> !n {
  %0 = frame.window %t partition ["k"] order [#frame.sort_key<"x" asc nulls_last>] functions [#frame.window_function<dense_rank -> "n">] : !t -> !n
  %1 = frame.filter %0 columns ["n"] {
  ^bb0(%n: i64):
    %five = frame.constant 5 : i64
    %p = frame.compare lt %n, %five : (i64, i64) -> i1
    frame.yield %p : i1
  } : !n
  return %1 : !n
}

// MERGE-LABEL: func.func @first_of_all
// MERGE: %[[TOP:.*]] = frame.topk %arg0 by [#frame.sort_key<"x" desc nulls_last>] count 3
// MERGE: frame.window %[[TOP]] partition [] order
func.func @first_of_all(%t: !t) -> !n {
  %0 = frame.window %t partition [] order [#frame.sort_key<"x" desc nulls_last>] functions [#frame.window_function<row_number -> "n">] : !t -> !n
  %1 = frame.filter %0 columns ["n"] {
  ^bb0(%n: i64):
    %three = frame.constant 3 : i64
    %p = frame.compare le %n, %three : (i64, i64) -> i1
    frame.yield %p : i1
  } : !n
  return %1 : !n
}
