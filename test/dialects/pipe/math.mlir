// `pipe.math`: a function of doubles.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.math "power" %{{.*}}, %{{.*}}
func.func @body(%a: f64, %b: f64) -> f64 {
  %0 = pipe.math "power" %a, %b
  return %0 : f64
}

// -----

func.func @body(%a: f64) -> f64 {
  // expected-error@+1 {{C1: needs the arguments of its function, got 1 for atan2}}
  %0 = pipe.math "atan2" %a
  return %0 : f64
}
