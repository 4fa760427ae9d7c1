// `frame.scalar_subquery`: the single value of a table of one column and at most one row.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.scalar_subquery %{{.*}} : <"a": i64> -> !frame.nullable<i64>
!t = !frame.table<"a": i64>
func.func @scalar_subquery(%t: !t, %one: !t) {
  %max = frame.scalar_subquery %one : !t -> !frame.nullable<i64>
  %0 = frame.filter %t columns ["a"] {
  ^bb0(%a: i64):
    %p = frame.compare lt %a, %max : (i64, !frame.nullable<i64>) -> !frame.nullable<i1>
    frame.yield %p : !frame.nullable<i1>
  } : !t
  return
}

// -----

func.func @scalar_subquery_c1(%t: !frame.table<"a": i64, "b": i64>) {
  // expected-error @+1 {{needs an input of one column, got 2}}
  %0 = frame.scalar_subquery %t : !frame.table<"a": i64, "b": i64> -> !frame.nullable<i64>
  return
}

// -----

func.func @scalar_subquery_c2(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{result must be '!frame.nullable<i64>', got 'i64'}}
  %0 = frame.scalar_subquery %t : !frame.table<"a": i64> -> i64
  return
}
