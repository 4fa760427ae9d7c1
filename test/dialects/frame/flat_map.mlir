// `frame.flat_map`: the lists that a region makes of a list's elements, one behind the other.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.flat_map %{{.*}} captures(%{{.*}})
func.func @flat_map(%l: !frame.list<i64>, %n: i64) {
  %0 = frame.flat_map %l captures(%n) {
  ^bb0(%x: !frame.nullable<i64>, %place: i64, %m: i64):
    %1 = frame.multiply %x, %m : (!frame.nullable<i64>, i64) -> !frame.nullable<i64>
    %2 = frame.list %1 : (!frame.nullable<i64>) -> !frame.list<i64>
    frame.yield %2 : !frame.list<i64>
  } : (!frame.list<i64>, i64) -> !frame.list<i64>
  return
}

// -----

func.func @flat_map_c1_number(%l: !frame.list<i64>) {
  // expected-error @+1 {{needs a region with other arguments: an element, its place and the captures, got 1}}
  %0 = frame.flat_map %l {
  ^bb0(%x: !frame.nullable<i64>):
    %1 = frame.list %x : (!frame.nullable<i64>) -> !frame.list<i64>
    frame.yield %1 : !frame.list<i64>
  } : (!frame.list<i64>) -> !frame.list<i64>
  return
}

// -----

func.func @flat_map_c1(%l: !frame.list<i64>) {
  // expected-error @+1 {{argument 0 of the region must be '!frame.nullable<i64>', got 'i64'}}
  %0 = frame.flat_map %l {
  ^bb0(%x: i64, %place: i64):
    %1 = frame.list %x : (i64) -> !frame.list<i64>
    frame.yield %1 : !frame.list<i64>
  } : (!frame.list<i64>) -> !frame.list<i64>
  return
}

// -----

func.func @flat_map_c2_number(%l: !frame.list<i64>) {
  // expected-error @+1 {{the region must yield one value}}
  %0 = frame.flat_map %l {
  ^bb0(%x: !frame.nullable<i64>, %place: i64):
    frame.yield
  } : (!frame.list<i64>) -> !frame.list<i64>
  return
}

// -----

func.func @flat_map_c2(%l: !frame.list<i64>) {
  // expected-error @+1 {{the region must yield '!frame.list<i64>', got '!frame.nullable<i64>'}}
  %0 = frame.flat_map %l {
  ^bb0(%x: !frame.nullable<i64>, %place: i64):
    frame.yield %x : !frame.nullable<i64>
  } : (!frame.list<i64>) -> !frame.list<i64>
  return
}

// -----

func.func @flat_map_c3(%l: !frame.list<i64>) {
  // expected-error @+1 {{result must be nullable exactly if the list is, got '!frame.nullable<!frame.list<i64>>'}}
  %0 = frame.flat_map %l {
  ^bb0(%x: !frame.nullable<i64>, %place: i64):
    %1 = frame.list %x : (!frame.nullable<i64>) -> !frame.list<i64>
    frame.yield %1 : !frame.list<i64>
  } : (!frame.list<i64>) -> !frame.nullable<!frame.list<i64>>
  return
}
