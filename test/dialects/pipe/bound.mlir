// `pipe.bound`: the first key of the last row that can be among the first rows of a sort, as far as is known.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

pipe.state @least sort [#pipe.field<"a", i32, payload>] order [#pipe.sort_key<"a", descending = false, nulls_first = false>] words 1.0 limit 10

// CHECK-LABEL: @body
func.func @body() -> i1 {
  // CHECK: pipe.bound @least : i32
  %key, %known = pipe.bound @least : i32
  return %known : i1
}

// -----

func.func @body() -> i1 {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %key, %known = pipe.bound @least {unknown} : i32
  return %known : i1
}
