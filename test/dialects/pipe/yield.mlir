// `pipe.yield`: ends a body.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.yield %{{.*}}, %{{.*}} : i64, i1
pipe.stream @in local : !pipe.rows<"a": i32>
pipe.stream @out result : !pipe.rows<"b": i64?>
pipe.pipeline @widened {
  %0 = pipe.receive @in : <"a": i32>
  %1 = pipe.map %0 ["b"] ["a"] {
  ^bb0(%a: i32):
    %b = arith.extsi %a : i32 to i64
    %valid = arith.constant true
    pipe.yield %b, %valid : i64, i1
  } : <"a": i32> -> <"b": i64?>
  pipe.emit %1, @out keys [] : <"b": i64?>
}

// -----

pipe.stream @in local : !pipe.rows<"a": i32>
pipe.stream @out result : !pipe.rows<"b": i64?>
pipe.pipeline @widened {
  %0 = pipe.receive @in : <"a": i32>
  %1 = pipe.map %0 ["b"] ["a"] {
  ^bb0(%a: i32):
    %b = arith.extsi %a : i32 to i64
    %valid = arith.constant true
    // expected-error@+1 {{has an unknown attribute: "unknown"}}
    pipe.yield %b, %valid : i64, i1 {unknown}
  } : <"a": i32> -> <"b": i64?>
  pipe.emit %1, @out keys [] : <"b": i64?>
}
