// A window is computed where its partitions are together: by the hash of some partition keys; without any, each rank
// has a range of the order and what the others' rows come to.
// Sources: passes/shard/row_arithmetic.cpp
// RUN: headrace-opt %s --shard="mesh=r:3" -split-input-file | FileCheck %s

!t = !frame.table<"k": i64, "x": i64>
!r = !frame.table<"k": i64, "x": i64, "n": i64>

// CHECK-LABEL: func.func @main
// CHECK: %[[OWN:.*]] = dist.{{keep|exchange hash}} %{{.*}} keys ["k"]
// CHECK: frame.window %[[OWN]] partition ["k"]
func.func @main() -> !r {
  %t = frame.scan "t" ["k", "x"] {statistics = {rows = 10000000 : i64, columns = {k = {min = 0 : i64, max = 100000 : i64, distinct = 100000 : i64}}}} : !t
  %w = frame.window %t partition ["k"] order [] functions [#frame.window_function<row_number -> "n">] : !t -> !r
  return %w : !r
}

// -----

!t = !frame.table<"k": i64, "x": i64>
!r = !frame.table<"k": i64, "x": i64, "n": i64, "s": !frame.nullable<i64>>

// CHECK-LABEL: func.func @main
// CHECK: %[[T:.*]] = frame.scan "t" {{.*}}dist.split = ["r"]
// CHECK: %[[OWN:.*]] = dist.exchange range %[[T]] order [#frame.sort_key<"k" desc nulls_last>] over ["r"]
// CHECK: %[[W:.*]] = frame.window %[[OWN]] partition [] order [#frame.sort_key<"k" desc nulls_last>] functions [#frame.window_function<row_number -> "row">, #frame.window_function<aggregate sum("x") -> "own_s"
// CHECK: %[[PLACED:.*]] = dist.place %[[W]] as "rank" over ["r"]
// CHECK: %[[SUMMARY:.*]] = frame.aggregate %[[PLACED]] keys ["rank"] measures [#frame.measure<count_star -> "rows">, #frame.measure<sum("x") -> "part_s">]
// CHECK: %[[ALL:.*]] = dist.exchange broadcast %[[SUMMARY]] over ["r"]
// CHECK: frame.window %[[ALL]] partition [] order [#frame.sort_key<"rank" asc nulls_last>] functions [#frame.window_function<aggregate sum("rows") -> "before" over <rows unbounded_preceding to preceding(1 : i64)>>, #frame.window_function<aggregate sum("part_s") -> "before_1"
// CHECK: frame.join inner
// CHECK-NOT: frame.window
// The rows are gathered for the caller, behind the window.
// CHECK: frame.project
// CHECK: dist.exchange gather
func.func @main() -> !r {
  %t = frame.scan "t" ["k", "x"] {statistics = {rows = 10000000 : i64, columns = {}}} : !t
  %w = frame.window %t partition [] order [#frame.sort_key<"k" desc nulls_last>] functions [
      #frame.window_function<row_number -> "n">,
      #frame.window_function<aggregate sum("x") -> "s" over <range unbounded_preceding to current_row>>] : !t -> !r
  return %w : !r
}

// -----

!t = !frame.table<"k": i64, "x": i64>
!r = !frame.table<"k": i64, "x": i64, "n": i64>

// Without an order no row has to go anywhere.
// CHECK-LABEL: func.func @main
// CHECK: %[[T:.*]] = frame.scan
// CHECK-NEXT: frame.window %[[T]] partition [] order [] functions [#frame.window_function<row_number -> "row">]
func.func @main() -> !r {
  %t = frame.scan "t" ["k", "x"] {statistics = {rows = 10000000 : i64, columns = {}}} : !t
  %w = frame.window %t partition [] order [] functions [#frame.window_function<row_number -> "n">] : !t -> !r
  return %w : !r
}

// -----

!t = !frame.table<"k": i64, "x": i64>
!r = !frame.table<"k": i64, "x": i64, "n": !frame.nullable<i64>>

// Only rows near the ends of ranks go to all of them.
// CHECK-LABEL: func.func @main
// CHECK: %[[OWN:.*]] = dist.exchange range
// CHECK: %[[W:.*]] = frame.window %[[OWN]] {{.*}}lag("x", 2 : i64) -> "n"
// CHECK: %[[ENDS:.*]] = dist.exchange broadcast %{{.*}} over ["r"] : <"k": i64, "x": i64, "row": i64, "rank": i64
// CHECK: %[[SEEN:.*]] = frame.window %[[ENDS]] partition [] order [#frame.sort_key<"rank" asc nulls_last>, #frame.sort_key<"row" asc nulls_last>] functions [#frame.window_function<lag("x", 2 : i64) -> "n">]
// CHECK: dist.place %[[SEEN]] as "here"
// CHECK: frame.union
func.func @main() -> !r {
  %t = frame.scan "t" ["k", "x"] {statistics = {rows = 10000000 : i64, columns = {}}} : !t
  %w = frame.window %t partition [] order [#frame.sort_key<"k" asc nulls_last>] functions [#frame.window_function<lag("x", 2 : i64) -> "n">] : !t -> !r
  return %w : !r
}

// -----

!t = !frame.table<"k": i64, "x": i64>
!r = !frame.table<"k": i64, "x": i64, "n": !frame.nullable<i64>>

// What depends on rows anywhere is computed on one rank.
// CHECK-LABEL: func.func @main
// CHECK: %[[ALL:.*]] = dist.{{keep|exchange gather}} %{{.*}} over ["r"]
// CHECK: frame.window %[[ALL]] partition []
func.func @main() -> !r {
  %t = frame.scan "t" ["k", "x"] {statistics = {rows = 10000000 : i64, columns = {}}} : !t
  %w = frame.window %t partition [] order [#frame.sort_key<"k" asc nulls_last>] functions [#frame.window_function<lag("x", 2 : i64) -> "n" ignore_nulls>] : !t -> !r
  return %w : !r
}

// -----

!t = !frame.table<"k": i64, "low": i64, "high": i64, "x": i64>
!r = !frame.table<"k": i64, "low": i64, "high": i64, "x": i64, "s": !frame.nullable<i64>>

// Rows that the frames of other ranks may see go to all of them: up to the least start behind and the greatest end before.
// CHECK-LABEL: func.func @main
// CHECK: %[[OWN:.*]] = dist.exchange range
// CHECK-NOT: frame.window %[[OWN]]
// CHECK: frame.aggregate %{{.*}} keys ["rank"] measures [#frame.measure<min("low") -> "bound">, #frame.measure<max("high") -> "bound_1">]
// CHECK: functions [#frame.window_function<aggregate min("bound") -> "after" over <rows following(1 : i64) to unbounded_following>>, #frame.window_function<aggregate max("bound_1") -> "before" over <rows unbounded_preceding to preceding(1 : i64)>>]
// CHECK: %[[MINE:.*]] = dist.place %{{.*}} as "home" over ["r"]
// CHECK: %[[SENT:.*]] = frame.filter %[[MINE]]
// CHECK: dist.exchange broadcast %[[SENT]]
// CHECK: %[[ALL:.*]] = frame.union
// CHECK: frame.window %[[ALL]] partition [] order [#frame.sort_key<"k" asc nulls_last>] functions [#frame.window_function<aggregate sum("x") -> "s" over <range preceding("low") to following("high")>>]
// CHECK: dist.exchange gather
func.func @main() -> !r {
  %t = frame.scan "t" ["k", "low", "high", "x"] {statistics = {rows = 10000000 : i64, columns = {}}} : !t
  %w = frame.window %t partition [] order [#frame.sort_key<"k" asc nulls_last>] functions [
      #frame.window_function<aggregate sum("x") -> "s" over <range preceding("low") to following("high")>>] : !t -> !r
  return %w : !r
}
