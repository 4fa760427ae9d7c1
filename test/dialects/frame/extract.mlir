// `frame.extract`: the year, month or day of a date.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.extract year %{{.*}} : (!frame.date) -> i32
func.func @extract(%d: !frame.date) {
  %0 = frame.extract year %d : (!frame.date) -> i32
  return
}

// -----

func.func @extract_c1(%a: !frame.date) {
  // expected-error @+1 {{result must be i32, got 'i64'}}
  %0 = frame.extract year %a : (!frame.date) -> i64
  return
}
