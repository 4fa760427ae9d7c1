// `frame.number`: abs, round, floor, ceiling, truncate or square root of a number.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.number abs %{{.*}} : (!frame.decimal<15, 2>) -> !frame.decimal<15, 2>
func.func @number(%a: !frame.decimal<15, 2>, %b: !frame.nullable<f64>) {
  %0 = frame.number abs %a : (!frame.decimal<15, 2>) -> !frame.decimal<15, 2>
  %1 = frame.number round %a digits 1 : (!frame.decimal<15, 2>) -> !frame.decimal<15, 1>
  %2 = frame.number sqrt %b : (!frame.nullable<f64>) -> !frame.nullable<f64>
  return
}

// -----

func.func @number_c1(%a: i64) {
  // expected-error @+1 {{has no function from 'i64' to 'f64'}}
  %0 = frame.number ceiling %a : (i64) -> f64
  return
}

// -----

func.func @number_c1_sqrt(%a: i64) {
  // expected-error @+1 {{has no function from 'i64' to 'i64'}}
  %0 = frame.number sqrt %a : (i64) -> i64
  return
}

// -----

func.func @number_c3(%a: f64) {
  // expected-error @+1 {{takes digits only to round}}
  %0 = frame.number floor %a digits 2 : (f64) -> f64
  return
}
