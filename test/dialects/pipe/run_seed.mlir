// `pipe.run_seed`: the number that is drawn for the run; of the worker, not part of the code.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.run_seed
func.func @body() -> i64 {
  %0 = pipe.run_seed
  return %0 : i64
}

// -----

func.func @body() -> i64 {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %0 = pipe.run_seed {unknown}
  return %0 : i64
}
