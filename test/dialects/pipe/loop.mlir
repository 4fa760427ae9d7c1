// `pipe.loop`: evaluates a body so many times, of which each hands values on to the next.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.loop %{{.*}} from(%{{.*}}) joins
func.func @body(%l: !pipe.string, %n: i64, %code: i64) -> !pipe.string {
  %never = arith.constant false
  %0:2 = pipe.loop %n from (%never) joins {
  ^bb0(%number: i64, %any: i1):
    %1 = pipe.text "list_integer"(%l, %number) : (!pipe.string, i64) -> i64
    %2 = pipe.text "list_of_integer"(%1, %code) : (i64, i64) -> !pipe.string
    %3 = pipe.text "list_has"(%l, %number) : (!pipe.string, i64) -> i1
    %4 = arith.ori %any, %3 : i1
    pipe.yield %2, %4 : !pipe.string, i1
  } : (i1) -> (!pipe.string, i1)
  return %0#0 : !pipe.string
}

// -----

func.func @c1(%n: i64, %a: i32) {
  // expected-error @+1 {{C1: the body's arguments must be an i64 and the values}}
  %0 = pipe.loop %n from (%a) {
  ^bb0(%number: i64, %b: i64):
    pipe.yield %a : i32
  } : (i32) -> i32
  return
}

// -----

func.func @c2(%n: i64, %a: i32) {
  // expected-error @+1 {{C2: the body must yield the values}}
  %0 = pipe.loop %n from (%a) {
  ^bb0(%number: i64, %b: i32):
    pipe.yield %number : i64
  } : (i32) -> i32
  return
}

// -----

func.func @c2_joins(%n: i64) {
  // expected-error @+1 {{C2: the body must yield a list and the values}}
  %0 = pipe.loop %n from () joins {
  ^bb0(%number: i64):
    pipe.yield %number : i64
  } : () -> i64
  return
}

// -----

func.func @c3(%n: i64, %a: i32) {
  // expected-error @+1 {{C3: the results must have the types of what the body yields}}
  %0 = pipe.loop %n from (%a) {
  ^bb0(%number: i64, %b: i32):
    pipe.yield %b : i32
  } : (i32) -> i64
  return
}

// -----

func.func @c4(%n: i64, %a: !pipe.string) {
  // expected-error @+1 {{C4: at most one of the values is a string, got 2}}
  %0:2 = pipe.loop %n from (%a, %a) {
  ^bb0(%number: i64, %b: !pipe.string, %c: !pipe.string):
    pipe.yield %c, %b : !pipe.string, !pipe.string
  } : (!pipe.string, !pipe.string) -> (!pipe.string, !pipe.string)
  return
}

// -----

func.func @c5(%n: i64) {
  // expected-error @+1 {{C5: collects elements of a fixed number of bytes, got code 0}}
  %0 = pipe.loop %n from () collects 0 {
  ^bb0(%number: i64):
    pipe.yield
  } : () -> !pipe.string
  return
}

// -----

func.func @c5_both(%n: i64, %l: !pipe.string) {
  // expected-error @+1 {{C5: it joins or collects, not both}}
  %0 = pipe.loop %n from () joins collects 4 {
  ^bb0(%number: i64):
    pipe.yield %l : !pipe.string
  } : () -> !pipe.string
  return
}

// -----

func.func @c2_collects(%n: i64) {
  // expected-error @+1 {{C2: the body must yield an element and the values}}
  %0 = pipe.loop %n from () collects 4 {
  ^bb0(%number: i64):
    pipe.yield %number : i64
  } : () -> !pipe.string
  return
}
