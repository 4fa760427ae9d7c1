// `frame.reduce`: what a region makes of a value and a list's elements, one after the other.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.reduce %{{.*}} from %{{.*}}
func.func @reduce(%l: !frame.list<i64>, %n: i64) {
  %0 = frame.reduce %l from %n {
  ^bb0(%sum: !frame.nullable<i64>, %x: !frame.nullable<i64>, %place: i64):
    %1 = frame.add %sum, %x
        : (!frame.nullable<i64>, !frame.nullable<i64>) -> !frame.nullable<i64>
    frame.yield %1 : !frame.nullable<i64>
  } : (!frame.list<i64>, i64) -> !frame.nullable<i64>
  return
}

// -----

func.func @reduce_c1(%l: !frame.list<i64>, %n: i64) {
  // expected-error @+1 {{argument 0 of the region must be '!frame.nullable<i64>', got 'i64'}}
  %0 = frame.reduce %l from %n {
  ^bb0(%sum: i64, %x: !frame.nullable<i64>, %place: i64):
    frame.yield %sum : i64
  } : (!frame.list<i64>, i64) -> !frame.nullable<i64>
  return
}

// -----

func.func @reduce_c2(%l: !frame.list<i64>, %n: i32) {
  // expected-error @+1 {{needs values of type '!frame.nullable<i64>', got 'i32'}}
  %0 = frame.reduce %l from %n {
  ^bb0(%sum: !frame.nullable<i64>, %x: !frame.nullable<i64>, %place: i64):
    frame.yield %sum : !frame.nullable<i64>
  } : (!frame.list<i64>, i32) -> !frame.nullable<i64>
  return
}

// -----

func.func @reduce_c3(%l: !frame.list<i64>, %n: i64) {
  // expected-error @+1 {{result must be nullable, got 'i64'}}
  %0 = frame.reduce %l from %n {
  ^bb0(%sum: i64, %x: !frame.nullable<i64>, %place: i64):
    frame.yield %sum : i64
  } : (!frame.list<i64>, i64) -> i64
  return
}

// -----

func.func @reduce_c4(%l: !frame.list<i64>, %n: i64) {
  // expected-error @+1 {{starts at an element from 1 on, got 0}}
  %0 = frame.reduce %l from %n {
  ^bb0(%sum: !frame.nullable<i64>, %x: !frame.nullable<i64>, %place: i64):
    frame.yield %sum : !frame.nullable<i64>
  } {first = 0 : i64} : (!frame.list<i64>, i64) -> !frame.nullable<i64>
  return
}
