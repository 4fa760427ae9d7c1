// `frame.add`: the sum of two numbers.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.add %{{.*}}, %{{.*}} : (!frame.decimal<15, 2>, !frame.decimal<20, 0>) -> !frame.decimal<23, 2>
func.func @add(%a: !frame.decimal<15, 2>, %b: !frame.decimal<20, 0>) {
  %0 = frame.add %a, %b
      : (!frame.decimal<15, 2>, !frame.decimal<20, 0>) -> !frame.decimal<23, 2>
  return
}

// -----

func.func @add_c1(%a: i64, %b: i32) {
  // expected-error @+1 {{needs decimals, or one type for operands and result, got 'i64', 'i32' and 'i64'}}
  %0 = frame.add %a, %b : (i64, i32) -> i64
  return
}

// -----

func.func @add_c2(%a: !frame.decimal<15, 2>) {
  // expected-error @+1 {{result must have scale 2, got '!frame.decimal<15, 3>'}}
  %0 = frame.add %a, %a : (!frame.decimal<15, 2>, !frame.decimal<15, 2>) -> !frame.decimal<15, 3>
  return
}
