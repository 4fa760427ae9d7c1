// `frame.substring`: the characters of a string from `start` (1 is the first), at most `length`.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.substring %{{.*}} from %{{.*}} : (!frame.string, !frame.nullable<i64>) -> !frame.nullable<!frame.string>
func.func @substring(%s: !frame.string, %start: !frame.nullable<i64>, %length: i64) {
  %0 = frame.substring %s from %start
      : (!frame.string, !frame.nullable<i64>) -> !frame.nullable<!frame.string>
  %1 = frame.substring %s from %length for %length : (!frame.string, i64, i64) -> !frame.string
  return
}

// -----

func.func @substring_c1(%a: !frame.string, %n: i32) {
  // expected-error @+1 {{start and length must be i64, got 'i32'}}
  %0 = frame.substring %a from %n : (!frame.string, i32) -> !frame.string
  return
}

// -----

func.func @substring_c2(%a: !frame.string, %n: !frame.nullable<i64>) {
  // expected-error @+1 {{result must be nullable, got '!frame.string'}}
  %0 = frame.substring %a from %n : (!frame.string, !frame.nullable<i64>) -> !frame.string
  return
}
