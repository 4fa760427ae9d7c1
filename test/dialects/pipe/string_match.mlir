// `pipe.string_match`: SQL LIKE against a constant pattern.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.string_match %{{.*}} "%{{.*}}%{{.*}}%"
func.func @body(%text: !pipe.string) -> i1 {
  %0 = pipe.string_match %text "%special%requests%"
  return %0 : i1
}

// -----

func.func @body(%text: !pipe.string) -> i1 {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %0 = pipe.string_match %text "%special%requests%" {unknown}
  return %0 : i1
}
