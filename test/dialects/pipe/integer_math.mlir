// `pipe.integer_math`: a function of integers, and whether it has no value.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.integer_math "lcm" %{{.*}}, %{{.*}} : i64, i64 -> i64
func.func @body(%a: i64, %b: i64) -> i64 {
  %multiple, %overflow = pipe.integer_math "lcm" %a, %b : i64, i64 -> i64
  pipe.fail_if %overflow, overflow
  return %multiple : i64
}

// -----

func.func @body(%a: i64) -> i64 {
  // expected-error@+1 {{C1: needs the arguments of its function, got 1 for exp}}
  %0, %1 = pipe.integer_math "exp" %a : i64 -> i64
  return %0 : i64
}

// -----

func.func @body(%a: i64, %b: i128) -> i128 {
  // expected-error@+1 {{C2: needs operands of its result's type, got 'i64'}}
  %0, %1 = pipe.integer_math "gcd" %a, %b : i64, i128 -> i128
  return %0 : i128
}
