// `pipe.owns`: whether the hash of these values names this rank, as an exchange by hash over these axes would.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.owns(%{{.*}}, %{{.*}}, %{{.*}}) [false, true] over ["ranks"] : i32, !pipe.string, i1
func.func @body(%key: i32, %name: !pipe.string, %valid: i1) -> i1 {
  %0 = pipe.owns (%key, %name, %valid) [false, true] over ["ranks"] : i32, !pipe.string, i1
  // CHECK: pipe.owns(%{{.*}}) [false] cycle 1000 over ["ranks"] : i32
  %1 = pipe.owns (%key) [false] cycle 1000 over ["ranks"] : i32
  return %0 : i1
}

// -----

func.func @body(%key: i32) -> i1 {
  // expected-error@+1 {{needs a value, and a validity where it is nullable, for each of 1 keys, got 1}}
  %0 = pipe.owns (%key) [true] over ["ranks"] : i32
  return %0 : i1
}

// -----

func.func @body(%key: i128) -> i1 {
  // expected-error@+1 {{C3: a cycle of one or more is of one integer, got 10}}
  %0 = pipe.owns (%key) [false] cycle 10 over ["ranks"] : i128
  return %0 : i1
}

// -----

func.func @body(%key: i32) -> i1 {
  // expected-error@+1 {{C3: a cycle of one or more is of one integer, got -1}}
  %0 = pipe.owns (%key) [false] cycle -1 over ["ranks"] : i32
  return %0 : i1
}
