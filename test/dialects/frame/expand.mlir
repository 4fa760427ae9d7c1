// `frame.expand`: each row as often as a column says, numbered.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.expand %{{.*}} by "n" number "i" : <"a": i64, "n": i64> -> <"a": i64, "n": i64, "i": i64>
func.func @expand(%t: !frame.table<"a": i64, "n": i64>) {
  %0 = frame.expand %t by "n" number "i"
      : !frame.table<"a": i64, "n": i64> -> !frame.table<"a": i64, "n": i64, "i": i64>
  return
}

// -----

func.func @expand_c1(%t: !frame.table<"a": i64, "n": i32>) {
  // expected-error @+1 {{needs a column of i64 to expand by, got "n"}}
  %0 = frame.expand %t by "n" number "i"
      : !frame.table<"a": i64, "n": i32> -> !frame.table<"a": i64, "n": i32, "i": i64>
  return
}

// -----

func.func @expand_c2(%t: !frame.table<"n": i64>) {
  // expected-error @+1 {{result must have the columns of the input and "i"}}
  %0 = frame.expand %t by "n" number "i" : !frame.table<"n": i64> -> !frame.table<"n": i64, "j": i64>
  return
}
