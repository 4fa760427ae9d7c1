// Which ops let conditions through follows from what they say of columns and rows.
// Sources: dialects/frame/FrameGroups.cpp, dialects/frame/FrameOrders.cpp, dialects/frame/FrameRowByRow.cpp
// RUN: headrace-opt --optimize-pushdown --split-input-file %s | FileCheck %s

!t = !frame.table<"a": i64, "b": i64>

// An order stays one without some rows; the first rows in it do not.
// CHECK-LABEL: func.func @order
// CHECK: %[[SCAN:.*]] = frame.scan
// CHECK: %[[FILTER:.*]] = frame.filter %[[SCAN]]
// CHECK: %[[SORT:.*]] = frame.sort %[[FILTER]]
// CHECK: %[[TOP:.*]] = frame.topk %[[SORT]]
// CHECK: frame.filter %[[TOP]]
func.func @order() -> !t {
  %0 = frame.scan "t" ["a", "b"] : !t
  %1 = frame.sort %0 by [#frame.sort_key<"a" asc nulls_last>] : !t
  %2 = frame.filter %1 columns ["b"] {
  ^bb0(%b: i64):
    %p = frame.compare eq %b, %b : (i64, i64) -> i1
    frame.yield %p : i1
  } : !t
  %3 = frame.topk %2 by [#frame.sort_key<"a" asc nulls_last>] count 3 : !t
  %4 = frame.filter %3 columns ["a"] {
  ^bb0(%a: i64):
    %p = frame.compare lt %a, %a : (i64, i64) -> i1
    frame.yield %p : i1
  } : !t
  return %4 : !t
}

// -----

!t = !frame.table<"a": i64, "b": i64>
!n = !frame.table<"c": i64, "d": !frame.nullable<i64>>
!u = !frame.table<"x": i64, "y": !frame.nullable<i64>>

// A column of a union that all inputs have with one type; the other is nullable in one input only.
// CHECK-LABEL: func.func @union
// CHECK-DAG: %[[T:.*]] = frame.scan "t"
// CHECK-DAG: %[[N:.*]] = frame.scan "n"
// CHECK-DAG: %[[LEFT:.*]] = frame.filter %[[T]] columns ["a"]
// CHECK-DAG: %[[RIGHT:.*]] = frame.filter %[[N]] columns ["c"]
// CHECK: %[[UNION:.*]] = frame.union %[[LEFT]], %[[RIGHT]]
// CHECK: frame.filter %[[UNION]] columns ["y"]
func.func @union() -> !u {
  %0 = frame.scan "t" ["a", "b"] : !t
  %1 = frame.scan "n" ["c", "d"] : !n
  %2 = frame.union %0, %1 : !t, !n -> !u
  %3 = frame.filter %2 columns ["x", "y"] {
  ^bb0(%x: i64, %y: !frame.nullable<i64>):
    %p = frame.compare lt %x, %x : (i64, i64) -> i1
    %q = frame.compare lt %y, %y : (!frame.nullable<i64>, !frame.nullable<i64>) -> !frame.nullable<i1>
    %b = frame.and %p, %q : (i1, !frame.nullable<i1>) -> !frame.nullable<i1>
    frame.yield %b : !frame.nullable<i1>
  } : !u
  return %3 : !u
}

// -----

!t = !frame.table<"a": i64, "b": i64>
!g = !frame.table<"a": i64, "n": i64>
!r = !frame.table<"k": i64, "m": i64>

// Through a rename under the old name, and through an aggregate where it is about keys.
// CHECK-LABEL: func.func @groups
// CHECK: %[[FILTER:.*]] = frame.filter %{{.*}} columns ["a"]
// CHECK: %[[GROUPS:.*]] = frame.aggregate %[[FILTER]] keys ["a"]
// CHECK: %[[COUNTS:.*]] = frame.filter %[[GROUPS]] columns ["n"]
// CHECK: frame.rename %[[COUNTS]]
func.func @groups() -> !r {
  %0 = frame.scan "t" ["a", "b"] : !t
  %1 = frame.aggregate %0 keys ["a"] measures [#frame.measure<count_star -> "n">] : !t -> !g
  %2 = frame.rename %1 : !g -> !r
  %3 = frame.filter %2 columns ["k", "m"] {
  ^bb0(%k: i64, %m: i64):
    %p = frame.compare lt %k, %k : (i64, i64) -> i1
    %q = frame.compare gt %m, %m : (i64, i64) -> i1
    %b = frame.and %p, %q : (i1, i1) -> i1
    frame.yield %b : i1
  } : !r
  return %3 : !r
}
