// `frame.rename`: gives the columns new names, by position.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.rename %{{.*}} : <"a": i64> -> <"a_1": i64>
func.func @rename(%t: !frame.table<"a": i64>) {
  %0 = frame.rename %t : !frame.table<"a": i64> -> !frame.table<"a_1": i64>
  return
}

// -----

func.func @rename_c1(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{must keep the column types, got '!frame.table<"a": i64>' and '!frame.table<"b": i32>'}}
  %0 = frame.rename %t : !frame.table<"a": i64> -> !frame.table<"b": i32>
  return
}
