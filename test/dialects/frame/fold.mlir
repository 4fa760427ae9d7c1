// Folders, and constants that stay in their expression region.
// RUN: headrace-opt %s --canonicalize --split-input-file | FileCheck %s

!t = !frame.table<"a": i64>

// CHECK-LABEL: func.func @identities
// CHECK-SAME: (%[[T:.*]]: !frame.table<"a": i64>)
func.func @identities(%t: !t) -> !t {
  %0 = frame.project %t keep ["a"] compute [] columns [] {
    frame.yield
  } : !t -> !t
  %1 = frame.rename %0 : !t -> !t
  %2 = frame.limit %1 : !t
  // CHECK-NEXT: return %[[T]]
  return %2 : !t
}

// -----

// A projection that changes the order of columns stays.
// CHECK-LABEL: func.func @order
func.func @order(%t: !frame.table<"a": i64, "b": i64>) -> !frame.table<"b": i64, "a": i64> {
  // CHECK: frame.project
  %0 = frame.project %t keep ["b", "a"] compute [] columns [] {
    frame.yield
  } : !frame.table<"a": i64, "b": i64> -> !frame.table<"b": i64, "a": i64>
  return %0 : !frame.table<"b": i64, "a": i64>
}

// -----

!t = !frame.table<"a": !frame.nullable<i64>>

// CHECK-LABEL: func.func @constants_stay
func.func @constants_stay(%t: !t) -> (!t, !t) {
  // CHECK: frame.filter
  // CHECK: frame.constant 1 : i64
  %0 = frame.filter %t columns ["a"] {
  ^bb0(%a: !frame.nullable<i64>):
    %one = frame.constant 1 : i64
    %p = frame.compare eq %a, %one : (!frame.nullable<i64>, i64) -> !frame.nullable<i1>
    frame.yield %p : !frame.nullable<i1>
  } : !t
  // CHECK: frame.filter
  // CHECK: frame.constant 1 : i64
  %1 = frame.filter %t columns ["a"] {
  ^bb0(%a: !frame.nullable<i64>):
    %one = frame.constant 1 : i64
    %p = frame.compare ne %a, %one : (!frame.nullable<i64>, i64) -> !frame.nullable<i1>
    frame.yield %p : !frame.nullable<i1>
  } : !t
  return %0, %1 : !t, !t
}

// -----

!t = !frame.table<"a": i64, "b": i1>

// CHECK-LABEL: func.func @expressions
func.func @expressions(%t: !t) -> !frame.table<"n": i1, "c": i64, "m": i1> {
  // CHECK: ^bb0(%[[A:.*]]: i64, %[[B:.*]]: i1):
  %0 = frame.project %t keep [] compute ["n", "c", "m"] columns ["a", "b"] {
  ^bb0(%a: i64, %b: i1):
    // CHECK-NEXT: %[[FALSE:.*]] = frame.constant false : i1
    %n = frame.is_null %a : i64
    %c = frame.cast %a : i64 -> i64
    %not = frame.not %b : i1
    %m = frame.not %not : i1
    // CHECK-NEXT: frame.yield %[[FALSE]], %[[A]], %[[B]]
    frame.yield %n, %c, %m : i1, i64, i1
  } : !t -> !frame.table<"n": i1, "c": i64, "m": i1>
  return %0 : !frame.table<"n": i1, "c": i64, "m": i1>
}
