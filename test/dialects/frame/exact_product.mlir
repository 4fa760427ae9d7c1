// `frame.exact_product`: the product of two doubles with all its digits.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.exact_product %{{.*}}, %{{.*}} : (f64, f64) -> !frame.double_double
func.func @square(%x: f64) {
  %0 = frame.exact_product %x, %x : (f64, f64) -> !frame.double_double
  return
}

// -----

func.func @exact_product_c1(%a: !frame.nullable<f64>, %b: f64) {
  // expected-error @+1 {{nullable}}
  %0 = frame.exact_product %a, %b : (!frame.nullable<f64>, f64) -> !frame.double_double
  return
}
