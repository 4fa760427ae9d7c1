// `pipe.divide`: left * scale / right, truncated towards zero, and whether it overflowed.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.divide %{{.*}}, %{{.*}}, %{{.*}}
func.func @body(%a: i128, %b: i128) -> i128 {
  %scale = arith.constant 10000 : i128
  %quotient, %overflow = pipe.divide %a, %scale, %b
  pipe.fail_if %overflow, overflow
  return %quotient : i128
}

// -----

func.func @body(%a: i128, %b: i128) -> i128 {
  %scale = arith.constant 10000 : i128
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %quotient, %overflow = pipe.divide %a, %scale, %b {unknown}
  pipe.fail_if %overflow, overflow
  return %quotient : i128
}
