// `frame.try`: what a region gives, or NULL where it fails.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.try captures(%{{.*}}, %{{.*}})
func.func @try(%a: i64, %b: i64) {
  %0 = frame.try captures(%a, %b) {
  ^bb0(%x: i64, %y: i64):
    %1 = frame.divide %x, %y : (i64, i64) -> i64
    frame.yield %1 : i64
  } : (i64, i64) -> !frame.nullable<i64>
  return
}

// -----

func.func @try_c1_number(%a: i64) {
  // expected-error @+1 {{needs a region with other arguments: the captures, got 0}}
  %0 = frame.try captures(%a) {
    %1 = frame.constant 1 : i64
    frame.yield %1 : i64
  } : (i64) -> !frame.nullable<i64>
  return
}

// -----

func.func @try_c1(%a: i64) {
  // expected-error @+1 {{argument 0 of the region must be 'i64', got 'i32'}}
  %0 = frame.try captures(%a) {
  ^bb0(%x: i32):
    frame.yield %x : i32
  } : (i64) -> !frame.nullable<i32>
  return
}

// -----

func.func @try_c2_number(%a: i64) {
  // expected-error @+1 {{the region must yield one value}}
  %0 = frame.try captures(%a) {
  ^bb0(%x: i64):
    frame.yield %x, %x : i64, i64
  } : (i64) -> !frame.nullable<i64>
  return
}

// -----

func.func @try_c2(%a: i64) {
  // expected-error @+1 {{needs a value of type '!frame.nullable<i32>', got 'i64'}}
  %0 = frame.try captures(%a) {
  ^bb0(%x: i64):
    frame.yield %x : i64
  } : (i64) -> !frame.nullable<i32>
  return
}

// -----

func.func @try_c3(%a: i64) {
  // expected-error @+1 {{result must be nullable, got 'i64'}}
  %0 = frame.try captures(%a) {
  ^bb0(%x: i64):
    frame.yield %x : i64
  } : (i64) -> i64
  return
}
