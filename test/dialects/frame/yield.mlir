// `frame.yield`: ends an expression region with its values.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.yield %{{.*}} : i1
func.func @yield(%t: !frame.table<"a": i1>) {
  %0 = frame.filter %t columns ["a"] {
  ^bb0(%a: i1):
    frame.yield %a : i1
  } : !frame.table<"a": i1>
  return
}

// -----

func.func @yield_parent(%a: i1) {
  // expected-error @+1 {{expects parent op to be one of 'frame.filter, frame.project, frame.join, frame.flat_map, frame.reduce, frame.try'}}
  frame.yield %a : i1
}
