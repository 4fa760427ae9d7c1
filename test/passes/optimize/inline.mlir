// A scan with filters and projects is made for each use, under names of its own; what is dear is computed once.
// RUN: headrace-opt --optimize-inline %s | FileCheck %s
// RUN: headrace-opt --optimize-inline --optimize-renames %s | FileCheck %s --check-prefix=NAMES

!t = !frame.table<"a": i64, "b": i64>
!k = !frame.table<"a": i64>

// CHECK-LABEL: @cheap
// CHECK: %[[S1:.*]] = frame.scan "t" ["ta", "tb"] : <"a": i64, "b": i64>
// CHECK: %[[S2:.*]] = frame.scan "t" ["ta", "tb"] : <"a_1": i64, "b_1": i64>
// CHECK: frame.filter %[[S2]] columns ["b_1"]
// CHECK: frame.join inner
// NAMES-LABEL: @cheap
// NAMES-NOT: frame.rename
// NAMES: frame.scan "t" ["ta", "tb"] : <"c": i64, "b": i64>
// NAMES: frame.scan "t" ["ta", "tb"] : <"a": i64, "b_1": i64>
// NAMES: frame.join inner %{{.*}}, %{{.*}} on ["a"] = ["c"]
func.func @cheap() -> !frame.table<"a": i64, "c": i64> {
  %scan = frame.scan "t" ["ta", "tb"] : !t
  %some = frame.filter %scan columns ["b"] {
  ^bb0(%b: i64):
    %one = frame.constant 1 : i64
    %p = frame.compare eq %b, %one : (i64, i64) -> i1
    frame.yield %p : i1
  } : !t
  %cte = frame.project %some keep ["a"] compute [] columns [] {
    frame.yield
  } : !t -> !k
  %other = frame.rename %cte : !k -> !frame.table<"c": i64>
  %0 = frame.join inner %cte, %other on ["a"] = ["c"] : !k, !frame.table<"c": i64> -> !frame.table<"a": i64, "c": i64>
  return %0 : !frame.table<"a": i64, "c": i64>
}

// CHECK-LABEL: @dear
// CHECK-COUNT-1: frame.aggregate
// CHECK-NOT: frame.aggregate
// CHECK: frame.join inner
// NAMES-LABEL: @dear
// NAMES: frame.rename
func.func @dear() -> !frame.table<"a": i64, "c": i64> {
  %scan = frame.scan "t" ["ta"] : !k
  %cte = frame.aggregate %scan keys ["a"] measures [] : !k -> !k
  %other = frame.rename %cte : !k -> !frame.table<"c": i64>
  %0 = frame.join inner %cte, %other on ["a"] = ["c"] : !k, !frame.table<"c": i64> -> !frame.table<"a": i64, "c": i64>
  return %0 : !frame.table<"a": i64, "c": i64>
}
