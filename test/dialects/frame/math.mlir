// `frame.math`: a function of doubles, or of integers.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.math "exp" %{{.*}} : (f64) -> f64
func.func @math(%a: f64, %b: !frame.nullable<f64>) {
  %0 = frame.math "exp" %a : (f64) -> f64
  %1 = frame.math "power" %a, %b : (f64, !frame.nullable<f64>) -> !frame.nullable<f64>
  return
}
func.func @divisor(%a: i64, %b: i64) {
  %0 = frame.math "gcd" %a, %b : (i64, i64) -> i64
  return
}

// -----

func.func @math_name(%a: f64) {
  // expected-error @+1 {{attribute 'function' failed to satisfy constraint: string attribute that names a function of numbers}}
  %0 = frame.math "expp" %a : (f64) -> f64
  return
}

// -----

func.func @math_c1(%a: f64) {
  // expected-error @+1 {{needs as many operands as power has arguments: 2, got 1}}
  %0 = frame.math "power" %a : (f64) -> f64
  return
}

// -----

func.func @math_c2_integers(%a: i64, %b: f64) {
  // expected-error @+1 {{needs operands of type 'i64', got 'f64'}}
  %0 = frame.math "gcd" %a, %b : (i64, f64) -> i64
  return
}

// -----

func.func @math_c2_operand(%a: i64) {
  // expected-error @+1 {{needs operands of type 'f64', got 'i64'}}
  %0 = frame.math "exp" %a : (i64) -> f64
  return
}

// -----

func.func @math_c2_result(%a: f64) {
  // expected-error @+1 {{needs a result of type 'f64', got 'f32'}}
  %0 = frame.math "exp" %a : (f64) -> f32
  return
}
