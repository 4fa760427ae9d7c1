// `frame.in`: whether a value is one of some literals.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.in %{{.*}} ["MAIL", "SHIP"] : (!frame.string) -> i1
func.func @in(%a: !frame.string) {
  %0 = frame.in %a ["MAIL", "SHIP"] : (!frame.string) -> i1
  return
}

// -----

func.func @in_c1(%a: i64) {
  // expected-error @+1 {{needs at least one literal}}
  %0 = frame.in %a [] : (i64) -> i1
  return
}

// -----

func.func @in_c1_null(%a: !frame.nullable<i64>) {
  // expected-error @+1 {{literal does not fit type '!frame.nullable<i64>'}}
  %0 = frame.in %a [1, null] : (!frame.nullable<i64>) -> !frame.nullable<i1>
  return
}

// -----

func.func @in_c2(%a: i64) {
  // expected-error @+1 {{result must not be nullable, got '!frame.nullable<i1>'}}
  %0 = frame.in %a [1] : (i64) -> !frame.nullable<i1>
  return
}

// -----

func.func @in_types(%a: i64) {
  // expected-error @+1 {{needs one operand and one result type}}
  %0 = frame.in %a [1] : (i64, i64) -> i1
  return
}
