// `pipe.key_hash`: the hash of a text, as that of a key is.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @body
func.func @body(%text: !pipe.string) -> i64 {
  // CHECK: pipe.key_hash
  %0 = pipe.key_hash %text
  return %0 : i64
}

// -----

func.func @body(%text: !pipe.string) -> i64 {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %0 = pipe.key_hash %text {unknown}
  return %0 : i64
}
