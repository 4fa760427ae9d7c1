// `frame.like`: matches a string against an SQL pattern.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.like %{{.*}} "%{{.*}}%{{.*}}%" : (!frame.string) -> i1
func.func @like(%s: !frame.string) {
  %0 = frame.like %s "%special%requests%" : (!frame.string) -> i1
  %1 = frame.like %s "100!%" escape "!" : (!frame.string) -> i1
  return
}

// -----

func.func @like_c1(%a: !frame.string) {
  // expected-error @+1 {{escape must be one character, got: ab}}
  %0 = frame.like %a "x" escape "ab" : (!frame.string) -> i1
  return
}
