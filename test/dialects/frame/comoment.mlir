// `frame.comoment`: the sum of products of differences from the means, from two sums, the sum of products and the count.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.comoment %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (!frame.double_double, !frame.double_double, !frame.double_double, i64) -> f64
func.func @moments(%x: !frame.double_double, %y: !frame.double_double, %xx: !frame.double_double,
                   %xy: !frame.double_double, %count: i64) {
  %0 = frame.comoment %x, %x, %xx, %count
      : (!frame.double_double, !frame.double_double, !frame.double_double, i64) -> f64
  %1 = frame.comoment %x, %y, %xy, %count
      : (!frame.double_double, !frame.double_double, !frame.double_double, i64) -> f64
  return
}

// -----

func.func @comoment_c1(%sum: !frame.double_double, %squares: !frame.double_double, %count: i64) {
  // expected-error @+1 {{nullable}}
  %0 = frame.comoment %sum, %sum, %squares, %count
      : (!frame.double_double, !frame.double_double, !frame.double_double, i64) -> !frame.nullable<f64>
  return
}
