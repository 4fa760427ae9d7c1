// `frame.cast`: converts a value to another type.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.cast %{{.*}} : !frame.nullable<i32> -> !frame.nullable<!frame.decimal<20, 0>>
func.func @cast(%a: !frame.nullable<i32>) {
  %0 = frame.cast %a : !frame.nullable<i32> -> !frame.nullable<!frame.decimal<20, 0>>
  %1 = frame.cast %a or_null : !frame.nullable<i32> -> !frame.nullable<i8>
  return
}

// -----

func.func @cast_c1(%a: !frame.date) {
  // expected-error @+1 {{no conversion from '!frame.date' to 'i64'}}
  %0 = frame.cast %a : !frame.date -> i64
  return
}

// -----

func.func @cast_c1_timestamp(%a: !frame.timestamp) {
  // expected-error @+1 {{no conversion from '!frame.timestamp' to 'i32'}}
  %0 = frame.cast %a : !frame.timestamp -> i32
  return
}

// -----

func.func @cast_c2(%a: !frame.nullable<i32>) {
  // expected-error @+1 {{a nullable operand needs a nullable result, got 'i64'}}
  %0 = frame.cast %a : !frame.nullable<i32> -> i64
  return
}

// -----

func.func @cast_c2_or_null(%a: i64) {
  // expected-error @+1 {{or_null needs a nullable result, got 'i8'}}
  %0 = frame.cast %a or_null : i64 -> i8
  return
}

// -----

func.func @cast_c1_enum(%a: !frame.string) {
  // expected-error @+1 {{no conversion from '!frame.string' to '!frame.enum<"a">'}}
  %0 = frame.cast %a : !frame.string -> !frame.enum<"a">
  return
}

// -----

func.func @cast_c1_binary(%a: !frame.binary) {
  // expected-error @+1 {{no conversion from '!frame.binary' to 'i64'}}
  %0 = frame.cast %a : !frame.binary -> i64
  return
}

// -----

func.func @cast_time_of_other_unit(%a: !frame.timestamp<s>) {
  // expected-error @+1 {{no conversion from '!frame.timestamp<s>' to '!frame.time'}}
  %0 = frame.cast %a : !frame.timestamp<s> -> !frame.time
  return
}

// -----

func.func @cast_date_of_time(%a: !frame.time) {
  // expected-error @+1 {{no conversion from '!frame.time' to '!frame.date'}}
  %0 = frame.cast %a : !frame.time -> !frame.date
  return
}
