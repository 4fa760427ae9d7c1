// `frame.sort`: orders the rows.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.sort %{{.*}} by [#frame.sort_key<"a" desc nulls_first>] : <"a": i64>
func.func @sort(%t: !frame.table<"a": i64>) {
  %0 = frame.sort %t by [#frame.sort_key<"a" desc nulls_first>] : !frame.table<"a": i64>
  return
}

// -----

func.func @sort_c1(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{needs at least one key}}
  %0 = frame.sort %t by [] : !frame.table<"a": i64>
  return
}

// -----

func.func @sort_c1_column(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{key is not a column of the input: "b"}}
  %0 = frame.sort %t by [#frame.sort_key<"b" asc nulls_last>] : !frame.table<"a": i64>
  return
}
