// `pipe.owns`: whether the hash of these values names this rank, as an exchange by hash over these axes would.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.owns(%{{.*}}, %{{.*}}, %{{.*}}) [false, true] over ["ranks"] : i32, !pipe.string, i1
func.func @body(%key: i32, %name: !pipe.string, %valid: i1) -> i1 {
  %0 = pipe.owns (%key, %name, %valid) [false, true] over ["ranks"] : i32, !pipe.string, i1
  return %0 : i1
}

// -----

func.func @body(%key: i32) -> i1 {
  // expected-error@+1 {{needs a value, and a validity where it is nullable, for each of 1 keys, got 1}}
  %0 = pipe.owns (%key) [true] over ["ranks"] : i32
  return %0 : i1
}
