// `frame.is_null`: whether a value is NULL.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.is_null %{{.*}} : !frame.nullable<i64>
func.func @is_null(%a: !frame.nullable<i64>) {
  %0 = frame.is_null %a : !frame.nullable<i64>
  return
}

// -----

func.func @is_null(%a: !frame.nullable<i64>) {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %0 = frame.is_null %a {unknown} : !frame.nullable<i64>
  return
}
