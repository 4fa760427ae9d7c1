// `frame.modulus`: the remainder of a truncating division.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.modulus %{{.*}}, %{{.*}} : (i32, i32) -> i32
func.func @modulus(%a: i32, %b: i32) {
  %0 = frame.modulus %a, %b : (i32, i32) -> i32
  return
}

// -----

func.func @modulus_c1(%a: f64, %b: f32) {
  // expected-error @+1 {{needs decimals, or one type for operands and result}}
  %0 = frame.modulus %a, %b : (f64, f32) -> f64
  return
}
