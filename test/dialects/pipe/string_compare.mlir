// `pipe.string_compare`: compares two strings bytewise.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.string_compare  le %{{.*}}, %{{.*}}
func.func @body(%a: !pipe.string, %b: !pipe.string) -> i1 {
  %0 = pipe.string_compare le %a, %b
  return %0 : i1
}

// -----

func.func @body(%a: !pipe.string, %b: !pipe.string) -> i1 {
  // expected-error@+2 {{to be one of: eq, ne, lt, le, gt, ge}}
  // expected-error@+1 {{failed to parse}}
  %0 = pipe.string_compare like %a, %b
  return %0 : i1
}
