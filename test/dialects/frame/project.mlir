// `frame.project`: passes columns through and computes others.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.project %{{.*}} keep ["b"] compute ["double"] columns ["a"]
func.func @project(%t: !frame.table<"a": i64, "b": i64>) {
  %0 = frame.project %t keep ["b"] compute ["double"] columns ["a"] {
  ^bb0(%a: i64):
    %sum = frame.add %a, %a : (i64, i64) -> i64
    frame.yield %sum : i64
  } : !frame.table<"a": i64, "b": i64> -> !frame.table<"double": i64, "b": i64>
  return
}

// -----

func.func @project_c2(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{a kept column must be in input and result with one type, got: "a"}}
  %0 = frame.project %t keep ["a"] compute [] columns [] {
    frame.yield
  } : !frame.table<"a": i64> -> !frame.table<"a": i32>
  return
}

// -----

func.func @project_c3(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{must yield one value per computed column, got 0 for 1}}
  %0 = frame.project %t keep [] compute ["b"] columns [] {
    frame.yield
  } : !frame.table<"a": i64> -> !frame.table<"b": i64>
  return
}

// -----

func.func @project_c3_type(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{yields 'i64' for computed column "b": 'i32'}}
  %0 = frame.project %t keep [] compute ["b"] columns ["a"] {
  ^bb0(%a: i64):
    frame.yield %a : i64
  } : !frame.table<"a": i64> -> !frame.table<"b": i32>
  return
}

// -----

func.func @project_c4(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{every result column must be kept or computed, got 1 kept and 0 computed for 2}}
  %0 = frame.project %t keep ["a"] compute [] columns [] {
    frame.yield
  } : !frame.table<"a": i64> -> !frame.table<"a": i64, "b": i64>
  return
}

// -----

func.func @project_c4_both(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{a computed column must be in the result and not kept, got: "a"}}
  %0 = frame.project %t keep ["a"] compute ["a"] columns ["a"] {
  ^bb0(%a: i64):
    frame.yield %a : i64
  } : !frame.table<"a": i64> -> !frame.table<"a": i64, "b": i64>
  return
}
