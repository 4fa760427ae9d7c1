// `frame.or`: three-valued OR: true if any is true, else NULL if any is NULL.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.or %{{.*}}, %{{.*}}, %{{.*}} : (i1, i1, i1) -> i1
func.func @or(%a: i1, %b: i1, %c: i1) {
  %0 = frame.or %a, %b, %c : (i1, i1, i1) -> i1
  return
}

// -----

func.func @or_c2(%a: i1, %b: !frame.nullable<i1>) {
  // expected-error @+1 {{result must be nullable, got 'i1'}}
  %0 = frame.or %a, %b : (i1, !frame.nullable<i1>) -> i1
  return
}
