// `pipe.fail_if`: fails the task with a data error if the condition holds for a row.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.fail_if %{{.*}},  overflow
func.func @body(%too_large: i1) {
  pipe.fail_if %too_large, overflow
  return
}

// -----

func.func @body(%too_large: i1) {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  pipe.fail_if %too_large, overflow {unknown}
  return
}
