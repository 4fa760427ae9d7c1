// `frame.subtract`: the difference of two numbers.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.subtract %{{.*}}, %{{.*}} : (i64, !frame.nullable<i64>) -> !frame.nullable<i64>
func.func @subtract(%a: i64, %b: !frame.nullable<i64>) {
  %0 = frame.subtract %a, %b : (i64, !frame.nullable<i64>) -> !frame.nullable<i64>
  return
}

// -----

func.func @subtract_c3(%a: !frame.nullable<i64>) {
  // expected-error @+1 {{result must be nullable, got 'i64'}}
  %0 = frame.subtract %a, %a : (!frame.nullable<i64>, !frame.nullable<i64>) -> i64
  return
}
