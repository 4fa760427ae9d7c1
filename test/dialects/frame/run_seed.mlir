// `frame.run_seed`: a number that is drawn for the run.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.run_seed : i64
func.func @run_seed(%row: i64) {
  %0 = frame.run_seed : i64
  %1 = frame.math "scramble" %row, %0 : (i64, i64) -> i64
  return
}

// -----

func.func @run_seed(%row: i64) {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %0 = frame.run_seed {unknown} : i64
  %1 = frame.math "scramble" %row, %0 : (i64, i64) -> i64
  return
}
