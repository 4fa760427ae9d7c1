// `frame.topk`: orders the rows, skips `offset`, keeps at most `count`.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.topk %{{.*}} by [#frame.sort_key<"a" asc nulls_last>] count 10 : <"a": i64>
func.func @topk(%t: !frame.table<"a": i64>) {
  %0 = frame.topk %t by [#frame.sort_key<"a" asc nulls_last>] count 10 : !frame.table<"a": i64>
  return
}

// -----

func.func @topk_c1_unique(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{lists a key twice: "a"}}
  %0 = frame.topk %t by [#frame.sort_key<"a" asc nulls_last>, #frame.sort_key<"a" desc nulls_last>]
      count 3 : !frame.table<"a": i64>
  return
}

// -----

func.func @topk_c2(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{count must not be negative, got -1}}
  %0 = frame.topk %t by [#frame.sort_key<"a" asc nulls_last>] count -1 : !frame.table<"a": i64>
  return
}
