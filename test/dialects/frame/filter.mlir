// `frame.filter`: keeps the rows for which the predicate is true.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.filter %{{.*}} columns ["a", "b"]
!t = !frame.table<"a": i64, "b": !frame.nullable<i64>>
func.func @filter(%t: !t) {
  %0 = frame.filter %t columns ["a", "b"] {
  ^bb0(%a: i64, %b: !frame.nullable<i64>):
    %p = frame.compare lt %a, %b : (i64, !frame.nullable<i64>) -> !frame.nullable<i1>
    frame.yield %p : !frame.nullable<i1>
  } : !t
  return
}

// -----

func.func @filter_c1(%t: !frame.table<"a": i1>) {
  // expected-error @+1 {{uses a column that is not in the input: "b"}}
  %0 = frame.filter %t columns ["b"] {
  ^bb0(%b: i1):
    frame.yield %b : i1
  } : !frame.table<"a": i1>
  return
}

// -----

func.func @filter_c1_type(%t: !frame.table<"a": i1>) {
  // expected-error @+1 {{block argument of column "a" must be 'i1', got '!frame.nullable<i1>'}}
  %0 = frame.filter %t columns ["a"] {
  ^bb0(%a: !frame.nullable<i1>):
    frame.yield %a : !frame.nullable<i1>
  } : !frame.table<"a": i1>
  return
}

// -----

func.func @filter_c1_count(%t: !frame.table<"a": i1>) {
  // expected-error @+1 {{needs one block argument per used column, got 1 for 0}}
  %0 = frame.filter %t columns [] {
  ^bb0(%a: i1):
    frame.yield %a : i1
  } : !frame.table<"a": i1>
  return
}

// -----

func.func @filter_c1_unique(%t: !frame.table<"a": i1>) {
  // expected-error @+1 {{lists a column twice: "a"}}
  %0 = frame.filter %t columns ["a", "a"] {
  ^bb0(%a: i1, %b: i1):
    frame.yield %a : i1
  } : !frame.table<"a": i1>
  return
}

// -----

func.func @filter_c2(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{the predicate must yield one i1 or nullable i1}}
  %0 = frame.filter %t columns ["a"] {
  ^bb0(%a: i64):
    frame.yield %a : i64
  } : !frame.table<"a": i64>
  return
}
