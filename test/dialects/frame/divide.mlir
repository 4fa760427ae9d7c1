// `frame.divide`: the quotient of two numbers.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.divide %{{.*}}, %{{.*}} : (!frame.decimal<38, 4>, !frame.decimal<38, 4>) -> !frame.decimal<38, 8>
func.func @divide(%a: !frame.decimal<38, 4>, %b: !frame.decimal<38, 4>) {
  %0 = frame.divide %a, %b
      : (!frame.decimal<38, 4>, !frame.decimal<38, 4>) -> !frame.decimal<38, 8>
  return
}
func.func @mean(%sum: !frame.decimal<38, 4>, %count: i64) {
  %0 = frame.divide %sum, %count : (!frame.decimal<38, 4>, i64) -> f64
  return
}

// -----

func.func @divide_c3(%a: i64) {
  // expected-error @+1 {{result must not be nullable, got '!frame.nullable<i64>'}}
  %0 = frame.divide %a, %a : (i64, i64) -> !frame.nullable<i64>
  return
}

// -----

func.func @divide_c4(%a: !frame.decimal<15, 2>, %b: i32) {
  // expected-error @+1 {{needs decimals, or one type for operands and result}}
  %0 = frame.divide %a, %b : (!frame.decimal<15, 2>, i32) -> f64
  return
}

// -----

func.func @divide_c4_nullable(%a: !frame.nullable<!frame.decimal<15, 2>>, %b: i64) {
  // expected-error @+1 {{result must be nullable, got 'f64'}}
  %0 = frame.divide %a, %b : (!frame.nullable<!frame.decimal<15, 2>>, i64) -> f64
  return
}
