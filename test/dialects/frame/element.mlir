// `frame.element`: an element of a list.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.element %{{.*}} at %{{.*}} : (!frame.list<i64>, i64) -> !frame.nullable<i64>
func.func @element(%l: !frame.list<i64>, %n: i64) {
  %0 = frame.element %l at %n : (!frame.list<i64>, i64) -> !frame.nullable<i64>
  return
}

// -----

func.func @element_c1(%l: !frame.list<i64>, %n: i64) {
  // expected-error @+1 {{result must be '!frame.nullable<i64>', got 'i64'}}
  %0 = frame.element %l at %n : (!frame.list<i64>, i64) -> i64
  return
}
