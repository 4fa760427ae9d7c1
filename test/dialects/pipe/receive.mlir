// `pipe.receive`: source: the chunks of a stream.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.receive @in : <"n": i64>
pipe.stream @in gather over ["ranks"] : !pipe.rows<"n": i64>
pipe.state @total scalar [#pipe.field<"n", i64, sum>]
pipe.pipeline @p2 {
  %0 = pipe.receive @in : <"n": i64>
  pipe.combine %0, @total keys [] : <"n": i64>
}

// -----

pipe.stream @in gather over ["ranks"] : !pipe.rows<"n": i64>
pipe.state @total scalar [#pipe.field<"n", i64, sum>]
pipe.pipeline @p2 {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %0 = pipe.receive @in {unknown} : <"n": i64>
  pipe.combine %0, @total keys [] : <"n": i64>
}
