// `pipe.combine`: sink: folds rows into an aggregate state.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.combine %{{.*}}, @totals keys ["k"] : <"k": i32, "total": i64>
pipe.stream @in local : !pipe.rows<"k": i32, "total": i64>
pipe.state @totals group [#pipe.field<"k", i32, key>, #pipe.field<"total", i64, sum>]
pipe.pipeline @summed {
  %0 = pipe.receive @in : <"k": i32, "total": i64>
  pipe.combine %0, @totals keys ["k"] : <"k": i32, "total": i64>
}

// -----

pipe.stream @in local : !pipe.rows<"k": i32, "total": i64>
pipe.state @totals group [#pipe.field<"k", i32, key>, #pipe.field<"total", i64, sum>]
pipe.pipeline @summed {
  %0 = pipe.receive @in : <"k": i32, "total": i64>
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  pipe.combine %0, @totals keys ["k"] {unknown} : <"k": i32, "total": i64>
}
