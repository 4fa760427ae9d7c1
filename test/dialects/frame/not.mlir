// `frame.not`: three-valued NOT: NULL stays NULL.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.not %{{.*}} : !frame.nullable<i1>
func.func @not(%a: !frame.nullable<i1>) {
  %0 = frame.not %a : !frame.nullable<i1>
  return
}

// -----

func.func @not(%a: !frame.nullable<i1>) {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %0 = frame.not %a {unknown} : !frame.nullable<i1>
  return
}
