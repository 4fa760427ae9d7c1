// `frame.nearest`: the double that is nearest to an exact sum.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.nearest %{{.*}} : !frame.double_double -> f64
func.func @rounded(%sum: !frame.double_double) {
  %0 = frame.nearest %sum : !frame.double_double -> f64
  return
}

// -----

func.func @nearest_c1(%sum: !frame.nullable<!frame.double_double>) {
  // expected-error @+1 {{nullable}}
  %0 = frame.nearest %sum : !frame.nullable<!frame.double_double> -> f64
  return
}
