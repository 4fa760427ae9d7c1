// `frame.negate`: a number with the opposite sign.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.negate %{{.*}} : i64
func.func @negate(%a: i64) {
  %0 = frame.negate %a : i64
  return
}

// -----

func.func @negate_type(%a: !frame.string) {
  // expected-error @+1 {{operand #0 must be integer, float or decimal, possibly nullable, but got '!frame.string'}}
  %0 = frame.negate %a : !frame.string
  return
}

// -----

func.func @try_isolated(%a: i64) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = frame.try {
    // expected-error @+1 {{using value defined outside the region}}
    %1 = frame.negate %a : i64
    frame.yield %1 : i64
  } : () -> !frame.nullable<i64>
  return
}
