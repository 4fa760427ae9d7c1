// `frame.compare`: compares two values.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.compare le %{{.*}}, %{{.*}} : (!frame.date, !frame.nullable<!frame.date>) -> !frame.nullable<i1>
func.func @compare(%a: !frame.date, %b: !frame.nullable<!frame.date>) {
  %0 = frame.compare le %a, %b
      : (!frame.date, !frame.nullable<!frame.date>) -> !frame.nullable<i1>
  return
}

// -----

func.func @compare_c1(%a: !frame.decimal<15, 2>, %b: !frame.decimal<15, 3>) {
  // expected-error @+1 {{needs operands of one type, got '!frame.decimal<15, 2>' and '!frame.decimal<15, 3>'}}
  %0 = frame.compare eq %a, %b : (!frame.decimal<15, 2>, !frame.decimal<15, 3>) -> i1
  return
}

// -----

func.func @compare_c2(%a: !frame.nullable<i64>) {
  // expected-error @+1 {{result must not be nullable, got '!frame.nullable<i1>'}}
  %0 = frame.compare is_not_distinct_from %a, %a
      : (!frame.nullable<i64>, !frame.nullable<i64>) -> !frame.nullable<i1>
  return
}

// -----

func.func @compare_double_double(%a: !frame.double_double) {
  // expected-error @+1 {{needs operands of one type}}
  %0 = frame.compare eq %a, %a : (!frame.double_double, !frame.double_double) -> i1
  return
}
