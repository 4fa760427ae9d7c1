// `frame.constant`: a literal of a given type.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.constant 9950 : !frame.decimal<15, 2>
func.func @constant() {
  %price = frame.constant 9950 : !frame.decimal<15, 2>
  %day = frame.constant "1998-09-02" : !frame.date
  %moment = frame.constant "1998-09-02 12:30:00" : !frame.timestamp
  %name = frame.constant "BRAZIL" : !frame.string
  %rate = frame.constant 2.5 : f64
  %none = frame.constant null : !frame.nullable<i64>
  return
}

// -----

func.func @constant_list() {
  // Of one element, 7.
  %0 = "frame.constant"() {value = "\01\00\00\00\04\00\00\00\01\07\00\00\00"} : () -> !frame.list<i32>
  // expected-error @+1 {{literal does not fit type '!frame.list<i32>'}}
  %1 = "frame.constant"() {value = "\02\00\00\00\04\00\00\00\01\07\00\00\00"} : () -> !frame.list<i32>
  return
}

// -----

func.func @constant_c1() {
  // expected-error @+1 {{literal does not fit type 'i64'}}
  %0 = frame.constant null : i64
  return
}

// -----

func.func @constant_c1_string() {
  // expected-error @+1 {{literal does not fit type '!frame.date'}}
  %0 = frame.constant "1998-02-30" : !frame.date
  return
}

// -----

func.func @constant_c1_range() {
  // expected-error @+1 {{literal does not fit type 'i8'}}
  %0 = frame.constant 128 : i8
  return
}

// -----

func.func @constant_c1_unsigned() {
  // expected-error @+1 {{literal does not fit type 'ui8'}}
  %0 = frame.constant -1 : ui8
  return
}

// -----

func.func @constant_c1_unsigned_range() {
  // expected-error @+1 {{literal does not fit type 'ui64'}}
  %0 = frame.constant 18446744073709551616 : ui64
  return
}

// -----

func.func @constant_generic_unsigned() {
  // expected-error @+1 {{literal does not fit type 'ui8': 255 : ui8}}
  %0 = "frame.constant"() {value = 255 : ui8} : () -> ui8
  return
}

// -----

func.func @constant_c2() {
  // expected-error @+1 {{literal does not fit type '!frame.decimal<3, 2>'}}
  %0 = frame.constant 1000 : !frame.decimal<3, 2>
  return
}

// -----

func.func @constant_generic() {
  // expected-error @+1 {{literal does not fit type 'i64': 1 : i32}}
  %0 = "frame.constant"() {value = 1 : i32} : () -> i64
  return
}

// -----

func.func @constant_timestamp() {
  // expected-error @+1 {{literal does not fit type '!frame.timestamp'}}
  %0 = frame.constant "1998-09-02 25:00:00" : !frame.timestamp
  return
}

// -----

func.func @constant_of_15_bytes() {
  // expected-error @+1 {{literal does not fit type '!frame.uuid'}}
  %0 = frame.constant "123456789012345" : !frame.uuid
  return
}

// -----

func.func @constant_too_large() {
  // expected-error @+1 {{integer literal is too large}}
  %0 = frame.constant 6805647338418769269267492148635364229126805647338418769269267492148635364229 : !frame.decimal<38, 0>
  return
}
