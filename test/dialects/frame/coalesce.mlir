// `frame.coalesce`: the first value that is not NULL.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.coalesce %{{.*}}, %{{.*}} : (!frame.nullable<i64>, i64) -> i64
func.func @coalesce(%a: !frame.nullable<i64>, %b: i64) {
  %0 = frame.coalesce %a, %b : (!frame.nullable<i64>, i64) -> i64
  return
}

// -----

func.func @coalesce_c1(%a: i64, %b: i32) {
  // expected-error @+1 {{operands and result must have one type, got 'i32' and 'i64'}}
  %0 = frame.coalesce %a, %b : (i64, i32) -> i64
  return
}

// -----

func.func @coalesce_c1_empty() {
  // expected-error @+1 {{needs at least one operand}}
  %0 = frame.coalesce : () -> i64
  return
}

// -----

func.func @coalesce_c2(%a: !frame.nullable<i64>, %b: i64) {
  // expected-error @+1 {{result must not be nullable, got '!frame.nullable<i64>'}}
  %0 = frame.coalesce %a, %b : (!frame.nullable<i64>, i64) -> !frame.nullable<i64>
  return
}
