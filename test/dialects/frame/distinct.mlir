// `frame.distinct`: removes duplicate rows.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.distinct %{{.*}} : <"a": i64>
func.func @distinct(%t: !frame.table<"a": i64>) {
  %0 = frame.distinct %t : !frame.table<"a": i64>
  return
}

// -----

func.func @distinct(%t: !frame.table<"a": i64>) {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %0 = frame.distinct %t {unknown} : !frame.table<"a": i64>
  return
}
