// `pipe.list_element`: an element of a list, as it lies there, and whether it is not NULL.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.list_element %{{.*}}, %{{.*}} : i32
func.func @body(%l: !pipe.string, %first: i64) -> i32 {
  %0, %valid = pipe.list_element %l, %first : i32
  return %0 : i32
}

// -----

func.func @body(%l: !pipe.string, %first: i64) -> i32 {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %0, %valid = pipe.list_element %l, %first {unknown} : i32
  return %0 : i32
}
