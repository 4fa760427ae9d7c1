// `frame.multiply`: the product of two numbers.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.multiply %{{.*}}, %{{.*}} : (!frame.decimal<15, 2>, !frame.decimal<23, 2>) -> !frame.decimal<38, 4>
func.func @multiply(%a: !frame.decimal<15, 2>, %b: !frame.decimal<23, 2>) {
  %0 = frame.multiply %a, %b
      : (!frame.decimal<15, 2>, !frame.decimal<23, 2>) -> !frame.decimal<38, 4>
  return
}

// -----

func.func @multiply_c2(%a: !frame.decimal<15, 2>) {
  // expected-error @+1 {{result must have scale 4, got '!frame.decimal<30, 2>'}}
  %0 = frame.multiply %a, %a : (!frame.decimal<15, 2>, !frame.decimal<15, 2>) -> !frame.decimal<30, 2>
  return
}
