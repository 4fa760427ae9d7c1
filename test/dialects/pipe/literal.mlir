// `pipe.literal`: a string literal of the program; an argument of the kernel, not part of its code.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.literal "BUILDING"
func.func @body() -> !pipe.string {
  %0 = pipe.literal "BUILDING"
  return %0 : !pipe.string
}

// -----

func.func @body() -> !pipe.string {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %0 = pipe.literal "BUILDING" {unknown}
  return %0 : !pipe.string
}
