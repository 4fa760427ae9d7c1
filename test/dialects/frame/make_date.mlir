// `frame.make_date`: the date of a year, a month and a day.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.make_date %{{.*}}, %{{.*}}, %{{.*}} : (i64, i64, i64) -> !frame.date
func.func @make_date(%year: i64, %month: i64, %day: i64) {
  %0 = frame.make_date %year, %month, %day : (i64, i64, i64) -> !frame.date
  return
}

// -----

func.func @make_date_c1(%a: !frame.nullable<i64>, %b: i64) {
  // expected-error @+1 {{result must be nullable, got '!frame.date'}}
  %0 = frame.make_date %a, %b, %b : (!frame.nullable<i64>, i64, i64) -> !frame.date
  return
}
