// `pipe.select`: one of two strings, without copying either.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.select %{{.*}}, %{{.*}}, %{{.*}}
func.func @body(%first: i1, %a: !pipe.string, %b: !pipe.string) -> !pipe.string {
  %0 = pipe.select %first, %a, %b
  return %0 : !pipe.string
}

// -----

func.func @body(%first: i1, %a: !pipe.string, %b: !pipe.string) -> !pipe.string {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %0 = pipe.select %first, %a, %b {unknown}
  return %0 : !pipe.string
}
