// `pipe.substring`: characters start (from 1) to start + length - 1; with the largest length to the end.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.substring %{{.*}}, %{{.*}}, %{{.*}}
func.func @body(%phone: !pipe.string, %start: i64, %length: i64) -> !pipe.string {
  %0 = pipe.substring %phone, %start, %length
  return %0 : !pipe.string
}

// -----

func.func @body(%phone: !pipe.string, %start: i64, %length: i64) -> !pipe.string {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %0 = pipe.substring %phone, %start, %length {unknown}
  return %0 : !pipe.string
}
