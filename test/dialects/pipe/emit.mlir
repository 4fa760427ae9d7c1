// `pipe.emit`: sink: writes rows to a stream.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.emit %{{.*}}, @moved keys ["k"] : <"k": i32, "total": i64>
pipe.state @totals group [#pipe.field<"k", i32, key>, #pipe.field<"total", i64, sum>]
pipe.stream @moved hash over ["ranks"] : !pipe.rows<"k": i32, "total": i64>
pipe.pipeline @groups {
  %0 = pipe.read @totals : <"k": i32, "total": i64>
  pipe.emit %0, @moved keys ["k"] : <"k": i32, "total": i64>
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  %1 = pipe.map %0 ["b"] ["a"] {
  ^bb0(%a: i32):
    pipe.yield %a : i32
  } : !pipe.rows<"a": i32> -> !pipe.rows<"b": i32>
  // expected-error@+1 {{C1: uses other rows than those of the op before}}
  pipe.emit %0, @out keys [] : !pipe.rows<"a": i32>
}
