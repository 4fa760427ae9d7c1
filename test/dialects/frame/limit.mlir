// `frame.limit`: skips `offset` rows, then keeps at most `count`.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.limit %{{.*}} offset 5 count 10 : <"a": i64>
func.func @limit(%t: !frame.table<"a": i64>) {
  %0 = frame.limit %t offset 5 count 10 : !frame.table<"a": i64>
  return
}

// -----

func.func @limit_c1(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{offset must not be negative, got -5}}
  %0 = frame.limit %t offset -5 : !frame.table<"a": i64>
  return
}
