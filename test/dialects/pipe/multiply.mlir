// `pipe.multiply`: 128-bit multiplication, and whether it overflowed.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.multiply %{{.*}}, %{{.*}}
func.func @body(%a: i128, %b: i128) -> i128 {
  %product, %overflow = pipe.multiply %a, %b
  pipe.fail_if %overflow, overflow
  return %product : i128
}

// -----

func.func @body(%a: i128, %b: i128) -> i128 {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %product, %overflow = pipe.multiply %a, %b {unknown}
  pipe.fail_if %overflow, overflow
  return %product : i128
}
