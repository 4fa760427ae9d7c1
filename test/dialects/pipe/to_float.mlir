// `pipe.to_float`: the double nearest to a 128-bit integer.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.to_float %{{.*}}
func.func @body(%a: i128) -> f64 {
  %0 = pipe.to_float %a
  return %0 : f64
}

// -----

func.func @body(%a: i128) -> f64 {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %0 = pipe.to_float %a {unknown}
  return %0 : f64
}
