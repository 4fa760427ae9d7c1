// Whether a column may hold NULL, seen from above: by what its rows came through. Where it may not, a key for which
// NULL equals NULL is an ordinary one.
// Sources: passes/optimize/provenance.cpp
// RUN: headrace-opt --optimize-null-safe %s | FileCheck %s

!l = !frame.table<"a": !frame.nullable<i64>>
!r = !frame.table<"b": !frame.nullable<i64>, "y": !frame.nullable<i64>>

// NULL makes a comparison of what is computed from it NULL, whatever stands in between.
// CHECK-LABEL: @compared
// CHECK: frame.join semi %arg0, %{{.*}} on ["a"] = ["k"] :
func.func @compared(%l: !l, %r: !r) -> !l {
  %0 = frame.filter %r columns ["b"] {
  ^bb0(%b: !frame.nullable<i64>):
    %one = frame.constant 1 : i64
    %more = frame.add %b, %one : (!frame.nullable<i64>, i64) -> !frame.nullable<i64>
    %p = frame.compare lt %one, %more : (i64, !frame.nullable<i64>) -> !frame.nullable<i1>
    frame.yield %p : !frame.nullable<i1>
  } : !r
  %1 = frame.limit %0 count 10 : !r
  %2 = frame.rename %1 : !r -> !frame.table<"k": !frame.nullable<i64>, "y": !frame.nullable<i64>>
  %3 = frame.join semi %l, %2 on ["a"] = ["k"] null_safe [true] : !l, !frame.table<"k": !frame.nullable<i64>, "y": !frame.nullable<i64>> -> !l
  return %3 : !l
}

// CHECK-LABEL: @listed
// CHECK: on ["a"] = ["b"] :
func.func @listed(%l: !l, %r: !r) -> !l {
  %0 = frame.filter %r columns ["b", "y"] {
  ^bb0(%b: !frame.nullable<i64>, %y: !frame.nullable<i64>):
    %p = frame.in %b [1, 2] : (!frame.nullable<i64>) -> !frame.nullable<i1>
    %null = frame.is_null %y : !frame.nullable<i64>
    %all = frame.and %p, %null : (!frame.nullable<i1>, i1) -> !frame.nullable<i1>
    frame.yield %all : !frame.nullable<i1>
  } : !r
  %1 = frame.join semi %l, %0 on ["a"] = ["b"] null_safe [true] : !l, !r -> !l
  return %1 : !l
}

// Another way through the condition lets NULL pass.
// CHECK-LABEL: @either
// CHECK: on ["a"] = ["b"] null_safe [true]
func.func @either(%l: !l, %r: !r) -> !l {
  %0 = frame.filter %r columns ["b", "y"] {
  ^bb0(%b: !frame.nullable<i64>, %y: !frame.nullable<i64>):
    %p = frame.in %b [1, 2] : (!frame.nullable<i64>) -> !frame.nullable<i1>
    %null = frame.is_null %y : !frame.nullable<i64>
    %any = frame.or %p, %null : (!frame.nullable<i1>, i1) -> !frame.nullable<i1>
    frame.yield %any : !frame.nullable<i1>
  } : !r
  %1 = frame.join semi %l, %0 on ["a"] = ["b"] null_safe [true] : !l, !r -> !l
  return %1 : !l
}

// CHECK-LABEL: @not_distinct
// CHECK: on ["a"] = ["b"] null_safe [true]
func.func @not_distinct(%l: !l, %r: !r) -> !l {
  %0 = frame.filter %r columns ["b", "y"] {
  ^bb0(%b: !frame.nullable<i64>, %y: !frame.nullable<i64>):
    %p = frame.compare is_not_distinct_from %b, %y : (!frame.nullable<i64>, !frame.nullable<i64>) -> i1
    frame.yield %p : i1
  } : !r
  %1 = frame.join semi %l, %0 on ["a"] = ["b"] null_safe [true] : !l, !r -> !l
  return %1 : !l
}

// Rows without a partner have NULL again.
// CHECK-LABEL: @unmatched
// CHECK: frame.join semi %{{.*}} on ["a"] = ["b"] null_safe [true]
func.func @unmatched(%l: !l, %r: !r, %s: !frame.table<"c": i64>) -> !l {
  %0 = frame.filter %r columns ["b"] {
  ^bb0(%b: !frame.nullable<i64>):
    %p = frame.in %b [1, 2] : (!frame.nullable<i64>) -> !frame.nullable<i1>
    frame.yield %p : !frame.nullable<i1>
  } : !r
  %1 = frame.join left %s, %0 on ["c"] = ["b"] : !frame.table<"c": i64>, !r -> !frame.table<"c": i64, "b": !frame.nullable<i64>, "y": !frame.nullable<i64>>
  %2 = frame.join semi %l, %1 on ["a"] = ["b"] null_safe [true] : !l, !frame.table<"c": i64, "b": !frame.nullable<i64>, "y": !frame.nullable<i64>> -> !l
  return %2 : !l
}

// A key for which NULL equals NULL keeps its NULLs, an ordinary one of the same join does not.
// CHECK-LABEL: @keys
// CHECK: %[[J:.*]] = frame.join semi %arg1, %arg2 on ["b", "y"] = ["c", "d"] null_safe [true, false]
// CHECK: frame.join semi %arg0, %[[J]] on ["a"] = ["b"] null_safe [true]
// CHECK: frame.join semi %arg0, %[[J]] on ["a"] = ["y"] :
func.func @keys(%l: !l, %r: !r, %s: !frame.table<"c": !frame.nullable<i64>, "d": !frame.nullable<i64>>) -> (!l, !l) {
  %0 = frame.join semi %r, %s on ["b", "y"] = ["c", "d"] null_safe [true, false] : !r, !frame.table<"c": !frame.nullable<i64>, "d": !frame.nullable<i64>> -> !r
  %1 = frame.join semi %l, %0 on ["a"] = ["b"] null_safe [true] : !l, !r -> !l
  %2 = frame.join semi %l, %0 on ["a"] = ["y"] null_safe [true] : !l, !r -> !l
  return %1, %2 : !l, !l
}

// What is computed is another value.
// CHECK-LABEL: @computed
// CHECK: on ["a"] = ["b"] null_safe [true]
func.func @computed(%l: !l, %r: !r) -> !l {
  %0 = frame.filter %r columns ["b"] {
  ^bb0(%b: !frame.nullable<i64>):
    %p = frame.in %b [1, 2] : (!frame.nullable<i64>) -> !frame.nullable<i1>
    frame.yield %p : !frame.nullable<i1>
  } : !r
  %1 = frame.project %0 keep [] compute ["b"] columns ["b", "y"] {
  ^bb0(%b: !frame.nullable<i64>, %y: !frame.nullable<i64>):
    %sum = frame.add %b, %y : (!frame.nullable<i64>, !frame.nullable<i64>) -> !frame.nullable<i64>
    frame.yield %sum : !frame.nullable<i64>
  } : !r -> !frame.table<"b": !frame.nullable<i64>>
  %2 = frame.join semi %l, %1 on ["a"] = ["b"] null_safe [true] : !l, !frame.table<"b": !frame.nullable<i64>> -> !l
  return %2 : !l
}
