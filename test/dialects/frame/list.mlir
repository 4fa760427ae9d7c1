// `frame.list`: a list of values.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.list %{{.*}}, %{{.*}} : (i64, !frame.nullable<i64>) -> !frame.list<i64>
func.func @list(%a: i64, %b: !frame.nullable<i64>) {
  %0 = frame.list %a, %b : (i64, !frame.nullable<i64>) -> !frame.list<i64>
  %1 = frame.list : () -> !frame.list<!frame.string>
  return
}

// -----

func.func @list_c1(%a: i64, %b: i32) {
  // expected-error @+1 {{needs elements of type 'i64', got 'i32'}}
  %0 = frame.list %a, %b : (i64, i32) -> !frame.list<i64>
  return
}

// -----

func.func @flat_map_isolated(%l: !frame.list<i64>, %n: i64) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = frame.flat_map %l {
  ^bb0(%x: !frame.nullable<i64>, %place: i64):
    // expected-error @+1 {{using value defined outside the region}}
    %1 = frame.list %n : (i64) -> !frame.list<i64>
    frame.yield %1 : !frame.list<i64>
  } : (!frame.list<i64>) -> !frame.list<i64>
  return
}
