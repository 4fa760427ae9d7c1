// A single join is a left join where the right side has each key once; else it counts.
// RUN: headrace-opt --optimize-single-joins --split-input-file --verify-diagnostics %s | FileCheck %s

!l = !frame.table<"a": i64>
!r = !frame.table<"b": i64, "c": !frame.nullable<i64>>
!j = !frame.table<"a": i64, "b": !frame.nullable<i64>, "c": !frame.nullable<i64>>

// CHECK-LABEL: @unique
// CHECK: frame.join left %arg0, %{{.*}} on ["a"] = ["b"]
func.func @unique(%l: !l, %r: !r) -> !j {
  %0 = frame.aggregate %r keys ["b"] measures [#frame.measure<max("c") -> "c">] : !r -> !r
  %1 = frame.join single %l, %0 on ["a"] = ["b"] : !l, !r -> !j
  return %1 : !j
}

// CHECK-LABEL: @counted
// CHECK: %[[G:.*]] = frame.aggregate %arg1 keys ["b"] measures [#frame.measure<min("c") -> "c">, #frame.measure<count_star -> "b.matches">]
// CHECK: %[[J:.*]] = frame.join left %arg0, %[[G]] on ["a"] = ["b"]
// CHECK: %[[F:.*]] = frame.filter %[[J]]
// CHECK: frame.raise more_than_one_row "more than one row returned by a subquery" : i1
// CHECK: frame.project %[[F]] keep ["a", "b", "c"]
func.func @counted(%l: !l, %r: !r) -> !j {
  %0 = frame.join single %l, %r on ["a"] = ["b"] : !l, !r -> !j
  return %0 : !j
}

// A residual of keys is true for all rows of a key or for none.
// CHECK-LABEL: @residual_of_keys
// CHECK: %[[G:.*]] = frame.aggregate %arg1 keys ["b"]
// CHECK: %[[J:.*]] = frame.join left %arg0, %[[G]] on ["a"] = ["b"] residual ["e", "b"]
// CHECK: frame.compare eq
// CHECK: frame.filter %[[J]]
!m = !frame.table<"a": i64, "e": i64>
!k = !frame.table<"a": i64, "e": i64, "b": !frame.nullable<i64>, "c": !frame.nullable<i64>>
func.func @residual_of_keys(%l: !m, %r: !r) -> !k {
  %0 = frame.join single %l, %r on ["a"] = ["b"] residual ["e", "b"] {
  ^bb0(%e: i64, %b: i64):
    %p = frame.compare eq %e, %b : (i64, i64) -> i1
    frame.yield %p : i1
  } : !m, !r -> !k
  return %0 : !k
}

// -----

!l = !frame.table<"a": i64>
!r = !frame.table<"b": i64>
!j = !frame.table<"a": i64, "b": !frame.nullable<i64>>
func.func @residual(%l: !l, %r: !r) -> !j {
  // expected-error @+1 {{a scalar subquery that may have several rows and is correlated by another condition than = is not supported; aggregate in it}}
  %0 = frame.join single %l, %r on [] = [] residual ["a", "b"] {
  ^bb0(%a: i64, %b: i64):
    %p = frame.compare lt %a, %b : (i64, i64) -> i1
    frame.yield %p : i1
  } : !l, !r -> !j
  return %0 : !j
}
