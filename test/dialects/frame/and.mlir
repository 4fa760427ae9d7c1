// `frame.and`: three-valued AND: false if any is false, else NULL if any is NULL.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.and %{{.*}}, %{{.*}} : (i1, !frame.nullable<i1>) -> !frame.nullable<i1>
func.func @and(%a: i1, %b: !frame.nullable<i1>) {
  %0 = frame.and %a, %b : (i1, !frame.nullable<i1>) -> !frame.nullable<i1>
  return
}

// -----

func.func @and_c1(%a: i1) {
  // expected-error @+1 {{needs at least two operands, got 1}}
  %0 = frame.and %a : (i1) -> i1
  return
}
