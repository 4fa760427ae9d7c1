// `frame.case`: the value of the first condition that is true.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.case when %{{.*}} then %{{.*}} else %{{.*}} : (!frame.nullable<i1>), (i64), i64 -> i64
func.func @case(%c: !frame.nullable<i1>, %a: i64, %b: i64) {
  %0 = frame.case when %c then %a else %b : (!frame.nullable<i1>), (i64), i64 -> i64
  %1 = frame.case when %c then %a : (!frame.nullable<i1>), (i64) -> !frame.nullable<i64>
  return
}

// -----

func.func @case_c1(%c: i1, %a: i64) {
  // expected-error @+1 {{needs one value per condition and at least one condition, got 2 values for 1 conditions}}
  %0 = frame.case when %c then %a, %a else %a : (i1), (i64, i64), i64 -> i64
  return
}

// -----

func.func @case_c2(%c: i1, %a: i64, %b: i32) {
  // expected-error @+1 {{values and result must have one type, got 'i32' and 'i64'}}
  %0 = frame.case when %c then %a else %b : (i1), (i64), i32 -> i64
  return
}

// -----

func.func @case_c3(%c: i1, %a: i64) {
  // expected-error @+1 {{result must be nullable, got 'i64'}}
  %0 = frame.case when %c then %a : (i1), (i64) -> i64
  return
}
