// `frame.values`: a table of literal rows.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.values {{\[\[}}1, "one"], [2, null]] : !frame.table<"n": i64, "word": !frame.nullable<!frame.string>>
func.func @values() {
  %0 = frame.values [[1, "one"], [2, null]]
      : !frame.table<"n": i64, "word": !frame.nullable<!frame.string>>
  return
}

// -----

func.func @values_c1() {
  // expected-error @+1 {{needs one literal per column in each row, got 1 for 2}}
  %0 = frame.values [[1]] : !frame.table<"a": i64, "b": i64>
  return
}

// -----

func.func @values_c1_type() {
  // expected-error @+1 {{literal does not fit column "a": 'i64'}}
  %0 = frame.values [["x"]] : !frame.table<"a": i64>
  return
}

// -----

func.func @values_c1_null() {
  // expected-error @+1 {{literal does not fit column "a": 'i64'}}
  %0 = frame.values [[null]] : !frame.table<"a": i64>
  return
}

// -----

func.func @values_c1_generic() {
  // expected-error @+1 {{literal does not fit column "a" of type 'i64': "x"}}
  %0 = "frame.values"() {rows = [["x"]]} : () -> !frame.table<"a": i64>
  return
}
